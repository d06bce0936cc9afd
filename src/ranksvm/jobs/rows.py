"""What the command line and config files both do between reading and writing files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..files.model import KernelModel, LinearModel, Model
from ..files.source import DataError
from ..files.svmlight import CsrArrays, SvmlightFile
from ..linear.matrix import DesignMatrix
from ..linear.objective import Matrix
from ..linear.parameters import Parameters
from ..linear.training import Fit
from .fingerprint import fingerprint

Vector = NDArray[np.float64]


def matrix_on(device: str, rows: SvmlightFile) -> Matrix:
    """View the features of rows as a design matrix on a device, as `RankSVM` names it."""
    if device == "cpu":
        return design_matrix(rows)
    from ..arrays import placement

    return placement.design_matrix(rows.X, device)


def design_matrix(rows: SvmlightFile) -> DesignMatrix:
    """View the features of rows as a design matrix."""
    if isinstance(rows.features, CsrArrays):
        return DesignMatrix.from_csr(*rows.features)
    return DesignMatrix.from_array(rows.features)


def predict(model: Model, rows: SvmlightFile, n_threads: int) -> Vector:
    """Score rows; features that they lack are zero, and those that the model lacks do not count.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if isinstance(model, KernelModel):
        return model.predict(_as_wide(rows.X, model), n_threads)
    shared = min(rows.n_features, len(model.coef))
    coef = np.zeros(rows.n_features)
    coef[:shared] = model.coef[:shared]
    return design_matrix(rows).dot(coef, n_threads)


def _as_wide(X: Any, model: KernelModel) -> Any:
    """Return rows with the features of the model: cut off, or filled up with zeros."""
    missing = model.n_features - X.shape[1]
    if missing <= 0:
        return X if missing == 0 else X[:, : model.n_features]
    if isinstance(X, np.ndarray) and isinstance(model.support_vectors, np.ndarray):
        return np.pad(X, [(0, 0), (0, missing)])
    from scipy.sparse import csr_matrix

    X = csr_matrix(X)
    return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], model.n_features))


def counts_from_one(model: Model | None) -> bool:
    """Whether a model was trained on a file that counts features from one."""
    return model is not None and model.training.get("zero_based") is False


def require_fit(rows: SvmlightFile, model: Model, note: Callable[[str], None]) -> None:
    """Refuse data whose features cannot be those of the model.

    Parameters
    ----------
    rows : SvmlightFile
    model : LinearModel or KernelModel
    note : callable
        Is told of data that end before the features of the model do.

    Raises
    ------
    DataError
        If the data count from zero and the model from one, or the data have more features.
    """
    n_features = model.n_features
    require_same_base(rows, model)
    if rows.n_features > n_features:
        raise DataError(
            f"{rows.name} has {rows.n_features} features but the model was trained with "
            f"{n_features}"
        )
    if rows.n_features < n_features:
        note(
            f"note: {rows.name} ends at feature {rows.n_features}; the other "
            f"{n_features - rows.n_features} of the model count as zero"
        )


def require_same_base(rows: SvmlightFile, model: Model) -> None:
    """Refuse data that count features from zero for a model that counts from one."""
    if rows.zero_based and counts_from_one(model):
        raise DataError(
            f"{rows.name} counts features from zero but the model was trained on a file that "
            "counts from one"
        )


def warn_unless_converged(shortfall: str | None) -> None:
    """Warn of what a training fell short of; None if it did not."""
    if shortfall is not None:
        warnings.warn(shortfall, stacklevel=2)


def trained_model(fit: Fit, rows: SvmlightFile, parameters: Parameters) -> LinearModel:
    """Return the model of a fit, with what there is to know about its training."""
    return LinearModel(
        fit.result.weights, parameters=vars(parameters), training=training_of(fit, rows)
    )


def training_of(fit: Fit, rows: SvmlightFile) -> dict[str, Any]:
    """Return what there is to know about a training."""
    result = fit.result
    return {
        "objective": result.value,
        "dual_gap": result.dual_gap,
        "status": str(result.status),
        "solver": result.solver,
        "n_iter": result.n_iter,
        "n_samples": len(rows.labels),
        "n_queries": fit.n_queries,
        "n_pairs": fit.n_pairs,
        "data": rows.name,
        "zero_based": rows.zero_based,
        "fingerprint": fingerprint(rows.features, rows.labels, rows.qid),
    }


def summary(fit: Fit, rows: SvmlightFile) -> str:
    """Return a line that says how training ended."""
    result = fit.result
    return (
        f"{result.status}: objective {result.value:.9g}, relative gap {result.dual_gap:.1e}, "
        f"{result.n_iter} iterations, {result.history[-1].seconds:.2f} s; "
        f"{len(rows.labels)} rows, {rows.n_features} features, {fit.n_queries} queries, "
        f"{fit.n_pairs} pairs"
    )


def performance(
    labels: Vector, scores: Vector, qid: ArrayLike | None, cost: Vector | None, n_threads: int
) -> str:
    """Return a table of pairwise accuracy and ranking error, pooled and as a mean of queries.

    Raises
    ------
    ValueError
        If there is no preference pair.
    """
    from ..metrics import lost_pairs

    lost, pairs = lost_pairs(labels, scores, qid, sample_weight=cost, n_threads=n_threads)
    pooled, by_query = lost.sum() / pairs.sum(), (lost[pairs > 0] / pairs[pairs > 0]).mean()
    return (
        f"{'':20} {'all pairs':>12} {'query mean':>12}\n"
        f"{'pairwise accuracy':20} {1 - pooled:12.6f} {1 - by_query:12.6f}\n"
        f"{'ranking error':20} {pooled:12.6f} {by_query:12.6f}\n"
    )
