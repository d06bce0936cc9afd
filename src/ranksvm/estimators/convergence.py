"""What the estimators say of a gap that was not reached, by scikit-learn's own warning."""

from __future__ import annotations

import warnings

from sklearn.exceptions import ConvergenceWarning

__all__ = ["ConvergenceWarning", "warn_unless_converged"]


def warn_unless_converged(shortfall: str | None, stacklevel: int = 3) -> None:
    """Warn of what a training fell short of; None if it did not."""
    if shortfall is not None:
        warnings.warn(shortfall, ConvergenceWarning, stacklevel=stacklevel)
