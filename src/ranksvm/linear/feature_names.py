"""How features are called: where something is said of some of them, and in messages."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import InputError
from ..lazy import cached_property
from ..records import record

_LONG = 100  # letters, beyond which no name is near


@record
class FeatureNames:
    """The features of data, by name, or by number where they have none.

    Attributes
    ----------
    n_features : int
    names : sequence of str or None
    first : int
        The number of the first.
    data : str
        What messages call the data.
    """

    n_features: int
    names: Sequence[str] | None = None
    first: int = 0
    data: str = "X"

    def title(self, k: int) -> str:
        """Return what to call the feature in column k."""
        return f"feature {k + self.first if self.names is None else repr(self.names[k])}"

    def key(self, k: int) -> str:
        """Return what model files call it: those without names count from one."""
        return str(k + 1) if self.names is None else self.names[k]

    def find(self, feature: Any) -> int | None:
        """Return the column of a feature, by name or number; None if there is none."""
        if self.names is not None:
            return self._columns.get(feature) if isinstance(feature, str) else None
        if isinstance(feature, bool) or not isinstance(feature, int | np.integer):
            return None
        k = int(feature) - self.first
        return k if 0 <= k < self.n_features else None

    def column(self, feature: Any) -> int:
        """Return the column of a feature.

        Raises
        ------
        ValueError
            If there is none.
        """
        k = self.find(feature)
        if k is not None:
            return k
        shown = reprlib.repr(feature)
        if self.names is None:
            last = self.first + self.n_features - 1
            raise InputError(
                f"{self.data} has no feature {shown}: its features have no names, but numbers "
                f"from {self.first} to {last}"
            )
        from difflib import get_close_matches  # only for a mistake

        is_name = isinstance(feature, str) and len(feature) < _LONG
        nearest = get_close_matches(feature, self.names, 3) if is_name else []
        hint = f" (did you mean {' or '.join(map(repr, nearest))}?)" if nearest else ""
        raise InputError(f"{self.data} has no feature {shown}{hint}")

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {name: k for k, name in enumerate(self.names or ())}
