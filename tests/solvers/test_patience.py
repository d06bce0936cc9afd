"""When a solver gives up: what it promises is measured against the work of the other one."""

from dataclasses import replace
from itertools import groupby
from math import exp, sqrt
from types import SimpleNamespace

import numpy as np
import pytest

from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.solver_choice import SMOOTH_SOLVERS, SolverChoice
from ranksvm.linear.stages import Where
from ranksvm.linear.training import make_problem
from ranksvm.names import LOSSES
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import (
    Iteration,
    PlanesFirst,
    ProductsFirst,
    Progress,
    newton,
    products_in_turn,
)
from ranksvm.solvers.patience import (
    AT_MOST,
    FALLING,
    FEWEST,
    FREE,
    LATEST,
    LITTLE,
    LITTLE_MORE,
    MUCH,
    NOTHING,
    SOON,
    WHILE_STEEP,
    Patience,
)

WORK = 100.0


def make_progress(n, gap, slope, per_line=0, smoothings=None):
    """A record of n lines, whose gaps fall by the root of the work to that of the last."""
    line = Iteration(0, 1.0, gap, 1.0, 0, n, 2 * n, "bundle", 0.0)
    gaps = [gap * exp(slope * (sqrt(n - 1) - sqrt(k))) for k in range(n)]
    lines = [
        replace(line, iteration=k, n_products=per_line * k, dual_gap=gaps[k]) for k in range(n)
    ]
    smoothings = smoothings or [0.0] * n
    left = [max(line.dual_gap, h) for line, h in zip(lines, smoothings, strict=True)]
    widths = [h / smoothings[0] if smoothings[0] > 0 else 1.0 for h in smoothings]
    return Progress(tol=1e-6, history=lines, left=left, widths=widths)


def goes_on(*args, work=WORK, **kwargs):
    return Patience(work)(make_progress(*args, **kwargs))


def test_some_work_is_free():
    assert goes_on(int(FREE * WORK) + 1, 1.0, 0.0)
    assert not goes_on(int(FREE * WORK) + 2, 1.0, 0.0)
    assert goes_on(FEWEST + 1, 0.9, 0.0, work=0.0)
    assert not goes_on(FEWEST + 2, 0.9, 0.0, work=0.0)


def test_work_that_leads_to_no_bound_ends_sooner_where_the_other_takes_little():
    assert goes_on(SOON, 1.0, 0.0, work=1.0)
    assert not goes_on(SOON + 1, 1.0, 0.0, work=1.0)
    assert goes_on(SOON + 1, NOTHING, 0.0, work=1.0)
    assert goes_on(SOON + 1, 1.0, 0.0)
    assert not goes_on(SOON + 1, 1.0, 0.0, work=0.99 * LITTLE / FREE)
    assert goes_on(SOON + 1, 1.0, 0.0, work=LITTLE / FREE)


def test_products_are_work():
    assert goes_on(16, 1.0, 0.0)
    assert not goes_on(16, 1.0, 0.0, per_line=1)


@pytest.mark.parametrize("done", [30, 60, 90, 120, 140, 160])
@pytest.mark.parametrize("slope", [0.1, 1.0])
def test_the_end_must_be_foreseen_within_so_much_of_the_work_of_the_other(done, slope):
    def gap(end):
        return 1e-6 * exp(slope * (sqrt(end) - sqrt(done)))

    latest = WORK * min(max(AT_MOST, done / WORK + LITTLE_MORE), LATEST)
    assert goes_on(done + 1, gap(latest - 0.5), slope)
    assert not goes_on(done + 1, gap(latest + 0.5), slope)


def test_no_promise_counts_after_so_much_of_the_work_of_the_other():
    assert not goes_on(int(LATEST * WORK) + 2, 1.001e-6, 1.0)


def test_what_smooth_steps_leave_is_to_fall_faster(monkeypatch):
    assert not goes_on(61, 0.01, 2.0, work=112.0)
    monkeypatch.setattr(Progress, "is_smooth", True)
    assert goes_on(61, 0.01, 2.0, work=112.0)


def test_what_a_solver_of_its_own_pace_leaves_falls_by_that():
    """After half of the work of the other: at 120 by the first power, at 165 by the root."""
    n = 51
    progress = make_progress(n, 1e-2, 0.0)
    rate = np.log(1e-2 / 1e-6) / 70
    progress.left = [1e-2 * exp(rate * (n - 1 - k)) for k in range(n)]
    assert Patience(WORK, pace=1.0)(progress)
    assert not Patience(WORK)(progress)


def test_planes_promise_more_by_the_gap_as_a_part_of_the_bound(monkeypatch):
    def gap(k):
        left = exp(5 - sqrt(k))
        return left / (1 + left)

    progress = make_progress(81, gap(80), 0.0)
    progress.left[:] = [gap(k) for k in range(81)]
    assert not Patience(290.0)(progress)
    assert Patience(290.0, of_bounds=True)(progress)
    monkeypatch.setattr(Progress, "is_smooth", True)
    assert not Patience(200.0, of_bounds=True)(progress)
    monkeypatch.setattr(Progress, "is_at_kinks", True)
    assert Patience(290.0)(progress)


def test_a_gap_that_stands_still_or_grows_promises_nothing():
    assert not goes_on(60, 1e-3, 0.0)
    assert not goes_on(60, 1e-3, -1.0)


def test_work_of_another_solver_before_does_not_count():
    progress = make_progress(300, 1e-3, 5.0)
    assert not Patience(WORK)(progress)
    progress.first = 250
    assert Patience(WORK)(progress)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("work", [1e-3, 8.0, 1e6])
def test_the_optimum_does_not_depend_on_when_a_solver_gives_up(loss, work):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 30)) * 10.0 ** rng.uniform(-2, 2, 30)
    y = rng.integers(0, 4, 300).astype(float)
    parameters = Parameters(loss=loss, C=10.0, tol=1e-7, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    kinks = loss == "hinge"
    planes = PlanesFirst(work) if kinks else None
    turns = SolverChoice(
        "newton", kinks, planes, products=ProductsFirst(work), where=Where(always=True)
    )
    result = replace(problem, choice=turns).minimize(parameters)
    alone = replace(problem, choice=SolverChoice("newton", kinks)).minimize(parameters)
    assert str(result.status) == "converged"
    np.testing.assert_allclose(result.value, alone.value, rtol=2e-7)
    values = [line.value for line in result.history]
    assert np.all(np.diff(values) <= 1e-9 * result.value)  # the last is raised by rounding
    solvers = result.solver.split(", ")
    assert (solvers[-1] == "newton") == (work < 1e6)
    assert solvers[0] == ("bundle" if kinks else "trust_region")


def test_the_best_point_of_a_solver_that_gave_up_is_kept():
    """Stopped at once, the other solver has found nothing better yet."""
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((200, 20)), rng.integers(0, 3, 200).astype(float)
    parameters = Parameters(loss="hinge", C=100.0, tol=1e-9, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    turns = replace(problem, choice=SolverChoice("newton", True, PlanesFirst(1e-3)))
    stopped = turns.minimize(parameters, callback=lambda line: line.solver == "newton")
    assert str(stopped.status) == "stopped"
    best = min(line.value for line in stopped.history if line.solver == "bundle")
    assert stopped.value <= best * (1 + 1e-12)
    value = problem.objective.evaluate(stopped.weights).value
    np.testing.assert_allclose(value, stopped.value, rtol=1e-12)


@pytest.mark.parametrize("exact", [False, True])
def test_the_next_solver_begins_at_the_best_point_where_the_value_has_fallen_by_far(exact):
    """A bound may tell nothing for long of weights that are good for something."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 40)) * 10.0 ** rng.uniform(-2, 2, 40)
    y = (X @ rng.standard_normal(40) > 0).astype(float)
    parameters = Parameters(loss="squared_hinge", C=1e4, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    starts = []

    def fallback(objective, start, progress):
        starts.append(start)
        return newton(objective, start, progress)

    w0 = np.zeros(40)
    result = ProductsFirst(40.0, solves_models=exact).before(fallback)(
        problem.objective, w0, Progress()
    )
    (start,) = starts
    left_off = [line for line in result.history if line.solver == "trust_region"][-1]
    assert left_off.dual_gap > 0.9
    assert left_off.value < products_in_turn.FALLEN * result.history[0].value
    value = problem.objective.evaluate(start).value
    expected = left_off.value if exact else result.history[0].value
    np.testing.assert_allclose(value, expected, rtol=1e-12)
    assert str(result.status) == "converged"


@pytest.mark.parametrize("from_zero", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_next_solver_begins_at_the_best_point_but_where_products_merely_look(
    loss, from_zero, monkeypatch
):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((400, 20))
    y = np.digitize(X[:, 0] + rng.standard_normal(400), [-1.0, 0.0, 1.0]).astype(float)
    parameters = Parameters(loss=loss, C=100.0, tol=1e-8, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    starts = []

    def noted(objective, w0, progress):
        starts.append((progress.solver, w0.any()))
        return newton(objective, w0, progress)

    monkeypatch.setitem(SMOOTH_SOLVERS, "newton", noted)
    where = Where(from_zero=True) if from_zero else Where(if_weak=True, weak=2.0)
    kinks = loss == "hinge"
    choice = SolverChoice("newton", kinks, products=ProductsFirst(12.0), where=where)
    monkeypatch.setattr(products_in_turn, "FAR", 2.0)  # so that any point is a start
    result = replace(problem, choice=choice).minimize(parameters)
    assert str(result.status) == "converged"
    assert starts == [("trust_region", not from_zero)]


@pytest.mark.parametrize("n_planes", [0.0, 1e-3, 1e6])
@pytest.mark.parametrize("C", [3.0, 1e4])
def test_planes_go_on_where_products_have_begun_a_long_way(C, n_planes):
    """They end where they promise to, and where not, products go on where they were."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 150))
    y = (X[:, 0] + 0.3 * rng.standard_normal(200) > 0).astype(float)
    parameters = Parameters(loss="squared_hinge", C=C, tol=1e-4, n_threads=1)
    problem = make_problem(DesignMatrix.from_array(X), Preferences.from_labels(y), parameters)
    progress = Progress(tol=1e-4)
    first = ProductsFirst(1e6, planes=n_planes, solves_models=True)
    result = first.before(newton)(problem.objective, np.zeros(150), progress)
    assert str(result.status) == "converged"
    turns = [name for name, _ in groupby(line.solver for line in result.history)]
    is_weak = 2 * (1 - result.history[0].dual_gap) < products_in_turn.WEAK_FOR_MANY
    assert is_weak is (C > 3.0)
    began = next(k for k, width in enumerate(progress.widths) if width > 1)
    if is_weak or n_planes == 0:
        assert turns == ["trust_region"]
        return
    assert turns == ["trust_region", "bundle", *["trust_region"] * (n_planes < 1)]
    assert result.history[began + 1].solver == "bundle"
    best = min(line.value for line in result.history[: began + 1])
    np.testing.assert_allclose(result.history[began + 1].value, best, rtol=1e-12)
    if n_planes < 1:
        solver = ProductsFirst(1e6, planes=n_planes).before(newton)
        others = solver(problem.objective, np.zeros(150), Progress(tol=1e-4))
        assert others.history[-1].solver == "newton"
        again = 1 + max(k for k, line in enumerate(result.history) if line.solver == "bundle")
        assert 1 < progress.widths[again + 1] < progress.widths[began]


def retreating(n_before, n_after, factor, widest=64e-3):
    """Smoothings that fell to the gap, 1e-3, and fall again from a wider one."""
    return [1e-3] * n_before + [widest * factor**k for k in range(n_after)]


@pytest.mark.parametrize("factor", [0.7, 1.0])
def test_after_a_retreat_all_the_work_of_the_other_is_free(factor):
    for n, allowed in ((60, True), (int(WORK) + 1, True), (int(WORK) + 2, False)):
        assert goes_on(n, 1e-3, 0.0, smoothings=retreating(n - 24, 24, factor)) is allowed
        assert not goes_on(n, 1e-3, 0.0)


def test_a_retreat_shows_in_the_width_before_what_is_smoothed_rises():
    progress = make_progress(60, 1e-3, 0.0, smoothings=[1e-3] * 60)
    assert not Patience(WORK)(progress)
    progress.widths[40:] = [64.0] * 20
    assert Patience(WORK)(progress)
    progress.widths[40:] = [2.0] * 20
    assert not Patience(WORK)(progress)


def test_to_begin_wide_is_no_retreat():
    progress = make_progress(60, 1e-3, 0.0, smoothings=[1e-3] * 60)
    progress.widths[1:] = [64.0] * 59
    assert not Patience(WORK)(progress)


@pytest.mark.parametrize("by_planes", [False, True])
def test_a_value_that_falls_promises_what_the_gap_does_not_yet(by_planes):
    for n in (0, 1):
        progress = make_progress(int(WHILE_STEEP * WORK) + 1 + n, 0.9, 0.0)
        progress.is_by_planes = by_planes
        *_, last = progress.history
        progress.history[-1] = replace(last, value=FALLING)
        assert Patience(WORK)(progress) == (n == 0 and not by_planes)
        assert not Patience(WORK, most_products=50)(progress)  # the other goes on from there
        progress.history[-1] = replace(last, value=FALLING, dual_gap=1.0)  # nor does a bound tell
        assert not Patience(WORK)(progress)
        progress.history[-1] = replace(last, value=1.01 * FALLING)
        assert not Patience(WORK)(progress)


@pytest.mark.parametrize("smoothing", [0.0, 1e-3])
def test_a_model_that_takes_too_many_products_ends_it_without_kinks(smoothing):
    for per_line in (4, 5):
        progress = make_progress(6, 1e-3, 5.0, per_line=per_line)
        progress.latest = SimpleNamespace(has_kinks=smoothing > 0, smoothing=smoothing)
        ends = Patience(WORK, most_products=5)
        assert ends(progress) == (per_line == 4 or smoothing > 0)
        assert Patience(WORK)(progress)


def test_a_steep_step_promises_what_the_gap_does_not_yet():
    for n in (0, 1):
        progress = make_progress(int(WHILE_STEEP * WORK) + 1 + n, 1e-3, 0.0)
        progress.is_steep = True
        assert Patience(WORK)(progress) == (n == 0)


@pytest.mark.parametrize(
    ("value", "falls_by", "rises_by", "goes_on"),
    [
        (4.0, 1.3, 1.0, True),
        (4.0, 1.3, 1.1, True),
        (0.4, 1.3, 1.0, True),
        (0.4, 1.3, 1.1, False),
        (4.0, 1.02, 1.0, False),
        (4.0, 1.0, 1.0, False),
    ],
)
def test_planes_that_end_at_once_go_on_while_their_value_falls(value, falls_by, rises_by, goes_on):
    before_last, bound = np.arange(39.0, -1, -1), 0.1
    line = Iteration(0, 1.0, 1.0, 1.0, 0, 40, 80, "bundle", 0.0)
    lines = [
        replace(line, iteration=39 - int(k), value=v, dual_gap=1 - bound * rises_by**-k / v)
        for k, v in zip(before_last, value * falls_by**before_last, strict=True)
    ]
    left = list(1 - 1e-5 * before_last[::-1])  # of which hardly anything is gone
    progress = Progress(tol=1e-3, history=lines, left=left, is_by_planes=True)
    assert (lines[-1].dual_gap > MUCH) == (value > 1)
    assert Patience(WORK, ends_at_once=True)(progress) == goes_on
    assert not Patience(WORK)(progress)
    lines[-1] = replace(lines[-1], dual_gap=1.0)  # no bound
    assert not Patience(WORK, ends_at_once=True)(progress)


@pytest.mark.parametrize(("gap", "goes_on"), [(0.02, True), (5e-4, False)])
def test_planes_that_end_at_once_do_so_whatever_gap_is_asked_for(gap, goes_on):
    progress = make_progress(60, gap, 1.2)
    assert progress.tol == 1e-6
    assert Patience(WORK, ends_at_once=True)(progress) == goes_on
    assert not Patience(WORK)(progress)
