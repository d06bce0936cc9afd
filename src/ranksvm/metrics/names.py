"""Names of metrics, such as "auc" and "ndcg@10"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from ..errors import InputError
from .measures import MEASURES, Depth, Measure


@dataclass(frozen=True)
class Metric:
    """A metric that has been asked for by name.

    Attributes
    ----------
    name : str
        As in "ndcg@10".
    k : int or None
        The depth after the @.
    greater_is_better : bool
    """

    name: str
    k: int | None
    measure: Measure

    @property
    def greater_is_better(self) -> bool:
        """Whether a greater value is a better one."""
        return self.measure.greater_is_better


def metric_names() -> tuple[str, ...]:
    """Return the names that metrics may have.

    ``@k`` stands for a depth, as in ``ndcg@10``; in brackets it may be left out.
    """
    suffix = {Depth.NEVER: "", Depth.OPTIONAL: "[@k]", Depth.ALWAYS: "@k"}
    return tuple(base + suffix[measure.depth] for base, measure in MEASURES.items())


def parse_metric(name: str) -> Metric:
    """Check the name of a metric.

    Parameters
    ----------
    name : str
        One of `metric_names`, in capitals or not, with a number for k.

    Returns
    -------
    Metric
        With the attributes `name`, `k` and `greater_is_better`.

    Raises
    ------
    ValueError
        If there is no such metric, with the nearest name, or its depth is missing, superfluous or
        not a whole number of at least 1.
    """
    base, at, depth = str(name).lower().partition("@")
    if base not in MEASURES:
        nearest = get_close_matches(base, MEASURES, 1)
        hint = f"did you mean {nearest[0] + at + depth!r}? " if nearest else ""
        raise InputError(
            f"there is no metric {name!r}; {hint}known are {', '.join(metric_names())}"
        )
    measure = MEASURES[base]
    if at and measure.depth is Depth.NEVER:
        raise InputError(f"the metric {base!r} takes no depth, but {name!r} gives one")
    if not at and measure.depth is Depth.ALWAYS:
        raise InputError(f"the metric {base!r} needs a depth, as in '{base}@10'")
    if at and not re.fullmatch("[1-9][0-9]{0,17}", depth, re.ASCII):
        raise InputError(f"the depth of {name!r} must be a whole number of at least 1")
    return Metric(str(name), int(depth) if at else None, measure)


def parse_metrics(names: str | Iterable[str]) -> dict[str, Metric]:
    """Check the names of metrics, or a single one; return each with its metric.

    Raises
    ------
    ValueError
        As `parse_metric`, or if there is none.
    """
    metrics = {name: parse_metric(name) for name in ([names] if isinstance(names, str) else names)}
    if not metrics:
        raise InputError(f"no metric is named; known are {', '.join(metric_names())}")
    return metrics
