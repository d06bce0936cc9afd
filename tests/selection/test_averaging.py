"""Which candidates are level with the best, and what their mean is."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cases import make_problem
from ranksvm import LinearModel
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.rounds import train
from ranksvm.pairs.preferences import Preferences
from ranksvm.pairs.queries import QueryGroups
from ranksvm.selection.averaging import mean_of, spread_within, takes_mean, train_members
from ranksvm.selection.contest import Contest, compete, entrants_of
from ranksvm.selection.cross_validation import CrossValidation
from ranksvm.selection.rows import TrainingRows
from ranksvm.selection.variants import variants_of


def contest_of(scores):
    """Return a contest of one variant with these scores of C and folds."""
    scores = np.asarray(scores, dtype=np.float64)
    Cs = np.logspace(-1, 1, len(scores))
    return Contest.of([None], [CrossValidation(scores, Cs, np.zeros(scores.shape))])


def level_slowly(scores):
    """Return the places of what is level with the best, by sums over the folds."""
    n_folds, means = len(scores[0]), [sum(of) / len(of) for of in scores]
    best = max(range(len(scores)), key=lambda place: (means[place], -place))
    level = [best]
    for place, of in enumerate(scores):
        differences = [b - s for b, s in zip(scores[best], of, strict=True)]
        mean = means[best] - means[place]
        squares = sum((d - sum(differences) / n_folds) ** 2 for d in differences)
        if place != best and mean <= 0.5 * (squares / (n_folds * (n_folds - 1))) ** 0.5:
            level.append(place)
    return level


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(1, 8), st.booleans())
def test_the_rule_is_that_of_sums_over_the_folds(seed, n_folds, n_models, twice):
    rng = np.random.default_rng(seed)
    scores = rng.random(n_folds) + 0.3 * rng.random((n_models, n_folds))
    scores = np.vstack([scores, scores]).tolist() if twice else scores.tolist()
    found = contest_of(scores).level()
    assert sorted(found) == sorted(level_slowly(scores))
    assert found[0] == contest_of(scores).best()
    means = np.mean(scores, axis=1)[found]
    assert (np.diff(means) <= 1e-12).all()


def test_folds_that_were_left_out_say_nothing():
    scores = [[0.5, 0.7, 0.6], [0.6, 0.5, 0.6], [0.1, 0.2, 0.1]]
    left_out = [[one[0], np.nan, *one[1:]] for one in scores]
    assert contest_of(left_out).level() == contest_of(scores).level() == [0, 1]
    assert contest_of([[0.5], [0.5]]).level() == [0]  # a single fold


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([1.0, 1e-290, 1e290]))
def test_the_spread_is_that_within_queries(seed, n_queries, scale):
    rng = np.random.default_rng(seed)
    qid = rng.integers(n_queries, size=20)
    scores = rng.normal(size=20) + 10 * qid
    within = [s - np.mean(scores[qid == q]) for s, q in zip(scores, qid, strict=True)]
    groups = QueryGroups.from_qid(qid, 20)
    expected = scale * np.sqrt(np.mean(np.square(within)))
    assert spread_within(scale * scores, groups) == pytest.approx(expected)
    assert spread_within(0 * scores, groups) == 0
    assert spread_within(qid.astype(float), groups) < 1e-12


@pytest.fixture(scope="module")
def problem():
    X, y, qid = make_problem(3, n=160, d=4, n_queries=16)
    return X * [1, 10, 0.1, 1], np.clip(np.round(y), 0, 4), qid


def contest_on(problem, grid="auto", n_threads=1):
    X, y, qid = problem
    rows = TrainingRows(DesignMatrix.from_array(X), Preferences.from_labels(y, qid))
    given = Parameters(n_threads=n_threads, tol=1e-6)
    return compete(entrants_of(variants_of(grid), rows, X, given), rows.folds(3), "ndcg@10")


def test_the_mean_is_that_of_scores_of_one_spread(problem):
    contest = contest_on(problem)
    X, _, qid = problem
    places = [0, 2, 4, 7, 10, 11]
    members = train_members(contest, places)
    assert [one.params for one in members] == [contest.params(place) for place in places]
    expected = np.zeros(len(X))
    for one in members:
        entrant, parameters = one.entrant, one.parameters
        alone = train(entrant.rows.X, entrant.rows.preferences, parameters)
        assert one.fit.result.dual_gap <= 1e-6
        model = LinearModel(entrant.weights_of(one.fit), maps=entrant.maps)
        if parameters.pair_weight is None:  # one optimum, not that of rounds
            lower = alone.result.value * (1 - alone.result.dual_gap)
            assert one.fit.result.value * (1 + 1e-12) >= lower
            assert one.fit.result.value * (1 - one.fit.result.dual_gap) <= alone.result.value
        scores = model.predict(X)
        means = np.array([scores[qid == q].mean() for q in qid])
        expected += scores / np.sqrt(np.mean((scores - means) ** 2)) / len(places)
    maps, weights = mean_of(members)
    found = LinearModel(weights, maps=maps).predict(X)
    for q in np.unique(qid):
        shift = (found - expected)[qid == q]
        np.testing.assert_allclose(shift, shift[0], atol=1e-9)


def test_members_do_not_depend_on_threads(problem):
    weights = []
    for n_threads in (1, 3):
        members = train_members(contest_on(problem, n_threads=n_threads), [1, 4, 5, 8])
        weights.append(mean_of(members)[1].dense)
    np.testing.assert_array_equal(*weights)


def test_a_single_member_is_as_it_is_without_a_mean(problem):
    contest = contest_on(problem, {"C": [1.0], "scale": ["standard"]})
    (one,) = train_members(contest, [0])
    alone = train(one.entrant.rows.X, one.entrant.rows.preferences, one.parameters)
    np.testing.assert_array_equal(mean_of([one])[1].dense, one.entrant.weights_of(alone).dense)


def test_rankers_without_weights_add_nothing(problem):
    X, y, qid = problem
    flat = (np.zeros_like(X), y, qid)
    maps, weights = mean_of(train_members(contest_on(flat, {"C": [0.1, 1.0]}), [0, 1]))
    assert maps == ()
    assert not weights.dense.any()


@pytest.mark.parametrize(
    ("average", "param_grid", "one_standard_error", "expected"),
    [
        ("auto", "auto", False, True),
        ("auto", "auto", True, False),
        ("auto", None, False, False),
        ("auto", {"C": [1.0]}, False, False),
        (True, None, False, True),
        (False, "auto", False, False),
        (False, "auto", True, False),
    ],
)
def test_when_a_choice_ends_in_a_mean(average, param_grid, one_standard_error, expected):
    assert takes_mean(average, param_grid, one_standard_error) is expected


@pytest.mark.parametrize(
    ("average", "one_standard_error", "message"),
    [
        (True, True, "one_standard_error chooses the simplest of those that are hardly worse"),
        ("mean", False, "average must be 'auto', True or False, not 'mean'"),
        (1, False, "average must be True or False, not 1"),
    ],
)
def test_what_contradicts_is_refused(average, one_standard_error, message):
    with pytest.raises(ValueError, match=message):
        takes_mean(average, "auto", one_standard_error)
