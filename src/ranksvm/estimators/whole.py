"""Estimators that are fitted, or not: nothing between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def fitted_or_not(estimator: object) -> Iterator[None]:
    """Let no part of a fit stay behind if this block ends by an exception.

    The estimator is as it was before; for lack of memory it is unfitted, so that there is more.
    """
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
