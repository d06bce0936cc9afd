"""Several files as one: rows one after the other, features by name or by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import CsrArrays, FileRows
from .source import DataError

Features = NDArray[Any] | CsrArrays


def joined(parts: list[FileRows], note: Callable[[str], None]) -> FileRows:
    """Return the rows of files, one after the other.

    A qid is that of one query in all files, as if they were one.

    Parameters
    ----------
    parts : list of FileRows
        Is emptied, so that no more memory is taken than by the rows and a file.
    note : callable
        Is told of qids that come in several files.

    Raises
    ------
    DataError
        If some have qids, weights, events or names and others not, or their features differ.
    """
    first = parts[0]
    if len(parts) == 1:
        return parts.pop()
    for part in parts[1:]:
        _require_alike(first, part)
    qid = _joined_queries(parts, note)
    found: dict[str, Any] = {}
    for name in ("labels", "cost", "event"):
        columns = [getattr(part, name) for part in parts]
        found[name] = None if columns[0] is None else np.concatenate(columns)
    for name in ("comments", "ids"):
        lists = [getattr(part, name) for part in parts]
        found[name] = None if None in lists else [text for texts in lists for text in texts]
    width = max(part.n_features for part in parts)
    name = f"{first.name} and {len(parts) - 1} more"
    features = [part.features for part in parts]
    parts.clear()
    return replace(
        first, **found, qid=qid, features=_stacked(features, width), n_features=width, name=name
    )


def _require_alike(first: FileRows, other: FileRows) -> None:
    facts = {"qid": "qids", "cost": "weights of rows", "event": "events"}
    for attribute, title in facts.items():
        if (getattr(first, attribute) is None) != (getattr(other, attribute) is None):
            having, lacking = (
                (first, other) if getattr(other, attribute) is None else (other, first)
            )
            raise DataError(f"{having.name} has {title}, but {lacking.name} has none")
    if (first.feature_names is None) != (other.feature_names is None):
        raise DataError(
            f"features have names in one of {first.name} and {other.name}, and numbers in the "
            "other: read files of one kind"
        )


def _joined_queries(parts: list[FileRows], note: Callable[[str], None]) -> NDArray[Any] | None:
    columns = [part.qid for part in parts if part.qid is not None]
    if not columns:
        return None
    if len({column.dtype.kind for column in columns}) > 1:
        columns = [column.astype(str) for column in columns]
    n_again = _come_again(columns)
    if n_again:
        counted = "1 qid comes" if n_again == 1 else f"{n_again:,} qids come"
        note(
            f"note: {counted} in several of {parts[0].name} and the files after it, and each is "
            "that of one query; if files number their queries alike, give these other qids"
        )
    return np.concatenate(columns)


def _come_again(columns: list[NDArray[Any]]) -> int:
    """Return how many qids come in several files, but for those that go on from one to the next."""
    seen: set[Any] = set()
    again: set[Any] = set()
    last = None
    for column in columns:
        own = _distinct(column)
        again |= seen.intersection(own[1:] if own[0] == last else own)
        seen.update(own)
        last = own[-1]
    return len(again)


def _distinct(qid: NDArray[Any]) -> list[Any]:
    starts = np.flatnonzero(np.concatenate([[True], qid[1:] != qid[:-1]]))
    found: list[Any] = qid[starts].tolist()
    return found


def of_layout(features: Features, dense: bool) -> Features:
    """Return features as an array in C order, or as sparse ones."""
    if dense == (not isinstance(features, CsrArrays)):
        return features
    from scipy.sparse import csr_matrix

    if isinstance(features, CsrArrays):
        indptr, indices, values, n_features = features
        shape = (len(indptr) - 1, n_features)
        array: NDArray[Any] = csr_matrix((values, indices, indptr), shape=shape).toarray()
        return array
    X = csr_matrix(features)
    return CsrArrays(
        X.indptr.astype(np.int64), X.indices.astype(np.int32), X.data, features.shape[1]
    )


def _stacked(features: list[Features], width: int) -> Features:
    """Return features one below the other, in the layout that one file of them all would have."""
    n_rows = sum(_n_rows(part) for part in features)
    if all(not isinstance(part, CsrArrays) and part.shape[1] == width for part in features):
        dense = True
    else:
        stored = sum(
            len(part.values) if isinstance(part, CsrArrays) else int(np.count_nonzero(part))
            for part in features
        )
        dense = 2 * stored > n_rows * width
    return _stacked_dense(features, n_rows, width) if dense else _stacked_sparse(features, width)


def _n_rows(features: Features) -> int:
    return len(features.indptr) - 1 if isinstance(features, CsrArrays) else len(features)


def _stacked_dense(features: list[Features], n_rows: int, width: int) -> NDArray[Any]:
    single = all(_dtype(part) == np.float32 for part in features)
    stacked = np.zeros((n_rows, width), np.float32 if single else np.float64)
    row = n_rows
    while features:
        part = of_layout(features.pop(), dense=True)
        assert not isinstance(part, CsrArrays)
        row -= len(part)
        stacked[row : row + len(part), : part.shape[1]] = part
    return stacked


def _dtype(features: Features) -> Any:
    return features.values.dtype if isinstance(features, CsrArrays) else features.dtype


def _stacked_sparse(features: list[Features], width: int) -> CsrArrays:
    parts = [of_layout(part, dense=False) for part in features]
    features.clear()
    sparse = [part for part in parts if isinstance(part, CsrArrays)]
    starts = np.cumsum([0, *(part.indptr[-1] for part in sparse)])
    rows = [part.indptr[1:] + start for part, start in zip(sparse, starts[:-1], strict=True)]
    return CsrArrays(
        np.concatenate([np.zeros(1, np.int64), *rows]),
        np.concatenate([part.indices for part in sparse]),
        np.concatenate([part.values for part in sparse]),
        width,
    )
