"""What a ranking is measured by, by name or by a function."""

from __future__ import annotations

from collections.abc import Callable
from inspect import signature
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..metrics import pairwise_error, parse_metric
from ..metrics.evaluation import measure
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups

Vector = NDArray[np.float64]
Scoring = Callable[..., float]

DEFAULT_SCORING = "pairwise_accuracy_pooled"


_WANTED = "the name of a metric, such as 'ndcg@10', or a function called as f(y, scores, qid)"


def check_scoring(scoring: str | Scoring) -> None:
    """Refuse what is neither a function of rankings nor the name of a metric to have more of."""
    if isinstance(scoring, str):
        if not parse_metric(scoring).greater_is_better:
            raise InputError(f"scoring needs a metric of which more is better, not {scoring!r}")
        return
    if not callable(scoring):
        raise InputError(f"scoring must be {_WANTED}, not {scoring!r}")
    if hasattr(scoring, "_score_func"):  # made by scikit-learn's make_scorer
        raise InputError(f"scoring must be {_WANTED}, not a scorer of scikit-learn, {scoring!r}")
    try:
        signature(scoring).bind("y", "scores", "qid")
    except TypeError:
        name = getattr(scoring, "__name__", repr(scoring))
        raise InputError(f"scoring must be {_WANTED}, as {name} cannot be") from None
    except ValueError:  # of what does not tell what it takes
        return


def scorer(
    scoring: str | Scoring,
    y: Any,
    qid: Any = None,
    sample_weight: ArrayLike | None = None,
) -> Callable[[Vector], float]:
    """Return the function from the scores of given rows to how well they rank; larger is better.

    Of pooled pairs, what all scores share is prepared once.

    Parameters
    ----------
    scoring : str or callable
        The name of a metric, as for `ranksvm.evaluate`; or a function, called as
        ``f(y, scores, qid)``, with ``sample_weight=`` if there are row weights.
    y : array-like of shape (n_rows,)
    qid, sample_weight : array-like of shape (n_rows,), optional

    Raises
    ------
    ValueError
        If there is no such metric, less of it is better, or there is no preference pair of which
        the share is wanted.
    """
    check_scoring(scoring)
    weights: dict[str, Any] = {} if sample_weight is None else {"sample_weight": sample_weight}
    if callable(scoring):
        return lambda scores: _number(scoring(y, scores, qid, **weights))
    if scoring == DEFAULT_SCORING:
        error = pairwise_error(y, qid, **weights)
        return lambda scores: 1 - error(scores)
    return lambda scores: measure(y, scores, qid, scoring, **weights).mean[scoring]


def _number(value: Any) -> float:
    if isinstance(value, Real) or (np.ndim(value) == 0 and isinstance(value, np.ndarray)):
        return float(value)
    raise InputError(f"scoring must return a number, not {value!r}")


def has_pairs(y: ArrayLike, qid: ArrayLike | None, weight: Vector | None = None) -> bool:
    """Whether there is a preference pair, of rows that weigh something."""
    labels = np.ascontiguousarray(y, dtype=np.float64)
    groups = QueryGroups.from_qid(qid, len(labels))
    return CorePairs(Preferences(labels, groups, weight)).n_pairs > 0
