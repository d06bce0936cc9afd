"""All metrics over queries, against the reference; conventions, names and errors."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference_metrics
import strategies
from ranksvm.metrics import (
    Conventions,
    evaluate,
    metric_names,
    ndcg,
    pairwise_accuracy,
    parse_metric,
)
from ranksvm.metrics.evaluation import measure

DEPTHS = (1, 2, 3, 10)
ALL = [name.split("[")[0] for name in metric_names() if not name.endswith(("l@k", "p@k"))]
OF_PAIRS = list(reference_metrics.METRICS_OF_PAIRS)
OF_RANKS = [name for name in ALL if name not in OF_PAIRS] + [
    f"{base}@{k}" for base in ("ndcg", "map", "mrr", "err", "p", "recall") for k in DEPTHS
]


@st.composite
def graded_rankings(draw, max_samples=6):
    """Labels from 0 to 4, or fractions of them, and scores with many ties."""
    n = draw(st.integers(1, max_samples))
    step = draw(st.sampled_from([0.5, 1, 1, 4]))
    return (
        step * draw(strategies.integers(n, 0, int(4 / step))),
        draw(strategies.integers(n, -2, 2)) * draw(st.sampled_from([1e-9, 1.0, 1e300])),
        draw(strategies.qids(n)),
        [f"d{i}" for i in draw(st.permutations(range(n)))],
    )


conventions = st.builds(
    Conventions,
    gain=st.sampled_from(["exponential", "linear"]),
    discount=st.sampled_from(["log2", "letor"]),
    ties=st.sampled_from(["average", "order", "pessimistic", "docid", "threshold"]),
    pair_ties=st.sampled_from([0, 0.5, 1]),
    empty=st.sampled_from([None, 0, 0.5, 1]),
    no_pairs=st.sampled_from([None, 0, 1]),
    threshold=st.sampled_from([1, 2]),
    map_divisor=st.sampled_from(["relevant", "possible"]),
    short_queries=st.sampled_from(["padded", "cut", "zero"]),
    max_label=st.sampled_from([4, 5.5]),
)


def assert_as_reference(names, y, scores, qid, convention, rel=1e-11, atol=1e-12, **options):
    evaluation = measure(y, scores, qid, names, preset=convention, **options)
    ids = [0] * len(y) if qid is None else list(qid)
    first_seen = list(dict.fromkeys(ids))
    places = [first_seen.index(q) for q in evaluation.queries.tolist()]
    assert sorted(places) == list(range(len(first_seen)))
    for name in names:
        values, mean = reference_metrics.evaluate(y, scores, qid, name, convention, **options)
        actual = evaluation.per_query[name]
        np.testing.assert_allclose(
            actual, np.array(values)[places], rtol=rel, atol=atol, err_msg=name
        )
        np.testing.assert_allclose(evaluation.mean[name], mean, rtol=rel, atol=atol, err_msg=name)


@given(ranking=graded_rankings(), convention=conventions)
def test_metrics_of_ranks(ranking, convention):
    y, scores, qid, docids = ranking
    names = [name for name in OF_RANKS if convention.ties != "threshold" or "map@" not in name]
    assert_as_reference(names, y, scores, qid, convention, docids=docids)


@given(ranking=strategies.rankings(), convention=conventions)
def test_metrics_of_pairs(ranking, convention):
    convention = replace(convention, ties="average")
    weight = ranking.sample_weight
    assume(weight is None or weight.any())
    assert_as_reference(
        OF_PAIRS,
        ranking.y,
        ranking.scores,
        ranking.qid,
        convention,
        sample_weight=weight,
        rel=1e-9,
        atol=1e-10,
    )


@given(ranking=graded_rankings(max_samples=40), convention=conventions)
def test_metrics_of_ranks_in_one_order(ranking, convention):
    y, scores, qid, docids = ranking
    convention = replace(convention, ties="docid" if len(y) % 2 else "order")
    assert_as_reference(OF_RANKS, y, scores, qid, convention, docids=docids)


@pytest.mark.parametrize("name", OF_RANKS + OF_PAIRS)
def test_one_pass_gives_what_single_metrics_give(name):
    y, scores, qid = small_ranking()
    together = evaluate(y, scores, qid, OF_RANKS + OF_PAIRS)
    alone = evaluate(y, scores, qid, name)
    np.testing.assert_array_equal(alone.per_query[name], together.per_query[name])
    assert alone.mean == {name: together.mean[name]}


def small_ranking(n=400, n_queries=30):
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 5, n), rng.integers(0, 20, n) / 4
    return y, scores, rng.integers(0, n_queries, n)


def test_threads_and_the_order_of_rows_do_not_matter():
    y, scores, qid = small_ranking(50_000, 40)
    weight = np.random.default_rng(1).uniform(0.1, 2, len(y))
    one = evaluate(y, scores, qid, ALL, sample_weight=weight)
    two = evaluate(y, scores, qid, ALL, sample_weight=weight, n_threads=3)
    shuffled = np.random.default_rng(2).permutation(len(y))
    other = evaluate(
        y[shuffled], scores[shuffled], qid[shuffled], ALL, sample_weight=weight[shuffled]
    )
    for name in ALL:
        np.testing.assert_array_equal(one.per_query[name], two.per_query[name])
        np.testing.assert_allclose(one.per_query[name], other.per_query[name], rtol=1e-10)


def test_by_hand():
    # a: ranks 1 (label 0), 2 (label 2), 3 (label 1); b: no relevant document; c: one document.
    y, scores = [2, 0, 1, 0, 0, 3], [2, 3, 1, 1, 2, 0]
    evaluation = evaluate(
        y,
        scores,
        ["a", "a", "a", "b", "b", "c"],
        ["ndcg", "ndcg@1", "map", "mrr", "p@2", "recall@2", "err", "pairwise_accuracy"],
    )
    assert evaluation.queries.tolist() == ["a", "b", "c"]
    log3 = np.log2(3)
    best = 3 + 1 / log3
    stop = 2 / 16 * 3 / 2  # (2^2 - 1) / 2^4
    expected = {
        "ndcg": [(3 / log3 + 1 / 2) / best, np.nan, 1],
        "ndcg@1": [0, np.nan, 1],
        "map": [(1 / 2 + 2 / 3) / 2, np.nan, 1],
        "mrr": [1 / 2, np.nan, 1],
        "p@2": [1 / 2, np.nan, 1 / 2],
        "recall@2": [1 / 2, np.nan, 1],
        "err": [stop / 2 + (1 - stop) / 16 / 3, np.nan, 7 / 16],
        "pairwise_accuracy": [1 / 3, np.nan, np.nan],
    }
    for name, values in expected.items():
        np.testing.assert_allclose(evaluation.per_query[name], values, rtol=1e-12, err_msg=name)
        assert evaluation.mean[name] == pytest.approx(np.nanmean(values))


@pytest.mark.parametrize(
    ("preset", "name", "expected"),
    [
        # Two queries: labels 1 0 2 by falling score; labels 0 0.
        ("letor", "ndcg@2", (1 / 4 + 0) / 2),
        ("letor", "ndcg@3", ((1 + 3 / np.log2(3)) / 4 + 0) / 2),
        ("letor", "ndcg@4", 0),
        ("letor", "mean_ndcg", ((1 / 3 + 1 / 4 + (1 + 3 / np.log2(3)) / 4) / 3 + 0) / 2),
        ("letor", "map", ((1 + 2 / 3) / 2 + 0) / 2),
        ("mslr", "map", (1 / 3 + 0) / 2),
        ("mslr", "p@3", (1 / 3 + 0) / 2),
        ("svmrank", "ranking_error", (2 / 3 + 0) / 2),
        ("svmrank", "zero_one_error", 1 / 2),
        ("liblinear", "pairwise_accuracy_pooled", 1 / 3),
        ("liblinear", "mean_ndcg", ((1 / 3 + 1 / 4 + (1 + 3 / np.log2(3)) / 4) / 3 + 0) / 2),
        ("lightgbm", "ndcg@1", (1 / 3 + 1) / 2),
        ("xgboost", "p@4", (2 / 3 + 0) / 2),
    ],
)
def test_presets_by_hand(preset, name, expected):
    evaluation = evaluate([0, 1, 2, 0, 0], [2, 3, 1, 5, 4], [1, 1, 1, 2, 2], name, preset=preset)
    assert evaluation.mean[name] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(("preset", "accuracy"), [("svmrank", 0), ("liblinear", 1), (None, 0.5)])
def test_presets_of_tied_pairs(preset, accuracy):
    evaluation = evaluate([0, 1], [2, 2], metrics="pairwise_accuracy", preset=preset)
    assert evaluation.mean == {"pairwise_accuracy": accuracy}


def test_ties_of_a_long_list_are_averaged_exactly():
    """Of n documents in random order, one relevant: the mean of 1 / rank is H_n / n."""
    n = 20_000
    evaluation = evaluate(np.arange(n) == 7, np.zeros(n), metrics=["mrr", "map", "err", "mrr@10"])
    harmonic = np.sum(1 / np.arange(1.0, n + 1))
    assert evaluation.mean["mrr"] == pytest.approx(harmonic / n, rel=1e-9)
    assert evaluation.mean["map"] == pytest.approx(harmonic / n, rel=1e-9)
    assert evaluation.mean["err"] == pytest.approx(harmonic / n / 16, rel=1e-9)
    assert evaluation.mean["mrr@10"] == pytest.approx(np.sum(1 / np.arange(1, 11)) / n, rel=1e-9)


def test_metrics_without_a_defined_query_are_nan():
    metrics = ["ndcg@5", "auc", "pairwise_accuracy_pooled"]
    with pytest.warns(UserWarning, match="no query has labels for which ndcg@5, auc, pairwise_a"):
        evaluation = evaluate([0, 0], [1, 2], metrics=metrics)
    assert all(np.isnan(value) for value in evaluation.mean.values())


def test_labels_and_scores_the_wrong_way_round_are_told():
    y, scores = [2, 0, 1], [0.9, 0.25, 0.5]
    message = (
        "y holds labels from 0.25 to 0.9, scores values from 0 to 2, and the labels come first"
    )
    with pytest.warns(UserWarning, match=message):
        assert np.isnan(evaluate(scores, y).mean["map"])
    with pytest.raises(ValueError, match=r"but row 1 has -1; .* evaluate\(y, scores\)"):
        evaluate([3.5, -1, 0.5], y)


def test_agrees_with_the_functions():
    y, scores, qid = small_ranking()
    evaluation = evaluate(y, scores, qid, ["ndcg", "ndcg@3", "pairwise_accuracy_pooled"])
    assert ndcg(y, scores, qid) == evaluation.mean["ndcg"]
    assert ndcg(y, scores, qid, 3) == evaluation.mean["ndcg@3"]
    accuracy = pairwise_accuracy(y, scores, qid)
    assert evaluation.mean["pairwise_accuracy_pooled"] == pytest.approx(accuracy, rel=1e-12)


@pytest.mark.parametrize(
    "qid", [["b", "b", "a"], np.array(["b", "b", "a"]), [("b", 1)] * 2 + ["a"]]
)
def test_queries_in_order_of_appearance(qid):
    assert evaluate([1, 0, 1], [2, 1, 0], qid).queries.tolist() == [qid[0], qid[2]]


def test_unsorted_queries_ascend():
    evaluation = evaluate([1, 0, 1, 1], [2, 1, 0, 1], ["b", "a", "b", "a"], "p@1")
    assert evaluation.queries.tolist() == ["a", "b"]
    assert evaluation.per_query["p@1"].tolist() == [0.5, 1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_frames(library):
    """Rows are told by position, whatever their labels; of tied documents the last id is first."""
    columns = {"y": [0, 1, 1, 0], "s": [1.0, 1.0, 2.0, 1.0], "q": ["b", "b", "a", "a"]}
    frame = pytest.importorskip(library).DataFrame(columns | {"d": ["z", "y", "w", "x"]})
    if library == "pandas":
        frame.index = [3, 2, 0, 1]
    y, scores, qid, docids = (frame[name] for name in "ysqd")
    evaluation = evaluate(y, scores, qid, "mrr", preset="trec_eval", docids=docids)
    assert evaluation.queries.tolist() == ["b", "a"]
    assert evaluation.per_query["mrr"].tolist() == [0.5, 1]


def test_labels_of_both_signs_suit_metrics_of_pairs_and_of_relevance():
    names = ["auc", "map", "mrr", "p@1", "kendall_tau", "pairwise_accuracy"]
    signed = evaluate([1, -1, 1, -1], [4, 3, 2, 1], metrics=names)
    assert signed.mean == evaluate([1, 0, 1, 0], [4, 3, 2, 1], metrics=names).mean


def test_names_are_listed_and_parsed():
    for name in metric_names():
        parsed = parse_metric(name.replace("[@k]", "").replace("@k", "@10"))
        assert parsed.k == (10 if name.endswith("@k") and "[" not in name else None)
        assert parsed.greater_is_better == (name.split("@")[0] not in LOWER_IS_BETTER)
    assert parse_metric("ndcg@5").k == 5


LOWER_IS_BETTER = {"ranking_error", "ranking_error_pooled", "swapped_pairs", "zero_one_error"}


@pytest.mark.parametrize(
    ("name", "match"),
    [
        ("ndgc@10", "did you mean 'ndcg@10'"),
        ("pairwise_acuracy", "did you mean 'pairwise_accuracy'"),
        ("xyz", r"no metric 'xyz'; known are .*ndcg\[@k\]"),
        ("p", "'p' needs a depth"),
        ("auc@3", "'auc' takes no depth"),
        ("ndcg@0", "'ndcg@0' must be a whole number of at least 1"),
        ("ndcg@", "must be a whole number"),
        ("ndcg@1.5", "must be a whole number"),
        ("", "no metric ''"),
    ],
)
def test_unknown_names(name, match):
    with pytest.raises(ValueError, match=match):
        parse_metric(name)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"y": [0, np.nan, 1]}, "y must be finite; row 1 holds nan"),
        ({"scores": [0, 1, -np.inf]}, "scores must be finite; row 2 holds -inf"),
        ({"y": [1, -1, 0]}, "nDCG needs labels of at least 0, but row 1 has -1"),
        ({"y": [1, 1001, 0]}, "nDCG .* up to 1000, but row 1 has 1001"),
        ({"y": [1, 5, 0], "metrics": "err"}, "ERR .* up to 4, but row 1 has 5"),
        ({"y": [1, -1, 0], "metrics": "err@3"}, "ERR needs labels of at least 0"),
        ({"y": [], "scores": []}, "no rows"),
        ({"metrics": []}, "no metric is named"),
        ({"metrics": "ndgc"}, "did you mean 'ndcg'"),
        ({"preset": "lightbgm"}, "did you mean 'lightgbm'"),
        ({"preset": "trec_eval"}, "row [01] has the score of another .* give docids"),
        ({"docids": ["a", "b"]}, "docids has length 2 but there are 3 rows"),
        ({"qid": [1, 1]}, r"qid has length 2"),
    ],
)
def test_errors_say_what_was_found(arguments, match):
    with pytest.raises(ValueError, match=match):
        evaluate(**{"y": [0, 1, 2], "scores": [0.0, 0.0, 2.0], **arguments})


def test_linear_gains_have_no_greatest_label():
    assert evaluate([1e6, 0], [2, 1], preset="sklearn").mean["ndcg@10"] == 1


@pytest.mark.parametrize(
    ("parameters", "match"),
    [
        ({"gain": "exp"}, "gain must be one of exponential, linear, not 'exp'"),
        ({"ties": None}, "ties must be one of"),
        ({"pair_ties": 2}, "pair_ties must be between 0 and 1, not 2"),
        ({"max_label": 0}, "max_label must be above 0"),
    ],
)
def test_conventions_are_checked(parameters, match):
    with pytest.raises(ValueError, match=match):
        Conventions(**parameters)
