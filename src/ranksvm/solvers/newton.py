"""Newton's method with an explicit Hessian and a line search on the scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import _core
from .line_search import line_search
from .result import Callback, Objective, Progress, SolverResult, Status

Vector = NDArray[np.float64]


def newton(
    objective: Objective,
    w0: Vector,
    *,
    tol: float = 1e-3,
    max_iter: int = 1000,
    callback: Callback | None = None,
) -> SolverResult:
    """Minimise by Newton steps.

    While the relative duality gap exceeds `tol`:

    1. form the Hessian and scale its diagonal to one,
    2. factorise it (Cholesky) and solve for the Newton step,
    3. search along the step; a trial costs a sweep over the scores, no pass over X.

    Steps come from a Hessian in single precision as long as they serve; value, gradient, line
    search and certificate are in double precision always, so the optimum is not affected.

    Parameters
    ----------
    objective : Objective
    w0 : ndarray of shape (objective.size,)
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=1000
    callback : callable, optional
        Called with each `Iteration`; stops the solver by returning True.

    Returns
    -------
    SolverResult
    """
    progress = Progress(tol, max_iter, callback)
    current = objective.evaluate(w0)
    status = progress.record(current, 0.0)
    dtype: type[np.floating] = np.float32 if objective.size >= 32 else np.float64
    while status is None:
        gap = progress.dual_gap
        direction = _newton_step(current, dtype)
        progress.n_products += 1
        trial = None
        if direction is not None:
            trial, n_trials = line_search(current.along(direction))
            progress.n_evaluations += n_trials
        if trial is not None:
            current = trial.evaluation
            status = progress.record(current, trial.step)
        elif dtype is np.float64:
            status = Status.STALLED
        if trial is None or (trial.step > 0.5 and progress.dual_gap > 0.1 * gap):
            dtype = np.float64
    return progress.result(current, status)


def _newton_step(evaluation: Any, dtype: type[np.floating]) -> Vector | None:
    """Solve for the step; None if the Hessian is not positive definite in this precision."""
    hessian, scale = evaluation.scaled_hessian(dtype)
    diagonal = np.diag(hessian)
    if not (np.isfinite(diagonal).all() and (diagonal > 0).all()):
        return None
    to_unit = 1 / np.sqrt(diagonal)
    hessian *= to_unit
    hessian *= to_unit[:, np.newaxis]
    scale = scale * to_unit
    try:
        factor = np.linalg.cholesky(hessian)
    except np.linalg.LinAlgError:
        return None
    direction: Vector = scale * _core.cholesky_solve(factor, -scale * evaluation.gradient)
    return direction if direction @ evaluation.gradient < 0 else None
