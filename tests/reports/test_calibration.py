"""Calibration of margins against every pair."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm import LinearModel
from ranksvm.reports.calibration import calibrate, calibration
from ranksvm.reports.subjects import Sample, Subject


def sample_of(labels, scores, qid=None, weights=None):
    X = np.asarray(scores, dtype=float)[:, np.newaxis]
    return Sample.of(Subject.of(LinearModel(np.ones(1))), "data", X, labels, qid, weights, None)


def counted(labels, scores, qid, weights, edges):
    """Return the same of every pair."""
    ends = np.r_[0.0, edges, np.inf]
    right, wrong, tied = np.zeros(len(ends) - 1), np.zeros(len(ends) - 1), 0.0
    for i in range(len(labels)):
        for j in range(len(labels)):
            if qid[i] != qid[j] or labels[i] <= labels[j]:
                continue
            apart, weight = scores[i] - scores[j], weights[i] * weights[j]
            place = np.searchsorted(ends, abs(apart), side="right") - 1
            if apart == 0:
                tied += weight
            else:
                (right if apart > 0 else wrong)[place] += weight
    return right, wrong, tied


@given(st.data(), st.booleans())
def test_bins_hold_the_pairs_between_their_edges(data, weighted):
    n = data.draw(st.integers(2, 12))
    whole = st.integers(0, 6)
    draw = lambda: np.array(data.draw(st.lists(whole, min_size=n, max_size=n)), dtype=float)  # noqa: E731
    labels, scores, qid = draw() % 3, draw(), draw() % 2
    labels[:2], qid[:2] = [0, 1], 0
    weights = 1 + draw() % 2 if weighted else np.ones(n)
    edges = np.array([1.0, 2.0, 4.0])  # some scores lie exactly so far apart
    found = calibrate(sample_of(labels, scores, qid, weights if weighted else None), edges)
    right, wrong, tied = counted(labels, scores, qid, weights, edges)
    np.testing.assert_allclose(found.right, right)
    np.testing.assert_allclose(found.wrong, wrong)
    assert found.tied == pytest.approx(tied)


def test_edges_are_tenths_of_the_pairs():
    generator = np.random.default_rng(0)
    scores, labels = generator.normal(size=500), generator.integers(0, 3, 500)
    found = calibrate(sample_of(labels, scores))
    shares = (found.right + found.wrong) / (found.right + found.wrong).sum()
    assert len(shares) == 10
    assert shares.min() > 0.07
    assert shares.max() < 0.13


def test_equal_scores_alone():
    section = calibration(sample_of([0, 1, 2], [5.0, 5.0, 5.0]))
    assert "Pairs of equal scores, which have no order: 3." in "".join(section.content)
