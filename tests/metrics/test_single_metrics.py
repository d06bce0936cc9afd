"""Each metric as a function: the mean that `evaluate` has by its name."""

import numpy as np
import pytest

from ranksvm import evaluate, metrics

OF_RANKS = {
    "ndcg": metrics.ndcg,
    "map": metrics.average_precision,
    "mrr": metrics.reciprocal_rank,
    "err": metrics.expected_reciprocal_rank,
    "p": metrics.precision,
    "recall": metrics.recall,
}
OF_PAIRS = {"auc": metrics.auc, "kendall_tau": metrics.kendall_tau}


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 60), rng.integers(0, 9, 60) / 8, rng.integers(0, 6, 60)


@pytest.mark.parametrize("preset", [None, "letor", "xgboost"])
@pytest.mark.parametrize("name", OF_RANKS)
def test_metrics_of_ranks(ranking, name, preset):
    value = OF_RANKS[name](*ranking, k=3, preset=preset)
    assert value == evaluate(*ranking, f"{name}@3", preset=preset).mean[f"{name}@3"]
    assert 0 < value < 1


@pytest.mark.parametrize("name", sorted(set(OF_RANKS) - {"p", "recall"}))
def test_the_depth_may_be_left_out(ranking, name):
    assert OF_RANKS[name](*ranking) == evaluate(*ranking, name).mean[name]


@pytest.mark.parametrize("name", OF_PAIRS)
def test_metrics_of_pairs(ranking, name):
    weight = np.linspace(0.5, 2, 60)
    expected = evaluate(*ranking, name, preset="sklearn", sample_weight=weight).mean[name]
    assert OF_PAIRS[name](*ranking, preset="sklearn", sample_weight=weight) == expected
    assert OF_PAIRS[name](*ranking) == evaluate(*ranking, name).mean[name] != expected


def test_the_error_of_pairs_is_prepared_once_for_many_scores(ranking):
    y, scores, qid = ranking
    error = metrics.pairwise_error(y, qid)
    for several in (scores, -scores, 0 * scores):
        assert error(several) == 1 - metrics.pairwise_accuracy(y, several, qid)
    with pytest.raises(ValueError, match="y has length 60 but scores has length 3"):
        error(scores[:3])
    with pytest.raises(ValueError, match="scores must be finite; row 1"):
        error([0.0, np.nan, *scores[2:]])
    with pytest.raises(ValueError, match="no preference pairs"):
        metrics.pairwise_error(0 * y)
