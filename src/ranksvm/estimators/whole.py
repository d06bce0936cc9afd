"""Estimators that are fitted, or not: nothing between."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def fitted_or_not(fit: Fit) -> Fit:
    """Let a `fit` that ends by an exception leave its estimator unfitted, whatever it was before.

    No part of an earlier fit stays beside parts of the new one, however a fit ends: by an error,
    for lack of memory, or by an interruption.
    """

    @wraps(fit)
    def whole(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            for name in list(vars(self)):
                if name.endswith("_") and not name.startswith("_"):
                    delattr(self, name)
            raise

    return cast(Fit, whole)
