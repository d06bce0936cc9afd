"""Pictures of regularization paths and of rankers of two features, by the data of the artists."""

import numpy as np
import pytest

from cases import make_problem
from ranksvm import KernelRankSVMPathCV, RankSVM, regularization_path
from ranksvm.plots import BoundaryDisplay, PathScoreDisplay, RegularizationPathDisplay, save_figure
from ranksvm.plots.boundary import best_threshold


@pytest.fixture(scope="module")
def problem():
    return make_problem(0, n=40, d=2, n_queries=4, n_levels=2)


@pytest.fixture(scope="module")
def path(problem):
    return regularization_path(*problem, kernel="rbf", gamma=0.5)


@pytest.fixture(scope="module")
def search(problem):
    return KernelRankSVMPathCV(gammas=[0.1, 1.0], cv=2, n_lambdas=30).fit(*problem)


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


# --- the path itself ------------------------------------------------------------------------------


def test_coefficients_and_sizes_are_those_of_the_path(path):
    display = RegularizationPathDisplay.from_path(path, n_curves=7)
    assert len(display.lines_) == len(set(display.shown_)) == 7
    end = path.gammas[-1]
    assert {end.argmin(), end.argmax()} <= set(display.shown_)
    for row, line in zip(display.shown_, display.lines_, strict=True):
        x, y = line.get_data()
        assert set(path.lambdas) <= set(x)
        inside = x[1:-1]  # the ends round
        np.testing.assert_allclose(y[1:-1], path.coef_at(inside)[:, row] * inside, atol=1e-9)
    for name, line in zip(("n_one", "n_free", "n_zero"), display.size_lines_, strict=True):
        np.testing.assert_array_equal(line.get_ydata(), getattr(path, name))
        assert line.get_drawstyle() == "steps-post"
    for ax in display.ax_:
        assert ax.xaxis_inverted()
        assert ax.get_xscale() == "log"
    assert display.ax_[0].get_ylabel().endswith("of 7 of 40 rows")


def test_all_rows_a_lambda_and_given_axes(path, tmp_path):
    first = RegularizationPathDisplay(path).plot(n_curves=100, lam=1.0, linewidth=3)
    assert sorted(first.shown_) == list(range(40))
    assert first.lines_[0].get_linewidth() == 3
    legend = first.ax_[0].get_legend().get_texts()
    assert [text.get_text() for text in legend] == ["lambda = 1"]
    save_figure(first.figure_, tmp_path / "path.png")
    again = RegularizationPathDisplay(path).plot(first.ax_)
    assert again.figure_ is first.figure_


def test_a_path_without_events_is_not_drawn(path):
    nothing = regularization_path([[1.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="nothing happens on this path"):
        RegularizationPathDisplay.from_path(nothing)
    with pytest.raises(ValueError, match="nothing happens on this path"):
        PathScoreDisplay.from_path(nothing, [[0.0], [1.0]], [0, 1])
    with pytest.raises(ValueError, match="n_curves must be at least 1"):
        RegularizationPathDisplay.from_path(path, n_curves=0)


# --- scores along it ------------------------------------------------------------------------------


def test_means_and_bands_of_a_search(search, tmp_path):
    table = search.cv_results_
    display = PathScoreDisplay.from_estimator(search, name="chosen")
    rows = table["param_gamma"] == search.gamma_
    np.testing.assert_array_equal(display.line_.get_xdata(), table["param_lambda"][rows])
    np.testing.assert_array_equal(display.line_.get_ydata(), table["mean_test_score"][rows])
    low = table["mean_test_score"][rows] - table["standard_error"][rows]
    assert np.isin(low, display.band_.get_paths()[0].vertices[:, 1]).all()
    assert display.chosen_line_.get_xdata() == [search.lambda_] * 2
    assert display.ax_.get_ylabel() == "pairwise accuracy pooled, mean ± standard error"
    other = ({0.1, 1.0} - {search.gamma_}).pop()
    second = PathScoreDisplay.from_estimator(search, gamma=other, ax=display.ax_)
    assert second.chosen_line_ is None
    assert second.ax_.xaxis_inverted()
    save_figure(second.figure_, tmp_path / "scores.svg")
    with pytest.raises(ValueError, match=r"gamma must be one of 0\.1, 1, not 3"):
        PathScoreDisplay.from_estimator(search, gamma=3)


def test_a_search_without_widths(problem):
    search = KernelRankSVMPathCV(kernel="linear", cv=2, n_lambdas=9, scoring="ndcg@5")
    display = PathScoreDisplay.from_estimator(search.fit(*problem))
    assert len(display.line_.get_xdata()) == len(search.cv_results_["param_lambda"])
    assert display.ax_.get_ylabel().startswith("ndcg@5")


def test_errors_of_a_path(path):
    X, y, qid = make_problem(1, n=30, d=2, n_levels=2)
    display = PathScoreDisplay.from_path(path, X, y, qid)
    errors = path.validation_errors(X, y, qid)
    np.testing.assert_array_equal(display.line_.get_ydata(), errors)
    assert display.band_ is None
    assert display.chosen == path.lambdas[errors == errors.min()].max()
    assert texts_of(display.ax_) == [f"$\\lambda$ = {display.chosen:.3g}"]
    assert display.ax_.get_ylabel() == "pairwise error"

    def swaps(labels, scores, queries):
        return float(scores.argmax())

    assert PathScoreDisplay.from_path(path, X, y, metric=swaps).ax_.get_ylabel() == "swaps"


# --- the map --------------------------------------------------------------------------------------


def test_the_boundary_is_where_the_score_is_the_threshold(problem, path, tmp_path):
    X, y, _ = problem
    display = BoundaryDisplay.from_path(path, 1.0, X, y)
    scores = path.predict(X, 1.0)
    assert display.threshold_ == best_threshold(scores, y == 1)
    line = np.concatenate([p.vertices for p in display.boundary_.get_paths()])
    np.testing.assert_allclose(path.predict(line, 1.0), display.threshold_, atol=0.05)
    lower, upper = display.points_
    np.testing.assert_array_equal(lower.get_offsets(), X[y == 0])
    np.testing.assert_array_equal(upper.get_offsets(), X[y == 1])
    assert display.ax_.get_title(loc="right") == "$\\lambda$ = 1"
    save_figure(display.figure_, tmp_path / "map.png")


@pytest.mark.parametrize("n_labels", [1, 3, 9])
def test_other_numbers_of_labels_have_no_boundary(problem, search, n_labels):
    X, *_ = problem
    y = np.arange(len(X)) % n_labels
    display = BoundaryDisplay.from_estimator(search, X, y, resolution=20)
    assert (display.threshold_, display.boundary_) == (None, None)
    assert len(display.points_) == (n_labels if n_labels < 9 else 1)
    assert sum(len(points.get_offsets()) for points in display.points_) == len(X)


def test_a_map_of_scores_that_are_all_equal(problem, tmp_path):
    X, y, _ = problem
    display = BoundaryDisplay(lambda rows: np.ones(len(rows)), X, y).plot(resolution=5)
    assert display.threshold_ == 1
    save_figure(display.figure_, tmp_path / "map.png")


def test_a_map_needs_two_features():
    X, y, qid = make_problem(2)
    model = RankSVM().fit(X, y, qid)
    with pytest.raises(ValueError, match=r"needs X with two features, not of shape \(30, 4\)"):
        BoundaryDisplay.from_estimator(model, X, y)


@pytest.mark.parametrize("seed", range(20))
def test_the_threshold_is_the_best_of_all(seed):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 6, 12).astype(float)
    upper = rng.permutation(12) < rng.integers(1, 12)

    def height(threshold):
        above = scores > threshold
        return above[upper].mean() - above[~upper].mean()

    distinct = np.unique(scores)
    thresholds = (distinct[1:] + distinct[:-1]) / 2
    best = max(map(height, thresholds))
    good = [t for t in thresholds if height(t) >= best - 1e-12]
    assert best_threshold(scores, upper) in good
