"""Priors of every kind, as arguments of estimators."""

import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import make_problem
from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, save_model

X, Y, QID = make_problem(7, n=60, d=4, n_queries=4)
NAMES = ["a", "b", "c", "d"]
FRAME = pd.DataFrame(X, columns=NAMES)
EXACT = {"tol": 1e-9, "n_threads": 1}


def test_every_kind_of_prior_is_the_same(tmp_path):
    old = RankSVM(C=0.01, **EXACT).fit(FRAME, Y, QID)
    expected = RankSVM(prior=old.coef_, C=0.1, **EXACT).fit(FRAME, Y, QID)
    save_model(old, tmp_path / "m.json")
    save_model(old, tmp_path / "m.safetensors")
    plain = RankSVM(C=0.1, **EXACT)
    models = [
        plain.set_params(prior=prior).fit(FRAME, Y, QID).coef_
        for prior in (
            list(old.coef_),
            dict(zip(NAMES, old.coef_, strict=True)),
            str(tmp_path / "m.json"),
            tmp_path / "m.safetensors",
            old.to_model(),
        )
    ]
    plain = RankSVM(C=0.1, **EXACT)
    models += [
        plain.fit(FRAME, Y, QID, prior=prior).coef_
        for prior in (old, old.to_model(), old.coef_, tmp_path / "m.json")
    ]
    for coef in models:
        np.testing.assert_array_equal(coef, expected.coef_)


def test_a_pipeline_is_a_prior_for_the_features_as_they_are():
    pipeline = make_pipeline(StandardScaler(), RankSVM(**EXACT)).fit(X, Y, ranksvm__qid=QID)
    model = RankSVM(C=1e-8, **EXACT).fit(X, Y, QID, prior=pipeline)
    np.testing.assert_allclose(
        model.coef_, pipeline[-1].coef_ / pipeline[0].scale_, rtol=1e-5, atol=1e-5
    )


def test_features_of_a_prior_are_found_by_name():
    old = RankSVM(**EXACT).fit(FRAME, Y, QID)
    new = FRAME.rename(columns={"c": "new"})[["d", "new", "a", "b"]]
    expected = dict(zip(NAMES, old.coef_, strict=True))
    model = RankSVM(C=1e-9, **EXACT)
    with pytest.warns(UserWarning, match=r"X lacks features .* which are left out: 'c'$") as found:
        model.fit(new, Y, QID, prior=old)
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match="left out: 'c'$") as found:
        RankSVMCV([1.0], cv=2).fit(new, Y, QID, prior=old)
    assert found[0].filename == __file__
    prior = [expected["d"], 0, expected["a"], expected["b"]]
    np.testing.assert_allclose(model.coef_, prior, atol=1e-6)


def test_features_without_names_are_found_by_number():
    old = RankSVM(**EXACT).fit(X, Y, QID)
    with pytest.warns(UserWarning, match=r"X lacks features .* which are left out: 2, 3$"):
        model = RankSVM(C=1e-9).fit(X[:, :2], Y, QID, prior=old)
    np.testing.assert_allclose(model.coef_, old.coef_[:2], atol=1e-6)
    wide = np.c_[X, X[:, 0]]
    model = RankSVM(C=1e-9).fit(wide, Y, QID, prior=old)
    np.testing.assert_allclose(model.coef_, [*old.coef_, 0], atol=1e-6)


def test_priors_without_weights_of_features_are_refused():
    for prior, sentence in [
        (KernelRankSVM().fit(X, Y, QID), "the prior has no weights of features: it ranks by"),
        (
            RankSVMCV([1.0], param_grid={"scale": ["quantile"]}, cv=2).fit(X, Y, QID),
            "the prior has no weights of the features as they are: it maps them first",
        ),
        (
            RankSVM().fit(FRAME.rename(columns=str.upper), Y, QID),
            "the prior has no weight of a feature that X has",
        ),
    ]:
        with pytest.raises(ValueError, match=sentence):
            RankSVM().fit(FRAME, Y, QID, prior=prior)
    with pytest.raises(ValueError, match="prior is given twice"):
        RankSVM(prior=np.ones(4)).fit(X, Y, QID, prior=np.ones(4))
