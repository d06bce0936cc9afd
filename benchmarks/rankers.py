"""Rankers that choose all there is to choose by nDCG@10 on folds by query, and some that do not."""

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import StandardScaler

from benchmarks.systems.peer_pairs_sklearn import fit_logistic_regression
from benchmarks.task import Rows
from benchmarks.tuned_trees import lambdarank, tuned, xgboost
from ranksvm import RankSVM, RankSVMCV
from ranksvm.selection.folds import make_folds

AUTO = "RankSVMCV, auto"
Scorer = Callable[[Any], np.ndarray]
Ranker = Callable[[Rows], Scorer]


def rankers(n_threads: int) -> dict[str, Ranker]:
    """Return, by name, functions that train on rows and return the function that scores others."""
    by_name: dict[str, Ranker] = {
        "RankSVM": partial(_scaled, RankSVM(n_threads=n_threads)),
        "RankSVM, ndcg": partial(_scaled, RankSVM(pair_weight="ndcg", n_threads=n_threads)),
        "RankSVMCV, C": partial(_scaled, RankSVMCV(scoring="ndcg@10", n_threads=n_threads)),
        AUTO: partial(_automatic, n_threads),
        "logistic regression on pairs": _logistic_regression,
    }
    return {**by_name, **_trees(n_threads)}


def is_of_trees(name: str) -> bool:
    """Say whether a ranker is one of trees."""
    return name.startswith(("LightGBM", "XGBoost"))


def _trees(n_threads: int) -> dict[str, Ranker]:
    by_name: dict[str, Any] = {}
    if find_spec("lightgbm"):
        by_name["LightGBM, lambdarank"] = partial(lambdarank, n_threads=n_threads)
    if find_spec("xgboost"):
        for objective in ("rank:ndcg", "rank:pairwise"):
            for method in ("topk", "mean"):
                fit = xgboost(objective, n_threads, lambdarank_pair_method=method)
                by_name[f"XGBoost, {objective}, {method}"] = fit
    return {name: partial(_tuned, fit) for name, fit in by_name.items()}


def _tuned(fit: Any, rows: Rows) -> Scorer:
    """Tune trees on the folds that `RankSVMCV` takes, too."""
    query = np.unique(rows.qid, return_inverse=True)[1]
    return tuned(fit, rows, make_folds(5, rows.y, query))


def _automatic(n_threads: int, rows: Rows) -> Scorer:
    """Choose C, weights of pairs, scales and features."""
    model = RankSVMCV(param_grid="auto", scoring="ndcg@10", n_threads=n_threads)
    return model.fit(rows.X, rows.y, qid=rows.qid).predict


def _scaled(model: Any, rows: Rows) -> Scorer:
    """Train a linear model on scaled features."""
    scaler = StandardScaler(with_mean=False)
    model.fit(scaler.fit_transform(rows.X), rows.y, qid=rows.qid)
    return lambda X: model.predict(scaler.transform(X))


def _logistic_regression(rows: Rows) -> Scorer:
    """Classify differences of rows with scaled features."""
    scaler = StandardScaler(with_mean=False)
    scaled_rows = sparse.csr_matrix(scaler.fit_transform(rows.X))
    model = fit_logistic_regression(rows._replace(X=scaled_rows))
    return lambda X: model.decision_function(scaler.transform(X))
