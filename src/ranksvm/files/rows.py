"""The rows of a file, whatever its format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..records import record

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

__all__ = ["CsrArrays", "FileRows"]

_DOCID = re.compile(r"\bdocid\s*=\s*(\S+)")


class CsrArrays(NamedTuple):
    """A sparse matrix, with the features of each row ascending and no value zero."""

    indptr: NDArray[np.int64]
    indices: NDArray[np.int32]
    values: NDArray[Any]
    n_features: int


def documents_of(comments: Sequence[str]) -> list[str] | None:
    """Return the documents that comments name; None if one names none, or there are none."""
    found = [_DOCID.search(comment) for comment in comments]
    return [match[1] for match in found if match] if found and all(found) else None


def names_document(text: bytes) -> bool:
    """Say whether the first row of SVMlight text names its document."""
    for line in text.splitlines():
        row, _, comment = line.partition(b"#")
        if row.strip():
            return documents_of([comment.decode("utf-8", "replace")]) is not None
    return False


@record
class FileRows:
    """The rows of a file, be it one of SVMlight or a table.

    Attributes
    ----------
    labels : ndarray of shape (n_rows,), float64
    qid : ndarray of shape (n_rows,) or None
        int64 if every qid is an integer, strings otherwise; None if no row has one.
    cost : ndarray of shape (n_rows,), float64, or None
        Weight of each row, 1 where a row has none; None if no row has one.
    features : ndarray of shape (n_rows, n_features) or CsrArrays
        An array in C order if more than half of its entries are not zero. Features count from
        zero.
    n_features : int
    zero_based : bool
        Whether the file counts features from zero, as it was told or found.
    name : str
        What messages call the file.
    comments : list of n_rows str, or None
        What follows ``#`` in each row, without the blanks around it; None unless asked for.
    feature_names : list of n_features str, or None
        Of a table.
    event : ndarray of shape (n_rows,), bool, or None
        Whether the event of each row has been seen, where a table says so; its label is the time.
    ids : sequence of n_rows str, or None
        The document of each row, where a table says so.
    is_labelled : bool
        False for a table without labels, which are 0 then.
    """

    labels: NDArray[np.float64]
    qid: NDArray[Any] | None
    cost: NDArray[np.float64] | None
    features: NDArray[Any] | CsrArrays
    n_features: int
    zero_based: bool
    name: str
    comments: list[str] | None = None
    feature_names: list[str] | None = None
    event: NDArray[np.bool_] | None = None
    ids: Sequence[str] | None = None
    is_labelled: bool = True

    @property
    def packed(self) -> Any:
        """The packed data that these rows are (`ranksvm.disk.rows.PackedRows`); else None."""
        return None

    @property
    def docids(self) -> Sequence[str] | None:
        """The document of each row, as a table or comments name it: ``#docid = GX000-00 ...``.

        None if comments were not asked for, or some row names no document.
        """
        if self.ids is not None:
            return self.ids
        return documents_of(self.comments or ())

    @property
    def X(self) -> NDArray[Any] | csr_matrix:
        """The features as an array or a SciPy CSR matrix of shape (n_rows, n_features)."""
        if not isinstance(self.features, CsrArrays):
            return self.features
        from scipy.sparse import csr_matrix

        indptr, indices, values, n_features = self.features
        X = csr_matrix((values, indices, indptr), shape=(len(self.labels), n_features))
        X.has_canonical_format = True
        return X
