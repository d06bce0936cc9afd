"""Passes over X, which a disk or a cluster would pay for, are all counted."""

import functools

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from ranksvm import RankSVM, RankSVMCV, load_model, ranksvm_grid, save_model
from ranksvm.linear import design_matrix
from ranksvm.linear.stored import Stored

RNG = np.random.default_rng(3)
X = RNG.normal(size=(80, 5))
y, qid = np.digitize(X @ RNG.normal(size=5) + RNG.normal(size=80), [-1, 0, 1]), np.arange(80) // 8


@pytest.fixture
def seen(monkeypatch):
    """Count what is asked of the core, Hessians as one pass each."""
    calls = []

    def counted(function, name):
        @functools.wraps(function)
        def call(*args, **kwargs):
            calls.append(name)
            n_calls = len(calls)
            result = function(*args, **kwargs)
            del calls[n_calls:]  # of which this one consists
            return result

        return call

    for name in ("dot", "dot_within", "t_dot", "t_dot_squares"):
        monkeypatch.setattr(Stored, name, counted(getattr(Stored, name), name))
    for name in ("weight_space_hessian", "one_pass"):
        monkeypatch.setattr(design_matrix, name, counted(getattr(design_matrix, name), name))
    exact = Stored.rounded

    def rounded(self, n_threads):
        rows = exact(self, n_threads)
        return rows and rows._replace(
            dot=counted(rows.dot, "dot"), t_dot=counted(rows.t_dot, "t_dot")
        )

    monkeypatch.setattr(Stored, "rounded", rounded)
    monkeypatch.setattr(design_matrix, "ROUNDED", range(1 << 20))
    return calls


@pytest.mark.parametrize("layout", [np.ascontiguousarray, csr_matrix])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("solver", ["newton", "trust_region", "bundle", "cutting_planes", "auto"])
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_every_pass_is_counted(seen, layout, loss, solver, offset):
    model = RankSVM(loss=loss, solver=solver, tol=1e-4).fit(layout(X + offset), y, qid)
    counts = [line.n_passes for line in model.history_]
    assert counts[-1] == len(seen)
    assert counts[0] > 0
    assert np.all(np.diff(counts) > 0)


def test_a_fit_that_is_stopped_or_falls_short(seen):
    with pytest.warns(match="max_iter=0 was reached"):
        model = RankSVM(max_iter=0).fit(X, y, qid)
    assert model.history_[-1].n_passes == len(seen)
    seen.clear()
    grid = ranksvm_grid(X, y, qid, [1.0], callback=lambda C, line: line.iteration == 1)
    assert grid.statuses == ["stopped"]
    assert grid.histories[0][-1].n_passes == len(seen)


def test_each_of_a_grid_counts_from_its_own_start(seen):
    grid = ranksvm_grid(X, y, qid, [0.1, 1.0, 10.0])
    assert sum(history[-1].n_passes for history in grid.histories) == len(seen)
    model = RankSVMCV([0.1, 1.0], cv=2).fit(X, y, qid)
    alone = RankSVM(model.C_).fit(X, y, qid)
    assert [line.n_passes for line in model.history_] == [line.n_passes for line in alone.history_]


def test_arrays_count_as_the_core_does_but_for_the_squares_of_columns():
    for solver in ("newton", "trust_region", "bundle"):
        counts = [
            RankSVM(solver=solver, device=device).fit(X, y, qid).history_[0].n_passes
            for device in ("cpu", "numpy:cpu")
        ]
        assert counts[1] in (counts[0], counts[0] + 1)


def test_they_are_told_and_stored(tmp_path, capsys):
    model = RankSVM(verbose=1).fit(X, y, qid)
    header, *lines = capsys.readouterr().err.splitlines()
    place = header.split().index("passes")
    assert [int(line.split()[place]) for line in lines] == [
        line.n_passes for line in model.history_
    ]
    save_model(model, tmp_path / "m")
    assert load_model(tmp_path / "m").training["n_passes"] == model.history_[-1].n_passes
