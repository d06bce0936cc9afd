import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
import strategies
from ranksvm import RankSVM, pairwise_accuracy

TIES = [0, 0.5, 1]
AVERAGES = ["pooled", "query"]


@given(
    ranking=strategies.rankings(),
    average=st.sampled_from(AVERAGES),
    ties=st.sampled_from(TIES),
)
def test_pairwise_accuracy(ranking, average, ties):
    weight = ranking.sample_weight
    pairs = reference.enumerate_pairs(ranking.y, ranking.qid, weight)
    assume(pairs.weight.any())
    accuracy = pairwise_accuracy(
        ranking.y, ranking.scores, ranking.qid, average=average, ties=ties, sample_weight=weight
    )
    expected = reference.pairwise_accuracy(
        ranking.y, ranking.scores, ranking.qid, average=average, ties=ties, sample_weight=weight
    )
    assert accuracy == pytest.approx(expected, rel=1e-11, abs=1e-12)


def test_by_hand():
    y, scores, qid = [2, 1, 0, 1, 0], [3, 3, 1, 0, 5], ["a", "a", "a", "b", "b"]
    # a: (2, 1) is tied, (2, 0) and (1, 0) are right; b: wrong.
    for ties, right in ((0, 2), (0.5, 2.5), (1, 3)):
        assert pairwise_accuracy(y, scores, qid, ties=ties) == pytest.approx(right / 4)
        by_query = pairwise_accuracy(y, scores, qid, ties=ties, average="query")
        assert by_query == pytest.approx(right / 3 / 2)


def test_defaults_are_pooled_and_half():
    assert pairwise_accuracy([1, 0, 1, 0, 0], [1, 1, 2, 1, 1], [1, 1, 2, 2, 2]) == pytest.approx(
        2.5 / 3
    )


@pytest.mark.parametrize("ties", TIES)
def test_scores_that_differ_in_the_last_bit_are_not_tied(ties):
    tiny = 5e-324
    near = [
        (1.0, np.nextafter(1, 2)),
        (0.0, tiny),
        (-tiny, 0.0),
        (-1e300, 1e300),
        (1e6, 1e6 + 1e-9),
    ]
    for low, high in near:
        assert pairwise_accuracy([0, 1], [low, high], ties=ties) == 1
        assert pairwise_accuracy([1, 0], [low, high], ties=ties) == 0
    assert pairwise_accuracy([0, 1], [0.0, -0.0], ties=ties) == ties


@pytest.mark.parametrize("average", AVERAGES)
def test_no_pairs_is_an_error(average):
    with pytest.raises(ValueError, match="no preference pairs"):
        pairwise_accuracy([1, 1, 2], [0.0, 1.0, 2.0], [1, 1, 2], average=average)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"scores": [1.0, 2.0]}, r"\b3\b.*\b2\b"),
        ({"scores": [1.0, np.nan, 2.0]}, "scores.*row 1"),
        ({"y": [1.0, np.inf, 2.0]}, "y.*row 1"),
        ({"qid": [1, 2]}, r"qid.*\b2\b.*\b3\b"),
        ({"sample_weight": [1, 1, -1]}, "sample_weight.*row 2"),
        ({"average": "macro"}, "average.*macro"),
    ],
)
def test_errors_say_what_was_found(arguments, match):
    with pytest.raises(ValueError, match=match):
        pairwise_accuracy(**{"y": [0, 1, 2], "scores": [0.0, 1.0, 2.0], **arguments})


def test_score_is_the_accuracy_of_the_predictions():
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(80, 3)), rng.integers(0, 3, 80), rng.integers(0, 9, 80)
    weight = rng.uniform(0.1, 2, 80)
    model = RankSVM().fit(X, y, qid)
    expected = reference.pairwise_accuracy(y, model.predict(X), qid, sample_weight=weight)
    assert model.score(X, y, qid, sample_weight=weight) == pytest.approx(expected)
