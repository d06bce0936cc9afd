"""
What the parts of a fit cost on this machine, per unit of work, on one thread.

    python -m benchmarks.primitives

Sparse Hessians are timed on two threads, too. What `ranksvm.linear.choice_by_cost` counts is to be
judged by these. It knows no clock, so that the choice of a solver does not depend on the machine.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.datasets.random_shapes import make_random_shape
from benchmarks.datasets.solver_shapes import Data, make_short_queries
from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.unlike_shapes import make_unlike_shape
from benchmarks.datasets.web_like import make_web_like
from benchmarks.harness import machine_line, print_table
from benchmarks.micro import Call, best_time
from ranksvm import _core
from ranksvm.linear.costs import RISK_OF_PLANES, RISK_OF_PRODUCTS, Costs
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.dual_descent import Descent
from ranksvm.linear.interior_point import interior_point
from ranksvm.linear.objective import LinearEvaluation
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.row_space import RowSpace
from ranksvm.linear.solver_choice import MOST_FEATURES
from ranksvm.linear.training import Problem, make_problem
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import CuttingPlanes, Iteration, Progress

COLUMNS = ("primitive", "on", "ns or ratio", "per")
REPEATS = 3
N_PLANES, N_STEPS = 50, 5
MOST = 30  # iterations of a fit
FITTED = {"bundle": "planes", "trust_region": "products", "newton": "Newton steps"}


def main() -> None:
    """Print the table."""
    print(machine_line())
    with threadpool_limits(1):
        print_table("primitives, one thread", COLUMNS, rows())


def rows() -> Iterator[tuple[str, str, float, str]]:
    """Time each primitive, on data that show it."""
    for kind, data in (
        ("dense", web()),
        ("dense, 46 features", dense(46, 60)),
        ("dense, 10 features", distinct()),
        ("CSR", text()),
    ):
        yield from passes(kind, data)
    for kind, data in (
        ("queries of 10", short_queries()),
        ("queries of 60, five levels", dense(100, 60)),
        ("queries of 120, five levels", web()),
        ("one query, two levels", two_levels()),
        ("one query, distinct labels", distinct()),
    ):
        yield from sweeps(kind, data)
    yield from hessians("dense", web())
    for features, of_a_query in ((16, 10), (100, 10), (100, 60), (1_000, 10)):
        kind = f"dense, {features} features, queries of {of_a_query}"
        yield from hessians(kind, dense(features, of_a_query))
    yield from hessians("CSR, queries of 10", short_queries())
    yield from hessians("CSR, one query", one_query())
    for features, of_a_query in ((400, 2), (4_000, 2), (400, 10), (4_000, 10), (4_000, 160_000)):
        kind = f"CSR, {features:,} features, queries of {of_a_query:,}"
        yield from hessians(kind, words(features, of_a_query))
    for number in (2, 4, 138):
        yield descent(number)
    for number in (5, 33):
        yield shared_features(number)
    yield cholesky(500)
    yield plane(10_000)
    for kind, data in (
        ("dense, queries of 120", web()),
        ("dense, 10 features, one query", distinct()),
        ("dense, 5,000 x 40, one query", little()),
        ("CSR, queries of 10", short_queries()),
        ("CSR, 47,236 features, one query", text()),
    ):
        yield from fits(kind, data)


@cache
def web() -> Data:
    """Make dense rows of search results."""
    return Data(*make_web_like(rows=24_000, queries=200, features=136))


@cache
def text() -> Data:
    """Make sparse rows of words."""
    return Data(*make_text_like(rows=8_000), None)


@cache
def short_queries() -> Data:
    """Make sparse rows in short queries."""
    return make_short_queries()


@cache
def dense(features: int, of_a_query: int) -> Data:
    """Make dense rows with five levels."""
    rng = np.random.default_rng(0)
    rows = 3_000_000 // features
    y = rng.integers(0, 5, rows).astype(np.float64)
    return Data(rng.standard_normal((rows, features)), y, np.arange(rows) // of_a_query)


@cache
def little() -> Data:
    """Make a small ranking of dense rows with five levels."""
    X, y, _ = dense(40, 10)
    return Data(X[:5_000], y[:5_000], None)


@cache
def words(features: int, of_a_query: int) -> Data:
    """Make rows of six values each, with five levels."""
    rng = np.random.default_rng(0)
    rows, per_row = 160_000, 6
    columns = rng.integers(0, features, (rows, per_row)).ravel()
    indptr = np.arange(0, rows * per_row + 1, per_row)
    X = sparse.csr_matrix((rng.random(rows * per_row), columns, indptr), (rows, features))
    X.sum_duplicates()
    utility = X @ rng.standard_normal(features)
    utility += utility.std() * rng.standard_normal(rows)
    y = np.digitize(utility, np.quantile(utility, [0.3, 0.6, 0.8, 0.9])).astype(np.float64)
    return Data(X, y, np.arange(rows) // of_a_query)


@cache
def one_query() -> Data:
    """Make one ranking of the same rows."""
    return short_queries()._replace(qid=None)


@cache
def distinct() -> Data:
    """Make one ranking of rows with a label each."""
    X = np.random.default_rng(0).standard_normal((100_000, 10))
    return Data(X, X.sum(axis=1) + np.random.default_rng(1).standard_normal(len(X)), None)


@cache
def two_levels() -> Data:
    """Make one ranking of rows that are good or bad."""
    X, y, _ = distinct()
    return Data(X, (y > 2).astype(float), None)


def passes(kind: str, data: Data) -> Iterator[tuple[str, str, float, str]]:
    """Time passes over X in both directions, and what NumPy or SciPy takes for one."""
    X = DesignMatrix.from_array(data.X)
    rng = np.random.default_rng(0)
    w, u = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
    X.t_dot(u)  # the first brings the squares of columns
    calls = {
        "X w": lambda: X.dot(w),
        "X w, elsewhere": lambda: data.X @ w,
        "X'u": lambda: X.t_dot(u),
    }
    for name, call in calls.items():
        yield name, kind, nanoseconds(call) / X.n_stored, "stored value"


def sweeps(kind: str, data: Data) -> Iterator[tuple[str, str, float, str]]:
    """Time value and gradient in score space for either loss, and a product with the Laplacian."""
    n = data.X.shape[0]
    for loss in ("hinge", "squared_hinge"):
        there = evaluation(data, loss)
        here, step = there.objective.loss, 1e-3 * np.random.default_rng(0).standard_normal(n)
        moved = there.scores + step * there.scores.std()
        turns = [there.scores, moved]

        def sweep(here: Any = here, turns: list[Any] = turns) -> Any:
            turns.reverse()  # the last sweep is remembered
            return here.evaluate(turns[0]).gradient

        yield f"sweep, {loss}", kind, nanoseconds(sweep) / n, "row"
    v = np.random.default_rng(1).standard_normal(n)
    product = nanoseconds(lambda: there.loss.hessian_product(v)) / n  # type: ignore[attr-defined]
    yield "Laplacian times a vector", kind, product, "row"


def hessians(kind: str, data: Data) -> Iterator[tuple[str, str, float, str]]:
    """Time the explicit Hessian for either loss, in single precision as Newton's method wants it.

    The hinge has its kink rounded off over a tenth of the margin. What the choice of solvers
    reckons with is beside it.
    """
    X = DesignMatrix.from_array(data.X)
    costs = Costs.of(X, Preferences.from_labels(data.y, data.qid))
    per_value = 1 / (X.n_stored * X.shape[1])
    for loss in ("squared_hinge", "hinge"):
        there = evaluation(data, loss)
        smoothed = there.objective.loss.smoothed().narrowed(0.1)
        here = there.objective.with_loss(smoothed).evaluate(there.weights)
        here.scaled_hessian(np.float32)  # standardises X, which only the first step has to
        form = partial(here.scaled_hessian, np.float32)
        taken, reckoned = nanoseconds(form), costs.hessian(loss == "hinge")
        yield f"Hessian, {loss}", kind, taken * per_value, "stored value and feature"
        yield f"the same, {loss}, as reckoned", kind, reckoned / taken, "time taken"
        if kind.startswith("dense"):
            continue
        two = replace(here.objective, n_threads=2).at(here.weights, here.scores)
        shared = best_time(partial(two.scaled_hessian, np.float32), REPEATS, time.perf_counter)
        alone = best_time(form, REPEATS, time.perf_counter)
        yield f"the same, {loss}, two threads", kind, shared / alone, "time of one thread"


def descent(number: int) -> tuple[str, str, float, str]:
    """Time a pass by the slopes of pairs, on sparse rows of a random shape."""
    X, y, qid = make_random_shape(number)
    parameters = Parameters(loss="hinge", C=1000.0, n_threads=1)
    preferences = Preferences.from_labels(y, qid)
    problem = make_problem(DesignMatrix.from_array(X), preferences, parameters)
    there = Descent(problem.objective)
    there.advance(1)
    kind = f"{X.shape[0]:,} x {X.shape[1]:,}, {X.nnz / len(there.pairs.better):.1f} values a pair"
    per_pair = nanoseconds(lambda: there.visit(there.queries)) / len(there.pairs.better)
    return "pass by slopes", kind, per_pair, "pair"


def shared_features(number: int) -> tuple[str, str, float, str]:
    """Time an interior-point step by the features that rows share, of a set with many others."""
    X, y, qid = make_unlike_shape(number)
    parameters = Parameters(loss="hinge", C=1000.0, n_threads=1)
    matrix, preferences = DesignMatrix.from_array(X), Preferences.from_labels(y, qid)
    objective = make_problem(matrix, preferences, parameters).objective
    objective = replace(objective, rows=RowSpace(matrix))
    costs, start = Costs.of(matrix, preferences), np.zeros(objective.size)

    def take_steps() -> Any:
        return interior_point(objective, start, Progress(tol=0.0), max_steps=N_STEPS)

    kind = f"{X.shape[0]:,} x {X.shape[1]:,}, {costs.n_shared:,} shared"
    reckoned = costs.interior_points(N_STEPS) / nanoseconds(take_steps)
    return "interior-point steps, as reckoned", kind, reckoned, "time taken"


def cholesky(d: int) -> tuple[str, str, float, str]:
    """Time a factorisation, in single precision, and a solution by it."""
    half = np.random.default_rng(0).standard_normal((d, 2 * d)).astype(np.float32)
    matrix, v = half @ half.T, np.ones(d)

    def solve() -> Any:
        return _core.cholesky_solve(np.linalg.cholesky(matrix).astype(np.float64), v)

    return "Cholesky and solution", f"d = {d}", nanoseconds(solve) / d**3, "d^3"


def plane(d: int) -> tuple[str, str, float, str]:
    """Time a plane beside fifty others."""
    slopes = np.random.default_rng(0).standard_normal((N_PLANES, d))

    def add_all() -> None:
        planes = CuttingPlanes(d)
        for slope in slopes:
            planes.add(slope, 1.0)

    per_value = nanoseconds(add_all) / (0.5 * N_PLANES**2 * d)
    return "plane", f"d = {d:,}, among {N_PLANES}", per_value, "feature and plane"


def fits(kind: str, data: Data) -> Iterator[tuple[str, str, float, str]]:
    """Compare what solvers take, after their first step, with what the choice reckons with."""
    matrix, preferences = DesignMatrix.from_array(data.X), Preferences.from_labels(data.y, data.qid)
    costs = Costs.of(matrix, preferences)
    for solver, loss in itertools.product(FITTED, LOSSES):
        if solver == "newton" and costs.d > MOST_FEATURES:
            continue
        parameters = Parameters(loss=loss, tol=1e-9, solver=solver, max_iter=MOST, n_threads=1)
        taken, steps, products = _taken(make_problem(matrix, preferences, parameters), parameters)
        kinks = loss == "hinge"
        reckoned = {
            "bundle": steps * costs.plane / RISK_OF_PLANES,
            "trust_region": steps * costs.step(kinks) + products * costs.product / RISK_OF_PRODUCTS,
            "newton": costs.newton(steps, kinks),
        }[solver]
        yield f"{FITTED[solver]}, {loss}, as reckoned", kind, reckoned / taken, "time taken"


def _taken(problem: Problem, parameters: Parameters) -> tuple[float, int, int]:
    """Return the nanoseconds, steps and products of a fit after its first step."""
    lines: list[tuple[float, Iteration]] = []
    problem.minimize(parameters, callback=lambda line: lines.append((time.thread_time(), line)))
    of_solver = [(then, line) for then, line in lines if line.solver == parameters.solver]
    (begun, first), (ended, last) = of_solver[0], of_solver[-1]
    return 1e9 * (ended - begun), len(of_solver) - 1, last.n_products - first.n_products


def evaluation(data: Data, loss: str) -> LinearEvaluation:
    """Evaluate near the optimum, where solvers spend their time."""
    parameters = Parameters(loss=loss, n_threads=1, tol=0.1)
    problem = make_problem(
        DesignMatrix.from_array(data.X), Preferences.from_labels(data.y, data.qid), parameters
    )
    return problem.objective.evaluate(problem.minimize(parameters).weights)


def nanoseconds(call: Call) -> float:
    """Least time of a call."""
    return 1e9 * best_time(call, REPEATS)


if __name__ == "__main__":
    main()
