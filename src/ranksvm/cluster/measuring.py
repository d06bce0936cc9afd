"""Scores and measures of rows on a cluster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .driver import Driver
from .partition import matrix_of
from .rows import Rows

Vector = NDArray[np.float64]


def predicted(model: Any, X: Any) -> Any:
    """Return the scores of a dask array or data frame by a local model, lazily."""
    if hasattr(X, "chunks"):
        if len(X.chunks[1]) > 1:
            X = X.rechunk({1: -1})
        kind = {"dtype": np.float64, "meta": np.zeros(0)}
        return X.map_blocks(_scores_of, model, drop_axis=1, name="predict", **kind)
    return X.map_partitions(_series_of, model, meta=(None, np.float64))


def _scores_of(block: Any, model: Any) -> Vector:
    if not block.shape[0]:
        return np.zeros(0)
    scores: Vector = model.predict(block)
    return scores


def _series_of(frame: Any, model: Any) -> Any:
    import pandas as pd

    return pd.Series(_scores_of(frame, model), index=frame.index, dtype=np.float64)


def measured(driver: Driver, sources: Any, w: Vector, measure: Callable[..., Any]) -> Any:
    """Return a measure of labels, scores, query ids and weights, which meet in one place."""
    driver.hold(lambda: sources)
    found = driver.gather("score", _labelled_scores, [w] * len(sources))
    return measure(*(_joined(parts) for parts in zip(*found, strict=True)))


def _labelled_scores(rows: Rows, w: Vector) -> tuple[Vector, Vector, Any, Any]:
    scores = matrix_of(rows.X).dot(w)
    return rows.y, scores, rows.ids, rows.sample_weight


def _joined(parts: Any) -> Any:
    return None if parts[0] is None else np.concatenate(parts)
