"""What the file meta.json of a packed data set says, and how it is checked."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..files.quoting import shown
from ..files.source import DataError
from .folder import META, NewFolder
from .sources import Source

FORMAT, VERSION = "ranksvm data", 1
LAYOUTS, DTYPES = ("dense", "csr"), ("float32", "float64")
QIDS = (None, "integers", "names")
_MOST_BYTES = 1 << 28  # of meta.json, whose names of features are many
_LARGEST = 1 << 47


@dataclass(frozen=True)
class Meta:
    """What is known of packed data beside their arrays.

    Attributes
    ----------
    layout : {"dense", "csr"}
    dtype : {"float32", "float64"}
    n_samples, n_features, n_queries, n_nonzero : int
    qid : {"integers", "names"} or None
        What query ids are; None if there are none, and all rows are one ranking.
    weighted : bool
        Whether rows have weights.
    documented : bool
        Whether rows have ids of documents.
    summed : bool
        Whether sums of the columns are there.
    zero_based : bool
        Whether the files counted features from zero.
    feature_names : tuple of str or None
    sources : tuple of Source
    query_weighted : bool
        Whether queries have weights; they have none in older folders, which do not say so.
    fingerprint_of_sums : str or None
        Of those of the columns, which nothing else would tell from others; not in older folders.
    """

    layout: str
    dtype: str
    n_samples: int
    n_features: int
    n_queries: int
    n_nonzero: int
    qid: str | None
    weighted: bool
    documented: bool
    summed: bool
    zero_based: bool
    feature_names: tuple[str, ...] | None = None
    sources: tuple[Source, ...] = ()
    query_weighted: bool = False
    fingerprint_of_sums: str | None = None

    def write(self, folder: NewFolder) -> None:
        """Write meta.json."""
        fields = {**vars(self), "sources": [source.as_json() for source in self.sources]}
        content = {"format": FORMAT, "version": VERSION, **fields}
        with folder.create(META) as file:
            file.write(json.dumps(content, indent=1).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())

    @classmethod
    def read(cls, folder: str) -> Meta:
        """Read meta.json.

        Raises
        ------
        DataError
            If it cannot be read, or does not say what it must.
        """
        path = os.path.join(folder, META)
        try:
            with open(path, "rb") as file:
                text = file.read(_MOST_BYTES)
            content = json.loads(text)
        except OSError as error:
            raise DataError(f"cannot read {path}: {error.strerror or error}") from error
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path} is no JSON: {ascii(str(error))[1:-1]}") from None
        return cls._checked(content, path)

    @classmethod
    def _checked(cls, content: Any, path: str) -> Meta:
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise DataError(f"{path} is not that of packed data: its format is not {FORMAT!r}")
        if content.get("version") != VERSION:
            raise DataError(
                f"{path} is of version {shown(content.get('version'))}, where {VERSION} is read: "
                "pack the data again"
            )
        look = _Fields(content, path)
        meta = cls(
            layout=look.choice("layout", LAYOUTS),
            dtype=look.choice("dtype", DTYPES),
            n_samples=look.count("n_samples"),
            n_features=look.count("n_features"),
            n_queries=look.count("n_queries"),
            n_nonzero=look.count("n_nonzero"),
            qid=look.choice("qid", QIDS),
            weighted=look.flag("weighted"),
            documented=look.flag("documented"),
            summed=look.flag("summed"),
            zero_based=look.flag("zero_based"),
            feature_names=look.names("feature_names"),
            sources=look.sources("sources"),
            query_weighted="query_weighted" in content and look.flag("query_weighted"),
            fingerprint_of_sums=look.text("fingerprint_of_sums"),
        )
        if meta.feature_names is not None and len(meta.feature_names) != meta.n_features:
            raise DataError(f"{path}: feature_names must name all {meta.n_features} features")
        if meta.n_samples == 0 or not 1 <= meta.n_queries <= meta.n_samples:
            raise DataError(f"{path}: there must be rows, and no more queries than these")
        if meta.n_features > np.iinfo(np.int32).max:
            raise DataError(f"{path}: n_features={meta.n_features} are more than 2^31 - 1")
        return meta


class _Fields:
    """The fields of a JSON object, refused in a sentence where they are not what they must be."""

    def __init__(self, content: dict[str, Any], path: str) -> None:
        self._content, self._path = content, path

    def _require(self, is_good: bool, name: str, what: str) -> Any:
        value = self._content.get(name)
        if not is_good:
            raise DataError(f"{self._path}: {name} must be {what}, not {shown(value)}")
        return value

    def choice(self, name: str, choices: Sequence[Any]) -> Any:
        value = self._content.get(name, "")
        known = value is None or isinstance(value, str)
        return self._require(known and value in choices, name, f"one of {choices}")

    def count(self, name: str) -> int:
        value = self._content.get(name)
        good = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LARGEST
        return int(self._require(good, name, "a whole number"))

    def flag(self, name: str) -> bool:
        value = self._content.get(name)
        return bool(self._require(isinstance(value, bool), name, "true or false"))

    def text(self, name: str) -> str | None:
        value = self._content.get(name)
        good = value is None or isinstance(value, str)
        return None if self._require(good, name, "a text") is None else str(value)

    def names(self, name: str) -> tuple[str, ...] | None:
        value = self._content.get(name)
        good = isinstance(value, list) and all(isinstance(one, str) for one in value)
        self._require(value is None or good, name, "a list of texts")
        return None if value is None else tuple(value)

    def sources(self, name: str) -> tuple[Source, ...]:
        value = self._content.get(name)
        good = isinstance(value, list) and all(map(_is_source, value))
        self._require(good, name, "a list of files")
        return tuple(Source(**one) for one in value or ())


def _is_source(value: Any) -> bool:
    kinds = {"name": str, "bytes": int, "mtime_ns": int, "fingerprint": str}
    return (
        isinstance(value, dict)
        and value.keys() == kinds.keys()
        and all(isinstance(value[name], kind) for name, kind in kinds.items())
        and "\0" not in value["name"]
    )
