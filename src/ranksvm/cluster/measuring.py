"""Scores and measures of rows on a cluster.

Scores are computed where the rows are. Of a query that is torn between partitions, its labels,
scores and weights move to the partition that holds most of it, however large it is; to the driver
comes a number for each query and metric.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from ..errors import InputError
from ..metrics.conventions import Conventions
from ..metrics.evaluation import Evaluation, Measured, evaluation_of
from ..metrics.evaluation import measured as measured_of
from .data import moved, some_surveys
from .driver import Driver
from .partition import matrix_of
from .rows import Rows, widened
from .torn import plan_of

Vector = NDArray[np.float64]


class Scorer(NamedTuple):
    """The weights of features, their names, and whether files count these from zero."""

    weights: Vector
    names: tuple[str, ...] | None = None
    from_zero: bool | None = None


def predicted(model: Any, X: Any) -> Any:
    """Return the scores of a dask array or data frame by a local model, lazily."""
    if hasattr(X, "chunks"):
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        kind = {"dtype": np.float64, "meta": np.zeros(0)}
        return X.map_blocks(_scores_of, model, drop_axis=1, name="predict", **kind)
    return X.map_partitions(_series_of, model, meta=(None, np.float64))


def predicted_rows(sources: Sequence[Delayed], scorer: Scorer) -> Any:
    """Return the scores of the rows of files, lazily, in chunks of sizes that are not known."""
    import dask.array

    da: Any = dask.array
    parts = [delayed(_column)(source) for source in _scored(sources, scorer)]
    blocks = [da.from_delayed(part, (np.nan,), np.float64) for part in parts]
    return da.concatenate(blocks, allow_unknown_chunksizes=True)


def _scores_of(block: Any, model: Any) -> Vector:
    if not block.shape[0]:
        return np.zeros(0)
    scores: Vector = model.predict(block)
    return scores


def _series_of(frame: Any, model: Any) -> Any:
    import pandas as pd

    return pd.Series(_scores_of(frame, model), index=frame.index, dtype=np.float64)


def evaluated(
    driver: Driver,
    sources: Sequence[Delayed],
    scorer: Scorer,
    metrics: Sequence[str],
    preset: str | Conventions | None = None,
) -> Evaluation:
    """Measure the rankings of queries, each in one partition.

    Raises
    ------
    ValueError
        If partitions do not fit the model or each other, or there are no rows.
    """
    scores = _scored(sources, scorer)
    driver.hold(lambda: scores)
    some, surveys = some_surveys(driver)
    plan = plan_of(surveys, may_share=False)
    rows = moved([scores[k] for k in some], plan)
    driver.hold(lambda: rows)
    n = len(rows)
    found = driver.gather("measure", measured_rows, [list(metrics)] * n, [preset] * n)
    parts = [part for part in found if part is not None]
    if not parts:
        raise InputError("there are no rows to evaluate")
    return evaluation_of(parts)


def _scored(sources: Sequence[Delayed], scorer: Scorer) -> list[Delayed]:
    score, by = delayed(scored, pure=False), delayed(scorer, traverse=False)
    return [score(source, by, k) for k, source in enumerate(sources)]


def scored(rows: Rows, scorer: Scorer, number: int) -> Rows:
    """Return rows with a score in place of their features.

    Raises
    ------
    ValueError
        If these are others than those of the model.
    """
    n_features = len(scorer.weights)
    if rows.from_zero is not None and scorer.names is None:
        rows = widened(rows, n_features, rows.from_zero or bool(scorer.from_zero))
    named = rows.names is not None and scorer.names is not None
    if rows.X.shape[1] != n_features or (named and rows.names != scorer.names):
        raise InputError(
            f"partition {number} has other features than the model, or in another order: "
            f"{rows.X.shape[1]} where the model has {n_features}"
        )
    scores = matrix_of(rows.X).dot(scorer.weights) if len(rows.y) else np.zeros(0)
    return rows._replace(X=scores[:, np.newaxis], names=None, from_zero=None)


def _column(rows: Rows) -> Vector:
    scores: Vector = rows.X[:, 0]
    return scores


def measured_rows(rows: Rows, metrics: list[str], preset: Any) -> Measured | None:
    """Measure the queries of a partition whose rows have scores; None where there are none."""
    if not len(rows.y):
        return None
    weight = rows.sample_weight
    return measured_of(rows.y, rows.X[:, 0], rows.ids, metrics, preset=preset, sample_weight=weight)
