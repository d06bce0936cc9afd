"""Solvers in turn: one that may be quicker goes first, as long as it promises to be."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from .bundle import bundle
from .cutting_planes import CuttingPlanes
from .line_search import search_kink
from .patience import FEWEST, FREE, Patience
from .progress import Progress
from .protocols import Evaluation, Objective
from .result import SolverResult, Status
from .trust_region import MOST_PRODUCTS, trust_region

Vector = NDArray[np.float64]
FAR, FAR_OF_PLANES = 0.5, 0.03  # a relative gap
WEAK, NEXT_TO_NOTHING = 1.1e-4, 1e-8  # regularisation, by its strength
# Where so much work is left to planes that some show soon, how weak it may be for these to begin.
MANY_PLANES, WEAK_FOR_MANY = 80, 2e-5
RATHER_WEAK, LITTLE_LEFT = 2e-3, 0.05  # likewise; of the value at zero
A_DIGIT = 0.8  # products that it takes where it is strong, by the root of that
WITH_KINKS = 2.0  # times as many, at least, of a loss that is smoothed
IN_ONE_STEP = 0.25  # of the other's work
HALF = 0.5  # of the value: planes that bring it there go on however weak regularisation is
FALLEN = 0.5  # of the first value, to which products have led Newton steps on their way
# Times what they are said to take: products, where planes lead nowhere as well, and planes later.
IN_TURN, IN_TURN_IF_WEAK, AGAIN = 2.0, 8.0, 3.0
FREE_AGAIN = 0.05  # of that, before planes that go on have to show that they get on
# Products that have not led to the end, times those that mostly do, for planes to be tried beside,
# and the share that these have before they have to show that they get on; and how many times as
# many the other solver is to be worth for planes to go on once more before it.
DOUBTFUL, FREE_BESIDE, DEAR = 2.0, 0.45, 6.0
SLOW = (0.25, 0.98), (0.5, 0.8)  # such a share of that has left more than this of the gap
OF_ALL = 0.75  # of the iterations allowed, that planes leave the rest of to others

SmoothSolver: TypeAlias = Callable[[Objective, Vector, Progress], SolverResult]


def products_first(
    fallback: SmoothSolver,
    work: float,
    objective: Objective,
    w0: Vector,
    progress: Progress,
    *,
    solves_models: bool = False,
    planes: float = 0.0,
    unsure: float = np.inf,
) -> SolverResult:
    """Minimise by `trust_region` as long as it promises to be quicker than another solver.

    Otherwise the other solver takes over (`Patience`), with the lower bound that has been reached,
    and at the best point if that is known to be good for something.

    Where the pairs that are active change with every step, each takes as many products as the last,
    while planes add up. So these may go on from the best point, before the other solver does, and
    before products do on the long way from a wide smoothing; unless regularisation is weak.

    A smoothed loss may have planes that do in little time what takes thousands of products, as
    where a few features of a large scale make regularisation look weak. So once products are
    `unsure`, planes have about as long beside them, and longer if they promise to end, but half as
    long if that takes less than a fifth off the gap, and a quarter if less than a fiftieth; then
    products go on as if nothing had been. Where these are given up later, planes go on once more if
    the other solver is worth six times as many. All this within three quarters of the iterations
    allowed.

    Parameters
    ----------
    fallback : callable
        Such as `newton`.
    work : float
        What it takes, in products and iterations of `trust_region`.
    objective : Objective
        With smooth derivatives.
    w0 : ndarray of shape (objective.size,)
    progress : Progress
    solves_models : bool, default=False
        Whether the other solver takes a few Newton steps. These then go on as soon as a model takes
        as many products as one and a half of them cost; and at the best point, whatever the gap, if
        that has half of the first value at most. Otherwise no products go on after planes.
    planes : float, default=0.0
        How many planes the other solver costs, where these may go on from zero; or of a smoothed
        loss, about half as many as may be tried beside.
    unsure : float, default=inf
        After how many products of a smoothed loss.

    Returns
    -------
    SolverResult
    """
    most = int(np.clip(IN_ONE_STEP * work, FEWEST, MOST_PRODUCTS))
    patience = Patience(work, most_products=most if solves_models else np.inf)
    products = partial(trust_region, max_products=most)
    if planes > 0 and unsure < np.inf:
        result = _planes_beside(products, patience, planes, unsure, objective, w0, progress)
    elif planes > 0 and not w0.any():
        given = products, patience, planes, objective, w0, progress
        result = _products_and_planes(*given, resumes=solves_models)
    else:
        with progress.patient(patience):
            result = products(objective, w0, progress)
    if result.status.is_end:
        return result
    has_fallen = solves_models and result.value <= FALLEN * result.history[0].value
    far = FAR_OF_PLANES if progress.solver == "bundle" else FAR
    start = result.weights if has_fallen else better_start(result, w0, far)
    return fallback(objective, start, progress)


def _products_and_planes(
    products: Callable[..., SolverResult],
    patience: Patience,
    n_planes: float,
    objective: Objective,
    w0: Vector,
    progress: Progress,
    *,
    resumes: bool,
) -> SolverResult:
    """Minimise by products, and where they are given up or have begun a long way, by planes.

    Where planes are given up, too, products may go on along that way.
    """

    def suits_planes() -> bool:
        return strength(progress, w0) >= WEAK_FOR_MANY

    def goes_on(progress: Progress) -> bool:
        is_long = progress.widths[-1] > 1
        return not (is_long and suits_planes()) and patience(progress)

    with progress.patient(goes_on):
        result = products(objective, w0, progress)
    if result.status.is_end or not suits_planes():
        return result
    left = progress.on_its_way
    with progress.patient(Patience(n_planes)):
        result = bundle(objective, result.weights, progress, planes=progress.planes)
    if result.status.is_end or left is None or not resumes:
        return result
    progress.on_its_way = left
    with progress.patient(patience):
        return products(objective, result.weights, progress, resumes=True)


def _planes_beside(
    products: Callable[..., SolverResult],
    patience: Patience,
    n_planes: float,
    unsure: float,
    objective: Objective,
    w0: Vector,
    progress: Progress,
) -> SolverResult:
    """Minimise by products, and by planes where so many of these have not led to the end."""
    kinks, tried = progress.unsmoothed, None
    assert kinks is not None
    of_planes = Patience(AGAIN * n_planes, free=FREE_BESIDE)

    def get_on(progress: Progress) -> bool:
        gaps = [line.value * line.dual_gap for line in progress.own(progress.history)]
        share = (len(gaps) - 1) / max(of_planes.free * of_planes.work, FEWEST)
        is_slow = any(share >= so_far and gaps[-1] > left * gaps[0] for so_far, left in SLOW)
        is_long = len(progress.history) >= OF_ALL * progress.max_iter
        return not (is_slow or is_long) and of_planes(progress)

    def by_planes() -> SolverResult:
        best = progress.result(Status.GIVEN_UP).weights
        with progress.patient(get_on):
            return bundle(kinks, best, progress, planes=progress.planes)

    def goes_on(progress: Progress) -> bool:
        nonlocal tried
        lines = progress.own(progress.history)
        if tried is None and lines[-1].n_products - lines[0].n_products > unsure:
            with progress.aside():
                tried = by_planes()
            if tried.status.is_end:
                return False
        return patience(progress)

    with progress.patient(goes_on):
        result = products(objective, w0, progress)
    if tried is None or tried.status.is_end:
        return tried or result
    goes_on_again = result.status is Status.GIVEN_UP and patience.work >= DEAR * unsure
    return by_planes() if goes_on_again else result


def strength(progress: Progress, w0: Vector) -> float:
    """Return how strong regularisation is, as planes have seen from zero; 1 if nothing is known.

    It is the share t of the gradient at zero that is the best dual point of the hinge, near 1 where
    regularisation alone decides, since the first bound is ``t / 2`` of the value
    (:eq:`best-multiple`).
    """
    is_known = bool(progress.history) and not w0.any()
    return 2 * (1 - progress.history[0].dual_gap) if is_known else 1.0


def products_if_strong(progress: Progress, w0: Vector) -> float:
    """Return about how many products end from zero where regularisation is strong.

    They go with the root of the condition number, of which the strength is about the inverse: the
    share of the value at zero that is the first bound. Fewer are needed where it is weak and only a
    part of the spectrum matters; and from other weights nothing is known, and so inf is returned.
    """
    share = 1 - progress.history[0].dual_gap
    digits = -np.log10(np.clip(progress.tol, 1e-9, 0.1))
    is_known = share > 0 and not w0.any()
    return float(A_DIGIT * digits / share**0.5) if is_known else np.inf


def planes_first(
    fallback: SmoothSolver,
    work: float,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    planes: CuttingPlanes | None = None,
    unless_weak: bool = False,
    products: float | None = None,
    more_if_weak: bool = False,
    if_fewer: float = np.inf,
    ends_at_once: bool = False,
    last: SmoothSolver | None = None,
) -> SolverResult:
    """Minimise by cutting planes as long as they promise to be quicker than another solver.

    Otherwise the other solver takes over (`Patience`), with the lower bound of the planes, which
    stay, and at the best point if that is known to be good for something. Where it comes to a
    stand, planes go on (`planes_last`).

    Where nothing tells how long the other one takes, either may mislead. So it has to promise to
    end with about as many `products` as it was said to take, or several times as many where planes
    lead nowhere and there is a `last` solver; without, it goes on to its end there, but for planes
    that are tried beside (`products_first`). If it does not promise that, planes go on that may
    take three times as long as before, and the other one only after these. Planes lead nowhere
    where regularisation is weak; or rather weak, and they have found that nearly all pairs can be
    ranked, since where the loss may fall to nearly nothing, each plane tells of one corner of a
    wide flat valley. But a few features of a larger scale make regularisation look weaker than it
    is to the others; so where planes may be many, so that a share of them tells for little, they
    begin unless it is weaker still.

    Parameters
    ----------
    fallback : callable
        Such as `newton` or `trust_region`.
    work : float
        How many planes cost about as much as the fallback.
    objective : Objective
        With an unsmoothed, non-negative risk, which may be smooth.
    w0 : ndarray of shape (objective.size,)
    progress : Progress, optional
    planes : CuttingPlanes, optional
        As for `bundle`.
    unless_weak : bool, default=False
        Whether to give planes up, if regularisation is weak, at the first one that does not halve
        the value. Weak is below 1.1e-4, or where planes may be 80 or more, 2e-5.
    products : float, optional
        How many the fallback is said to take, if that is a guess.
    more_if_weak : bool, default=False
        Whether it takes twice what weak regularisation tells (`products_if_strong`), if that is
        more; planes may then take so much longer.
    if_fewer : float, default=inf
        Whether to give planes up at the first one if so many products would not end
        (`products_if_strong`), where w0 is zero.
    ends_at_once : bool, default=False
        As for `Patience`, of planes.
    last : callable, optional
        What takes over in place of the fallback where either has led nowhere.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
    limit = WEAK if work < MANY_PLANES else WEAK_FOR_MANY

    def goes_on(progress: Progress) -> bool:
        values = [line.value for line in progress.history[-2:]]
        falls = len(values) == 1 or values[1] <= HALF * values[0]
        is_weak = unless_weak and not falls and strength(progress, w0) < limit
        n_products = products_if_strong(progress, w0)
        if is_weak or n_products > if_fewer:
            return False
        dearer = 1.0
        if more_if_weak and products and n_products < np.inf:
            dearer = max(WITH_KINKS * n_products / products, 1.0)
        return Patience(dearer * work, ends_at_once=ends_at_once, free=FREE / dearer)(progress)

    with progress.patient(goes_on):
        result = bundle(objective, w0, progress, planes=planes)
    if result.status.is_end:
        return result
    start = better_start(result, w0, FAR_OF_PLANES)
    if products is not None:
        zero, there = (progress.history[k].value for k in (0, -1))
        weak = RATHER_WEAK if there < LITTLE_LEFT * zero else WEAK
        is_weak = unless_weak and strength(progress, w0) < weak
        if is_weak and last is None:
            given = fallback, Patience(np.inf), work, DOUBTFUL * products
            beside = partial(_planes_beside, *given)
            return planes_last(beside, objective, start, progress, planes=planes)
        in_turn = IN_TURN_IF_WEAK if is_weak else IN_TURN
        with progress.patient(Patience(in_turn * products, of_bounds=is_weak)):
            result = planes_last(fallback, objective, start, progress, planes=planes)
        if result.status is not Status.GIVEN_UP:
            return result
        with progress.patient(Patience(AGAIN * work, free=FREE_AGAIN)):
            result = bundle(objective, result.weights, progress, planes=planes)
        if result.status.is_end:
            return result
        start, fallback = better_start(result, w0, FAR_OF_PLANES), last or fallback
    return planes_last(fallback, objective, start, progress, planes=planes)


def better_start(result: SolverResult, w0: Vector, far: float) -> Vector:
    """Return the better start: of a point far from the optimum no step goes as well as of zero.

    The points of planes lie at kinks, where steps of a smoothed risk are short.
    """
    return result.weights if result.dual_gap < far else w0


def planes_last(
    first: SmoothSolver,
    objective: Objective,
    w0: Vector,
    progress: Progress | None = None,
    *,
    planes: CuttingPlanes | None = None,
) -> SolverResult:
    """Minimise by Newton steps on a smoothed risk, and by planes what these leave.

    Close to the optimum a smoothing that is narrow enough may be too narrow for floating point,
    above all where few pairs decide. A few planes at the kinks themselves then do the rest, from
    the best multiple of the weights. Without kinks, they do where steps have led nowhere, as where
    scales of features differ by so much that no equations can be solved: from where these began,
    since of a point far out in a valley each plane tells of next to nothing.

    Parameters
    ----------
    first : callable
        Such as `newton` or `trust_region`.
    objective, w0, progress, planes
        As for `planes_first`.

    Returns
    -------
    SolverResult
    """
    progress = progress or Progress()
    planes = CuttingPlanes(objective.size, objective.n_threads) if planes is None else planes
    if len(planes) > 0:
        progress.lower_bound = max(progress.lower_bound, planes.lower_bound)
    smooth = objective.smoothed()
    is_smooth = smooth is objective
    progress.planes, progress.unsmoothed = planes, None if is_smooth else objective
    result = first(smooth, w0, progress)
    if result.status is Status.CONVERGED and not is_smooth and progress.latest is not None:
        planes.add(*cast(Evaluation, progress.latest).plane)
    if result.status is not Status.STALLED or not np.isfinite(result.dual_gap):
        return result
    if is_smooth:
        afar = result.dual_gap >= FAR
        return bundle(objective, w0, progress, planes=planes, keeps=True) if afar else result
    start = _stretched(objective, result.weights, progress)
    return bundle(objective, start, progress, planes=planes)


def _stretched(objective: Objective, w0: Vector, progress: Progress) -> Vector:
    """Return weights, or a larger multiple of less value.

    Where all pairs can be ranked, those that matter lie on the margin at the optimum, and a little
    short of it where they were smoothed: all by the same part, if so little that planes hardly tell
    one pair from another.
    """
    here = objective.evaluate(w0)
    line = here.along(w0)
    gap = here.value - progress.lower_bound
    if not (line.slope < 0 < gap < np.inf):
        return w0
    lowest, _, n_trials = search_kink(line, here.value, gap, gap / -line.slope)
    progress.n_evaluations += n_trials
    return w0 if lowest is None else lowest.evaluation.weights
