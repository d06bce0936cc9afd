import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer, StandardScaler

import ranksvm.plots as plots
from ranksvm import (
    KernelRankSVM,
    LinearModel,
    QueryScaler,
    RankSVM,
    evaluate,
    explain,
    explain_pair,
    feature_importance,
)
from ranksvm.models.maps import QueryMap

rng = np.random.default_rng(3)
X = rng.normal(size=(60, 4)) * [1, 10, 100, 0.1]
y = rng.integers(0, 4, 60)
QID = np.repeat(np.arange(6), 10)
RANKERS = {
    "plain": make_pipeline(RankSVM()),
    "standard": make_pipeline(StandardScaler(), RankSVM()),
    "quantile": make_pipeline(QuantileTransformer(n_quantiles=20), RankSVM()),
    "splines": make_pipeline(SplineTransformer(), RankSVM()),
}


@pytest.mark.parametrize("kind", RANKERS)
def test_contributions_add_up_to_the_scores(kind):
    ranker = RANKERS[kind].fit(X, y)
    scores = ranker.predict(X)
    why = explain(ranker, X, QID)
    means = np.array([scores[q == QID].mean() for q in QID])
    size = np.abs(scores).max()
    np.testing.assert_allclose(why.values.sum(axis=1), scores - means, atol=1e-12 * size)
    np.testing.assert_allclose(why.differences, scores - means, atol=1e-12 * size)
    pair = explain_pair(ranker, X[3], X[7])
    assert pair.differences[0] == pytest.approx(scores[3] - scores[7], abs=1e-12 * size)
    np.testing.assert_allclose(why.pair(3, 7).values, pair.values, atol=1e-12 * size)
    assert sum(v for _, v in pair.largest()) == pytest.approx(pair.differences[0])


@given(st.lists(st.integers(-5, 5), min_size=1, max_size=6), st.integers(1, 8))
def test_the_largest_come_first(values, top):
    model = LinearModel(np.ones(len(values)), [f"f{k}" for k in range(len(values))])
    found = explain_pair(model, values, [0] * len(values)).largest(top=top)
    sizes = [abs(value) for _, value in found]
    assert sizes == sorted(sizes, reverse=True)
    assert len(found) == min(top, np.count_nonzero(values))
    rest = sorted(map(abs, filter(None, values)), reverse=True)
    assert sizes == rest[:top]


def test_frames_go_in_and_out():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=list("abcd"))
    ranker = RankSVM().fit(frame, y, QID)
    why = explain(ranker, frame, QID)
    assert list(why.to_frame().columns) == list("abcd")
    pair = explain_pair(ranker, frame.iloc[3], frame.iloc[[7]])
    scores = ranker.predict(frame)
    assert pair.differences[0] == pytest.approx(scores[3] - scores[7])
    np.testing.assert_allclose(pair.values[0], ranker.coef_ * (X[3] - X[7]))
    assert "<td>c</td>" in why._repr_html_()
    assert "Contributions of 4 features to 60 rows" in repr(why)


def test_maps_within_queries():
    model = LinearModel(np.array([1.0, 2, 3, 4]), maps=[QueryMap(4)])
    why = explain(model, X, QID)
    scores = model.predict(X, qid=QID)
    assert why.pair(0, 1).differences[0] == pytest.approx(scores[0] - scores[1], abs=1e-12)
    with pytest.raises(ValueError, match="explain all rows"):
        explain_pair(model, X[0], X[1])
    with pytest.raises(ValueError, match="give qid"):
        explain(make_pipeline(QueryScaler(), RankSVM()).fit(X, y), X)


def test_what_cannot_be_explained():
    with pytest.raises(ValueError, match="ranks by the kernel"):
        explain(KernelRankSVM().fit(X, y), X)
    with pytest.raises(ValueError, match="X has 3 features but the model has 4"):
        explain(LinearModel(np.ones(4)), X[:, :3])
    with pytest.raises(ValueError, match="2 were given"):
        explain_pair(LinearModel(np.ones(4)), X[:2], X[0])


def test_importance_is_what_is_lost_without_a_feature():
    model = LinearModel(np.array([1.0, 0.1, 0.0, 3.0]))
    found = feature_importance(model, X, y, QID)
    whole = evaluate(y, model.predict(X), QID, "ndcg@10").mean["ndcg@10"]
    assert found.baseline == whole
    for k in range(4):
        without = X * (np.arange(4) != k)
        lost = whole - evaluate(y, model.predict(without), QID, "ndcg@10").mean["ndcg@10"]
        assert found.importance[k] == pytest.approx(lost, abs=1e-12)
    assert found.importance[2] == 0
    assert (found.low <= found.importance + 1e-12).all()
    assert (found.high >= found.importance - 1e-12).all()


def test_shuffling_a_feature_that_decides_costs_much():
    rows = np.column_stack([y + 0.1 * rng.random(60), rng.random(60)])
    model = LinearModel(np.array([1.0, 1e-3]))
    found = feature_importance(model, rows, y, QID, kind="permutation")
    assert found.order()[0] == 0
    assert found.low[0] > 0.05
    again = feature_importance(model, rows, y, QID, kind="permutation")
    np.testing.assert_array_equal(found.importance, again.importance)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "shap"}, "kind must be one of drop, permutation"),
        ({"metric": "auc_pooled"}, "all queries together"),
        ({"metric": "nonsense"}, "nonsense"),
        ({"confidence": 95}, "between 0 and 1"),
    ],
)
def test_bad_arguments_of_importance(options, message):
    with pytest.raises(ValueError, match=message):
        feature_importance(LinearModel(np.ones(4)), X, y, QID, **options)


def test_displays(tmp_path):
    ranker = RankSVM().fit(X, y, QID)
    pair = plots.PairContributionsDisplay.from_estimator(ranker, X[3], X[7], top=2)
    labels = [label.get_text() for label in pair.ax_.get_yticklabels()]
    assert labels[-1] == "2 others"
    ends = [bar.get_x() + bar.get_width() for bar in pair.ax_.patches]
    difference = float(np.diff(ranker.predict(X[[7, 3]]))[0])
    assert ends[-1] == pytest.approx(difference)
    query = plots.ContributionsDisplay.from_estimator(ranker, X[:10], top=3, n_rows=5)
    assert query.ax_.images[0].get_array().shape == (3, 5)
    worth = plots.FeatureImportanceDisplay.from_estimator(ranker, X, y, QID, n_shown=3)
    assert len(worth.ax_.patches) == 3
    for name, display in [("pair", pair), ("query", query), ("worth", worth)]:
        plots.save_figure(display.figure_, tmp_path / f"{name}.png")
        assert (tmp_path / f"{name}.png").stat().st_size > 5000
