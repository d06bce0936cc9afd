"""Validation rows as LightGBM and XGBoost take them: lists of sets, of ids and of sizes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

from ..arrays.libraries import to_host
from ..pairs.columns import finite_column
from ..pairs.queries import ids_from_sizes
from ..selection.scoring import has_pairs

if TYPE_CHECKING:
    from .ranker import Ranker

EvalSets = Sequence[tuple[Any, ArrayLike]] | tuple[Any, ArrayLike]


def eval_sets(
    eval_set: EvalSets | None,
    eval_qid: Sequence[ArrayLike] | None,
    eval_group: Sequence[ArrayLike] | None,
) -> list[tuple[Any, ArrayLike, Any]]:
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
            raise ValueError(f"eval_set must list pairs (X, y); eval_set[{k}] is not one")
    if eval_qid is not None and eval_group is not None:
        raise ValueError("queries are given twice, by eval_qid and eval_group: give one")
    for name, queries in [("eval_qid", eval_qid), ("eval_group", eval_group)]:
        if queries is not None and len(queries) != len(sets):
            raise ValueError(f"{name} has {len(queries)} members but eval_set has {len(sets)}")
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


def eval_scores(
    ranker: Ranker, sets: list[tuple[Any, ArrayLike, Any]]
) -> dict[str, dict[str, list[float]]]:
    """Return the score of a trained ranker on each set, as LightGBM and XGBoost lay it out."""
    results = {}
    for k, rows in enumerate(sets):
        score = _score(ranker, rows, f"eval_set[{k}]")
        results[f"valid_{k}"] = {"pairwise_accuracy_pooled": [score]}
    return results


def _score(ranker: Ranker, rows: tuple[Any, ArrayLike, Any], name: str) -> float:
    """Return the score of a trained ranker on one of the sets; NaN if that has no pairs."""
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
