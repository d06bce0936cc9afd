"""The hinge loss on real data: certificates from strong regularisation to next to none."""

import numpy as np
import pytest

from cases import OF_MANY_ROWS
from ranksvm import RankSVM, load_svmlight, ranksvm_grid
from ranksvm.linear.row_space import MOST_ROWS
from ranksvm.names import SOLVERS

FILES = {
    "a9a": ["a9a.train"],
    "lambdarank": ["lightgbm-lambdarank.train"],
    "webis": [f"ClueWeb09-webis.F{fold}" for fold in range(1, 6)],
}
LAMBDAS = [1e-1, 1e-3, 1e-5, 1e-8]

every_set = pytest.mark.parametrize("name", FILES)


@pytest.fixture(scope="module")
def data(real_file):
    """Load a data set, once; queries of different files are different ones."""
    loaded = {}

    def load(name):
        if name not in loaded:
            parts = [load_svmlight(real_file(file_name)) for file_name in FILES[name]]
            X, y, qid = parts[0]
            if len(parts) > 1:
                X, y = np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])
                qid = [(fold, q) for fold, part in enumerate(parts) for q in part[2]]
            loaded[name] = X, y, qid
        return loaded[name]

    return load


def fit(data, lam, solver, **options):
    """Minimise ``(1/N) sum of losses + lam |w|^2``, multiplied by C."""
    model = RankSVM(1 / (2 * lam), loss="hinge", normalize="pairs", solver=solver, n_threads=2)
    return model.set_params(**options).fit(*data)


def assert_certified(models):
    """No lower bound lies above a value, be it of another solver."""
    lowest = min(model.objective_ for model in models)
    highest_bound = max(model.objective_ * (1 - model.dual_gap_) for model in models)
    assert highest_bound <= lowest * (1 + 1e-12)


@pytest.mark.parametrize("lam", LAMBDAS)
@every_set
def test_any_regularisation(data, name, lam):
    models = [fit(data(name), lam, solver) for solver in ("auto", "newton")]
    for model in models:
        assert model.status_ == "converged"
        assert 0 <= model.dual_gap_ <= 1e-3
        # No weights are worth C, the mean loss of a pair being 1 there.
        assert model.objective_ < 1 / (2 * lam)
    assert_certified(models)


@every_set
def test_all_solvers_agree(data, name):
    rows = data(name)
    solvers = SOLVERS if len(rows[1]) <= MOST_ROWS else OF_MANY_ROWS
    models = [fit(rows, 1e-3, solver) for solver in solvers]
    assert all(model.status_ == "converged" for model in models)
    assert_certified(models)
    gaps = [model.objective_ * model.dual_gap_ for model in models]
    for model, gap in zip(models, gaps, strict=True):
        for other, its_gap in zip(models, gaps, strict=True):
            assert abs(model.objective_ - other.objective_) <= gap + its_gap
            # Both lie this close to the optimum, since the objective is strongly convex.
            apart = np.linalg.norm(model.coef_ - other.coef_)
            assert apart <= np.sqrt(2 * gap) + np.sqrt(2 * its_gap)


def test_narrow_gaps_on_many_short_queries(data):
    models = [fit(data("lambdarank"), 1e-2, solver, tol=1e-8) for solver in ("auto", "newton")]
    assert all(model.status_ == "converged" for model in models)
    assert models[0].objective_ == pytest.approx(models[1].objective_, rel=1e-8)
    assert_certified(models)


@every_set
def test_grid(data, name):
    X, y, qid = data(name)
    Cs = 1 / (2 * np.array([1e-3, 1e-1]))
    grid = ranksvm_grid(X, y, qid, Cs, loss="hinge", normalize="pairs", n_threads=2)
    assert grid.statuses == ["converged"] * 2
    for lam, objective, gap in zip((1e-3, 1e-1), grid.objectives, grid.dual_gaps, strict=True):
        model = fit(data(name), lam, "auto")
        apart = model.objective_ * model.dual_gap_ + objective * gap
        assert abs(model.objective_ - objective) <= apart


def test_numbers_of_rows_and_pairs(data):
    numbers = {
        "a9a": (32_561, 193_829_520),
        "lambdarank": (3_005, 13_543),
        "webis": (26_646, 1_616_674),
    }
    for name, (n_rows, n_pairs) in numbers.items():
        X, y, qid = data(name)
        assert len(y) == n_rows
        assert fit((X, y, qid), 1.0, "auto", tol=0.1).n_pairs_ == n_pairs
