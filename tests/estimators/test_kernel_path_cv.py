"""KernelRankSVMPathCV: the choice along paths, against a path of its own for every fold."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GroupKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

import reference
from cases import make_problem
from ranksvm import KernelRankSVMPathCV, evaluate, regularization_path
from ranksvm.kernel.kernels import Kernel
from ranksvm.selection.folds import make_folds
from ranksvm.selection.paths import chosen_graph, merged_lambdas

GAMMAS = [0.5, 0.05]


# Two folds: some checks have ten rows, too few for five folds with pairs.
@parametrize_with_checks([KernelRankSVMPathCV(cv=2, gammas=0.3, n_lambdas=9)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    return make_problem(0, n=60, n_queries=6)


def accuracy(y, scores, qid):
    """Every pair written out; ties count half."""
    pairs = reference.enumerate_pairs(y, qid)
    right = scores[pairs.better] - scores[pairs.worse]
    return np.mean((right > 0) + 0.5 * (right == 0))


def fold_paths(problem, folds, **options):
    X, y, qid = problem
    return [
        regularization_path(X[train], y[train], qid[train], kernel="rbf", **options)
        for train, _ in folds
    ]


def assert_one_row_each(model, problem, folds, paths, gamma, lambdas):
    X, y, qid = problem
    table = model.cv_results_
    of_gamma = table["param_gamma"] == gamma
    np.testing.assert_array_equal(table["param_lambda"][of_gamma], lambdas)
    for k, ((train, validation), path) in enumerate(zip(folds, paths, strict=True)):
        K = Kernel("rbf", gamma).between(X[validation], X[train])
        expected = [
            accuracy(y[validation], K @ path.coef_at(lam), qid[validation]) for lam in lambdas
        ]
        np.testing.assert_allclose(table[f"split{k}_test_score"][of_gamma], expected, atol=1e-12)


@pytest.mark.parametrize("graph", ["full", "reduced"])
def test_every_fold_is_measured_at_every_breakpoint_of_any(problem, graph):
    X, y, qid = problem
    model = KernelRankSVMPathCV(gammas=GAMMAS, graph=graph, cv=3, n_lambdas=10_000)
    model.fit(X, y, qid)
    folds = make_folds(3, y, np.unique(qid, return_inverse=True)[1])
    n_rows = 0
    for gamma in GAMMAS:
        paths = fold_paths(problem, folds, gamma=gamma, graph=graph)
        lambdas = sorted({lam for path in paths for lam in path.lambdas}, reverse=True)
        lambdas = [lam for lam in lambdas if all(lam >= path.lambdas[-1] for path in paths)]
        n_rows += len(lambdas)
        assert_one_row_each(model, problem, folds, paths, gamma, lambdas)
    assert len(model.cv_results_["param_lambda"]) == n_rows
    assert model.n_splits_ == 3


def test_the_choice_is_the_best_row_of_the_table(problem):
    X, y, qid = problem
    model = KernelRankSVMPathCV(gammas=GAMMAS, cv=3, n_lambdas=50).fit(X, y, qid)
    table = pd.DataFrame(model.cv_results_)
    assert len(table) == 100
    splits = table[[f"split{k}_test_score" for k in range(3)]].to_numpy()
    np.testing.assert_allclose(table["mean_test_score"], splits.mean(axis=1))
    np.testing.assert_allclose(table["standard_error"], splits.std(axis=1, ddof=1) / np.sqrt(3))
    mean = table["mean_test_score"].to_numpy()
    np.testing.assert_array_equal(table["rank_test_score"], [1 + sum(mean > one) for one in mean])
    assert model.best_score_ == mean.max()
    best = table[mean == mean.max()]
    chosen = best[best["param_gamma"] == best["param_gamma"].iloc[0]]
    assert model.gamma_ == chosen["param_gamma"].iloc[0]
    assert model.lambda_ == chosen["param_lambda"].max()
    assert table.loc[model.best_index_, "param_lambda"] == model.lambda_
    assert table.loc[model.best_index_, "param_gamma"] == model.gamma_


def test_the_model_is_the_path_of_all_rows_at_the_lambda_chosen(problem):
    X, y, qid = problem
    new = make_problem(1)[0]
    model = KernelRankSVMPathCV(gammas=0.2, cv=3, n_lambdas=50).fit(X, y, qid)
    path = regularization_path(
        X, y, qid, kernel="rbf", gamma=0.2, graph="full", lambda_min=model.lambda_
    )
    np.testing.assert_allclose(model.dual_coef_, path.coef_at(model.lambda_), rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(model.predict(new), path.predict(new, model.lambda_), atol=1e-7)
    assert model.path_.lambdas[-1] <= model.cv_results_["param_lambda"].min()
    assert (model.n_pairs_, model.n_queries_) == (len(path.graph), 6)
    assert model.score(X, y, qid) == pytest.approx(accuracy(y, model.predict(X), qid))


def test_the_full_graph_is_taken_where_it_has_few_pairs(problem):
    X, y, qid = problem
    options = {"gammas": 0.2, "cv": 3, "n_lambdas": 5, "refit": False}
    assert KernelRankSVMPathCV(**options).fit(X, y, qid).graph_ == "full"
    assert KernelRankSVMPathCV(**options, graph="reduced").fit(X, y, qid).graph_ == "reduced"
    # 448 rows of distinct labels: 100,128 pairs in one query, half of them in two.
    X, y = np.random.default_rng(0).normal(size=(448, 2)), np.arange(448.0)
    assert chosen_graph(y, np.arange(448) % 2) == "full"
    with pytest.warns(UserWarning, match=r"100,128 preference pairs, more than 100,000"):
        assert KernelRankSVMPathCV(**options).fit(X, y).graph_ == "reduced"


def test_of_many_breakpoints_an_even_subset_is_measured(problem):
    folds = make_folds(3, problem[1], problem[2])
    paths = fold_paths(problem, folds)
    whole = merged_lambdas(paths, 10_000)
    some = merged_lambdas(paths, 11)
    assert np.all(np.diff(whole) < 0)
    places = np.searchsorted(-whole, -some)
    np.testing.assert_array_equal(whole[places], some)
    assert (places[0], places[-1]) == (0, len(whole) - 1)
    assert np.ptp(np.diff(places)) <= 1


def test_one_standard_error_takes_the_largest_lambda_that_is_not_clearly_worse(problem):
    X, y, qid = problem
    options = {"gammas": 0.2, "cv": 3, "n_lambdas": 100}
    best = KernelRankSVMPathCV(**options).fit(X, y, qid)
    careful = KernelRankSVMPathCV(**options, one_standard_error=True).fit(X, y, qid)
    table, k = best.cv_results_, best.best_index_
    least = table["mean_test_score"][k] - table["standard_error"][k]
    good = table["mean_test_score"] >= least
    assert careful.lambda_ == table["param_lambda"][good].max()
    assert careful.lambda_ > best.lambda_


def test_a_validation_set_is_a_single_fold(problem):
    X, y, qid = problem
    train, validation = np.flatnonzero(qid < 4), np.flatnonzero(qid >= 4)
    model = KernelRankSVMPathCV(gammas=0.2, cv=[(train, validation)], n_lambdas=10_000)
    model.fit(X, y, qid)
    path = regularization_path(
        X[train], y[train], qid[train], kernel="rbf", gamma=0.2, graph="full"
    )
    errors = path.validation_errors(X[validation], y[validation], qid[validation])
    lambdas, last = np.unique(-path.lambdas, return_index=True)
    np.testing.assert_array_equal(model.cv_results_["param_lambda"], -lambdas)
    np.testing.assert_allclose(model.cv_results_["mean_test_score"], 1 - errors[last])
    assert np.isnan(model.cv_results_["standard_error"]).all()
    with pytest.raises(ValueError, match="one_standard_error needs at least 2 folds"):
        model.set_params(one_standard_error=True).fit(X, y, qid)


def bits(model):
    return [model.dual_coef_.tobytes(), *(c.tobytes() for c in model.cv_results_.values())]


def test_jobs_change_nothing(problem):
    X, y, qid = problem
    options = {"gammas": GAMMAS, "cv": 4, "n_lambdas": 30}
    expected = bits(KernelRankSVMPathCV(**options, n_jobs=1).fit(X, y, qid))
    for n_jobs in (2, 5):
        assert bits(KernelRankSVMPathCV(**options, n_jobs=n_jobs).fit(X, y, qid)) == expected


def test_a_precomputed_kernel_chooses_alike(problem):
    X, y, qid = problem
    new = make_problem(1)[0]
    kernel = Kernel("rbf", gamma=0.2)
    options = {"cv": GroupKFold(3), "scoring": "ndcg@5", "n_lambdas": 40}
    model = KernelRankSVMPathCV(gammas=0.2, **options).fit(X, y, qid)
    K = kernel.between(X, X)
    same = KernelRankSVMPathCV(kernel="precomputed", **options).fit(K, y, qid)
    assert (same.lambda_, same.gamma_) == (pytest.approx(model.lambda_), None)
    assert same.best_score_ == pytest.approx(model.best_score_)
    scores = same.predict(kernel.between(new, X))
    np.testing.assert_allclose(scores, model.predict(new), rtol=1e-6)
    assert np.isnan(same.cv_results_["param_gamma"]).all()
    assert same.score(K, y, qid) == evaluate(y, same.predict(K), qid, "ndcg@5").mean["ndcg@5"]
    with pytest.raises(ValueError, match=r"needs a square matrix in fit, .* shape \(60, 4\)"):
        clone(same).fit(X, y, qid)


def test_sparse_rows_and_columns_of_ids(problem):
    X, y, qid = problem
    options = {"gammas": 0.2, "cv": 3, "n_lambdas": 40}
    expected = KernelRankSVMPathCV(**options).fit(X, y, qid)
    sparse = KernelRankSVMPathCV(**options).fit(csr_matrix(X), y, qid)
    assert sparse.lambda_ == pytest.approx(expected.lambda_, rel=1e-6)
    frame = pd.DataFrame(X).add_prefix("f").assign(query=qid)
    named = KernelRankSVMPathCV(**options, qid="query").fit(frame, y)
    assert named.lambda_ == expected.lambda_
    assert named.score(frame, y) == expected.score(X, y, qid)


def test_without_refit_there_is_a_choice_and_no_model(problem):
    X, y, qid = problem
    model = KernelRankSVMPathCV(gammas=0.2, cv=3, n_lambdas=40, refit=False).fit(X, y, qid)
    assert model.lambda_ in model.cv_results_["param_lambda"]
    with pytest.raises(NotFittedError):
        model.predict(X)


def test_rows_that_are_all_equal_have_a_path_without_events():
    model = KernelRankSVMPathCV(cv=2).fit(np.ones((8, 2)), np.arange(8) % 2)
    assert (model.lambda_, model.best_score_) == (1.0, 0.5)
    np.testing.assert_array_equal(model.predict([[3.0, 4.0], [3.0, 4.0]]), 0)


def test_folds_without_pairs_are_left_out(problem):
    X, y, qid = problem
    folds = [(qid != 0, qid == 0), (qid != 1, np.arange(60) == 0)]
    message = "fold 1 is left out: its validation rows have no preference pairs"
    with pytest.warns(UserWarning, match=message) as seen:
        model = KernelRankSVMPathCV(gammas=0.2, cv=folds, n_lambdas=9).fit(X, y, qid)
    assert [warning.filename for warning in seen] == [__file__]
    assert np.isnan(model.cv_results_["split1_test_score"]).all()
    np.testing.assert_array_equal(
        model.cv_results_["mean_test_score"], model.cv_results_["split0_test_score"]
    )


def test_trainings_are_counted(problem, capsys):
    X, y, qid = problem
    KernelRankSVMPathCV(gammas=GAMMAS, cv=3, n_lambdas=5, verbose=1).fit(X, y, qid)
    printed = capsys.readouterr().err
    assert "6 of 6 trainings" in printed
    for gamma in GAMMAS:
        assert f"gamma={gamma:.3g}: 3 times a path over" in printed
    assert printed.rindex("times a path") < printed.index("1 of 6")


def test_what_paths_take_is_said_of_the_folds_that_are_kept(capsys):
    X, y, _ = make_problem(3, n=40)
    rows, upper = np.arange(40), np.flatnonzero(y == y.max())
    folds = [(upper, rows), (rows[:30], rows[30:]), (rows[10:], rows[:10])]
    with pytest.warns(UserWarning, match="pairs"):
        KernelRankSVMPathCV(gammas=0.5, cv=folds, verbose=1, refit=False).fit(X, y)
    assert "gamma=0.5: 2 times a path over" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kernel": "gaussian"}, "kernel must be a function or one of"),
        ({"kernel": "linear", "gammas": 1.0}, "the kernel 'linear' has no gamma"),
        ({"gammas": []}, "gammas must be a width or several"),
        ({"gammas": [[1.0]]}, "gammas must be a width or several"),
        ({"gammas": [1.0, -1.0]}, "gamma must be finite and greater than 0"),
        ({"graph": "small"}, "graph must be 'full' or 'reduced'"),
        ({"n_lambdas": 0}, "n_lambdas must be a whole number of at least 1"),
        ({"n_jobs": 0}, "n_jobs must be a whole number of at least 1"),
        ({"scoring": "luck"}, "luck"),
        ({"scoring": lambda *_: np.nan}, "scoring must give a finite number"),
        ({"cv": 7}, "cv=7 folds need at least 7 queries, found 6"),
        ({"lambda_min_ratio": -1}, "lambda_min_ratio must be finite"),
        ({"max_memory": 1000.0}, "max_memory"),
    ],
)
def test_mistakes_are_named(problem, options, message):
    with pytest.raises(ValueError, match=message):
        KernelRankSVMPathCV(**options).fit(*problem)
