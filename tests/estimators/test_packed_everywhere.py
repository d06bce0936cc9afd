"""What takes rows takes packed data as it does arrays, or refuses them in a sentence."""

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ranksvm import (
    KernelRankSVM,
    QueryScaler,
    RankSVM,
    RankSVMCV,
    SurvivalSVM,
    SurvivalSVMCV,
    explain,
    feature_importance,
    pack,
    rank,
    ranksvm_grid,
    regularization_path,
)

PAIRS = np.array([[3, 1], [5, 2], [7, 6], [11, 19]])
BY_QUERY = np.repeat([1.0, 2.0, 0.5, 4.0], 50)

# The same question of packed data, and of arrays (X, y, qid).
TAKEN = {
    "fit": lambda *rows: RankSVM().fit(*rows).coef_,
    "hinge": lambda *rows: RankSVM(loss="hinge", tol=1e-6).fit(*rows).coef_,
    "query_weight": lambda *rows: RankSVM().fit(*rows, query_weight=BY_QUERY).coef_,
    "sample_weight": lambda *rows: RankSVM().fit(*rows, sample_weight=1 + BY_QUERY).coef_,
    "pair_weight": lambda *rows: RankSVM(pair_weight="ndcg").fit(*rows).coef_,
    "l1_ratio": lambda *rows: RankSVM(l1_ratio=0.5).fit(*rows).coef_,
    "pairs": lambda X, y=None, qid=None: RankSVM().fit(X, qid=qid, pairs=PAIRS).coef_,
    "cv": lambda *rows: RankSVMCV(Cs=[0.1, 1], cv=2).fit(*rows).coef_,
    "grid": lambda X, *rest: ranksvm_grid(X, *rest, Cs=[0.1, 1]).coefs,
    "grid weights": lambda *rows: ranksvm_grid(*rows, Cs=[1], query_weight=BY_QUERY).coefs,
    "grid pairs": lambda X, y=None, qid=None: ranksvm_grid(X, qid=qid, pairs=PAIRS).coefs,
    "predict": lambda X, y=None, qid=None: fitted().predict(X),
    "score": lambda *rows: fitted().score(*rows),
    "rank": lambda X, y=None, qid=None: rank(fitted(), X, **({} if y is None else {"qid": qid}))[0],
}

REFUSED = {
    "KernelRankSVM": lambda data: KernelRankSVM().fit(data),
    "SurvivalSVM": lambda data: SurvivalSVM().fit(data),
    "SurvivalSVMCV": lambda data: SurvivalSVMCV().fit(data),
    "path": lambda data: regularization_path(data, None),
    "kernel scores": lambda data: KernelRankSVM().fit(data.X, data.y, data.qid).predict(data),
    "explain": lambda data: explain(fitted(), data),
    "importance": lambda data: feature_importance(fitted(), data, data.y, data.qid),
    "QueryScaler": lambda data: QueryScaler().fit_transform(data),
    "pipeline": lambda data: make_pipeline(StandardScaler(), RankSVM()).fit(data),
}


def fitted():
    rng = np.random.default_rng(1)
    return RankSVM().fit(rng.standard_normal((30, 4)), np.arange(30) % 3)


@pytest.fixture(scope="module", params=["dense", "csr"])
def both(request, tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 4)) * (rng.random((200, 4)) < 0.4 + (request.param == "dense"))
    if request.param == "csr":
        X = scipy.sparse.csr_matrix(X)
    y, qid = rng.integers(0, 3, 200).astype(float), np.arange(200) // 50
    data = pack([(X, y, qid)], tmp_path_factory.mktemp("data") / "d.rsvm")
    return data, (X, y, qid)


@pytest.mark.parametrize("question", TAKEN)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_answer_is_the_same(both, question):
    data, arrays = both
    assert_array_equal(TAKEN[question](data), TAKEN[question](*arrays))


@pytest.mark.parametrize("question", REFUSED)
def test_the_refusal_is_a_sentence(both, question):
    with pytest.raises(TypeError, match=r"^\w+ takes no packed data, .*: give it the arrays of "):
        REFUSED[question](both[0])


@pytest.mark.parametrize("given", ["y", "qid", "event"])
def test_what_packed_data_have_is_not_given_again(both, given):
    data, (_, y, _) = both
    with pytest.raises(ValueError, match=f"has its own labels and query ids: leave out {given}"):
        ranksvm_grid(data, **{given: y})
