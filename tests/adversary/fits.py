"""Every way to train on a problem, by the public names alone, and what each fit reports."""

import itertools
import warnings
from dataclasses import dataclass, replace

import numpy as np

from ranksvm import ConvergenceWarning, KernelRankSVM, RankSVM, ranksvm_grid
from ranksvm.linear.composed_solvers import PROXIMAL_SOLVERS
from ranksvm.names import SOLVERS

from .problems import KERNEL_GAMMA

TOLS = (1e-3, 1e-9)
GRID = (2.0**-10, 1.0, 2.0**10)  # in units of the problem's C
MAX_ITER = 300


@dataclass(frozen=True)
class Way:
    """A way to train: by an estimator or function, with a solver and a tolerance."""

    how: str
    solver: str
    tol: float

    def __str__(self):
        return f"{self.how}/{self.solver}/{self.tol:g}"

    def train(self, problem):
        """The claims that training makes: one, or one for each C of a grid."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", ConvergenceWarning)
            claims = TRAIN[self.how](problem, self)
        said = [str(warning.message) for warning in caught]
        return [claim.heard(said) for claim in claims]


@dataclass(frozen=True, eq=False)
class Claim:
    """What a fit reported, and the coefficients it is about.

    For a kernel these are those of the rows `support`; `hint` is what a warning of this fit says.
    """

    name: str
    C: float
    tol: float
    coef: np.ndarray
    objective: float
    dual_gap: float
    status: str
    support: np.ndarray | None = None
    hint: str = ""
    warned: bool = False

    def heard(self, said):
        return replace(self, warned=any(self.hint in message for message in said))


def ways(problem):
    """Every way to train on a problem; on arrays and along a grid, some."""
    if problem.kernel is not None:
        return [Way("kernel", *both) for both in itertools.product(SOLVERS, TOLS)]
    solvers = SOLVERS if problem.conditions is None else ("auto", *PROXIMAL_SOLVERS)
    turn = solvers[problem.seed % len(solvers)]
    every = [Way("linear", *both) for both in itertools.product(solvers, TOLS)]
    on_arrays = "newton" if turn == "row_space" else turn
    return [
        *every,
        Way("grid", turn, 1e-9),
        Way("brief", turn, 1e-9),
        Way("arrays", on_arrays, TOLS[problem.seed // 2 % 2]),
    ]


def some_ways(problem, place):
    """Half of the ways, others for another place."""
    every = ways(problem)
    return [every[(place + 7 * k) % len(every)] for k in range(min(6, len(every)))]


def options(problem, way):
    return {
        "normalize": problem.normalize,
        "loss": problem.loss,
        "pair_weight": problem.pair_weight,
        "solver": way.solver,
        "tol": way.tol,
        "max_iter": MAX_ITER,
        "n_threads": 1,
        **conditions(problem),
    }


def conditions(problem):
    """Those on the weights, as arguments."""
    asked = problem.conditions
    if asked is None:
        return {}
    bounds = {"lower_bounds": asked.lower, "upper_bounds": asked.upper, "prior": asked.prior}
    given = {name: value for name, value in bounds.items() if np.ndim(value)}
    return {"l1_ratio": asked.l1_ratio, "penalty_weights": asked.penalty_weights, **given}


def data(problem):
    if problem.pairs is not None:
        return {
            "X": problem.X,
            "qid": problem.qid,
            "pairs": problem.pairs,
            "pair_weights": problem.pair_weights,
            "margins": problem.margins,
        }
    return {
        "X": problem.X,
        "y": problem.y,
        "qid": problem.qid,
        "sample_weight": problem.sample_weight,
        "query_weight": problem.query_weight,
    }


def linear(problem, way, **more):
    model = RankSVM(problem.C, **(options(problem, way) | more)).fit(**data(problem))
    return [claim_of(problem, way, model, model.coef_)]


def brief(problem, way):
    """Far from the end."""
    return linear(problem, way, max_iter=problem.seed % 4)


def on_arrays(problem, way):
    return linear(problem, way, device="numpy:cpu")


def kernel(problem, way):
    model = KernelRankSVM(
        problem.C, kernel=problem.kernel, gamma=KERNEL_GAMMA, **options(problem, way)
    ).fit(**data(problem))
    return [claim_of(problem, way, model, model.dual_coef_, model.support_)]


def claim_of(problem, way, model, coef, support=None):
    return Claim(
        name=str(way),
        C=problem.C,
        tol=way.tol,
        coef=coef,
        objective=float(model.objective_),
        dual_gap=float(model.dual_gap_),
        status=model.status_,
        support=support,
    )


def grid(problem, way):
    Cs = [problem.C * factor for factor in GRID]
    found = ranksvm_grid(**data(problem), Cs=Cs, **options(problem, way))
    return [
        Claim(
            name=f"{way} C={C:g}",
            C=C,
            tol=way.tol,
            coef=found.coefs[k],
            objective=float(found.objectives[k]),
            dual_gap=float(found.dual_gaps[k]),
            status=found.statuses[k],
            hint=f"C={C:g}:",
        )
        for k, C in enumerate(Cs)
    ]


TRAIN = {"linear": linear, "brief": brief, "arrays": on_arrays, "kernel": kernel, "grid": grid}
