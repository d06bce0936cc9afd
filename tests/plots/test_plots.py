"""Curves of convergence and of C, and what all pictures share, by the data of the artists."""

import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError

from ranksvm import RankSVM, RankSVMCV, evaluate, ranksvm_grid
from ranksvm.plots import (
    CoefficientsDisplay,
    ConvergenceDisplay,
    MetricAtKDisplay,
    QueryComparisonDisplay,
    RegularizationCurveDisplay,
    ScoreDistributionDisplay,
    check_picture,
    save_figure,
)
from ranksvm.solvers import Iteration

X, Y = load_diabetes(return_X_y=True)
QID = np.arange(len(Y)) % 9
GRADES = np.digitize(Y, np.quantile(Y, [0.25, 0.5, 0.75]))


@pytest.fixture(scope="module")
def model():
    return RankSVM(tol=1e-9).fit(X, Y)


def legend_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_convergence_shows_the_gaps(model):
    display = ConvergenceDisplay.from_estimator(model)
    np.testing.assert_array_equal(
        display.line_.get_ydata(), [line.dual_gap for line in model.history_]
    )
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(model.n_iter_ + 1))
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_xlabel() == "iteration"
    assert display.ax_.get_legend() is None


def test_convergence_against_seconds_on_given_axes(model):
    first = ConvergenceDisplay(model.history_, name="one").plot(against="seconds")
    second = ConvergenceDisplay(model.history_, name="two").plot(first.ax_, against="seconds")
    assert second.figure_ is first.figure_
    assert legend_of(first.ax_) == ["one", "two"]
    assert first.line_.get_xdata()[-1] == model.history_[-1].seconds
    with pytest.raises(ValueError, match="against must be"):
        ConvergenceDisplay(model.history_).plot(against="luck")
    with pytest.raises(ValueError, match="quantity must be"):
        ConvergenceDisplay(model.history_).plot(quantity="luck")


def test_the_objective_and_the_tolerance(model):
    display = ConvergenceDisplay.from_estimator(model, quantity="objective", tol=1e-3)
    np.testing.assert_array_equal(
        display.line_.get_ydata(), [line.value for line in model.history_]
    )
    assert display.ax_.get_yscale() == "linear"
    assert len(display.ax_.lines) == 1  # the tolerance is one of the gap
    display = ConvergenceDisplay.from_estimator(model, tol=1e-3)
    assert display.ax_.lines[1].get_ydata() == [1e-3, 1e-3]
    assert [text.get_text() for text in display.ax_.texts] == ["tol = 0.001"]


@pytest.mark.parametrize("gaps", [[], [0.5], [np.inf, 1e12, 1e-16], [np.inf, np.nan]])
def test_histories_that_hardly_are_some(gaps, tmp_path):
    history = [Iteration(k, 1.0, gap, 0.0, 0, 0, 0, "newton", 0.0) for k, gap in enumerate(gaps)]
    display = ConvergenceDisplay(history).plot(tol=1e-3)
    save_figure(display.figure_, tmp_path / "gap.png")
    assert len(display.line_.get_xdata()) == len(gaps)


def test_estimators_must_be_fitted():
    for draw in (ConvergenceDisplay, CoefficientsDisplay):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            draw.from_estimator(RankSVM())
    with pytest.raises(NotFittedError, match="not fitted yet"):
        RegularizationCurveDisplay.from_estimator(RankSVMCV())


def test_curves_differ_without_colour(model):
    ax = None
    for k in range(6):
        display = ConvergenceDisplay.from_estimator(model, ax=ax, name=f"curve {k}", tol=1e-3)
        ax = display.ax_
    curves = [line for line in ax.lines if not line.get_label().startswith("_")]
    assert len({(line.get_marker(), line.get_linestyle()) for line in curves}) == 6
    assert len({line.get_color() for line in curves}) == 6


def test_styles_can_be_chosen_by_short_names(model):
    display = ConvergenceDisplay.from_estimator(model, name="a", ls=":", c="red", label="b")
    assert display.line_.get_linestyle() == ":"
    assert display.line_.get_color() == "red"
    assert legend_of(display.ax_) == ["b"]


def test_names_are_shown_as_they_are(model, tmp_path):
    name = r"_a$\nosuch$"
    display = ConvergenceDisplay.from_estimator(model, name=name)
    assert legend_of(display.ax_) == [f" {name}"]
    save_figure(display.figure_, tmp_path / "gap.svg")


@pytest.mark.parametrize("metric", ["ndcg@5", "ranking_error"])
def test_a_path_is_measured_on_rows(metric):
    Cs = [10.0, 0.001, 0.1]
    grid = ranksvm_grid(X[::2], GRADES[::2], QID[::2], Cs)
    display = RegularizationCurveDisplay.from_grid(
        grid, X[1::2], GRADES[1::2], QID[1::2], metric=metric
    )
    evaluations = [evaluate(GRADES[1::2], X[1::2] @ coef, QID[1::2], metric) for coef in grid.coefs]
    order = np.argsort(Cs)
    mean = np.array([evaluation.mean[metric] for evaluation in evaluations])
    deviation = [np.std(evaluation.per_query[metric], ddof=1) for evaluation in evaluations]
    np.testing.assert_array_equal(display.line_.get_xdata(), np.sort(Cs))
    np.testing.assert_array_equal(display.line_.get_ydata(), mean[order])
    segments = display.errorbar_.lines[2][0].get_segments()
    errors = [(upper - lower) / 2 for (_, lower), (_, upper) in segments]
    np.testing.assert_allclose(errors, np.array(deviation)[order] / 3)  # of 9 queries
    best = np.argmin(mean) if metric == "ranking_error" else np.argmax(mean)
    assert display.chosen_line_.get_xdata()[0] == Cs[best]
    assert display.ax_.get_ylabel() == f"{metric.replace('_', ' ')}, mean ± standard error"


def test_a_path_measured_on_one_query_has_no_errors():
    grid = ranksvm_grid(X, Y, Cs=[0.1, 1])
    display = RegularizationCurveDisplay.from_grid(grid, X, Y, name="one query")
    assert display.ax_.get_ylabel() == "pairwise accuracy, mean"
    assert legend_of(display.ax_) == ["one query"]
    with pytest.raises(ValueError, match=r"ndcg@3 is defined in no query"):
        RegularizationCurveDisplay.from_grid(grid, X, 0 * Y, metric="ndcg@3")


def test_the_chosen_of_several_curves_do_not_hide_each_other():
    first = RegularizationCurveDisplay([0.1, 1], [0.5, 0.6], chosen=1).plot()
    second = RegularizationCurveDisplay([0.1, 1], [0.5, 0.6], chosen=1).plot(first.ax_)
    one, two = second.ax_.texts
    assert one.get_text() == two.get_text() == "C = 1"
    assert one.get_position()[1] < two.get_position()[1]


def test_pictures_are_saved_by_suffix(model, tmp_path):
    figure = ConvergenceDisplay.from_estimator(model).figure_
    for suffix, start in [("png", b"\x89PNG"), ("svg", b"<?xml"), ("PDF", b"%PDF")]:
        save_figure(figure, tmp_path / f"gap.{suffix}")
        assert (tmp_path / f"gap.{suffix}").read_bytes().startswith(start)
    with pytest.raises(ValueError, match="xyz"):
        save_figure(figure, tmp_path / "gap.xyz")
    for suffix in ("xyz", "pgf"):
        with pytest.raises(ValueError, match=rf"gap.{suffix}: the suffix must be one of .*png"):
            check_picture(f"gap.{suffix}")
    assert sorted(os.listdir(tmp_path)) == ["gap.PDF", "gap.png", "gap.svg"]


DRAWN = [
    lambda model, ax: ConvergenceDisplay.from_estimator(model, ax=ax),
    lambda model, ax: RegularizationCurveDisplay([1, 2], [0.5, 0.6], [0.1, 0.1]).plot(ax),
    lambda model, ax: CoefficientsDisplay.from_estimator(model, ax=ax),
    lambda model, ax: MetricAtKDisplay.from_estimator(model, X, GRADES, QID, ax=ax),
    lambda model, ax: ScoreDistributionDisplay.from_estimator(model, X, Y, QID, ax=ax),
    lambda model, ax: QueryComparisonDisplay.from_estimators(model, model, X, GRADES, QID, ax=ax),
]


@pytest.mark.parametrize("draw", DRAWN)
def test_displays_draw_where_they_are_told_to(draw, model, tmp_path):
    from matplotlib.figure import Figure

    figure = Figure()
    left, right = figure.subplots(1, 2)
    display = draw(model, right)
    assert display.ax_ is right
    assert display.figure_ is figure
    assert right.has_data()
    assert not left.has_data()
    save_figure(display.figure_, tmp_path / "picture.png")


@pytest.mark.parametrize("draw", DRAWN)
def test_displays_leave_no_trace_in_pyplot(draw, model):
    import matplotlib
    from matplotlib import pyplot

    before = dict(matplotlib.rcParams)
    assert draw(model, None).figure_ not in map(pyplot.figure, pyplot.get_fignums())
    assert pyplot.get_fignums() == []
    assert dict(matplotlib.rcParams) == before


def test_matplotlib_is_imported_to_draw_only():
    script = (
        "import sys, ranksvm\n"
        "display = ranksvm.plots.CoefficientsDisplay([1.0])\n"
        "assert 'matplotlib' not in sys.modules\n"
        "sys.modules['matplotlib'] = None\n"
        "try:\n"
        "    display.plot()\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    process = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert process.stderr == ""
    assert process.stdout == "plots need matplotlib; install it with: pip install 'ranksvm[plot]'\n"
