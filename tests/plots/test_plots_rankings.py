"""Pictures of scores: metrics by depth, queries won and lost, distributions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import reference_metrics
import strategies
from ranksvm import RankSVM, evaluate, paired_randomization_test
from ranksvm.metrics import Conventions
from ranksvm.plots import (
    MetricAtKDisplay,
    QueryComparisonDisplay,
    ScoreDistributionDisplay,
    save_figure,
)
from ranksvm.plots.score_distribution import _intervals
from reference import query_index

X, Y = load_diabetes(return_X_y=True)
QID = np.arange(len(Y)) % 9
GRADES = np.digitize(Y, np.quantile(Y, [0.25, 0.5, 0.75]))
# No two are equal, since the slow truth tries every order of ties.
FIRST, SECOND = X[:, [2, 8]].T + 1e-6 * np.arange(len(Y))


# Metrics by depth


@pytest.mark.parametrize("metric", ["ndcg", "p", "recall", "mrr", "map", "err"])
def test_a_metric_by_depth(metric):
    display = MetricAtKDisplay.from_predictions(GRADES, FIRST, QID, metric=metric, name="model")
    np.testing.assert_array_equal(display.line_.get_xdata(), np.arange(1, 21))
    for k, mean, error in zip(display.ks, display.mean, display.standard_error, strict=True):
        evaluation = evaluate(GRADES, FIRST, QID, f"{metric}@{k}")
        values = evaluation.per_query[f"{metric}@{k}"]
        assert mean == evaluation.mean[f"{metric}@{k}"]
        assert error == pytest.approx(values.std(ddof=1) / 3)
    np.testing.assert_array_equal(display.line_.get_ydata(), display.mean)
    outline = display.band_.get_paths()[0].vertices[:, 1]
    assert outline.max() == pytest.approx((display.mean + display.standard_error).max())
    assert outline.min() == pytest.approx((display.mean - display.standard_error).min())
    assert display.ax_.get_ylabel() == f"{metric}@k, mean ± standard error"
    assert display.ax_.get_xscale() == "linear"


def test_depths_end_with_the_longest_query():
    display = MetricAtKDisplay.from_predictions([0, 1, 2, 1], [1, 2, 3, 4], ["a", "b", "b", "b"])
    np.testing.assert_array_equal(display.ks, [1, 2, 3])
    display = MetricAtKDisplay.from_predictions(GRADES, FIRST, max_k=5)
    np.testing.assert_array_equal(display.ks, [1, 2, 3, 4, 5])
    assert display.band_ is None  # a single query has no standard error
    assert display.ax_.get_ylabel() == "ndcg@k, mean"


def test_many_depths_are_drawn_by_their_logarithm():
    display = MetricAtKDisplay.from_predictions(GRADES, FIRST, max_k=10**6)
    assert display.ax_.get_xscale() == "log"
    assert display.ks[0] == 1
    assert display.ks[-1] == len(GRADES)
    assert len(display.ks) <= 50
    assert (np.diff(display.ks) > 0).all()


def test_conventions_count():
    letor = MetricAtKDisplay.from_predictions(GRADES, FIRST, QID, preset="letor", max_k=3)
    plain = MetricAtKDisplay.from_predictions(GRADES, FIRST, QID, preset="sklearn", max_k=3)
    assert letor.mean[2] == evaluate(GRADES, FIRST, QID, "ndcg@3", preset="letor").mean["ndcg@3"]
    assert letor.mean[2] != plain.mean[2]
    docids = [f"d{k}" for k in range(len(GRADES))]
    options = {"preset": "trec_eval", "docids": docids}
    trec = MetricAtKDisplay.from_predictions(GRADES, 0 * FIRST, QID, max_k=2, **options)
    expected = evaluate(GRADES, 0 * FIRST, QID, "ndcg@2", **options)
    assert trec.mean[1] == expected.mean["ndcg@2"]


def test_what_cannot_be_drawn_by_depth():
    for arguments, message in [
        ({"metric": "auc"}, "takes no depth"),
        ({"metric": "ndgc"}, "did you mean"),
        ({"max_k": 0}, "max_k must be at least 1, not 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            MetricAtKDisplay.from_predictions(GRADES, FIRST, **arguments)
    with pytest.raises(ValueError, match="ndcg is defined in no query: there is nothing to draw"):
        MetricAtKDisplay.from_predictions([0, 0], [1, 2])


# Queries won and lost


@given(
    st.lists(st.sampled_from([-1.0, -1e-9, 0.0, 1e-12, 0.5, np.nan]), max_size=30),
    st.sampled_from([None, 0.5]),
)
@strategies.examples(30)
def test_wins_and_losses(differences, p_value):
    display = QueryComparisonDisplay(differences, p_value=p_value).plot()
    assert display.n_wins_ == sum(value > 0 for value in differences)
    assert display.n_losses_ == sum(value < 0 for value in differences)
    assert display.n_ties_ == sum(value == 0 for value in differences)
    n = display.n_wins_ + display.n_losses_ + display.n_ties_
    wins, losses = display.wins_.get_data().values, display.losses_.get_data().values
    defined = sorted((value for value in differences if value == value), reverse=True)
    np.testing.assert_array_equal(wins + losses, defined)
    assert (wins >= 0).all()
    assert (losses <= 0).all()
    assert ("have no value" in display.ax_.get_xlabel()) == (n < len(differences))


@pytest.mark.parametrize("metric", ["ndcg@10", "ranking_error", "swapped_pairs"])
def test_two_models_are_compared_by_query(metric):
    display = QueryComparisonDisplay.from_predictions(
        GRADES, FIRST, SECOND, QID, metric=metric, names=("one", "two")
    )
    one, two = (
        np.array(reference_metrics.evaluate(GRADES, scores, QID, metric, Conventions())[0])
        for scores in (FIRST, SECOND)
    )
    better = one - two if metric.startswith("ndcg") else two - one
    np.testing.assert_allclose(display.differences, better, atol=1e-12)
    assert display.n_wins_ == (better > 1e-12).sum()
    p_value = paired_randomization_test(one, two, random_state=0)
    assert display.p_value == pytest.approx(p_value)
    legend = display.ax_.get_legend()
    ahead = "one" if better.mean() > 0 else "two"
    assert legend.get_title().get_text() == (
        f"{ahead} better by {abs(better.mean()):.3g} on average\n"
        f"p = {p_value:.2g} (paired randomisation test)"
    )
    assert legend.get_texts()[0].get_text() == f"one better: {display.n_wins_}"
    assert legend.get_texts()[1].get_text() == f"two better: {display.n_losses_}"


def test_long_names_leave_room_for_the_picture(tmp_path):
    display = QueryComparisonDisplay([0.1, -0.2], names=("a" * 200, "_b"), p_value=0.5).plot()
    legend = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert legend == ["a" * 19 + "…" + "a" * 20 + " better: 1", " _b better: 1"]
    save_figure(display.figure_, tmp_path / "q.png")
    assert display.ax_.get_position().width > 0.7


def test_row_weights_count_in_comparisons():
    weight = np.random.default_rng(0).random(len(Y))
    options = {"metric": "pairwise_accuracy", "sample_weight": weight}
    display = QueryComparisonDisplay.from_predictions(Y, FIRST, SECOND, QID, **options)
    one, two = (
        evaluate(Y, s, QID, "pairwise_accuracy", sample_weight=weight).per_query
        for s in (FIRST, SECOND)
    )
    np.testing.assert_array_equal(
        display.differences, one["pairwise_accuracy"] - two["pairwise_accuracy"]
    )


def test_what_cannot_be_compared():
    with pytest.raises(ValueError, match="ndcg@10 is defined in no query"):
        QueryComparisonDisplay.from_predictions([0, 0], [1, 2], [2, 1])
    with pytest.raises(ValueError, match="there is no metric"):
        QueryComparisonDisplay.from_predictions([0, 1], [1, 2], [2, 1], metric="luck")


# Distributions of scores


@given(strategies.rankings(weighted=False), st.integers(2, 6))
@strategies.examples(40)
def test_every_row_is_in_the_histogram_of_its_label(ranking, n_labels):
    display = ScoreDistributionDisplay.from_predictions(
        ranking.y, ranking.scores, ranking.qid, n_labels=n_labels
    )
    query = query_index(ranking.qid, len(ranking.y))
    scores = ranking.scores.copy()
    if query.max() > 0:
        for q in np.unique(query):
            scores[query == q] -= scores[query == q].mean()
    np.testing.assert_allclose(display.scores, scores, atol=1e-6)
    assert display.centered == (query.max() > 0)
    distinct = np.unique(ranking.y)
    parts = [part for _, part in display._parts()]
    assert sum(map(len, parts)) == len(ranking.y)
    assert len(parts) == len(display.histograms_) <= n_labels
    if len(distinct) <= n_labels:
        for label, part in zip(distinct, parts, strict=True):
            np.testing.assert_array_equal(part, display.scores[ranking.y == label])
    np.testing.assert_array_equal(
        display.medians_.get_xdata(), [np.quantile(part, 0.5) for part in parts]
    )
    for k, histogram in enumerate(display.histograms_):
        heights, _, baseline = histogram.get_data()
        assert baseline == k
        assert (heights >= k).all()
        assert heights.max() < k + 1


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40), st.integers(2, 10))
def test_intervals_of_labels(counts, n):
    counts = np.array(counts)
    intervals = _intervals(counts, n)
    assert len(intervals) <= n
    covered = [k for first, last in intervals for k in range(first, last + 1)]
    assert covered == list(range(len(counts)))
    assert all(first <= last for first, last in intervals)


def test_a_frequent_label_has_its_own_interval():
    assert _intervals(np.array([900, 10, 10, 10, 10]), 3) == [(0, 0), (1, 2), (3, 4)]
    assert _intervals(np.array([10, 10, 900, 10, 10]), 3) == [(0, 1), (2, 2), (3, 4)]
    assert _intervals(np.full(100, 1), 4) == [(0, 24), (25, 49), (50, 74), (75, 99)]


def test_labels_and_numbers_of_rows_are_told():
    y = np.repeat([0.0, 1.0, 2.5], [2000, 3, 1])
    display = ScoreDistributionDisplay.from_predictions(y, np.arange(2004.0))
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["0\nn = 2,000", "1\nn = 3", "2.5\nn = 1"]
    display = ScoreDistributionDisplay.from_predictions(np.arange(100), np.arange(100.0))
    assert display.labels_[0] == "0 to 9"
    assert display.labels_[-1] == "90 to 99"


def test_far_scores_are_counted_not_drawn():
    scores = np.append(np.linspace(-1, 1, 999), 1e9)
    display = ScoreDistributionDisplay.from_predictions(np.arange(1000) % 2, scores)
    assert display.ax_.get_xlabel() == "score (1 beyond the edges)"
    low, high = display.ax_.get_xlim()
    assert low == -1
    assert 1 < high < 3
    near = ScoreDistributionDisplay.from_predictions(np.arange(999) % 2, scores[:-1])
    assert near.ax_.get_xlabel() == "score"


def test_equal_scores_are_equal_without_the_means_of_their_queries():
    display = ScoreDistributionDisplay.from_predictions(
        np.arange(30) % 2, np.repeat([0.1, 0.7, 1e6 + 0.3], 10), np.repeat([0, 1, 2], 10)
    )
    assert not display.scores.any()
    assert display.ax_.get_xlim() == (-0.5, 0.5)
    assert display.ax_.get_xlabel() == "score less the mean of its query"


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e150])
def test_scores_of_any_scale_are_drawn(scale, tmp_path):
    display = ScoreDistributionDisplay.from_predictions(GRADES, FIRST * scale, QID)
    save_figure(display.figure_, tmp_path / "scores.png")


def test_what_has_no_distribution():
    with pytest.raises(ValueError, match="there are no rows"):
        ScoreDistributionDisplay.from_predictions([], [])
    with pytest.raises(ValueError, match="row 1 holds nan"):
        ScoreDistributionDisplay.from_predictions([0, 1], [0, np.nan])
    with pytest.raises(ValueError, match="n_labels must be at least 2, not 1"):
        ScoreDistributionDisplay.from_predictions([0, 1], [0, 1], n_labels=1)


# Estimators


def test_estimators_are_drawn_by_their_predictions():
    model = RankSVM().fit(X, GRADES, QID)
    pipeline = make_pipeline(StandardScaler(), RankSVM(C=1e-3)).fit(X, GRADES, ranksvm__qid=QID)
    a, b = model.predict(X), pipeline.predict(X)
    by_depth = MetricAtKDisplay.from_estimator(pipeline, X, GRADES, QID, name="a")
    expected = MetricAtKDisplay.from_predictions(GRADES, b, QID)
    np.testing.assert_array_equal(by_depth.mean, expected.mean)
    compared = QueryComparisonDisplay.from_estimators(model, pipeline, X, GRADES, QID)
    expected = QueryComparisonDisplay.from_predictions(GRADES, a, b, QID)
    np.testing.assert_array_equal(compared.differences, expected.differences)
    distribution = ScoreDistributionDisplay.from_estimator(model, X, GRADES)
    np.testing.assert_array_equal(distribution.scores, a)


def test_query_ids_come_from_columns():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=[f"f{k}" for k in range(10)]).assign(query=QID)
    model = RankSVM(qid="query").fit(frame, GRADES)
    expected = MetricAtKDisplay.from_predictions(GRADES, model.predict(frame), QID)
    for options in ({}, {"qid": "query"}, {"qid": QID}):
        display = MetricAtKDisplay.from_estimator(model, frame, GRADES, **options)
        np.testing.assert_array_equal(display.mean, expected.mean)
