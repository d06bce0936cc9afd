"""Which data a model was trained on, told by a few numbers that cost less than a pass over X."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

SAMPLED_ROWS = 1024


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
    n_features, features_of = _rows_of(X)
    for row in rows.tolist():
        indices, values = features_of(row)
        digest.update(len(indices).to_bytes(8, "little") + indices.tobytes() + values.tobytes())
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


def _rows_of(X: Any) -> tuple[int, Any]:
    """Return the number of features, and a function that gives those of a row."""
    if not hasattr(X, "indptr"):
        dense = np.asarray(X)

        def dense_row(row: int) -> tuple[NDArray[Any], NDArray[Any]]:
            indices = np.flatnonzero(dense[row])
            return indices.astype("<i8"), dense[row][indices].astype("<f8")

        return dense.shape[1], dense_row

    stored = X.values if hasattr(X, "values") else X.data
    n_features = X.n_features if hasattr(X, "n_features") else X.shape[1]

    def sparse_row(row: int) -> tuple[NDArray[Any], NDArray[Any]]:
        part = slice(int(X.indptr[row]), int(X.indptr[row + 1]))
        indices, values = X.indices[part], stored[part]
        keep = np.flatnonzero(values)
        order = keep[np.argsort(indices[keep], kind="stable")]
        return indices[order].astype("<i8"), values[order].astype("<f8")

    return int(n_features), sparse_row
