"""What a ranking is measured by, by name or by a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..metrics import evaluate, parse_metric
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups

Vector = NDArray[np.float64]
Scoring = Callable[..., float]


def scoring_of(scoring: str | Scoring) -> Scoring:
    """Return ``f(y, scores, qid, sample_weight=None)``; larger is better.

    Parameters
    ----------
    scoring : str or callable
        The name of a metric, as for `ranksvm.evaluate`; or such a function.

    Raises
    ------
    ValueError
        If there is no such metric, or less of it is better.
    """
    if callable(scoring):
        return scoring
    name = parse_metric(scoring).name
    if not parse_metric(name).greater_is_better:
        raise ValueError(f"scoring needs a metric of which more is better, not {name!r}")

    def mean(y: Any, scores: Any, qid: Any, **weights: Any) -> float:
        return evaluate(y, scores, qid, name, **weights).mean[name]

    return mean


def measure(
    scoring: str | Scoring, y: Any, scores: Any, qid: Any, sample_weight: ArrayLike | None
) -> float:
    """Measure scores; a function is given row weights where there are some."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return float(scoring_of(scoring)(y, scores, qid, **weights))


def has_pairs(y: ArrayLike, qid: ArrayLike | None, weight: Vector | None = None) -> bool:
    """Whether there is a preference pair, of rows that weigh something."""
    labels = np.ascontiguousarray(y, dtype=np.float64)
    groups = QueryGroups.from_qid(qid, len(labels))
    return CorePairs(Preferences(labels, groups, weight)).n_pairs > 0
