"""The picture of the weights of a model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import LinearModel, RankSVM
from ranksvm.plots import CoefficientsDisplay, save_figure
from ranksvm.plots.figures import BLUE, VERMILLION

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
