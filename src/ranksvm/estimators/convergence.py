"""What the estimators say of a gap that was not reached, by a kind of scikit-learn's warning."""

from __future__ import annotations

import warnings

from sklearn import exceptions

from ..errors import ShortfallWarning


class ConvergenceWarning(exceptions.ConvergenceWarning, ShortfallWarning):  # type: ignore[misc]
    """Scikit-learn's warning, of a training that fell short of the gap that was asked for."""


def warn_unless_converged(shortfall: str | None, stacklevel: int = 3) -> None:
    """Warn of what a training fell short of; None if it did not."""
    if shortfall is not None:
        warnings.warn(shortfall, ConvergenceWarning, stacklevel=stacklevel)
