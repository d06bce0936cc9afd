"""Boosted trees as people tune them: a grid of eight, with early stopping, on folds by query."""

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

from benchmarks.peers import by_query
from benchmarks.task import Rows
from ranksvm import evaluate

LEAVES, RATES = (7, 15, 31, 63), (0.05, 0.1)
MOST_TREES, PATIENCE = 500, 30
Fold = tuple[np.ndarray, np.ndarray]
Scorer = Callable[[Any], np.ndarray]


def tuned(fit: Callable[..., tuple[Scorer, int]], rows: Rows, folds: Sequence[Fold]) -> Scorer:
    """Choose leaves, rate and the number of trees by mean nDCG@10 of folds; train on all rows."""
    best, chosen = -np.inf, None
    for leaves, rate in product(LEAVES, RATES):
        values, sizes = [], []
        for train, validation in folds:
            seen, unseen = part(rows, train), part(rows, validation)
            score, n_trees = fit(seen, leaves, rate, MOST_TREES, unseen)
            values.append(ndcg(unseen, score))
            sizes.append(n_trees)
        if np.mean(values) > best:
            best, chosen = np.mean(values), (leaves, rate, max(round(np.mean(sizes)), 1))
    return fit(rows, *chosen, None)[0]


def part(rows: Rows, of: np.ndarray) -> Rows:
    """Return some of the rows."""
    return Rows(rows.X[of], rows.y[of], rows.qid[of])


def ndcg(rows: Rows, score: Scorer) -> float:
    """Mean nDCG@10 of the queries."""
    return evaluate(rows.y, score(rows.X), rows.qid, "ndcg@10").mean["ndcg@10"]


def lambdarank(
    rows: Rows, leaves: int, rate: float, n_trees: int, stop: Rows | None, n_threads: int = 1
) -> tuple[Scorer, int]:
    """Train LightGBM's lambdarank; return what scores rows, and the number of trees."""
    from lightgbm import LGBMRanker, early_stopping

    ordered, sizes = by_query(rows)
    model = LGBMRanker(
        n_estimators=n_trees,
        num_leaves=leaves,
        learning_rate=rate,
        verbosity=-1,
        random_state=0,
        deterministic=True,
        n_jobs=n_threads,
    )
    options = {}
    if stop is not None:
        unseen, of_unseen = by_query(stop)
        options = {
            "eval_set": [(unseen.X, unseen.y)],
            "eval_group": [of_unseen],
            "eval_at": [10],
            "callbacks": [early_stopping(PATIENCE, verbose=False)],
        }
    model.fit(ordered.X, ordered.y, group=sizes, **options)
    return model.predict, model.best_iteration_ or n_trees


def xgboost(
    objective: str, n_threads: int = 1, **more: Any
) -> Callable[[Rows, int, float, int, Rows | None], tuple[Scorer, int]]:
    """Return what trains an XGBRanker by an objective."""

    def fit(
        rows: Rows, leaves: int, rate: float, n_trees: int, stop: Rows | None
    ) -> tuple[Scorer, int]:
        from xgboost import XGBRanker

        ordered, _ = by_query(rows)
        options = {} if stop is None else {"early_stopping_rounds": PATIENCE}
        model = XGBRanker(
            objective=objective,
            n_estimators=n_trees,
            max_depth=max(int(np.log2(leaves + 1)), 1),
            learning_rate=rate,
            eval_metric="ndcg@10",
            random_state=0,
            n_jobs=n_threads,
            **more,
            **options,
        )
        seen = {}
        if stop is not None:
            unseen, _ = by_query(stop)
            seen = {"eval_set": [(unseen.X, unseen.y)], "eval_qid": [unseen.qid], "verbose": False}
        model.fit(ordered.X, ordered.y, qid=ordered.qid, **seen)
        return model.predict, n_trees if stop is None else model.best_iteration + 1

    return fit
