"""The picture of the weights of a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import LinearModel, RankSVM, ranksvm_grid
from ranksvm.linear.grid import RankSVMGrid
from ranksvm.linear.occurring import Columns, FeatureWeights
from ranksvm.plots import CoefficientPathDisplay, CoefficientsDisplay, save_figure
from ranksvm.plots.figures import BLUE, VERMILLION
from strategies import examples

NAMES = ["bm25", "$a$b_", "größe"]


def shown(display):
    """Return what a reader sees: names and lengths, from the top down."""
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    lengths = [bar.get_width() for bar in display.bars_]
    assert display.ax_.yaxis_inverted()
    return dict(zip(names, lengths, strict=True))


@given(
    st.lists(st.integers(-3, 3), min_size=1, max_size=12),
    st.integers(1, 14),
    st.sampled_from([1e-300, 1.0, 1e150]),
)
@examples(30)
def test_the_largest_weights_are_shown(weights, n_shown, scale):
    coef = np.array(weights) * scale
    display = CoefficientsDisplay(coef).plot(n_shown=n_shown)
    values = [bar.get_width() for bar in display.bars_]
    sizes = sorted((abs(value) for value in coef if value), reverse=True)
    assert [abs(value) for value in values] == sizes[:n_shown]
    np.testing.assert_array_equal(coef[display.shown_], values)
    assert len(set(display.shown_)) == len(values)
    assert list(shown(display)) == [f"x{k}" for k in display.shown_]


def test_the_sign_is_seen_by_side_and_colour(tmp_path):
    from matplotlib.colors import to_hex

    display = CoefficientsDisplay([2.0, -3.0, 0.0, 1.0], list("abcd")).plot()
    assert shown(display) == {"b": -3.0, "a": 2.0, "d": 1.0}
    colors = [to_hex(bar.get_facecolor()).upper() for bar in display.bars_]
    assert colors == [VERMILLION, BLUE, BLUE]
    assert display.ax_.get_title("left") == "3 of 4 weights are not zero"
    save_figure(display.figure_, tmp_path / "c.png")


def test_what_is_left_out_is_said():
    title = CoefficientsDisplay(np.arange(2000.0)).plot(n_shown=5).ax_.get_title("left")
    assert title == "the 5 largest of 2,000 weights"
    assert CoefficientsDisplay(np.ones(3)).plot().ax_.get_title("left") == ""
    nothing = CoefficientsDisplay(np.zeros(3)).plot()
    assert nothing.ax_.get_title("left") == "all 3 weights are zero"
    assert len(nothing.bars_) == 0


@pytest.mark.parametrize("layout", [np.asarray, csr_matrix])
def test_weights_of_standardized_features(layout):
    X = np.array([[0.0, 100.0, 5.0], [0.5, 300.0, 5.0], [1.0, 100.0, 5.0]])
    model = RankSVM().fit(X, [0, 1, 2])
    display = CoefficientsDisplay.from_estimator(model, layout(X))
    np.testing.assert_allclose(
        [bar.get_width() for bar in display.bars_],
        (model.coef_ * X.std(axis=0))[display.shown_],
    )
    assert 2 not in display.shown_  # a constant
    assert display.ax_.get_xlabel() == "weight times standard deviation of the feature"


def test_names_come_from_frames_models_and_pipelines(tmp_path):
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(30, 3)) * [1, 10, 100], columns=NAMES)
    y = rng.integers(0, 3, 30)
    model = RankSVM().fit(X, y)
    expected = dict(zip(NAMES, model.coef_, strict=True))
    display = CoefficientsDisplay.from_estimator(model)
    assert shown(display) == expected
    assert shown(CoefficientsDisplay.from_estimator(LinearModel(model.coef_, NAMES))) == expected
    save_figure(display.figure_, tmp_path / "c.png")  # where $ is no mathematics
    pipeline = make_pipeline(StandardScaler(), RankSVM()).fit(X, y)
    of_pipeline = shown(CoefficientsDisplay.from_estimator(pipeline, X))
    assert of_pipeline == pytest.approx(dict(zip(NAMES, pipeline[-1].coef_, strict=True)))


def test_the_column_of_query_ids_is_no_feature():
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"query": ["a", "a", "b", "b"], "x": [0.0, 1.0, 5.0, 2.0]})
    model = RankSVM(qid="query").fit(X, [0, 1, 1, 0])
    of_features = CoefficientsDisplay.from_estimator(model, X)
    assert shown(of_features) == pytest.approx({"x": model.coef_[0] * X["x"].std(ddof=0)})


def test_long_names_are_cut():
    display = CoefficientsDisplay([1.0, 2.0], ["x" * 50 + "y" * 50, "x" * 40]).plot()
    assert list(shown(display)) == ["x" * 40, "x" * 19 + "…" + "y" * 20]


def test_mistakes():
    with pytest.raises(ValueError, match="n_shown must be at least 1, not 0"):
        CoefficientsDisplay([1.0]).plot(n_shown=0)
    with pytest.raises(ValueError, match="there are 2 weights but names of 1 features"):
        CoefficientsDisplay([1.0, 2.0], ["a"]).plot()
    with pytest.raises(ValueError, match="there are 2 weights but deviations of 3 features"):
        CoefficientsDisplay([1.0, 2.0], deviation=[1, 1, 1]).plot()


def grid_of(weights, columns=None):
    """Return a grid of C, from the largest to the smallest, with a row of weights for each."""
    weights = np.array(weights, dtype=float)
    columns = columns or Columns(weights.shape[1])
    Cs = np.logspace(1, -1, len(weights))
    rows = [FeatureWeights(columns, row) for row in weights]
    return RankSVMGrid(Cs, rows, Cs, Cs, ["converged"] * len(Cs), [[]] * len(Cs))


def test_a_path_names_the_features_that_weigh_most(tmp_path):
    grid = grid_of([[2, -3, 0, 1, 0.5], [1, -4, 0, 0, 0], [0, 0, 0, 0, 0]])
    display = CoefficientPathDisplay.from_grid(grid, ["a", "b", "c", "_d", "$e$"], n_shown=3)
    assert display.shown_.tolist() == [0, 3, 1]
    above, below = display.ax_
    assert [text.get_text() for text in above.get_legend().get_texts()] == ["a", " _d", "b"]
    np.testing.assert_allclose(display.lines_[2].get_xdata(), [0.1, 1, 10])
    np.testing.assert_array_equal(display.lines_[2].get_ydata(), [0, -4, -3])
    np.testing.assert_array_equal(display.size_line_.get_ydata(), [0, 2, 4])
    assert len(above.lines) == 3 + 1 + 1  # the grey one and the axis
    assert above.get_xscale() == below.get_xscale() == "log"
    save_figure(display.figure_, tmp_path / "p.png")


def test_a_path_of_some_features_and_one_of_nothing(tmp_path):
    some = grid_of([[1.0, 2.0], [0.0, 1.0]], Columns(10**9, np.array([7, 10**9 - 1])))
    display = CoefficientPathDisplay(some).plot()
    assert display.shown_.tolist() == [10**9 - 1, 7]
    assert display.lines_[1].get_label() == "x7"
    nothing = CoefficientPathDisplay(grid_of(np.zeros((3, 2)))).plot(display.ax_)
    assert nothing.figure_ is display.figure_
    assert nothing.lines_ == []
    save_figure(nothing.figure_, tmp_path / "p.svg")


def test_the_path_of_sparse_models_from_a_grid():
    X = np.random.default_rng(0).normal(size=(80, 6))
    grid = ranksvm_grid(X, X[:, 0] > X[:, 1], Cs=[1e-5, 0.01, 1], l1_ratio=0.9)
    display = CoefficientPathDisplay.from_grid(grid)
    assert set(display.shown_[[0, -1]]) == {0, 1}
    counts = display.size_line_.get_ydata()
    assert counts[0] == 0
    assert counts.tolist() == [np.count_nonzero(coef) for coef in grid.coefs]


def test_bad_arguments_of_a_path_are_refused():
    grid = grid_of(np.ones((2, 3)))
    with pytest.raises(ValueError, match="n_shown must be at least 1, not 0"):
        CoefficientPathDisplay(grid).plot(n_shown=0)
    with pytest.raises(ValueError, match="there are 3 weights but names of 2 features"):
        CoefficientPathDisplay(grid, ["a", "b"]).plot()
