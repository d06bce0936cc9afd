"""The loss of all queries, made of that of runs of them.

Queries are independent: what a loss adds up over pairs is the sum over runs of queries, and its
gradient comes row by row. Runs may be evaluated on any thread, and are added in their order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from math import hypot
from operator import attrgetter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from .loss_evaluation import SmoothEvaluation
from .losses import SmoothLoss

Vector = NDArray[np.float64]
Run: TypeAlias = tuple[int, int]  # of queries, from first to last

SUMS = ("value", "offset", "rounding", "quadratic", "smoothing", "slack")
LENGTHS = ("gradient_norm", "gradient_rounding")
of_sums, of_lengths = attrgetter(*SUMS), attrgetter(*LENGTHS)


def joined(
    loss: SmoothLoss, scores: Vector, runs: Iterable[tuple[Run, SmoothEvaluation]]
) -> SmoothEvaluation:
    """Return the loss at scores of shape (n_samples,), from its parts at those of runs of queries.

    The runs hold each query once. The sweep of all queries is made if it is asked for.
    """
    gradient = np.zeros(len(scores))
    parts = []
    for run, of_run in runs:
        gradient[loss.pairs.groups.rows(*run)] = of_run.gradient
        parts.append((of_sums(of_run), of_lengths(of_run)))
    sums, lengths = (np.array(numbers).T.copy() for numbers in zip(*parts, strict=True))
    return replace(
        of_run,
        gradient=gradient,
        pairs=loss.pairs,
        make_sweep=loss.sweep_maker(scores),
        **dict(zip(SUMS, sums.sum(axis=1).tolist(), strict=True)),
        **dict(zip(LENGTHS, (hypot(*values) for values in lengths), strict=True)),
    )
