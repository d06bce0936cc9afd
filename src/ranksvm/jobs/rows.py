"""Rows of files as matrices, scaled, and with the features that a model has."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import NoPairsError
from ..files.rows import CsrArrays, FileRows
from ..files.source import DataError
from ..linear.design_matrix import DesignMatrix
from ..linear.feature_names import FeatureNames
from ..linear.occurring import IN_TRAINING, Columns
from ..models import Model
from ..models.scaling import scale_factors
from ..pairs.preferences import Preferences

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ..linear.matrix import Matrix

Vector = NDArray[np.float64]


def factors_of(rows: FileRows, scale: str | None, columns: Columns | None = None) -> Vector | None:
    """Return what `scale_factors` says of the columns, or all features, of rows.

    None without a scale.
    """
    if scale is None:
        return None
    return scale_factors(rows.X, scale, columns, **naming(rows))


def naming(rows: FileRows) -> dict[str, Any]:
    """Return how messages call rows and their first feature, as `scale_factors` takes it."""
    return {"name": rows.name, "first": 0 if rows.zero_based else 1}


def feature_names(rows: FileRows) -> FeatureNames:
    """Return how the features of rows are called."""
    return FeatureNames(rows.n_features, rows.feature_names, 0 if rows.zero_based else 1, rows.name)


def design_matrix(rows: FileRows, spare: float = IN_TRAINING) -> DesignMatrix:
    """View the features of rows as a design matrix; `spare` as for its `from_array`."""
    if rows.packed is not None:
        X: DesignMatrix = rows.packed.design_matrix(spare)
        return X
    if isinstance(rows.features, CsrArrays):
        return DesignMatrix.from_csr(*rows.features, spare)
    return DesignMatrix.from_array(rows.features)


def labelled_preferences(rows: FileRows) -> Preferences:
    """Return which rows are better than which, by labels, queries and weights."""
    if rows.packed is not None:
        preferences: Preferences = rows.packed.preferences()
        return preferences
    return Preferences.from_labels(rows.labels, rows.qid, rows.cost)


@contextmanager
def naming_lack_of_pairs(rows: FileRows) -> Iterator[None]:
    """Say of which file it is that no row is preferred to another.

    Raises
    ------
    DataError
        In place of `NoPairsError`.
    """
    try:
        yield
    except NoPairsError as error:
        raise DataError(
            f"{rows.name}: {error.why}; check its labels, queries and weights"
        ) from None


def bytes_of_pass(rows: FileRows) -> int | None:
    """Return what a pass over packed data reads; None of rows in memory."""
    return None if rows.packed is None else rows.packed.bytes_of_X


def n_nonzero_of(rows: FileRows) -> int | None:
    """Return how many features are not zero, where that is known."""
    return None if rows.packed is None else rows.packed.n_nonzero


def require_unchanged(rows: FileRows) -> None:
    """Refuse packed data to which somebody has written since they were opened."""
    if rows.packed is not None:
        rows.packed.require_unchanged()


def matrix_on(device: str, rows: FileRows | NDArray[np.float64] | csr_matrix) -> Matrix:
    """Do the same, also for arrays and matrices, on a device, as `RankSVM` names it."""
    if device == "cpu":
        if isinstance(rows, FileRows):
            return design_matrix(rows)
        return DesignMatrix.from_array(rows)
    from ..arrays import placement

    return placement.design_matrix(rows.X if isinstance(rows, FileRows) else rows, device)


def widened(X: Any, n_features: int, sparse: bool = False) -> Any:
    """Return rows with so many features, zero where they end before.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_rows, at most n_features)
    n_features : int
    sparse : bool, default=False
        Make rows sparse that lack features.
    """
    n_rows = X.shape[0]
    if X.shape[1] == n_features:
        return X
    if isinstance(X, np.ndarray) and not sparse:
        return np.pad(X, [(0, 0), (0, n_features - X.shape[1])])
    from scipy.sparse import csr_matrix

    X = csr_matrix(X)
    return csr_matrix((X.data, X.indices, X.indptr), shape=(n_rows, n_features))


def counts_from_one(model: Model | None) -> bool:
    """Whether a model was trained on a file that counts features from one."""
    return model is not None and model.training.get("zero_based") is False


def one_ranking(name: str) -> str:
    """Return a note of rows to rank that belong to no queries."""
    return f"note: {name} has no qids: all rows are one ranking"


def require_fit(rows: FileRows, trained: Model | FileRows, note: Callable[[str], None]) -> None:
    """Refuse data whose features cannot be those that a model has, or will have.

    Parameters
    ----------
    rows : FileRows
    trained : LinearModel, KernelModel or FileRows
        The model, or the rows that it is trained on.
    note : callable
        Is told of data that end before the features of the model do: the others are zero.

    Raises
    ------
    DataError
        If the data count from zero and the model from one, or the data have more features.
    """
    from_one = not trained.zero_based if isinstance(trained, FileRows) else counts_from_one(trained)
    if rows.zero_based and from_one:
        raise DataError(
            f"{rows.name} counts features from zero but the model was trained on a file that "
            "counts from one"
        )
    missing = trained.n_features - rows.n_features
    if missing < 0 or (missing > 0 and rows.feature_names is not None):
        raise DataError(
            f"{rows.name} has {rows.n_features} features but the model was trained with "
            f"{trained.n_features}"
        )
    if (trained.feature_names is None) != (rows.feature_names is None):
        nameless = rows.name if rows.feature_names is None else "the model"
        note(f"note: {nameless} has no names of features: they are taken in their order")
    if missing > 0:
        last = rows.n_features - rows.zero_based
        note(
            f"note: {rows.name} ends at feature {last}; the other {missing} of the model count as "
            "zero"
        )


def all_fit(
    parts: Iterator[FileRows], model: Model, note: Callable[[str], None]
) -> Iterator[FileRows]:
    """Yield the same parts of rows, each of which fits a model; note what `require_fit` does once.

    Raises
    ------
    DataError
        As `require_fit`.
    """
    width, part = 0, None
    for part in parts:
        require_fit(part, model, lambda note: None)
        width = max(width, part.n_features)
        yield part
    if part is not None:
        require_fit(replace(part, n_features=width), model, note)
