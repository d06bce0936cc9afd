"""Pairs in place of labels, through the estimators."""

import numpy as np
import pytest

import reference
from cases import make_problem
from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, pairwise_accuracy, ranksvm_grid

X, Y, QID = make_problem(5, n=40)
LISTED = reference.enumerate_pairs(Y, QID)
PAIRS = np.stack([LISTED.better, LISTED.worse], axis=1)
ESTIMATORS = {
    "RankSVM": RankSVM(tol=1e-9),
    "KernelRankSVM": KernelRankSVM(tol=1e-7, gamma=0.2),
    "RankSVMCV": RankSVMCV([0.1, 1.0], tol=1e-9, cv=3),
}

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)


@every_estimator
def test_the_pairs_of_labels_are_as_good_as_labels(name):
    model = ESTIMATORS[name].fit(X, Y, QID)
    predicted, objective, n_pairs = model.predict(X), model.objective_, model.n_pairs_
    model.fit(X, pairs=PAIRS, qid=QID)
    np.testing.assert_allclose(model.predict(X), predicted, atol=1e-4)
    assert model.objective_ == pytest.approx(objective, rel=1e-6)
    assert (model.n_pairs_, model.n_queries_) == (n_pairs, 3)
    assert model.score(X, pairs=PAIRS) == pytest.approx(model.score(X, Y, QID))


def test_queries_are_not_needed():
    model = RankSVM().fit(X, pairs=PAIRS)
    assert model.n_queries_ == 1
    assert model.objective_ == pytest.approx(RankSVM().fit(X, pairs=PAIRS, qid=QID).objective_)


def test_weights_and_repeated_pairs_are_the_same():
    weights = np.random.default_rng(0).integers(0, 4, len(PAIRS))
    weighted = RankSVM(tol=1e-10).fit(X, pairs=PAIRS, pair_weights=weights)
    repeated = RankSVM(tol=1e-10).fit(X, pairs=np.repeat(PAIRS, weights, axis=0))
    np.testing.assert_allclose(weighted.coef_, repeated.coef_, rtol=1e-6)
    assert weighted.n_pairs_ == repeated.n_pairs_
    expected = repeated.score(X, pairs=np.repeat(PAIRS, weights, axis=0))
    assert weighted.score(X, pairs=PAIRS, pair_weights=weights) == pytest.approx(expected)


def test_margins_scale_the_weights():
    one = RankSVM(tol=1e-10).fit(X, pairs=PAIRS)
    three = RankSVM(tol=1e-10).fit(X, pairs=PAIRS, margins=3.0)
    np.testing.assert_allclose(three.coef_, 3 * one.coef_, rtol=1e-4)


def test_score_counts_ties_half():
    model = RankSVM().fit(X, pairs=PAIRS)
    rows = np.array([[1.0], [0.0], [0.0]]) * model.coef_
    assert model.score(rows, pairs=[[0, 1], [1, 2], [2, 0], [0, 2]]) == 2.5 / 4
    assert model.score(rows, pairs=[[0, 1], [1, 2]], pair_weights=[3, 1]) == 3.5 / 4


def test_devices():
    torch = pytest.importorskip("torch")
    model = RankSVM(tol=1e-8).fit(X, pairs=PAIRS, margins=np.linspace(0.5, 2, len(PAIRS)))
    for rows, device in ((X, "numpy:cpu"), (torch.from_numpy(X), None)):
        pairs = torch.from_numpy(PAIRS) if device is None else PAIRS
        there = RankSVM(tol=1e-8, device=device)
        there.fit(rows, pairs=pairs, margins=np.linspace(0.5, 2, len(PAIRS)))
        np.testing.assert_allclose(there.coef_, model.coef_, atol=1e-5)


def test_grid():
    path = ranksvm_grid(X, pairs=PAIRS, Cs=[0.1, 1], tol=1e-8)
    for C, coef in zip([0.1, 1], path.coefs, strict=True):
        np.testing.assert_allclose(coef, RankSVM(C, tol=1e-8).fit(X, pairs=PAIRS).coef_, atol=1e-4)


class TestFolds:
    """Folds of components, groups, queries, single pairs, and of a splitter."""

    def folds(self, cv=3, **given):
        from ranksvm.linear.design_matrix import DesignMatrix

        model = RankSVMCV(cv=cv)
        arguments = {"qid": given.pop("qid", None), "groups": given.pop("groups", None)}
        from ranksvm.pairs.given import given_preferences

        preferences = given_preferences(given.get("pairs", PAIRS), len(X), qid=arguments["qid"])
        rows = model._folded(DesignMatrix.from_array(X), preferences, arguments["groups"])
        return rows, rows.folds(cv)

    def test_components_stay_together(self):
        rows, folds = self.folds()
        number = rows.preferences.components()
        for train, validation in folds:
            assert not set(number[train]) & set(number[validation])
            assert len(train) + len(validation) == len(X)
            assert rows.have_pairs(train)
            assert rows.have_pairs(validation)

    def test_groups_stay_together(self):
        groups = [f"group {row // 10}" for row in range(len(X))]
        _, folds = self.folds(groups=groups)
        for train, validation in folds:
            assert not {groups[i] for i in train} & {groups[i] for i in validation}

    def test_queries_stay_together(self):
        _, folds = self.folds(qid=QID)
        for train, validation in folds:
            assert not set(QID[train]) & set(QID[validation])

    def test_single_pairs(self):
        rows, folds = self.folds(cv="pairs")
        assert len(folds) == 5
        together = np.concatenate([validation for _, validation in folds])
        np.testing.assert_array_equal(np.sort(together), np.arange(len(PAIRS)))
        train, validation = folds[0]
        assert len(rows.some(train).winner) + len(rows.some(validation).winner) == len(PAIRS)
        model = RankSVMCV([0.1, 1.0], cv="pairs").fit(X, pairs=PAIRS)
        assert model.n_splits_ == 5

    def test_a_splitter_is_given_the_groups(self):
        from sklearn.model_selection import GroupKFold

        model = RankSVMCV([1.0], cv=GroupKFold(3)).fit(X, pairs=PAIRS)
        assert model.n_splits_ == 3

    def test_too_few_components(self):
        chain = np.stack([np.arange(1, 40), np.arange(39)], axis=1)
        with pytest.raises(ValueError, match=r"connected components of the pairs, found 1: give g"):
            RankSVMCV(cv=2).fit(X, pairs=chain)
        assert RankSVMCV([1.0], cv="pairs").fit(X, pairs=chain).n_splits_ == 5
        assert RankSVMCV([1.0], cv=2).fit(X, pairs=chain, groups=np.arange(40) // 9).n_splits_ == 2

    def test_scores_are_those_of_unseen_pairs(self):
        model = RankSVMCV([0.5], cv=3).fit(X, pairs=PAIRS, qid=QID)
        _, folds = self.folds(qid=QID)
        for k, (train, validation) in enumerate(folds):
            fold = RankSVM(0.5).fit(X[train], Y[train], QID[train])
            scores = X[validation] @ fold.coef_
            expected = pairwise_accuracy(Y[validation], scores, QID[validation])
            assert model.cv_results_[f"split{k}_test_score"] == pytest.approx(expected, abs=0.02)


WRONG = {
    "preferences are given twice, by y and pairs": {"y": Y, "pairs": PAIRS},
    "given pairs have pair_weights": {"pairs": PAIRS, "sample_weight": np.ones(40)},
    "query_weight weighs queries of labels": {"pairs": PAIRS, "query_weight": np.ones(40)},
    "pair_weights is for given pairs": {"y": Y, "pair_weights": np.ones(40)},
    "margins is for given pairs": {"y": Y, "margins": np.ones(40)},
    "pair 0 is (0, 40), but X has the rows 0 to 39": {"pairs": [[0, 40]]},
    "requires y to be passed, but the target y is None": {},
}


@every_estimator
@pytest.mark.parametrize("sentence", WRONG)
def test_what_is_wrong_is_said_in_a_sentence(name, sentence):
    with pytest.raises(ValueError) as error:
        ESTIMATORS[name].fit(X, **WRONG[sentence])
    assert sentence in str(error.value)


@pytest.mark.parametrize("sentence", WRONG)
def test_the_grid_says_the_same(sentence):
    with pytest.raises(ValueError) as error:
        ranksvm_grid(X, **WRONG[sentence])
    assert sentence in str(error.value)


def test_what_does_not_go_together():
    with pytest.raises(ValueError, match="weighs the pairs of labels"):
        RankSVM(pair_weight="gap").fit(X, pairs=PAIRS)
    with pytest.raises(ValueError, match="normalize='queries' needs the queries"):
        RankSVM(normalize="queries").fit(X, pairs=PAIRS)
    with pytest.raises(ValueError, match="needs labels"):
        RankSVMCV([1.0], cv=3, scoring="ndcg").fit(X, pairs=PAIRS)
    with pytest.raises(ValueError, match="cv='pairs' is for given pairs"):
        RankSVMCV([1.0], cv="pairs").fit(X, Y, QID)
    with pytest.raises(ValueError, match="groups is for given pairs"):
        RankSVMCV([1.0]).fit(X, Y, QID, groups=QID)
    model = RankSVM().fit(X, pairs=PAIRS)
    with pytest.raises(ValueError, match="score needs labels y, or pairs"):
        model.score(X)
    with pytest.raises(ValueError, match="given twice"):
        model.score(X, Y, pairs=PAIRS)
