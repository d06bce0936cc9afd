"""Estimators that are fitted, or not: nothing between."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def fitted_or_not(estimator: object) -> Iterator[None]:
    """Leave an estimator unfitted, whatever it was before, if this block ends by an exception.

    No part of an earlier fit stays beside parts of the new one, however a fit ends: by an error,
    for lack of memory, or by an interruption.
    """
    try:
        yield
    except BaseException:
        for name in list(vars(estimator)):
            if name.endswith("_") and not name.startswith("_"):
                delattr(estimator, name)
        raise
