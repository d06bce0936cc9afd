r"""What all maps of features share.

A map takes rows of features to rows of others, for each row by itself or, if it says so, within the
row's query. A linear model behind maps :math:`\varphi_1 \ldots \varphi_r` ranks by the scores
:math:`w'\varphi_r(\ldots \varphi_1(x))`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...records import record

Vector = NDArray[np.float64]
Matrix = NDArray[np.float64]

MAX_MEMORY = 4e9  # bytes of what is made dense


@record
class FeatureMap(ABC):
    """A map of features, which its fields and arrays say all of.

    Attributes
    ----------
    name : str
        What files call the map.
    FIELDS : dict
        The type of each field that is no array.
    ARRAYS : dict
        How many dimensions each array has.
    keeps_features : bool
        Whether each feature becomes one, by itself.
    """

    name: ClassVar[str]
    FIELDS: ClassVar[dict[str, type]] = {}
    ARRAYS: ClassVar[dict[str, int]] = {}
    keeps_features: ClassVar[bool] = False

    @property
    def is_additive(self) -> bool:
        """Whether each feature that results comes from a single one."""
        return True

    @property
    def needs_queries(self) -> bool:
        """Whether rows are mapped within their query."""
        return False

    @property
    @abstractmethod
    def n_inputs(self) -> int:
        """How many features there are before the map."""

    @property
    def n_outputs(self) -> int:
        """How many there are after it."""
        return self.n_inputs

    @property
    @abstractmethod
    def description(self) -> str:
        """What the map does, in a few words."""

    @property
    def parts(self) -> tuple[FeatureMap, ...]:
        """The map itself, or those that it is made of."""
        return (self,)

    @property
    def sources(self) -> NDArray[np.int64]:
        """The feature that each of the n_outputs comes from, where the map is additive."""
        return np.arange(self.n_outputs) // (self.n_outputs // self.n_inputs)

    @property
    def domain(self) -> tuple[Vector, Vector] | None:
        """The least and the greatest value of each feature that the map has seen, if it knows."""
        return None

    @abstractmethod
    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_inputs), float64
            Finite.
        qid : array-like of shape (n_samples,), optional
        max_memory : float, default=4e9
            Bytes that sparse rows may take once they are dense, where zero does not stay zero.

        Returns
        -------
        ndarray or CSR matrix of shape (n_samples, n_outputs), float64

        Raises
        ------
        ValueError
            If they take more.
        """

    def fields(self) -> dict[str, Any]:
        """Return the fields that are no arrays."""
        return {key: getattr(self, key) for key in self.FIELDS}

    def arrays(self) -> dict[str, NDArray[np.float64]]:
        """Return the arrays."""
        return {key: getattr(self, key) for key in self.ARRAYS}


def is_sparse(X: Any) -> bool:
    """Tell rows of SciPy from those of NumPy."""
    return not isinstance(X, np.ndarray)


def require_room(n_rows: int, n_columns: int, what: str, max_memory: float) -> None:
    """Refuse dense rows that take too much memory; `what` says what they are."""
    needed = 8.0 * n_rows * n_columns
    if needed > max_memory:
        raise InputError(
            f"{what} take {needed / 1e9:.3g} GB, for {n_rows:,} times {n_columns:,} numbers, more "
            f"than max_memory={max_memory:.3g}: use fewer rows or features, or raise it"
        )


def densified(X: Any, max_memory: float) -> Matrix:
    """Return rows as an array."""
    if not is_sparse(X):
        return X  # type: ignore[no-any-return]
    n_rows, n_columns = X.shape
    what = f"the {n_columns:,} features, dense where zero does not stay zero,"
    require_room(n_rows, n_columns, what, max_memory)
    dense: Matrix = X.toarray()
    return dense


def require_ascending(values: Matrix, what: str) -> None:
    """Refuse columns that fall somewhere."""
    if np.any(values[1:] < values[:-1]):
        raise InputError(f"the {what} of each feature must ascend")
