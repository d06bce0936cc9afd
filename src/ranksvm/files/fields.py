"""The fields that model files of every kind have, checked; features by number or by name."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from ..errors import InputError
from .quoting import shown
from .source import DataError

_MAX_DIGITS = 10  # of a feature number


def check_names(names: list[str] | None, n_features: int, what: str) -> None:
    """Refuse to save names that could not be loaded; `what` says what there is one of for each."""
    if names and len(names) != n_features:
        raise InputError(f"the model has {n_features} {what} but {len(names)} feature names")
    if names and len(set(names)) < len(names):
        twice = Counter(names).most_common(1)[0][0]
        raise InputError(f"two features of the model have the name {shown(twice)}: rename one")


def check_fields(content: dict[str, Any], name: str) -> None:
    """Refuse what is wrong with the fields n_features, feature_names, parameters and training.

    Raises
    ------
    DataError
        Saying what is wrong in the file `name`.
    """
    n_features = content.get("n_features")
    if type(n_features) is not int or not 0 < n_features < 1 << 31:
        raise DataError(
            f'{name}: "n_features" must be a positive whole number, not {shown(n_features)}'
        )
    names = content.get("feature_names")
    if names is not None:
        if not (isinstance(names, list) and len(names) == n_features):
            raise DataError(f'{name}: "feature_names" must list {n_features} names')
        if not all(isinstance(word, str) for word in names) or len(set(names)) < n_features:
            raise DataError(f'{name}: "feature_names" must be texts, each another')
    for key in ("parameters", "training"):
        if not isinstance(content.get(key, {}), dict):
            raise DataError(f'{name}: "{key}" must give a value for each name')


def facts(content: dict[str, Any]) -> dict[str, Any]:
    """Return the checked fields that models of every kind hold as they are."""
    return {
        "feature_names": content.get("feature_names"),
        "parameters": content.get("parameters", {}),
        "training": content.get("training", {}),
    }


class Features:
    """Numbers for features, which a file gives by feature number from one, or by feature name."""

    def __init__(self, content: dict[str, Any], name: str) -> None:
        names = content.get("feature_names")
        self._file, self._n_features = name, content["n_features"]
        self._places = None if names is None else {word: k for k, word in enumerate(names)}

    def read(self, values: dict[str, Any], what: str) -> tuple[list[int], list[float]]:
        """Return the features, counted from zero, and their numbers, which messages call `what`.

        Raises
        ------
        DataError
            If the model has no such feature, or its value is not a finite number.
        """
        for feature, value in values.items():
            if not is_finite(value):
                raise DataError(
                    f"{self._file}: the {what} of {shown(feature)} must be a number, not "
                    f"{shown(value)}"
                )
        return [self._place(feature) for feature in values], list(map(float, values.values()))

    def _place(self, feature: str) -> int:
        if self._places is not None:
            k = self._places.get(feature, -1)
        else:
            number = feature.isascii() and feature.isdecimal() and len(feature) <= _MAX_DIGITS
            k = int(feature) - 1 if number else -1
        if not 0 <= k < self._n_features:
            named = ": it knows them by name" if self._places is not None else ""
            raise DataError(f"{self._file}: the model has no feature {shown(feature)}{named}")
        return k


def is_finite(value: Any) -> bool:
    """Tell whether a value of a file is a number that a float64 holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        return bool(np.isfinite(float(value)))
    except OverflowError:
        return False
