"""A few planes where products of a smoothed loss have stalled close to the end."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np
import pytest

from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.pairs.preferences import Preferences
from ranksvm.solvers import (
    Objective,
    ProductsFirst,
    Progress,
    SolverResult,
    Status,
    newton,
    planes_last,
    products_in_turn,
    trust_region,
)
from ranksvm.solvers.turns import FEW_PLANES

TOL = 1e-5


def make_objective(loss: str) -> Objective:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 12))
    y = np.digitize(X[:, 0] + 0.5 * rng.standard_normal(300), [-1.0, 0.0, 1.0]).astype(float)
    rows, pairs = DesignMatrix.from_array(X), Preferences.from_labels(y)
    return make_problem(rows, pairs, Parameters(loss=loss, C=10.0, tol=TOL, n_threads=1)).objective


def stall_at(gap: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let products stall once the relative gap is so small."""

    def stalling(
        objective: Objective, w0: np.ndarray, progress: Progress, **options: Any
    ) -> SolverResult:
        with progress.patient(lambda record: record.dual_gap > gap, Status.STALLED):
            return trust_region(objective, w0, progress, **options)

    monkeypatch.setattr(products_in_turn, "trust_region", stalling)


@pytest.mark.parametrize(
    ("loss", "close", "most", "expected"),
    [
        ("hinge", 0.9, 1e3, ["trust_region", "bundle"]),
        ("hinge", 0.9, 0.0, ["trust_region", "bundle", "newton"]),
        ("hinge", 1e3, 1e3, ["trust_region", "newton"]),
        ("squared_hinge", 0.9, 1e3, ["trust_region", "newton"]),
    ],
)
def test_few_planes_go_on_close_to_the_end_as_long_as_they_promise_one(
    loss: str, close: float, most: float, expected: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    stall_at(close * FEW_PLANES * TOL, monkeypatch)
    monkeypatch.setattr(products_in_turn, "AT_END", most)
    objective, progress = make_objective(loss), Progress(tol=TOL)
    first = ProductsFirst(1e6).before(newton)
    result = planes_last(first, objective, np.zeros(12), progress)
    assert str(result.status) == "converged"
    assert [name for name, _ in groupby(line.solver for line in result.history)] == expected
    alone = planes_last(newton, objective, np.zeros(12), Progress(tol=1e-9))
    np.testing.assert_allclose(result.value, alone.value, rtol=2 * TOL)
