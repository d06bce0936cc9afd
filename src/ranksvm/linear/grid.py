"""Many values of C for little more than the price of the largest: warm starts along a grid.

What one solution leaves to the next is in `ranksvm.linear.warm_starts`; its Hessian and the slopes
of its pairs in `ranksvm.linear.known`; and planes below ``c L(X w)``, multiplied, are planes for
another c.

Solutions that are but compared with each other need not be exact, only close in comparison with how
far they have come. With w0 the weights of least R, such as zero, and a share t,

    gap <= t min(P(w), P(w0) - P(w))

leaves at most the part t of what there was to gain. To ask for a gap relative to the value alone
would not do: where regularisation is strong, w0 itself has a small one, and ranks nothing. The
smallest C, from which the others go on, is solved with a third of t.

From one C to the next, c times what the loss falls is at most what R rises, since the solution w of
the first is the best one there. So where R(w) is a hundredth of what w has gained, regularisation
is as good as gone: solutions hardly differ by how well they rank, and finding them is all but
finding their bounds. From there on, 3 t may be left.

On the line between the solutions for two values of C, that for one between them is nearly met. So
where a step by a Hessian goes three times as far nearly as well, every third C goes first, and for
most of the others that line is all it takes. But to search it takes more sweeps over long queries
than a step by the Hessian of a sample does, which reaches as far from the last solution.
"""

from __future__ import annotations

import reprlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..lazy import cached_property
from ..pairs.columns import real_numbers
from ..solvers import Callback, CuttingPlanes, Iteration, Progress, SolverResult
from ..solvers.cutting_planes import MAX_AGE
from ..summaries import Tabular
from .conditions import NO_CONDITIONS, Conditions
from .known import LastSolution
from .occurring import Columns, FeatureWeights
from .parameters import Parameters
from .solver_choice import SolverChoice
from .training import Problem, progress_of
from .warm_starts import BoundsByC, WarmStart

Vector = NDArray[np.float64]

# With less, means over folds hardly change in comparison with their standard errors
# (`python -m benchmarks.cross_validation` shows by how much).
MOST_LEFT, LEFT_PER_TOL = 0.03, 30.0
COLD = 1 / 3  # of that for the first, whose error is not yet along the way to the next
WEAK, FREE = 0.01, 3.0  # R as a part of what has been gained, and times as much to be left
AGE_OF_CHOICE = 5  # of planes: with few for each C, old ones serve hardly any later
MANY = 10  # values: so many begin at a C that is small enough for a few products

CallbackOfC: TypeAlias = Callable[[float, Iteration], object]


@dataclass(frozen=True, eq=False, repr=False)
class RankSVMGrid(Tabular):
    """Linear rankers for a grid of C, in the order in which the grid was given.

    Attributes
    ----------
    Cs : ndarray of shape (n_Cs,)
    weights : list of FeatureWeights
        For each C, without features that occur nowhere.
    objectives : ndarray of shape (n_Cs,)
    dual_gaps : ndarray of shape (n_Cs,)
        The relative duality gap reached for each C.
    statuses : list of str
        How the solver ended, for each C; see `RankSVM`.
    histories : list of list of Iteration
    """

    Cs: Vector
    weights: list[FeatureWeights]
    objectives: Vector
    dual_gaps: Vector
    statuses: list[str]
    histories: list[list[Iteration]]

    @classmethod
    def of(
        cls,
        Cs: Vector,
        results: Sequence[SolverResult],
        columns: Columns,
        conditions: Conditions = NO_CONDITIONS,
    ) -> RankSVMGrid:
        """Lay the results for each C, whose weights are those of columns, side by side."""
        return cls(
            Cs=Cs,
            weights=[conditions.weights(columns, result.weights) for result in results],
            objectives=np.array([result.value for result in results]),
            dual_gaps=np.array([result.dual_gap for result in results]),
            statuses=[str(result.status) for result in results],
            histories=[result.history for result in results],
        )

    @property
    def _title(self) -> str:
        return f"Linear rankers of {self.weights[0].n_features} features for {len(self.Cs)} C"

    def _columns(self) -> Mapping[str, Sequence[Any]]:
        return {
            "C": self.Cs.tolist(),
            "objective": self.objectives.tolist(),
            "gap": self.dual_gaps.tolist(),
            "status": self.statuses,
            "weights": [int(np.count_nonzero(weights.values)) for weights in self.weights],
        }

    @cached_property
    def coefs(self) -> NDArray[np.float64]:
        """The weights for each C, of shape (n_Cs, n_features).

        The scores of rows X are ``X @ coefs.T``.
        """
        values = np.array([weights.values for weights in self.weights])
        return self.weights[0].columns.spread(values)


def solve_grid(
    problem: Problem,
    of_each: Sequence[Parameters],
    callback: CallbackOfC | None = None,
    w0: Vector | None = None,
    *,
    for_choice: bool = False,
) -> Iterator[tuple[int, SolverResult]]:
    """Solve a problem for parameters that differ in C, the smallest C first and the largest last.

    Parameters
    ----------
    problem : Problem
        Made with the parameters of the smallest C.
    of_each : sequence of Parameters
    callback : callable, optional
        As for `ranksvm_grid`.
    w0 : ndarray of shape (n_features,), optional
        Where to start; zero by default.
    for_choice : bool, default=False
        Whether solutions are but compared: of what there is to gain 30 times `tol`, at most 3 %,
        may then be left, and three times as much where regularisation is weak.

    Yields
    ------
    place : int
        Of the parameters solved for.
    result : SolverResult
    """
    max_age = AGE_OF_CHOICE if for_choice else MAX_AGE
    planes = CuttingPlanes(problem.objective.size, problem.objective.n_threads, max_age)
    order = sorted(range(len(of_each)), key=lambda place: of_each[place].C)
    unit = problem.objective.c / of_each[order[0]].C
    problem = replace(problem, objective=replace(problem.objective, last=LastSolution()))
    if 1 < len(order) < MANY:
        problem = replace(problem, choice=problem.choice.when_shared())
    start, at_rest = WarmStart(w0), problem.objective.at_rest() if for_choice else None
    leeway, bounds = COLD, BoundsByC()
    for place in by_threes(order) if for_choice and _goes_far(problem.choice) else order:
        C = of_each[place].C
        planes.rescale(unit * C / problem.objective.c)
        progress = progress_of(of_each[place], None if callback is None else with_C(callback, C))
        objective = problem.objective.with_c(unit * C)
        if at_rest is not None:
            progress.share = leeway * min(MOST_LEFT, LEFT_PER_TOL * progress.tol)
            progress.at_rest = replace(at_rest, objective=objective).value
        progress.lower_bound = bounds.of(objective.c)
        objective, w0 = start.ahead(objective, progress, by_line=problem.choice.sample is None)
        problem = replace(problem, objective=objective)
        result = problem.solve(progress, w0, planes)
        yield place, result
        start = start.after(progress, unit * C)
        bounds = bounds.with_bound(unit * C, progress.lower_bound)
        leeway = _leeway(problem, result, progress)
        problem = replace(problem, choice=problem.choice.when_warm(result))


def _leeway(problem: Problem, result: SolverResult, progress: Progress) -> float:
    """Return how many times the share may be left at the next C, after this solution.

    Steps by the Hessian of a sample reach far more than is asked for, which serves the next C; they
    have farther to go from where less was asked.
    """
    charged = problem.objective.penalty.value(result.weights)
    is_weak = charged <= WEAK * progress.gained(result.value)
    return FREE if is_weak and problem.choice.sample is None else 1.0


def _goes_far(choice: SolverChoice) -> bool:
    """Say whether steps are by the Hessian of a smooth objective, with no sample before them."""
    is_smooth = not (choice.kinks or choice.is_proximal)
    return is_smooth and choice.name == "newton" and choice.sample is None


def by_threes(order: Sequence[int]) -> Iterator[int]:
    """Yield every third place before the two that it follows; the first and the last stay."""
    yield from order[:1]
    for k in range(1, len(order) - 1, 3):
        *between, farthest = order[k : min(k + 3, len(order) - 1)]
        yield farthest
        yield from between
    yield from order[1:][-1:]


def grid_of(Cs: ArrayLike) -> Vector:
    """Return a grid of C as a vector."""
    try:
        grid: Vector = np.atleast_1d(real_numbers(Cs, "Cs"))
    except ValueError:
        raise InputError(f"Cs must be a list of numbers, not {reprlib.repr(Cs)}") from None
    if grid.ndim != 1 or not len(grid):
        raise InputError(f"Cs must be a list of at least one number, not of shape {grid.shape}")
    return grid


def with_C(callback: CallbackOfC, C: float) -> Callback:
    """Return what calls a callback with this C, too."""
    return lambda iteration: callback(C, iteration)
