"""A grid of C: each solution is that of a fit of its own, for less work."""

import numpy as np
import pytest

from cases import make_problem, optimum
from ranksvm import ConvergenceWarning, RankSVM, ranksvm_grid
from ranksvm.names import LOSSES, SOLVERS

CS = [1e-3, 0.1, 1.0, 30.0]

every_loss = pytest.mark.parametrize("loss", LOSSES)
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def assert_grid(grid, values, tol):
    assert grid.statuses == ["converged"] * len(values)
    assert np.all((grid.dual_gaps >= 0) & (grid.dual_gaps <= tol))
    for value, objective, gap in zip(values, grid.objectives, grid.dual_gaps, strict=True):
        assert value * (1 - 1e-11) <= objective <= value * (1 + tol) * (1 + 1e-11)
        assert objective * (1 - gap) <= value * (1 + 1e-11)


@every_loss
@every_solver
@pytest.mark.parametrize("normalize", ["pairs", None])
def test_each_C_has_the_solution_of_its_own_fit(solver, loss, normalize):
    X, y, qid = make_problem(1)
    Cs = CS if normalize == "pairs" else [1e-3, 0.1, 1.0]
    options = {"loss": loss, "solver": solver, "normalize": normalize, "tol": 1e-6}
    grid = ranksvm_grid(X, y, qid, Cs, **options)
    assert grid.Cs.tolist() == Cs
    assert grid.coefs.shape == (len(Cs), X.shape[1])
    assert_grid(grid, [optimum(loss, X, y, qid, C, normalize)[1] for C in Cs], 1e-6)
    for C, coef, objective in zip(Cs, grid.coefs, grid.objectives, strict=True):
        model = RankSVM(C, **options).fit(X, y, qid)
        assert objective == pytest.approx(model.objective_, rel=2e-6)
        # Both lie this close to the optimum, since the objective is strongly convex.
        assert np.linalg.norm(coef - model.coef_) <= 2 * np.sqrt(2e-6 * model.objective_)


@every_loss
def test_the_order_of_the_grid_does_not_matter(loss):
    X, y, qid = make_problem(2)
    Cs = [1.0, 1e-3, 30.0, 1.0, 0.1, 1e-3]
    grid = ranksvm_grid(X, y, qid, Cs, loss=loss, tol=1e-6)
    rising = ranksvm_grid(X, y, qid, sorted(Cs), loss=loss, tol=1e-6)
    assert grid.Cs.tolist() == Cs
    assert_grid(grid, [optimum(loss, X, y, qid, C)[1] for C in Cs], 1e-6)
    order = np.argsort(Cs, kind="stable")
    np.testing.assert_array_equal(grid.coefs[order], rising.coefs)
    np.testing.assert_array_equal(grid.objectives[order], rising.objectives)
    assert [grid.statuses[k] for k in order] == rising.statuses


@every_loss
@every_solver
def test_a_C_that_comes_twice_costs_nothing_the_second_time(solver, loss):
    X, y, qid = make_problem(3)
    grid = ranksvm_grid(X, y, qid, [2.0, 2.0], loss=loss, solver=solver, tol=1e-3)
    first, second = grid.histories
    assert len(first) > 2
    # A smoothing begins wide again, and an interior point inside, whatever the weights; planes and
    # smooth losses go on.
    if loss == "squared_hinge" or solver not in ("newton", "row_space", "trust_region"):
        assert len(second) == 1
    assert grid.objectives[1] <= grid.objectives[0] * (1 + 1e-12)


@pytest.mark.parametrize("solver", ["auto", "bundle", "cutting_planes"])
def test_a_path_takes_fewer_planes_than_separate_fits(solver):
    X, y, qid = make_problem(4, n=300, d=10)
    Cs = np.logspace(-2, 2, 9)
    options = {"loss": "hinge", "solver": solver, "tol": 1e-4}
    grid = ranksvm_grid(X, y, qid, Cs, **options)
    separate = sum(RankSVM(C, **options).fit(X, y, qid).n_iter_ for C in Cs)
    assert sum(history[-1].iteration for history in grid.histories) < 0.9 * separate


@every_loss
def test_weights_are_heeded(loss):
    X, y, qid = make_problem(5)
    rng = np.random.default_rng(0)
    weights = {
        "sample_weight": rng.uniform(0, 2, len(y)),
        "query_weight": rng.uniform(1, 2, 3)[qid],
    }
    grid = ranksvm_grid(X, y, qid, CS, loss=loss, tol=1e-5, normalize="queries", **weights)
    values = [optimum(loss, X, y, qid, C, "queries", **weights)[1] for C in CS]
    assert_grid(grid, values, 1e-5)


@every_loss
def test_the_default_grid(loss):
    X, y, qid = make_problem(6)
    grid = ranksvm_grid(X, y, qid, loss=loss, tol=1e-2)
    np.testing.assert_allclose(grid.Cs, [1e-3, 1e-2, 0.1, 1, 10, 100, 1000])
    assert_grid(grid, [optimum(loss, X, y, qid, C)[1] for C in grid.Cs], 1e-2)


@every_loss
def test_histories_end_with_what_was_reached(loss):
    X, y, qid = make_problem(7)
    grid = ranksvm_grid(X, y, qid, CS[::-1], loss=loss)
    for history, objective, gap in zip(
        grid.histories, grid.objectives, grid.dual_gaps, strict=True
    ):
        assert (history[-1].value, history[-1].dual_gap) == (objective, gap)
        assert [line.iteration for line in history] == list(range(len(history)))


@every_loss
def test_callback_is_told_of_each_C(loss):
    X, y, qid = make_problem(8)
    seen = {}
    grid = ranksvm_grid(
        X, y, qid, CS[::-1], loss=loss, callback=lambda C, line: seen.setdefault(C, []).append(line)
    )
    assert list(seen) == CS  # from the strongest regularisation on
    assert list(seen.values()) == grid.histories[::-1]


@every_loss
def test_callback_ends_one_C_and_not_the_others(loss):
    X, y, qid = make_problem(9)
    grid = ranksvm_grid(X, y, qid, CS, loss=loss, tol=1e-6, callback=lambda C, line: C == 0.1)
    assert grid.statuses == ["converged", "stopped", "converged", "converged"]
    assert len(grid.histories[1]) == 1
    values = [optimum(loss, X, y, qid, C)[1] for C in CS]
    assert grid.objectives[1] * (1 - grid.dual_gaps[1]) <= values[1]
    assert grid.objectives[3] <= values[3] * (1 + 1e-6)


@every_loss
def test_each_C_short_of_its_gap_is_warned_of(loss):
    X, y, qid = make_problem(10)
    with pytest.warns(ConvergenceWarning) as caught:
        grid = ranksvm_grid(X, y, qid, [10.0, 1.0], loss=loss, tol=1e-12, max_iter=1)
    messages = [str(warning.message) for warning in caught]
    assert len(messages) == 2
    for C, message in zip(("1", "10"), messages, strict=True):
        assert f"not converged for C={C}:" in message
        assert "max_iter=1" in message
    assert grid.statuses == ["max_iter", "max_iter"]
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"Cs": []}, "Cs must be a list of at least one number"),
        ({"Cs": [[1.0, 2.0]]}, "Cs must be a list"),
        ({"Cs": [1.0, -2.0]}, "C must be finite and greater than 0, not -2"),
        ({"Cs": [0.0]}, "C must be finite and greater than 0"),
        ({"Cs": [np.nan, 1.0]}, "C must be finite and greater than 0"),
        ({"Cs": [np.inf]}, "C must be finite and greater than 0"),
        ({"loss": "log"}, "loss must be one of"),
        ({"solver": "simplex"}, "solver must be one of"),
        ({"sample_weight": [1.0, 2.0]}, "sample_weight has shape"),
        ({"qid": [1, 2]}, "qid has length 2"),
        ({"y": np.zeros(30)}, "no preference pairs"),
    ],
)
def test_bad_arguments_are_named(arguments, message):
    X, y, qid = make_problem(11)
    with pytest.raises(ValueError, match=message):
        ranksvm_grid(X, **{"y": y, "qid": qid, **arguments})


def test_a_single_number_is_a_grid():
    X, y, qid = make_problem(12)
    assert ranksvm_grid(X, y, qid, 2.0).coefs.shape == (1, 4)


def test_inputs_are_left_alone():
    X, y, qid = make_problem(13)
    inputs = [X, y, qid, np.array([3.0, 1.0])]
    copies = [array.copy() for array in inputs]
    for array in inputs:
        array.flags.writeable = False
    ranksvm_grid(*inputs, loss="hinge")
    assert all(map(np.array_equal, inputs, copies))


def test_what_is_no_grid_and_no_parameter_is_refused():
    X, y, qid = make_problem(0)
    with pytest.raises(ValueError, match=r"Cs must be a list of numbers, not \['a'\]"):
        ranksvm_grid(X, y, qid, ["a"])
    with pytest.raises(TypeError, match="ranksvm_grid has no parameter 'tols'"):
        ranksvm_grid(X, y, qid, tols=1)
