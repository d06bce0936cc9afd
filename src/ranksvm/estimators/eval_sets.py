"""Validation rows as LightGBM and XGBoost take them: lists of sets, of ids and of sizes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..arrays.libraries import to_host
from ..errors import InputError
from ..linear.occurring import FeatureWeights
from ..pairs.columns import finite_column
from ..pairs.queries import ids_from_sizes
from ..pairs.top import Gains

if TYPE_CHECKING:
    from .linear_ranker import LinearRanker
    from .ranker import Ranker

EvalSets = Sequence[tuple[Any, ArrayLike]] | tuple[Any, ArrayLike]
EvalSet = tuple[Any, ArrayLike, Any]  # with the query ids, or None


def eval_sets(
    eval_set: EvalSets | None,
    eval_qid: Sequence[ArrayLike] | None,
    eval_group: Sequence[ArrayLike] | None,
) -> list[EvalSet]:
    """Return X, y and the query ids or None of each set.

    Raises
    ------
    ValueError
        If both ids and sizes are given, or not one of them for each set.
    """
    if eval_set is None:
        sets = []
    elif isinstance(eval_set, tuple):
        sets = [eval_set]
    else:
        sets = list(eval_set)
    for k, pair in enumerate(sets):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"eval_set must list pairs (X, y); eval_set[{k}] is not one")
    if eval_qid is not None and eval_group is not None:
        raise InputError("queries are given twice, by eval_qid and eval_group: give one")
    for name, queries in [("eval_qid", eval_qid), ("eval_group", eval_group)]:
        if queries is not None and len(queries) != len(sets):
            raise InputError(f"{name} has {len(queries)} members but eval_set has {len(sets)}")
    if eval_group is not None:
        eval_qid = [
            ids_from_sizes(sizes, len(y), f"eval_group[{k}]")
            for k, (sizes, (_, y)) in enumerate(zip(eval_group, sets, strict=True))
        ]
    ids = [None] * len(sets) if eval_qid is None else eval_qid
    return [
        (X, finite_column(to_host(y), f"the y of eval_set[{k}]"), to_host(of_set))
        for k, ((X, y), of_set) in enumerate(zip(sets, ids, strict=True))
    ]


Results = dict[str, dict[str, list[float]]]


def eval_scores(ranker: Ranker, sets: list[EvalSet]) -> Results:
    """Return the score of a trained ranker on each set, as LightGBM and XGBoost lay it out."""
    results = {}
    for k, rows in enumerate(sets):
        score = _score(ranker, rows, f"eval_set[{k}]")
        results[f"valid_{k}"] = {"pairwise_accuracy_pooled": [score]}
    return results


class RoundScores:
    """The nDCG of each round of a training, on each set.

    Parameters
    ----------
    ranker : LinearRanker
        Which is given the weights of each round, to predict by.
    gain : Gains
        What is measured: nDCG at as many ranks as count, with the same gains.
    n_queries : int
        Of the training rows.
    sets : list of (X, y, ids)

    Attributes
    ----------
    results : dict
        As LightGBM and XGBoost lay it out, a value for each round.
    """

    def __init__(
        self, ranker: LinearRanker, gain: Gains, n_queries: int, sets: list[EvalSet]
    ) -> None:
        from ..metrics.conventions import Conventions

        self._ranker, self._n_queries, self._sets = ranker, n_queries, sets
        self._metric, self._conventions = f"ndcg@{gain.top}", Conventions(gain=gain.kind)
        self.results: Results = {f"valid_{k}": {self._metric: []} for k in range(len(sets))}

    def __call__(self, weights: FeatureWeights) -> float:
        """Measure a round; return the value on the first set."""
        self._ranker.weights_, self._ranker.n_queries_ = weights, self._n_queries
        for k, rows in enumerate(self._sets):
            self.results[f"valid_{k}"][self._metric].append(self._score(rows, f"eval_set[{k}]"))
        return self.results["valid_0"][self._metric][-1]

    def _score(self, rows: EvalSet, name: str) -> float:
        from ..metrics import evaluate

        X, y, ids = rows
        ids = self._ranker._query_ids(X, ids)
        self._ranker._warn_of_one_query(ids, f"{name} was given no eval_qid or eval_group", 7)
        scores = to_host(self._ranker.predict(X))
        found = evaluate(y, scores, to_host(ids), self._metric, preset=self._conventions)
        return found.mean[self._metric]


def _score(ranker: Ranker, rows: EvalSet, name: str) -> float:
    """Return the score of a trained ranker on one of the sets; NaN if that has no pairs."""
    from ..selection.scoring import has_pairs

    X, y, ids = rows
    ids = ranker._query_ids(X, ids)
    ranker._warn_of_one_query(ids, f"{name} was given no eval_qid or eval_group", stacklevel=5)
    if has_pairs(y, ids):
        return ranker._score(X, y, ids, None)
    warnings.warn(
        f"{name} has no preference pairs, within every query all labels are equal: its score is "
        "nan",
        UserWarning,
        stacklevel=4,
    )
    return float("nan")
