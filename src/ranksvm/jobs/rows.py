"""Rows of files as matrices, scaled, and with the features that a model has."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..files.source import DataError
from ..files.svmlight import CsrArrays, SvmlightFile
from ..linear.design_matrix import DesignMatrix
from ..linear.feature_names import FeatureNames
from ..linear.occurring import IN_TRAINING, Columns
from ..models import Model
from ..models.scaling import scale_factors

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

    from ..linear.matrix import Matrix

Vector = NDArray[np.float64]


def factors_of(
    rows: SvmlightFile, scale: str | None, columns: Columns | None = None
) -> Vector | None:
    """Return what `scale_factors` says of the columns, or all features, of rows.

    None without a scale.
    """
    if scale is None:
        return None
    return scale_factors(rows.X, scale, columns, **naming(rows))


def naming(rows: SvmlightFile) -> dict[str, Any]:
    """Return how messages call rows and their first feature, as `scale_factors` takes it."""
    return {"name": rows.name, "first": 0 if rows.zero_based else 1}


def feature_names(rows: SvmlightFile) -> FeatureNames:
    """Return how the features of rows are called."""
    return FeatureNames(rows.n_features, None, 0 if rows.zero_based else 1, rows.name)


def design_matrix(rows: SvmlightFile, spare: int = IN_TRAINING) -> DesignMatrix:
    """View the features of rows as a design matrix; `spare` as for its `from_array`."""
    if isinstance(rows.features, CsrArrays):
        return DesignMatrix.from_csr(*rows.features, spare)
    return DesignMatrix.from_array(rows.features)


def matrix_on(device: str, rows: SvmlightFile | NDArray[np.float64] | csr_matrix) -> Matrix:
    """Do the same, also for arrays and matrices, on a device, as `RankSVM` names it."""
    if device == "cpu":
        if isinstance(rows, SvmlightFile):
            return design_matrix(rows)
        return DesignMatrix.from_array(rows)
    from ..arrays import placement

    return placement.design_matrix(rows.X if isinstance(rows, SvmlightFile) else rows, device)


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


def require_fit(
    rows: SvmlightFile, trained: Model | SvmlightFile, note: Callable[[str], None]
) -> None:
    """Refuse data whose features cannot be those that a model has, or will have.

    Parameters
    ----------
    rows : SvmlightFile
    trained : LinearModel, KernelModel or SvmlightFile
        The model, or the rows that it is trained on.
    note : callable
        Is told of data that end before the features of the model do: the others are zero.

    Raises
    ------
    DataError
        If the data count from zero and the model from one, or the data have more features.
    """
    if isinstance(trained, SvmlightFile):
        from_one = not trained.zero_based
    else:
        from_one = counts_from_one(trained)
    if rows.zero_based and from_one:
        raise DataError(
            f"{rows.name} counts features from zero but the model was trained on a file that "
            "counts from one"
        )
    missing = trained.n_features - rows.n_features
    if missing < 0:
        raise DataError(
            f"{rows.name} has {rows.n_features} features but the model was trained with "
            f"{trained.n_features}"
        )
    if missing > 0:
        last = rows.n_features - rows.zero_based
        note(
            f"note: {rows.name} ends at feature {last}; the other {missing} of the model count as "
            "zero"
        )
