"""Packed data in the place of X, y and query ids: checked when they were packed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np
from sklearn.utils.validation import validate_data

from ..arrays.libraries import library_of, to_host
from ..errors import InputError
from ..linear.design_matrix import DesignMatrix
from ..linear.occurring import IN_TRAINING
from ..pairs.given import AnyPreferences
from .pair_arguments import PairArguments

if TYPE_CHECKING:
    from ..arrays.matrix import ArrayMatrix
    from ..disk.data import PackedData


def is_packed(X: Any) -> TypeGuard[PackedData]:
    """Tell packed data; who has opened some has imported what opens them."""
    opened = sys.modules.get(f"{__name__.partition('.')[0]}.disk.data")
    return opened is not None and isinstance(X, opened.PackedData)


def require_alone(data: PackedData, **given: Any) -> None:
    """Refuse labels or query ids beside packed data, which have their own."""
    for name, value in given.items():
        if value is not None:
            raise InputError(f"{data.path} has its own labels and query ids: leave out {name}")


def refuse_packed(X: Any, taker: str) -> None:
    """Refuse packed data where arrays are taken."""
    if is_packed(X):
        raise X.refused(taker)


def check_packed(estimator: Any, data: PackedData, *, reset: bool) -> PackedData:
    """Set the number of features of an estimator, or hold data to it; their values are finite."""
    validate_data(estimator, data.X, reset=reset, skip_check_array=True)
    if reset and data.feature_names is not None:
        estimator.feature_names_in_ = np.array(data.feature_names, dtype=object)
    return data


def matrix_of(
    X: Any, device: str | None = None, spare: float = IN_TRAINING
) -> DesignMatrix | ArrayMatrix:
    """View X as a design matrix where `device` says, of packed data as well."""
    if device in (None, "cpu") and library_of(X) is None:
        return host_matrix(X, spare)
    from ..arrays.placement import design_matrix

    return design_matrix(X.X if is_packed(X) else X, device, spare)


def host_matrix(X: Any, spare: float = IN_TRAINING) -> DesignMatrix:
    """View rows of the host as a design matrix, of packed data as well."""
    if is_packed(X):
        return X.design_matrix(spare)
    return DesignMatrix.from_array(X, spare)


def bytes_of_pass(X: Any) -> int | None:
    """Return what a pass over packed data reads; None of others, which are in memory."""
    return X.bytes_of_X if is_packed(X) else None


def packed_preferences(data: PackedData, given: PairArguments, **weights: Any) -> AnyPreferences:
    """Return which rows are better than which, by given pairs if there are some."""
    if given.are_given:
        return given.preferences(data.shape[0], data.qid, y=None, **weights)
    return data.preferences(**{name: to_host(weight) for name, weight in weights.items()})


def require_same(X: Any) -> None:
    """Refuse packed data to which somebody has written since they were opened."""
    if is_packed(X):
        X.require_unchanged()


@contextmanager
def unchanged(X: Any) -> Iterator[None]:
    """Refuse packed data to which somebody writes while they are in use."""
    require_same(X)
    yield
    require_same(X)
