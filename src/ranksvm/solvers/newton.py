"""Newton's method with an explicit Hessian and a line search on the scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from ..records import record
from .cholesky import ScaledCholesky
from .conjugate_gradients import ModelStep, conjugate_gradients
from .first_width import with_first_width
from .line_search import line_search
from .progress import Progress
from .protocols import Evaluation, Image, Line, NewtonSystem, Objective, Trial
from .result import SolverResult, Status
from .smoothing import Continuation

Vector = NDArray[np.float64]

GAIN_OF_GAP, GAIN_OF_SLOPE = 4.0, 10.0  # what a step has to bring down its gap or square slope by
SAFE = 4.0  # times what is foreseen of the distance
SOLVED = 0.1  # of equations: what single precision may leave
TRUSTED = 4  # steps that leave much, from one that it served on, until that is asked again
HOPED = 0.1  # of the distance: what a first step may leave, as from a solution nearby
WIDE = 64  # features, from which on a Hessian costs more than another step does
N_ROUGH = 2  # steps far from the optimum, for which a rough Hessian does
LEFT, MOST_PRODUCTS = 0.1, 20  # of the slope by products, and how many of these a step has
MOST_FAILED = 2  # steps in a row that so many do not solve for, after which Hessians are formed


def newton(
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    name: str = "newton",
    resumes: bool = True,
    n_products: float = 0.0,
) -> SolverResult:
    """Minimise by Newton steps.

    While the duality gap exceeds what is asked for:

    1. narrow the smoothing of a loss with kinks, if that is what holds the gap, and step to where
       the minimum is then, if the pairs on the smoothed part stay the same (:eq:`foreseen`),
    2. form the Hessian and scale its diagonal to one,
    3. factorise it (Cholesky) and solve for the Newton step (:eq:`newton-step`),
    4. search along the step; a trial costs a sweep over the scores, no pass over X.

    The pass over X that the search begins with may bring gradient and Hessian at the full step,
    too, so that such a step takes one pass in all. No Hessian is asked for where steps by the last
    one are foreseen to reach the end from there (:eq:`same-hessian`); these go on as long as they
    serve. So do those by the Hessian of a problem nearby, if one is kept. From zero, the first two
    Hessians may be rough, those of a sample (:eq:`rough-hessian`).

    Where a Hessian costs as much as several products with it, steps after the first solve their
    equations by conjugate gradients, preconditioned by the Hessian formed last, from wherever that
    was (:eq:`preconditioned`): it takes a few products. Where one would take as many as a Hessian
    costs, that is formed; and from then on, where the next one would, too.

    Where steps at a width of the smoothing end in rounding, the next one goes on, once. Where
    regularisation is weak and weights can rank nearly as any labels say, the smoothing of a loss
    with kinks begins wide (:eq:`widened`); or else the way begins anew, wide, where two have to be
    cut short while nearly all pairs are ranked, or with kinks three far from the end.

    Steps come from a Hessian in single precision until one that leaves much is found not to solve
    its equations, to a tenth by energy, or leads nowhere; value, gradient, line search and
    certificate are in double precision always, so the optimum is not affected.

    Parameters
    ----------
    objective : Objective
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
        When to stop, and the record, which may hold earlier iterations of another solver.
    name : str, default="newton"
        What the history calls it.
    resumes : bool, default=True
        Whether to go on where another solver gave up on such a wide way, not at w0.
    n_products : float, default=0
        With the Hessian, that cost as much as to form it: so many may solve for a step, 20 at most.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    progress.begin(name, objective)
    most_products = int(min(n_products, MOST_PRODUCTS))
    return _Newton(objective.size, progress, resumes, most_products).minimize(objective, w0)


class _Direction(NamedTuple):
    """A step, if there is one, whether it is by the Hessian where it begins, and its image.

    That is known if it was found by products.
    """

    step: Vector | None
    is_exact: bool = False
    image: Image | None = None


class _Newton:
    """A minimisation: which Hessian the next step comes from, and in which precision."""

    def __init__(self, size: int, progress: Progress, resumes: bool, most_products: int) -> None:
        self._progress, self._resumes, self._most_products = progress, resumes, most_products
        self._continuation = Continuation(foresees=True)
        self._dtype: type[np.floating] = np.float32 if size >= 32 else np.float64
        self._n_more = 2 if size >= WIDE else 1  # steps that a Hessian may be spared for
        self._n_rough = 0  # Hessians that may be so, from now on
        self._matrix: NewtonMatrix | None = None  # of the last step, while it is to serve again
        self._formed: NewtonMatrix | None = None  # the last that was, while products do with it
        self._n_failed = 0  # steps in a row that products have not solved for
        self._n_trusted = 0  # steps that leave much, which single precision is not doubted for
        self._left = HOPED  # what the next step is foreseen to leave of the distance
        self._trial: Trial[Evaluation] | None = None
        self._is_short = False  # whether the last step was cut short

    def minimize(self, objective: Objective, w0: Vector) -> SolverResult:
        """Step from w0 to where the gap is small enough."""
        current = self._begin(objective.resumed(), w0)
        status = self._progress.record(current, 0.0)
        is_smoothed = current.smoothing > 0
        if status is None and (self._has_products or not is_smoothed):
            last = NewtonMatrix.of(current.last_system())
            self._matrix = None if is_smoothed else last
            self._formed = last if self._has_products else None
        while status is None:
            refined = self._continuation.refine(current, self._progress.target, self._trial)
            if refined is not current and self._continuation.ends(current, self._progress):
                status = self._progress.record(current, 0.0)
                continue
            current, status = self._step(refined, self._direction(current, refined))
        self._progress.on_its_way = self._continuation.on_its_way(current)
        return self._progress.result(status)

    def _begin(self, objective: Objective, w0: Vector) -> Evaluation:
        """Return where to begin, and how wide."""
        left, self._progress.left_off = self._progress.left_off, None  # which is not to stay
        left = cast("Evaluation | None", left)
        if self._resumes and left is not None:
            return self._continuation.resumed(left, objective.evaluate(w0))
        self._n_rough = N_ROUGH if objective.size >= WIDE and not w0.any() else 0
        start = objective.evaluate(w0, self._dtype, roughly=self._n_rough > 0)
        target = self._progress.allowed(start.value)
        lower_bound = self._progress.lower_bound
        return self._continuation.begun(with_first_width(start, lower_bound, target), lower_bound)

    def _direction(self, current: Evaluation, refined: Evaluation) -> _Direction:
        """Return the step from here, narrowed maybe."""
        is_foreseen, model = False, refined
        if refined is not current:
            self._matrix, self._left = None, 1.0
            is_foreseen = self._trial is not None and refined.has_kinks
        if is_foreseen:
            model = current.foreseen(self._continuation.ratio)
        by_products = self._by_products(model, refined)
        if by_products is not None:
            return by_products
        if is_foreseen:
            foreseen = newton_step(model, self._dtype)
            self._progress.n_products += 1
            if foreseen is not None and foreseen @ refined.gradient < 0:
                return _Direction(foreseen)
        is_exact = self._matrix is None
        if is_exact:
            system = refined.newton_system(self._dtype, roughly=self._n_rough > 0)
            self._matrix = NewtonMatrix.of(system)
            self._progress.n_products += 1
            self._formed = self._matrix if self._has_products else None
        step = None if self._matrix is None else self._matrix.step(refined.gradient)
        return _Direction(step, is_exact)

    @property
    def _has_products(self) -> bool:
        """Whether they may solve for steps: not on a wide way, whose minima have to be exact."""
        return self._most_products > 0 and not self._continuation.is_wide

    def _by_products(self, model: Evaluation, refined: Evaluation) -> _Direction | None:
        """Solve for the step of a model by products; None where a Hessian is to be formed."""
        if self._matrix is not None or self._formed is None:
            return None
        most = self._most_products
        step, n_products = self._formed.by_products(model, most + 1)
        self._progress.n_products += n_products
        if n_products > most or not step.leads_down(refined.gradient):
            self._formed, self._n_failed = None, self._n_failed + 1
            if self._n_failed == MOST_FAILED:
                self._most_products = 0
            return None
        self._n_failed = 0
        return _Direction(step.step, image=step.image)

    def _step(self, before: Evaluation, direction: _Direction) -> tuple[Evaluation, Status | None]:
        """Search along the step; return where it ends, and a status if this is the end."""
        self._trial = trial = None
        matrix, is_exact = self._matrix, direction.is_exact
        if direction.step is not None:
            line, dtype = self._line(before, direction.step, direction)
            trial, n_trials = line_search(line)
            self._progress.n_evaluations += n_trials
        if trial is None:
            return self._without_trial(before, is_exact)
        self._trial, there = trial, trial.evaluation
        fall = min(1.0, there.distance / before.distance) if before.distance > 0 else 1.0
        is_exact = is_exact and matrix is not None and not matrix.is_rough
        if self._formed is not None or dtype is not None or not is_gain(before, there):
            self._matrix = None
        self._is_short = trial.step < 1.0
        if is_exact and trial.step > 0.5 and fall > 0.1:
            self._doubt(before, direction.step, matrix)
        # A first step says how long the way was; those that go all along it, how the slope bends.
        is_square = is_exact and trial.step == 1.0 and fall < SAFE * self._left < SAFE
        self._left = min(fall, SAFE * fall**2) if is_square else fall
        status = self._progress.record(there, trial.step)
        wider = self._continuation.begun_anew(there, trial.step, self._progress.dual_gap)
        if wider is None:
            return there, status
        self._matrix, self._formed, self._left = None, None, 1.0
        self._n_rough, self._trial = 0, None
        return wider, status

    def _line(
        self, before: Evaluation, step: Vector, direction: _Direction
    ) -> tuple[Line[Evaluation], type[np.floating] | None]:
        """Return the line along a step, and the precision of a Hessian that is asked for there."""
        if direction.image is not None:
            return before.along(step, direction.image), None
        dtype = self._asked_for(before, direction.is_exact)
        at_end = dtype if self._foresees_the_end() else None
        rough, is_last = self._goes_on_roughly(), self._is_last(before)
        return before.towards(step, at_end, roughly=rough, is_last=is_last), dtype

    def _doubt(
        self, before: Evaluation, direction: Vector | None, matrix: NewtonMatrix | None
    ) -> None:
        """Turn to double precision if a step has not solved its equations: it leaves much."""
        if self._dtype is np.float64 or direction is None or matrix is None:
            return
        if self._n_trusted > 0:
            self._n_trusted -= 1
            return
        self._progress.n_products += 1
        if matrix.has_solved(before, direction):
            self._n_trusted = TRUSTED
        else:
            self._dtype = np.float64

    def _goes_on_roughly(self) -> bool:
        """Say whether the Hessian at the end of a step may be rough, as that of the step is."""
        is_rough = self._matrix is not None and self._matrix.is_rough
        self._n_rough = self._n_rough - 1 if is_rough else 0
        return self._n_rough > 0

    def _is_last(self, before: Evaluation) -> bool:
        """Say whether a step may reach the end, if it leaves what is foreseen, or less."""
        left = self._left / SAFE * before.distance
        return before.smoothing + left <= self._progress.target

    def _foresees_the_end(self) -> bool:
        """Say whether a Hessian at the end of the full step is likely to serve the next one.

        It does not where steps are cut short; nor where the way began wide, since one step is most
        often enough for a width then, and pairs are others at the next.
        """
        return not (self._is_short or self._continuation.is_wide)

    def _asked_for(self, before: Evaluation, is_exact: bool) -> type[np.floating] | None:
        """Return the precision of the Hessian at the end of a step; None if none is needed.

        One that is nearly singular to its rounding serves no other step.
        """
        if self._formed is not None:
            return None
        if self._matrix is None or self._matrix.least_pivot <= np.finfo(self._dtype).eps:
            return self._dtype
        left = self._left * min(1.0, SAFE * self._left) ** self._n_more if is_exact else 0.0
        is_enough = before.smoothing + left * before.distance <= self._progress.target
        return None if is_enough else self._dtype

    def _without_trial(
        self, before: Evaluation, is_exact: bool
    ) -> tuple[Evaluation, Status | None]:
        """Let the Hessian be formed, or more precisely; then for a narrower smoothing, or stall."""
        was_known = self._matrix is not None or self._formed is not None
        self._matrix, self._formed, self._n_rough = None, None, 0
        if is_exact and self._dtype is np.float64:
            narrower = self._continuation.beyond(before)
            return (before, Status.STALLED) if narrower is None else (narrower, None)
        if is_exact or not was_known:
            self._dtype = np.float64
        return before, None


@record
class NewtonMatrix:
    """A Hessian that has been factorised, for steps from where it was formed or nearby."""

    factor: ScaledCholesky
    to_coordinates: Callable[[Vector], Vector]
    to_weights: Callable[[Vector], Vector]
    is_rough: bool = False

    @classmethod
    def of(cls, system: NewtonSystem | None) -> NewtonMatrix | None:
        """Factorise, in double precision nearly; None if it is not positive definite in single."""
        factor = None if system is None else ScaledCholesky.of(system.hessian, nearly=True)
        if system is None or factor is None:
            return None
        return cls(factor, system.to_coordinates, system.to_weights, system.is_rough)

    @property
    def least_pivot(self) -> float:
        """How far the matrix, its diagonal scaled to one, is from one that is singular."""
        return float(np.diag(self.factor.factor).min() ** 2)

    def has_solved(self, evaluation: Evaluation, step: Vector) -> bool:
        """Say whether a step leaves but a part of the exact equations, by its energy."""
        product = evaluation.hessian_product(step)
        left = product + evaluation.gradient
        return bool(left @ self.solve(left) <= SOLVED**2 * (step @ product))

    def solve(self, gradient: Vector) -> Vector:
        """Return the inverse times a gradient."""
        return self.to_weights(self.factor.solve(self.to_coordinates(gradient)))

    def by_products(self, model: Evaluation, most_products: int) -> tuple[ModelStep, int]:
        """Solve a model nearly by products with its Hessian, preconditioned; return their number.

        They are too many where as many as there may be have been taken.
        """
        return conjugate_gradients(model, self.solve, LEFT, most_products)

    def step(self, gradient: Vector) -> Vector | None:
        """Return the step for a gradient; None if it does not lead down."""
        slope = self.to_coordinates(gradient)
        step = self.factor.solve(-slope)
        return self.to_weights(step) if step @ slope < 0 else None


def newton_step(
    evaluation: Evaluation, dtype: type[np.floating], model: Evaluation | None = None
) -> Vector | None:
    """Solve for the step; None if the Hessian is not positive definite in this precision.

    The Hessian is that of the evaluation, or of a `model` of it.
    """
    matrix = NewtonMatrix.of((model or evaluation).newton_system(dtype))
    return None if matrix is None else matrix.step(evaluation.gradient)


def is_gain(before: Evaluation, there: Evaluation) -> bool:
    """Say whether a step by a Hessian that is not the exact one has served."""
    return (
        GAIN_OF_GAP * there.absolute_gap <= before.absolute_gap
        or GAIN_OF_SLOPE * there.distance <= before.distance
    )
