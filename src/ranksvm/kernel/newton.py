"""Newton's method over all functions of a kernel, by preconditioned conjugate gradients.

Where the eigenvalues of a kernel matrix K fall slowly, a factor Phi that is exact enough has nearly
as many columns as there are rows. But its first columns serve as a preconditioner. In the space of
functions, with the inner product ``<p, r> = p'K r`` of coefficients, the Newton step solves
``A p = -(beta + c g)`` with ``A = I + c H K``, which is self-adjoint there. The functions that the
pivots of Phi span have the scores ``Phi t``, with t the inner products with an orthonormal basis of
theirs, and on them A is nearly ``S = I + c Phi'H Phi``; on what is orthogonal to them, A is nearly
the identity::

    A^-1 r  ~  r + B (S^-1 - I) Phi'r,    K B = Phi,    B = (L^-T on the rows of pivots).

Its scores are ``K r + Phi (S^-1 - I) Phi'r``: an iteration takes one product with K, for the scores
of the residual. Where iterations come to cost more than a better preconditioner, Phi gets more
columns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from ..linear.design_matrix import DesignMatrix
from ..solvers.first_width import with_first_width
from ..solvers.line_search import line_search
from ..solvers.progress import Progress
from ..solvers.protocols import Trial
from ..solvers.result import TINY, SolverResult, Status
from ..solvers.smoothing import Continuation
from ..solvers.trust_region import forcing
from .factor import LeadingColumns
from .function_space import FunctionEvaluation, FunctionObjective

Vector = NDArray[np.float64]
Function: TypeAlias = tuple[Vector, Vector]  # coefficients and scores
Preconditioner = Callable[[Function], Function]

_MAX_PRODUCTS = 500
_SLOWNESS = 15  # of a multiplication in a product with a vector, to one in a product of matrices


def newton_in_function_space(
    objective: FunctionObjective,
    columns: Callable[[int], LeadingColumns],
    n_columns: int,
    coef: Vector,
    progress: Progress,
) -> SolverResult:
    """Minimise by Newton steps found by preconditioned conjugate gradients.

    Parameters
    ----------
    objective : FunctionObjective
        With a smooth loss.
    columns : callable
        Returns the first columns of the factor of the kernel, as many as are asked for or, if there
        are no more, fewer.
    n_columns : int
        How many to begin with.
    coef : ndarray of shape (n_samples,)
        Where to start.
    progress : Progress

    Returns
    -------
    SolverResult
        Its weights are the coefficients beta.
    """
    progress.begin("newton_cg", objective)
    leading = columns(n_columns)
    continuation = Continuation()
    current = with_first_width(objective.evaluate(coef), progress.lower_bound)
    status = progress.record(current, 0.0)
    norm_at_start = max(np.sqrt(2 * current.distance), TINY)
    trial: Trial[FunctionEvaluation] | None = None
    while status is None:
        current = continuation.refine(current, progress.target, trial)
        norm = max(np.sqrt(2 * current.distance), TINY)
        accuracy = forcing(norm, norm_at_start, max(progress.target, current.smoothing))
        direction, n_products = _newton_step(current, _preconditioner(current, leading), accuracy)
        progress.n_products += n_products
        trial, n_trials = line_search(current.along(*direction))
        progress.n_evaluations += n_trials
        if trial is None:
            status = Status.STALLED
            break
        current = trial.evaluation
        status = progress.record(current, trial.step)
        n_wanted = 2 * len(leading.pivots)
        if status is None and n_wanted**2 < _SLOWNESS * n_products * len(coef):
            leading = columns(n_wanted)
    return progress.result(status)


def _newton_step(
    current: FunctionEvaluation, precondition: Preconditioner, accuracy: float
) -> tuple[Function, int]:
    """Solve for the Newton step until the residual is this part of the gradient."""
    K = current.objective.K
    coef, scores = (-part for part in current.gradient)
    goal = accuracy**2 * float(coef @ scores)
    step, image = np.zeros_like(coef), np.zeros_like(coef)
    direction, moved = precondition((coef, scores))
    energy = float(coef @ moved)
    n_products = 0
    while n_products < _MAX_PRODUCTS:
        n_products += 1
        product = current.hessian_product(direction, moved)
        curvature = float(product @ moved)
        if not (curvature > 0 and energy > 0):  # beyond floating point
            break
        alpha = energy / curvature
        step += alpha * direction
        image += alpha * moved
        coef = coef - alpha * product
        scores = K.dot(coef)
        if float(coef @ scores) <= goal:
            break
        scaled, scaled_image = precondition((coef, scores))
        energy, previous = float(coef @ scaled_image), energy
        direction = scaled + (energy / previous) * direction
        moved = scaled_image + (energy / previous) * moved
    return (step, image), n_products


def _preconditioner(current: FunctionEvaluation, leading: LeadingColumns) -> Preconditioner:
    S = _cholesky(current, DesignMatrix.from_array(leading.features))
    if S is None:
        return lambda function: function

    def apply(function: Function) -> Function:
        coef, scores = function
        inner = leading.features.T @ coef
        change = scipy.linalg.cho_solve((S, True), inner) - inner
        return coef + leading.coef(change), scores + leading.features @ change

    return apply


def _cholesky(current: FunctionEvaluation, X: DesignMatrix) -> NDArray[np.float64] | None:
    """Factorise ``I + c Phi'H Phi``, in single precision if that will do; None if nothing does."""
    n_threads, c = current.objective.K.n_threads, current.objective.c
    shift = np.zeros(X.shape[1])
    for dtype in (np.float32, np.float64):
        S = c * X.hessian(current.curved_loss, shift, np.ones_like(shift), dtype, n_threads)
        S[np.diag_indices_from(S)] += 1
        try:
            return np.asarray(np.linalg.cholesky(S), dtype=np.float64)
        except np.linalg.LinAlgError:
            continue
    return None
