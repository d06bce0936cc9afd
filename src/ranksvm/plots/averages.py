"""Means and their standard errors, as curves show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError

Vector = NDArray[np.float64]


def standard_error(values: Vector) -> float:
    """Return the standard error of the mean of what is not NaN; NaN for fewer than 2 values."""
    defined = values[~np.isnan(values)]
    n = len(defined)
    return float(defined.std(ddof=1) / np.sqrt(n)) if n > 1 else float("nan")


def require_defined(metric: str, mean: ArrayLike) -> None:
    """Refuse means that are all NaN."""
    if np.isnan(mean).all():
        raise InputError(f"{metric} is defined in no query: there is nothing to draw")


def errors_or_nan(errors: ArrayLike | None, n: int) -> Vector:
    """Return standard errors as an array, n times NaN where there are none."""
    return np.full(n, np.nan) if errors is None else np.asarray(errors, dtype=float)


def mean_label(metric: str, errors: Vector) -> str:
    """Return the label of an axis that means are drawn along."""
    error = " ± standard error" if np.isfinite(errors).any() else ""
    return f"{metric.replace('_', ' ')}, mean{error}"
