"""What is drawn, by the data of the artists."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from ranksvm import ConvergenceDisplay, RankSVM
from ranksvm.plots import save_figure


@pytest.fixture(scope="module")
def model():
    return RankSVM(tol=1e-9).fit(*load_diabetes(return_X_y=True))


def test_convergence_shows_the_gaps(model):
    display = ConvergenceDisplay.from_estimator(model)
    np.testing.assert_array_equal(
        display.line_.get_ydata(), [line.dual_gap for line in model.history_]
    )
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(model.n_iter_ + 1))
    assert display.ax_.get_yscale() == "log"
    assert display.ax_.get_xlabel() == "iteration"


def test_convergence_against_seconds_on_given_axes(model):
    first = ConvergenceDisplay(model.history_, name="one").plot(against="seconds")
    second = ConvergenceDisplay(model.history_, name="two").plot(ax=first.ax_, against="seconds")
    assert second.figure_ is first.figure_
    assert [text.get_text() for text in first.ax_.get_legend().get_texts()] == ["one", "two"]
    assert first.line_.get_xdata()[-1] == model.history_[-1].seconds
    with pytest.raises(ValueError, match="against must be"):
        ConvergenceDisplay(model.history_).plot(against="luck")


def test_pictures_are_saved_by_suffix(model, tmp_path):
    figure = ConvergenceDisplay.from_estimator(model).figure_
    save_figure(figure, tmp_path / "gap.png")
    assert (tmp_path / "gap.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(ValueError, match="xyz"):
        save_figure(figure, tmp_path / "gap.xyz")
    assert [path.name for path in tmp_path.iterdir()] == ["gap.png"]
