"""Few features and priors: what is counted, drawn and chosen."""

import numpy as np

from benchmarks import conditions
from benchmarks.task import Rows
from cases import make_problem


def rows(seed=0, n=200, n_queries=10):
    X, y, qid = make_problem(seed, n=n, d=6, n_queries=n_queries)
    return Rows(X * [1, 1, 1, 10, 0, 1], y, qid)


def test_paths_go_from_no_features_to_all_that_vary():
    for train, test in conditions.folds(rows()):
        assert np.allclose(train.X.std(axis=0), [1, 1, 1, 1, 0, 1])
        assert not set(train.qid) & set(test.qid)
    counts = [point.n_features for point in conditions.path_of_sparse_models(train, test)]
    assert counts[0] == 0
    assert counts[-1] == 5
    again = conditions.largest_weights_again(train, test, 1.0)
    assert [point.n_features for point in again] == [2, *[5] * (len(conditions.COUNTS) - 1)]
    assert all(0 <= point.quality <= 1 for point in again)


def test_draws_part_the_queries_and_single_ones_take_turns():
    data = rows()
    singles = [train.qid[0] for train, _ in conditions.drawn(data, 1)]
    assert sorted(singles) == list(range(10))
    for train, test in conditions.drawn(data, 3):
        assert len(np.unique(train.qid)) == 3
        assert sorted(np.unique(test.qid)) == sorted(set(data.qid) - set(train.qid))


def test_queries_of_one_label_are_left_out():
    data = rows()
    data.y[data.qid == 4] = 0
    assert sorted(np.unique(conditions.with_pairs(data).qid)) == [0, 1, 2, 3, 5, 6, 7, 8, 9]


def test_c_is_chosen_by_the_other_pairs():
    by_pair = [{"none": np.array([[0.1, 0.9]])}, {"none": np.array([[0.5, 0.2]])}]
    assert conditions.chosen(by_pair, "none").tolist() == [0.1, 0.2]
