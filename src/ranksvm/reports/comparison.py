"""Whether another model ranks the same rows otherwise, and better."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..metrics import paired_randomization_test
from ..metrics.evaluation import Evaluation
from .charts import histogram
from .layout import Section, figures, paragraph, table
from .markup import Markup
from .quality import mean_interval
from .subjects import Sample
from .texts import counted, fitted, interval, measured, number, share, signed

Vector = NDArray[np.float64]

_SIGNS = 8e8  # that are drawn at most for a test
_BINS = 21
_QUERIES = 5


def comparison(sample: Sample, evaluation: Evaluation, other: Evaluation, name: str) -> Section:
    """Return the difference of two models by each metric, with p-values."""
    n_permutations = int(np.clip(_SIGNS / len(evaluation.queries), 1000, 100_000))
    rows = [_row(metric, evaluation, other, n_permutations) for metric in evaluation.per_query]
    header = [
        "Metric",
        "This model",
        "Other",
        "Difference",
        "95 % interval",
        "p-value",
        "Better, equal, worse",
    ]
    first = next(iter(evaluation.per_query))
    differences = evaluation.per_query[first] - other.per_query[first]
    known = differences[~np.isnan(differences)]
    told = (
        f"P-values are of the paired randomisation test, two-sided, "
        f"with {number(n_permutations)} choices of signs, or all where there are fewer. Of "
        "several p-values, the least is small more often than one alone would be."
    )
    content = [
        paragraph(told),
        table(f"This model against {fitted(name)}", header, rows),
        figures(_histogram(first, known), _largest(sample, first, differences, evaluation, other)),
    ]
    return Section("comparison", "Comparison", content)


def p_value(first: Vector, second: Vector, n_permutations: int) -> float:
    """Return that of the test, NaN where there is nothing to compare."""
    if np.isnan(first).all() or len(first) < 2:
        return float("nan")
    return paired_randomization_test(first, second, n_permutations=n_permutations, random_state=0)


def _row(metric: str, one: Evaluation, two: Evaluation, n_permutations: int) -> list[str]:
    first, second = one.per_query[metric], two.per_query[metric]
    differences = first - second
    low, high, _ = mean_interval(differences)
    p = p_value(first, second, n_permutations)
    counts = [(differences > 0).sum(), (differences == 0).sum(), (differences < 0).sum()]
    return [
        metric,
        measured(one.mean[metric]),
        measured(two.mean[metric]),
        signed(one.mean[metric] - two.mean[metric]),
        interval(low, high, "+.4f"),
        number(p, 2),
        ", ".join(f"{int(count):,}" for count in counts),
    ]


def _histogram(metric: str, differences: Vector) -> Markup:
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


def _largest(
    sample: Sample, metric: str, differences: Vector, one: Evaluation, two: Evaluation
) -> Markup:
    """Return the queries that differ most."""
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
