"""Estimators that are fitted, or not: nothing between; and never with switches that are none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ..linear.conditions import require_truth
from ..linear.parameters import require_verbosity


@contextmanager
def fitted_or_not(estimator: object) -> Iterator[None]:
    """Let no part of a fit stay behind if this block ends by an exception.

    The estimator is as it was before; for lack of memory it is unfitted, so that there is more.

    Raises
    ------
    InputError
        If a parameter that is on or off is neither.
    """
    for name in ("warm_start", "refit", "one_standard_error"):
        if hasattr(estimator, name):
            require_truth(name, getattr(estimator, name))
    require_verbosity(getattr(estimator, "verbose", 0))
    before = dict(vars(estimator))
    try:
        yield
    except MemoryError:
        for name in list(vars(estimator)):
            if name.endswith("_") and not name.startswith("_"):
                delattr(estimator, name)
        raise
    except BaseException:
        vars(estimator).clear()
        vars(estimator).update(before)
        raise
