"""Whether another model ranks the same rows otherwise, and better."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..metrics import paired_randomization_test
from ..metrics.evaluation import Evaluation
from .charts import histogram
from .layout import Section, figures, paragraph, table
from .markup import Markup
from .quality import intervals_of
from .subjects import Sample
from .texts import counted, fitted, interval, measured, number, share, signed

Vector = NDArray[np.float64]

_SIGNS = 1e8  # that are drawn at most for a test
_BINS = 21
_QUERIES = 5


class Difference(NamedTuple):
    """Two models by a metric."""

    metric: str
    one: float
    two: float
    ends: tuple[float, float]
    p_value: float
    counts: tuple[int, int, int]  # of queries: better, equal, worse

    @property
    def shown(self) -> str:
        """The first less the second."""
        return signed(self.one - self.two)


def differences_of(one: Evaluation, two: Evaluation) -> list[Difference]:
    """Compare two models by each metric."""
    apart = {name: values - two.per_query[name] for name, values in one.per_query.items()}
    ends = intervals_of(apart).ends
    found = []
    for name, values in apart.items():
        p = _p_value(one.per_query[name], two.per_query[name])
        counts = int((values > 0).sum()), int((values == 0).sum()), int((values < 0).sum())
        found.append(Difference(name, one.mean[name], two.mean[name], ends[name], p, counts))
    return found


def comparison(
    sample: Sample, one: Evaluation, two: Evaluation, found: list[Difference], name: str
) -> Section:
    """Return the section on the difference of two models."""
    header = [
        "Metric",
        "This model",
        "Other",
        "Difference",
        "95 % interval",
        "p-value",
        "Better, equal, worse",
    ]
    n_permutations = number(_n_permutations(len(one.queries)))
    told = (
        f"P-values are of the paired randomisation test, two-sided, with {n_permutations} choices "
        "of signs, or all where there are fewer. Of several p-values, the least is small more "
        "often than one alone would be."
    )
    pictures = _histogram(one, two), _largest(sample, one, two)
    content = [
        paragraph(told),
        table(f"This model against {fitted(name)}", header, map(_row, found)),
        figures(*pictures),
    ]
    return Section("comparison", "Comparison", content)


def _n_permutations(n_queries: int) -> int:
    return int(np.clip(_SIGNS / n_queries, 1000, 100_000))


def _p_value(first: Vector, second: Vector) -> float:
    """Return that of the test, NaN where there is nothing to compare."""
    if np.isnan(first).all() or len(first) < 2:
        return float("nan")
    n = _n_permutations(len(first))
    return paired_randomization_test(first, second, n_permutations=n, random_state=0)


def _row(found: Difference) -> list[str]:
    return [
        found.metric,
        measured(found.one),
        measured(found.two),
        found.shown,
        interval(*found.ends, "+.4f"),
        number(found.p_value, 2),
        ", ".join(f"{count:,}" for count in found.counts),
    ]


def _first(one: Evaluation, two: Evaluation) -> tuple[str, Vector]:
    """Return the first metric, and the differences of the queries."""
    name = next(iter(one.per_query))
    return name, one.per_query[name] - two.per_query[name]


def _histogram(one: Evaluation, two: Evaluation) -> Markup:
    metric, differences = _first(one, two)
    differences = differences[~np.isnan(differences)]
    reach = float(np.abs(differences).max(initial=0.0)) or 1.0
    counts, edges = np.histogram(differences, _BINS, (-reach, reach))
    n = len(differences)
    description = (
        f"Of {counted(n, 'query', 'queries')}, this model is better in "
        f"{share(float((differences > 0).sum()), n)} and worse in "
        f"{share(float((differences < 0).sum()), n)}."
    )
    title = f"Difference of {metric} by query"
    labels = ("this model less the other", "queries")
    return histogram(title, description, edges.tolist(), counts.tolist(), labels)


def _largest(sample: Sample, one: Evaluation, two: Evaluation) -> Markup:
    """Return the queries that differ most."""
    metric, differences = _first(one, two)
    known = np.flatnonzero(np.nan_to_num(differences))
    order = known[np.argsort(-np.abs(differences[known]), kind="stable")][: 2 * _QUERIES]
    names = sample.query_names
    rows = [
        (
            fitted(names[q]),
            measured(float(one.per_query[metric][q])),
            measured(float(two.per_query[metric][q])),
            signed(float(differences[q])),
        )
        for q in order.tolist()
    ]
    if not rows:
        return paragraph("The two rank every query alike.")
    title = f"Queries whose {metric} differs most"
    return table(title, ["Query", "This model", "Other", "Difference"], rows)
