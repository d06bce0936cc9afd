"""Clicks: weights of what is clicked make up for what is not seen."""

import numpy as np
import pytest

import reference
from ranksvm import RankSVM

WANTED = np.array([1.0, 0.8, 0.0, 0.0])
SHOWN_BY = np.array([0.2, 0.0, 1.0, 1.0])
SEEN = 1 / np.arange(1, 9)


@pytest.fixture(scope="module")
def log():
    """Rows of a list for each click: features, which was clicked, the list, what it stands for."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(4000, len(SEEN), len(WANTED)))
    X = np.take_along_axis(X, np.argsort(-X @ SHOWN_BY, axis=1)[..., None], axis=1)
    wanted = X @ WANTED + rng.normal(scale=0.5, size=X.shape[:2]) > 1
    of_list, place = np.nonzero(wanted & (rng.random(wanted.shape) < SEEN))
    click = place[:, None] == np.arange(len(SEEN))
    weight = np.where(click, 1 / SEEN, 1.0)
    qid = np.repeat(np.arange(len(place)), len(SEEN))
    return X[of_list].reshape(-1, len(WANTED)), click.ravel(), qid, weight.ravel()


def bias(model):
    """How much of what lists were shown by is in the weights."""
    return np.abs(model.coef_[2:]).max() / np.abs(model.coef_).max()


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_weights_recover_the_ranking_that_a_position_bias_hides(log, loss):
    X, click, qid, weight = log
    assert bias(RankSVM(loss=loss).fit(X, click, qid)) > 0.25
    weighted = RankSVM(loss=loss).fit(X, click, qid, sample_weight=weight)
    assert bias(weighted) < 0.08
    assert weighted.coef_[1] / weighted.coef_[0] == pytest.approx(0.8, abs=0.08)


def test_a_pair_weighs_what_its_click_stands_for(log):
    X, click, qid, weight = (values[:40] for values in log)
    pairs = reference.enumerate_pairs(click, qid, weight)
    np.testing.assert_array_equal(pairs.weight, weight[pairs.better])
    model = RankSVM(normalize=None, tol=1e-10).fit(X, click, qid, sample_weight=weight)
    scores = X @ model.coef_
    value = 0.5 * model.coef_ @ model.coef_ + reference.squared_hinge(pairs, scores)
    assert model.objective_ == pytest.approx(value, rel=1e-12)
    gradient = model.coef_ + X.T @ reference.squared_hinge_gradient(pairs, scores)
    assert np.abs(gradient).max() < 1e-4 * value
