"""What has learned says itself what predicts."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import make_problem
from ranksvm import (
    KernelRankSVM,
    KernelRankSVMPathCV,
    LinearModel,
    RankSVM,
    RankSVMCV,
    save_model,
)
from ranksvm.models.from_estimators import model_of

RANKERS = [
    RankSVM(),
    RankSVMCV([0.1, 1.0], cv=3),
    KernelRankSVM(),
    KernelRankSVMPathCV(gammas=[0.5], cv=3),
]


@pytest.mark.parametrize("ranker", RANKERS, ids=lambda ranker: type(ranker).__name__)
def test_models_predict_as_their_estimators(ranker):
    X, y, qid = make_problem(3)
    with pytest.raises(NotFittedError):
        ranker.to_model()
    ranker.fit(X, y, qid)
    model = ranker.to_model()
    np.testing.assert_allclose(model.predict(X), ranker.predict(X), rtol=1e-12, atol=1e-12)
    assert model.training["n_pairs"] == ranker.n_pairs_
    assert model.to_model() is model


@pytest.mark.parametrize("ranker", RANKERS[1::2], ids=lambda ranker: type(ranker).__name__)
def test_what_was_not_trained_on_all_rows_is_no_model(ranker):
    X, y, qid = make_problem(3)
    ranker = type(ranker)(**{**ranker.get_params(), "refit": False}).fit(X, y, qid)
    with pytest.raises(NotFittedError):
        ranker.to_model()


def test_a_search_in_a_pipeline_is_what_it_found():
    X, y, _ = make_problem(3)
    pipeline = make_pipeline(StandardScaler(), RankSVMCV([0.1, 1.0], cv=3)).fit(X, y)
    scores = model_of(pipeline).predict(X) - pipeline.predict(X)
    np.testing.assert_allclose(scores, scores[0], atol=1e-9)


@pytest.mark.parametrize("other", [None, LogisticRegression(), [1.0, 2.0]], ids=str)
def test_what_is_no_model_is_refused(other, tmp_path):
    for ranker in (other, make_pipeline(StandardScaler(), other)):
        with pytest.raises(
            TypeError, match="is no model of ranksvm, such as RankSVM, nor a fitted pipeline or"
        ):
            save_model(ranker, tmp_path / "m")
    assert model_of(LinearModel(np.ones(2))).n_features == 2
