r"""How often pairs are in the right order, by how far their scores lie apart.

The pairs with :math:`s_i - s_j < \mu` are what a sweep at the margin :math:`\mu` counts, so that
the pairs between two margins are the difference of two sweeps: exact, in O(m log m) for each bin,
however many pairs there are. Only the edges of the bins come from a sample of pairs.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..metrics.pairs import LEAST_MARGIN
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..records import record
from .charts import Bar, bar_chart
from .layout import Section, figures, paragraph, table
from .subjects import Sample
from .texts import number, share

Vector = NDArray[np.float64]

_BINS = 10
_SAMPLED = 50_000  # pairs


@record
class Calibration:
    """Pairs by the absolute difference of their scores.

    Attributes
    ----------
    edges : ndarray of shape (n_bins - 1,)
        Of the bins, the first of which begins above 0 and the last of which has no end; each holds
        its lower edge.
    right, wrong : ndarray of shape (n_bins,)
        The weight of the pairs in each.
    tied : float
        That of pairs of equal scores.
    """

    edges: Vector
    right: Vector
    wrong: Vector
    tied: float


def calibrate(sample: Sample, edges: Vector | None = None) -> Calibration:
    """Count the pairs of rows that have some.

    Parameters
    ----------
    sample : Sample
    edges : ndarray, optional
        Ascending and positive; by default, tenths of a sample of the pairs.
    """
    pairs = CorePairs(Preferences(sample.labels, sample.groups, sample.weights))
    edges = _edges(sample) if edges is None else edges

    def below(margin: float) -> float:
        return float(pairs.sweep(sample.scores, "hinge", margin=margin).n_active)

    swapped, tied_or_swapped = below(0.0), below(LEAST_MARGIN)
    ahead = [tied_or_swapped, *map(below, edges.tolist()), float(pairs.n_pairs)]
    behind = [swapped, *(below(float(np.nextafter(-edge, np.inf))) for edge in edges), 0.0]
    right, wrong = np.diff(ahead), -np.diff(behind)
    return Calibration(edges, right, wrong, tied_or_swapped - swapped)


def calibration(sample: Sample) -> Section:
    """Return the section on margins."""
    found = calibrate(sample)
    names = _names(found.edges)
    bars, rows = [], []
    for name, right, wrong in zip(names, found.right, found.wrong, strict=True):
        total = right + wrong
        ordered = share(right, total)
        if total:
            bars.append(Bar(name, float(100 * right / total), ordered))
        rows.append((name, number(float(right)), number(float(wrong)), ordered))
    told = (
        "Pairs of a query with different labels, by the difference of their scores: how many stand "
        "in the right order. Where the share rises with the difference, large margins can be "
        "trusted more; 50 % is what chance gives."
    )
    title = "Share of pairs in the right order, by difference of scores"
    description = "; ".join(f"{bar.name}: {bar.shown}" for bar in bars)
    header = ["Difference of scores", "In the right order", "In the wrong order", "Share"]
    counts = table("Pairs by difference of scores", header, rows)
    chart = [bar_chart(title, description, bars, (0.0, 100.0))] if bars else []
    content = [paragraph(told), figures(*chart, counts)]
    if found.tied:
        content.append(
            paragraph(f"Pairs of equal scores, which have no order: {number(found.tied)}.")
        )
    return Section("calibration", "Calibration", content)


def _names(edges: Vector) -> list[str]:
    shown = [number(edge, 3) for edge in edges.tolist()]
    if not shown:
        return ["above 0"]
    middle = [f"{low} to {high}" for low, high in pairwise(shown)]
    return [f"below {shown[0]}", *middle, f"{shown[-1]} or more"]


def _edges(sample: Sample) -> Vector:
    """Return tenths of the differences of scores in a sample of pairs, to three digits."""
    groups, n = sample.groups, len(sample.labels)
    generator = np.random.default_rng(0)
    order = np.arange(n) if groups.order is None else groups.order
    sizes = np.diff(groups.indptr)
    rows = np.tile(np.arange(n), max(1, _SAMPLED // n))
    numbers = groups.numbers[rows]
    others = order[
        groups.indptr[numbers] + (generator.random(len(rows)) * sizes[numbers]).astype(int)
    ]
    differ = sample.labels[rows] != sample.labels[others]
    apart = np.abs(sample.scores[rows] - sample.scores[others])[differ]
    apart = apart[apart > 0]
    if not len(apart):
        return np.empty(0)
    tenths = np.quantile(apart, np.arange(1, _BINS) / _BINS)
    return np.unique([float(f"{edge:.3g}") for edge in tenths])
