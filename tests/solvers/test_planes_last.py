"""Planes that go on where steps of a smooth loss have led nowhere."""

import numpy as np
import pytest

from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import Progress, Status, bundle, newton, planes_in_turn, planes_last


def separable(C=1e4):
    """An objective of rows that can be ranked without fault."""
    X = np.random.default_rng(0).normal(size=(80, 20))
    preferences = Preferences.from_labels(X @ np.ones(20))
    return make_problem(DesignMatrix.from_array(X), preferences, Parameters(C=C)).objective


def standing(objective, n_steps):
    """Return a solver that stands after so many Newton steps."""
    return standing_at(newton(objective, np.zeros(20), Progress(max_iter=n_steps)).weights)


def standing_at(weights):
    """Return a solver that stands there."""

    def solver(objective, w0, progress):
        progress.begin("newton", objective)
        progress.record(objective.evaluate(weights), 0.0)
        return progress.result(Status.STALLED)

    return solver


@pytest.mark.parametrize("max_iter", [3, 1000])
def test_they_begin_where_steps_began_and_keep_what_these_have_reached(max_iter, monkeypatch):
    objective, starts = separable(), []

    def noted(objective, w0, *others, **options):
        starts.append(w0)
        return bundle(objective, w0, *others, **options)

    monkeypatch.setattr(planes_in_turn, "bundle", noted)
    w0, progress = np.full(20, 1e-3), Progress(max_iter=max_iter)
    result = planes_last(standing(objective, 3), objective, w0, progress)
    assert result.history[0].dual_gap >= planes_in_turn.FAR
    np.testing.assert_array_equal(starts, [w0])
    assert (result.status is Status.CONVERGED) == (max_iter == 1000)
    assert result.value <= result.history[0].value
    assert objective.evaluate(w0).value > 2 * result.history[0].value


def test_where_steps_have_come_near_they_do_not_go_on():
    objective = separable(C=1e-3)
    result = planes_last(standing(objective, 2), objective, np.zeros(20), Progress(tol=1e-12))
    assert result.dual_gap < planes_in_turn.FAR
    assert (len(result.history), result.status) == (1, Status.STALLED)


@pytest.mark.parametrize(("share", "goes_on"), [(0.9, True), (0.9999, False)])
def test_they_go_on_where_steps_gain_nothing_on_what_others_have_left(share, goes_on):
    objective, progress = separable(C=1e-3), Progress(tol=1e-12)
    stands = standing_at(share * newton(objective, np.zeros(20)).weights)
    before = stands(objective, np.zeros(20), progress)
    assert before.dual_gap < planes_in_turn.FAR
    assert (before.dual_gap > planes_in_turn.NEAR) is goes_on
    result = planes_last(stands, objective, before.weights, progress)
    assert (result.history[-1].solver == "bundle") is goes_on
    assert (result.dual_gap < 0.1 * before.dual_gap) is goes_on
