"""Pairs of the top of a ranking, their weights and sweeps, against explicit pairs."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import reference
import strategies
from cases import absolute_terms, assert_rows_close
from ranksvm import evaluate
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.given import GivenArrayPairs
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.top import Gains
from ranksvm.pairs.top_list import listed
from ranksvm.pairs.top_pairs import TopPairs

EPSILON = np.finfo(np.float64).eps


@dataclass(frozen=True)
class TopRanking:
    """Labels, the scores that rank the rows, other scores, and weights."""

    y: np.ndarray
    ranking: np.ndarray
    scores: np.ndarray
    qid: np.ndarray | None
    weights: dict
    kind: str
    top: int

    @property
    def preferences(self):
        labels = Preferences.from_labels(self.y, self.qid, **self.weights)
        return Gains(self.kind, self.top).by_rank(labels, self.ranking)

    @property
    def truth(self):
        options = {"qid": self.qid, "kind": self.kind, "top": self.top, **self.weights}
        return reference.top_pairs(self.y, self.ranking, **options)


@st.composite
def rankings(draw, max_samples=20):
    n = draw(st.integers(1, max_samples))
    kind = draw(st.sampled_from(["few", "zero", "distinct", "quarters"]))
    y = {
        "few": strategies.integers(n, 0, 3),
        "zero": st.just(np.zeros(n, dtype=int)),
        "distinct": st.permutations(range(n)).map(np.array),
        "quarters": strategies.integers(n, 0, 8).map(lambda values: values / 4),
    }[kind]
    y = draw(y)
    qid = draw(strategies.qids(n))
    of_rows, of_queries = draw(strategies.weights(n)), draw(strategies.weights(n))
    if of_queries is not None:
        of_queries = of_queries[reference.query_index(qid, n)]
    of_rows, of_queries = (w if w is not None and w.any() else None for w in (of_rows, of_queries))
    return TopRanking(
        y.astype(float),
        draw(strategies.integers(n, -3, 3)).astype(float),
        draw(strategies.exact_scores(y)),
        qid,
        {"sample_weight": of_rows, "query_weight": of_queries},
        draw(st.sampled_from(["exponential", "linear"])),
        draw(st.sampled_from([1, 2, 3, 7, 30])),
    )


def make_losses(Loss, preferences, **options):
    """The loss by the core, on some threads, and on arrays."""
    yield Loss(TopPairs(preferences), **options)
    yield Loss(TopPairs(preferences, n_threads=3), **options)
    pairs = listed(preferences)
    if len(pairs.winner):
        yield Loss(GivenArrayPairs(pairs, ArrayDevice.named("numpy:cpu")), **options)


def weight_matrix(pairs):
    matrix = np.zeros((pairs.n_samples, pairs.n_samples))
    matrix[pairs.better, pairs.worse] = pairs.weight
    return matrix


@given(rankings())
def test_weights_by_rank(case):
    preferences, truth = case.preferences, case.truth
    found = listed(preferences)
    matrix = np.zeros((len(case.y), len(case.y)))
    matrix[found.winner, found.loser] = found.weight
    np.testing.assert_allclose(matrix, weight_matrix(truth), rtol=1e-11, atol=1e-300)
    pairs = TopPairs(preferences)
    assert pairs.n_pairs == pytest.approx(truth.weight.sum(), rel=1e-12)
    per_query = np.zeros(preferences.groups.n_queries)
    np.add.at(per_query, preferences.groups.numbers[truth.better], truth.weight)
    np.testing.assert_allclose(pairs.pairs_per_query, per_query, rtol=1e-12)


@given(rankings())
def test_weights_by_gap(case):
    labels = Preferences.from_labels(case.y, case.qid, **case.weights)
    options = {"qid": case.qid, "kind": case.kind, "top": case.top, **case.weights}
    truth = reference.top_pairs(case.y, case.ranking, by_rank=False, **options)
    pairs = CorePairs(Gains(case.kind, case.top).by_gap(labels))
    assert pairs.n_pairs == pytest.approx(truth.weight.sum(), rel=1e-12)
    value = SquaredHinge(pairs).evaluate(case.scores).value
    expected = reference.squared_hinge(truth, case.scores)
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-300)


def test_listed_weights_are_those_of_the_core_to_the_last_bit():
    preferences, _ = long_queries(60)
    found, pairs = listed(preferences), TopPairs(preferences)
    laplacian = SquaredHinge(pairs).evaluate(np.zeros(60)).sweep.laplacian(np.eye(60))
    assert len(found.winner) > 100
    for i, j, weight in zip(found.winner, found.loser, found.weight, strict=True):
        assert -laplacian[i, j] == weight


def test_a_weight_is_what_an_exchange_changes():
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 4, 12).astype(float), rng.permutation(12).astype(float)
    found = listed(Gains(top=5).by_rank(Preferences.from_labels(y), scores))
    metric = "ndcg@5"
    before = evaluate(y, scores, metrics=metric).mean[metric]
    for i, j, weight in zip(found.winner, found.loser, found.weight, strict=True):
        exchanged = scores.copy()
        exchanged[[i, j]] = scores[[j, i]]
        change = evaluate(y, exchanged, metrics=metric).mean[metric] - before
        assert weight == pytest.approx(abs(change), rel=1e-12)
        assert np.sign(change) == np.sign(scores[j] - scores[i])


@given(rankings())
def test_squared_hinge(case):
    pairs, scores = case.truth, case.scores
    slack = reference.slack(pairs, scores)
    value = reference.squared_hinge(pairs, scores)
    gradient = reference.squared_hinge_gradient(pairs, scores)
    offset = np.sum(pairs.weight * slack * (2 - slack))
    M = 2 * reference.laplacian(pairs, scores)
    v = np.random.default_rng(0).normal(size=(len(scores), 17))
    for loss in make_losses(SquaredHinge, case.preferences):
        there = loss.evaluate(scores)
        assert abs(there.value - value) <= there.rounding + 8 * EPSILON * value
        terms = absolute_terms(pairs, 2 * pairs.weight * slack)
        assert_rows_close(there.gradient, gradient, terms)
        off = np.linalg.norm(there.gradient - gradient)
        assert off <= there.gradient_rounding + 8 * EPSILON * there.gradient_norm
        assert there.offset == pytest.approx(offset, abs=2 * there.rounding + 1e-300, rel=1e-12)
        terms = np.abs(M).sum(axis=1)
        assert_rows_close(there.hessian_product(v), M @ v, terms)
        assert_rows_close(there.hessian_product(v[:, 0].copy()), M @ v[:, 0], terms)
        assert_rows_close(there.hessian_diagonal, np.diag(M), terms)


@given(case=rankings(), width=st.sampled_from([0.125, 1.0, 3.0]))
def test_hinge_and_its_smoothing(case, width):
    pairs, scores = case.truth, case.scores
    slopes = reference.smoothed_slopes(pairs, scores, width)
    value = reference.hinge(pairs, scores)
    z = scores[pairs.better] - scores[pairs.worse]
    M = reference.graph_laplacian(pairs, pairs.weight * ((z < 1) & (1 - z <= width))) / width
    v = np.random.default_rng(0).normal(size=(len(scores), 3))
    for loss in make_losses(Hinge, case.preferences):
        there = loss.evaluate(scores)
        assert there.value == pytest.approx(value, rel=1e-12, abs=1e-300)
        gradient = reference.hinge_gradient(pairs, scores)
        assert_rows_close(there.gradient, gradient, absolute_terms(pairs, pairs.weight))
        smooth = loss.smoothed(width).evaluate(scores)
        assert smooth.value == pytest.approx(there.value, rel=1e-14)
        gradient = reference.smoothed_hinge_gradient(pairs, scores, width)
        assert_rows_close(smooth.gradient, gradient, absolute_terms(pairs, pairs.weight * slopes))
        smoothing = reference.smoothing(pairs, scores, width)
        assert smooth.smoothing == pytest.approx(smoothing, rel=1e-11, abs=1e-12)
        assert smooth.offset == pytest.approx(np.sum(pairs.weight * slopes), rel=1e-11)
        assert_rows_close(smooth.hessian_product(v), M @ v, np.abs(M).sum(axis=1))


@given(case=rankings(), seed=st.integers(0, 99))
def test_gradient_is_the_derivative_of_the_value(case, seed):
    scores, direction = np.random.default_rng(seed).normal(size=(2, len(case.y)))
    h = 1e-6
    for loss in make_losses(SquaredHinge, case.preferences):
        ahead, behind = loss.evaluate(scores + h * direction), loss.evaluate(scores - h * direction)
        gradient = loss.evaluate(scores).gradient
        noise = 1e-6 * np.abs(gradient) @ np.abs(direction) + 1e-9 * ahead.value
        assert gradient @ direction == pytest.approx(
            (ahead.value - behind.value) / (2 * h), rel=5e-6, abs=noise
        )


def long_queries(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    y, qid = rng.integers(0, 5, n).astype(float), rng.integers(0, 4, n) ** 3
    labels = Preferences.from_labels(y, qid, rng.uniform(0, 2, n))
    return Gains(top=50).by_rank(labels, rng.normal(size=n)), rng.normal(size=n)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_blocks_of_queries_are_multiplied_as_single_pairs_are(dtype):
    preferences, scores = long_queries()
    sweep = SquaredHinge(TopPairs(preferences)).evaluate(scores).sweep
    rng, groups = np.random.default_rng(1), preferences.groups
    for queries in [(0, 4), (1, 3), (2, 3)]:
        first, last = groups.indptr[queries[0]], groups.indptr[queries[1]]
        block = rng.normal(size=(last - first, 37)).astype(dtype)
        moved = np.empty_like(block)
        sweep.half_laplacian(*queries, block, 0, 37, moved)
        everything = np.zeros((len(scores), 37))
        everything[sweep.rows(int(first), int(last))] = block
        expected = everything.T @ sweep.laplacian(everything)
        found = block.T.astype(float) @ moved * sweep.half_laplacian_unit
        tolerance = (1e-4 if dtype is np.float32 else 1e-12) * np.abs(expected).max()
        np.testing.assert_allclose(found + found.T, expected, rtol=0, atol=tolerance)


def test_any_number_of_threads_gives_the_same_bits():
    preferences, scores = long_queries(20_000)
    v = np.random.default_rng(1).normal(size=(len(scores), 9))
    for Loss in (SquaredHinge, SmoothedHinge):
        one, three = (Loss(TopPairs(preferences, k)).evaluate(scores) for k in (1, 3))
        assert (one.value, one.rounding, one.offset) == (three.value, three.rounding, three.offset)
        np.testing.assert_array_equal(one.gradient, three.gradient)
        np.testing.assert_array_equal(one.hessian_product(v), three.hessian_product(v))


@pytest.mark.parametrize("scale", [1e-150, 1e150])
def test_weights_of_any_scale(scale):
    y, of_queries = np.array([0.0, 1.0, 2.0, 1.0]), np.full(4, scale)
    ranking = np.arange(4.0)
    plain, scaled = (
        SquaredHinge(TopPairs(Gains().by_rank(labels, ranking))).evaluate(np.zeros(4))
        for labels in (
            Preferences.from_labels(y),
            Preferences.from_labels(y, None, None, of_queries),
        )
    )
    assert scaled.value == pytest.approx(scale * plain.value)
    assert scaled.gradient_norm == pytest.approx(scale * plain.gradient_norm)
    assert 0 < scaled.gradient_rounding < 1e-13 * scaled.gradient_norm


def test_huge_gains():
    y = np.array([1000.0, 999.0, 0.0])
    pairs = TopPairs(Gains().by_rank(Preferences.from_labels(y), np.zeros(3)))
    truth = reference.top_pairs([11.0, 10.0, 0.0], np.zeros(3)).weight.sum()
    assert pairs.n_pairs == pytest.approx(truth, rel=1e-3)


@pytest.mark.parametrize(
    ("kind", "y", "sentence"),
    [
        ("exponential", [0, -1], "gains need labels of at least 0, but row 1 has -1; shift"),
        ("linear", [-2, 0], "gains need labels of at least 0, but row 0 has -2; shift"),
        ("exponential", [0, 1001], "takes labels up to 1000, but row 1 has 1001; number"),
        ("linear", [1e301, 1], "takes labels up to 1e\\+300, but row 0 has 1e\\+301"),
    ],
)
def test_labels_without_gains_are_refused(kind, y, sentence):
    labels = Preferences.from_labels(np.array(y, dtype=float))
    with pytest.raises(ValueError, match=sentence):
        Gains(kind).by_rank(labels, np.zeros(2))
    with pytest.raises(ValueError, match=sentence):
        Gains(kind).by_gap(labels)


def test_scores_have_to_be_finite():
    preferences, scores = long_queries(10)
    scores[3] = np.nan
    with pytest.raises(ValueError, match="scores must be finite"):
        TopPairs(preferences).sweep(scores, "hinge", 1.0)
