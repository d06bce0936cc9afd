"""Which data a model was trained on, told by a few numbers that cost less than a pass over X."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SAMPLED_ROWS = 1024
_MOST_VALUES = 1 << 22  # of rows that are looked at together


def fingerprint(
    X: Any, y: ArrayLike, qid: ArrayLike | None = None, n_nonzero: int | None = None
) -> dict[str, int | str]:
    """Return what identifies training data: its size and a hash of a part of it.

    The hash covers all labels, where the query changes from a row to the next, and, of 1024 rows
    evenly spread from the first to the last, the query id as text and the features that are not
    zero. So it does not depend on whether X is dense or sparse, and a change to the features of
    other rows may go unnoticed: it tells data sets apart, and is no seal.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        SciPy's or `ranksvm.files.rows.CsrArrays`.
    y : array-like of shape (n_samples,)
    qid : array-like of shape (n_samples,), optional
    n_nonzero : int, optional
        How many features are not zero; they are counted by default, which takes a pass over X.

    Returns
    -------
    dict
        n_samples, n_features, n_nonzero, and as "blake2b" 16 hexadecimal digits.
    """
    labels = np.ascontiguousarray(y, dtype="<f8").reshape(-1) + 0.0  # -0.0 is 0.0
    n_samples = len(labels)
    rows = np.linspace(0, max(n_samples - 1, 0), SAMPLED_ROWS).astype(np.int64)
    rows = rows[np.diff(rows, prepend=-1) > 0]
    if n_samples == 0:
        rows = rows[:0]
    digest = blake2b(digest_size=8)
    digest.update(labels.tobytes())
    _add_queries(digest, qid, rows)
    n_features = int(X.n_features if hasattr(X, "n_features") else X.shape[1])
    for some in np.array_split(rows, 1 + _n_stored(X, rows) // _MOST_VALUES):
        digest.update(_record(*_nonzero(X, some)))
    return {
        "n_samples": n_samples,
        "n_features": n_features,
        "n_nonzero": _count_nonzero(X) if n_nonzero is None else n_nonzero,
        "blake2b": digest.hexdigest(),
    }


def _add_queries(digest: Any, qid: ArrayLike | None, rows: NDArray[np.int64]) -> None:
    if qid is None:
        digest.update(b"no qid")
        return
    ids = np.asarray(qid)
    changes = np.flatnonzero(ids[1:] != ids[:-1])
    digest.update(len(changes).to_bytes(8, "little") + changes.astype("<i8").tobytes())
    digest.update("\n".join(map(str, ids[rows].tolist())).encode("utf-8", "surrogateescape"))


def _count_nonzero(X: Any) -> int:
    stored = X.values if hasattr(X, "values") else X.data if hasattr(X, "indptr") else X
    return int(np.count_nonzero(stored))


def _n_stored(X: Any, rows: NDArray[np.int64]) -> int:
    if not hasattr(X, "indptr"):
        return int(len(rows) * X.shape[1])
    return int((X.indptr[rows + 1] - X.indptr[rows]).sum())


def _record(sizes: NDArray[np.int64], index: NDArray[Any], value: NDArray[Any]) -> bytes:
    """Return, row by row, how many features are not zero, which they are, and their values.

    Each is a number of 8 bytes.
    """
    ends = np.cumsum(2 * sizes + 1)
    starts = ends - 2 * sizes - 1
    place = np.arange(len(index)) + np.repeat(starts + 1 - _before(sizes), sizes)
    words = np.empty(ends[-1] if len(ends) else 0, dtype="<i8")
    words[starts] = sizes
    words[place] = index
    words[place + np.repeat(sizes, sizes)] = value.astype("<f8").view("<i8")
    return words.tobytes()


def _nonzero(
    X: Any, rows: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[Any], NDArray[Any]]:
    """Return how many features of some rows are not zero, which, row by row, and their values."""
    if not hasattr(X, "indptr"):
        dense = np.asarray(X)[rows]
        keep = dense != 0
        return keep.sum(axis=1), np.flatnonzero(keep) % max(X.shape[1], 1), dense[keep]
    begin, end = (np.asarray(X.indptr[rows + k], dtype=np.int64) for k in (0, 1))
    sizes = end - begin
    row = np.repeat(np.arange(len(rows)), sizes)
    place = np.arange(len(row)) + np.repeat(begin - _before(sizes), sizes)
    index, value = X.indices[place], (X.values if hasattr(X, "values") else X.data)[place]
    keep = np.flatnonzero(value)
    keep = keep[np.lexsort((index[keep], row[keep]))]
    return np.bincount(row[keep], minlength=len(rows)), index[keep], value[keep]


def _before(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    before: NDArray[np.int64] = np.cumsum(sizes) - sizes
    return before
