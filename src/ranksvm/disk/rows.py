"""Packed data in the place of the rows of a file."""

from __future__ import annotations

import os

from ..files.rows import FileRows
from ..records import record
from .data import PackedData, open_data


@record
class PackedRows(FileRows):
    """The rows of packed data, as those of a file; arrays are mapped.

    Attributes
    ----------
    data : PackedData
    """

    data: PackedData | None = None

    @property
    def packed(self) -> PackedData:
        """The data, which are there."""
        assert self.data is not None
        return self.data


def open_rows(path: str | os.PathLike[str]) -> PackedRows:
    """Map packed data into memory; see `ranksvm.open_data`."""
    data = open_data(path)
    return PackedRows(
        labels=data.y,
        qid=data.ids,
        cost=data.sample_weight,
        features=data.features,
        n_features=data.shape[1],
        zero_based=data.zero_based,
        name=data.path,
        feature_names=None if data.feature_names is None else list(data.feature_names),
        ids=data.docids,
        data=data,
    )
