"""Training on the rows of files."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..errors import ShortfallWarning
from ..files.rows import FileRows
from ..linear.parameters import Parameters
from ..linear.rounds import train
from ..linear.training import Fit
from ..models import KernelModel, LinearModel, Model
from ..models.scaling import multiplied
from ..pairs.given import AnyPreferences
from ..progress import rate
from ..solvers import Callback
from ..threads import resolve_threads
from .features import PreparedRows
from .fingerprint import fingerprint
from .rows import (
    Vector,
    bytes_of_pass,
    factors_of,
    feature_names,
    labelled_preferences,
    n_nonzero_of,
    naming_lack_of_pairs,
    require_unchanged,
)

if TYPE_CHECKING:
    from ..kernel.kernels import Kernel


def train_on_rows(
    rows: FileRows,
    parameters: Parameters,
    *,
    preferences: AnyPreferences | None = None,
    kernel: Kernel | None = None,
    prepared: PreparedRows | None = None,
    device: str = "cpu",
    max_memory: float = 4e9,
    callback: Callback | None = None,
    note: Callable[[str], object] | None = None,
) -> tuple[Fit, Model]:
    """Train a ranker on the rows of a file.

    Parameters
    ----------
    rows : FileRows
    parameters : Parameters
        With conditions on the weights of the features as they are.
    preferences : Preferences or GivenPreferences, optional
        By default, those of the labels, queries and weights of the file.
    kernel : Kernel, optional
        The linear ranker by default.
    prepared : PreparedRows, optional
        The same rows, with what is done to their features first; for a kernel, what multiplies
        them (`ranksvm.models.scaling.scale_factors`). The model is for the features as they are.
    device : str, default="cpu"
        As for `RankSVM`; kernels are computed on the CPU.
    max_memory : float, default=4e9
        As for `KernelRankSVM`.
    callback : callable, optional
        As for `ranksvm.linear.rounds.train`.
    note : callable, optional
        Called with what a kernel takes, before it is computed, and with how far that is.

    Returns
    -------
    fit : Fit
    model : LinearModel or KernelModel

    Raises
    ------
    ValueError
        As `RankSVM.fit` and `KernelRankSVM.fit`, if a feature cannot be scaled, or if features are
        mapped for a kernel.
    """
    fit: Fit
    model: Model
    if preferences is None:
        preferences = labelled_preferences(rows)
    prepared = PreparedRows(rows) if prepared is None else prepared
    with naming_lack_of_pairs(rows):
        if kernel is None:
            fit, model = _train_linear(prepared, preferences, parameters, device, callback)
        else:
            factors = factors_of(rows, prepared.scale)
            fit, model = _train_kernel(
                rows, preferences, parameters, factors, kernel, max_memory, callback, note
            )
    require_unchanged(rows)
    warn_unless_converged(fit.shortfall)
    described = {**parameters.described(feature_names(rows)), **prepared.parameters}
    training = training_of(fit, rows)
    if isinstance(model, LinearModel) and parameters.conditions.have_bounds:
        training["n_at_bounds"] = parameters.conditions.n_at_bounds(model.weights)
    return fit, replace(
        model, feature_names=rows.feature_names, parameters=described, training=training
    )


def _train_linear(
    prepared: PreparedRows,
    preferences: AnyPreferences,
    parameters: Parameters,
    device: str,
    callback: Callback | None,
) -> tuple[Fit, LinearModel]:
    X, factors = prepared.matrix(device)
    asked = parameters.conditions
    seen = replace(parameters, conditions=prepared.conditions(asked, factors, X.columns))
    fit = train(X, preferences, seen, callback=callback)
    return fit, prepared.model(fit, factors, asked)


def _train_kernel(
    rows: FileRows,
    preferences: AnyPreferences,
    parameters: Parameters,
    factors: Vector | None,
    kernel: Kernel,
    max_memory: float,
    callback: Callback | None,
    note: Callable[[str], object] | None,
) -> tuple[Fit, KernelModel]:
    from ..kernel.factor import KernelFactor
    from ..kernel.training import cost_of, train_kernel

    X = multiplied(rows.X, factors)
    kernel = kernel.fitted(X)
    if note is not None:
        note(cost_of(kernel, len(rows.labels), parameters, max_memory))
    factor = KernelFactor(kernel, X, max_memory, resolve_threads(parameters.n_threads))
    fit = train_kernel(
        factor,
        preferences,
        parameters,
        callback=callback,
        note=note,
    )
    return fit, KernelModel(kernel, X[fit.support], fit.dual_coef, factors)


def training_of(fit: Fit, rows: FileRows) -> dict[str, Any]:
    """Return what there is to know about a training."""
    result = fit.result
    return {
        "objective": result.value,
        "dual_gap": result.dual_gap,
        "status": str(result.status),
        "solver": result.solver,
        "n_iter": result.n_iter,
        "n_passes": result.n_passes,
        "n_samples": len(rows.labels),
        "n_queries": fit.n_queries,
        "n_pairs": fit.n_pairs,
        "data": rows.name,
        "zero_based": rows.zero_based,
        "fingerprint": fingerprint(rows.features, rows.labels, rows.qid, n_nonzero_of(rows)),
    }


def warn_unless_converged(shortfall: str | None) -> None:
    """Warn of what a training fell short of; None if it did not."""
    if shortfall is not None:
        warnings.warn(shortfall, ShortfallWarning, stacklevel=3)


def summary(fit: Fit, rows: FileRows) -> str:
    """Return a line that says how training ended, and another if there is something to advise."""
    result = fit.result
    advice = "" if fit.advice is None else f"\nnote: {fit.advice}"
    last, n_bytes = result.history[-1], bytes_of_pass(rows)
    read = (
        ""
        if n_bytes is None
        else (f"; {last.n_passes} passes of {n_bytes / 1e9:.3g} GB, {rate(last, n_bytes):.0f} MB/s")
    )
    return (
        f"{result.status}: objective {result.value:.9g}, relative gap {result.dual_gap:.1e}, "
        f"{result.n_iter} iterations, {last.seconds:.2f} s; "
        f"{len(rows.labels)} rows, {rows.n_features} features, {fit.n_queries} queries, "
        f"{counted_pairs(fit.n_pairs)}{read}{advice}"
    )


def counted_pairs(n_pairs: float) -> str:
    """Return how many pairs there are, or what they weigh if that is no whole number."""
    if float(n_pairs).is_integer():
        return f"{int(n_pairs)} pairs"
    return f"pair weight {n_pairs:,.1f}" if n_pairs >= 1 else f"pair weight {n_pairs:.3g}"
