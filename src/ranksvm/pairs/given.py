"""Preferences that are given pair by pair, in place of labels.

A pair is a winner and a loser, rows of X, with a weight and a margin of its own (:eq:`given`)::

    L(s) = sum over the pairs p of  v_p phi_p(s_winner - s_loser),

where phi_p has the margin of the pair in the place of 1. Pairs may come more than once, and may
contradict each other: a cycle is no error.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..records import record
from .columns import is_masked, real_numbers
from .preferences import Preferences
from .queries import QueryGroups

if TYPE_CHECKING:
    from .top import TopPreferences

Vector = NDArray[np.float64]
Rows = NDArray[np.uint32]
Naming: TypeAlias = Callable[[int], str]


@record
class GivenPreferences:
    """Pairs of a winner and a loser; what `Preferences` are to labels.

    Attributes
    ----------
    winner, loser : ndarray of shape (n_pairs,), uint32
        Row numbers.
    groups : QueryGroups
        The queries; one, if none are given.
    weight, margin : ndarray of shape (n_pairs,), float64, or None
        Of each pair; 1 by default.
    has_queries : bool, default=True
        Whether the queries are given ones.
    """

    winner: Rows
    loser: Rows
    groups: QueryGroups
    weight: Vector | None = None
    margin: Vector | None = None
    has_queries: bool = True

    query_weight: ClassVar[None] = None  # it is that of pairs

    @property
    def n_rows(self) -> int:
        """Number of rows, with and without pairs."""
        return self.groups.n_samples

    @property
    def common_margin(self) -> float:
        """What all margins have in common, to which those of pairs are added."""
        return 1.0 if self.margin is None else 0.0

    @property
    def typical_margin(self) -> float:
        """The mean of all margins."""
        return 1.0 if self.margin is None else float(self.margin.mean())

    @property
    def least_margin(self) -> float:
        """The least of all margins."""
        return 1.0 if self.margin is None else float(self.margin.min())

    @property
    def is_weighted(self) -> bool:
        """Whether pairs weigh anything but 1."""
        return self.weight is not None

    @property
    def query(self) -> NDArray[np.int64]:
        """The number of the query of each pair."""
        return self.groups.numbers[self.winner]

    @property
    def pairs_per_query(self) -> Vector:
        """Total weight of the pairs of each query, of shape (n_queries,)."""
        n_queries = self.groups.n_queries
        if n_queries == 1:
            return np.array([len(self.winner) if self.weight is None else self.weight.sum()])
        return np.bincount(self.query, self.weight, n_queries).astype(np.float64, copy=False)

    def weighed(self, pair_weight: str | None) -> GivenPreferences:
        """Return these, which have no labels that could weigh them.

        Raises
        ------
        ValueError
            If `pair_weight` wants that.
        """
        if pair_weight is not None:
            raise InputError(
                f"pair_weight={pair_weight!r} weighs the pairs of labels; given pairs have their "
                "own pair_weights"
            )
        return self

    def with_query_weight(self, query_weight: Vector) -> GivenPreferences:
        """Multiply the weights of pairs by a factor for each query."""
        of_pairs: Vector = query_weight[self.query]
        return replace(self, weight=of_pairs if self.weight is None else of_pairs * self.weight)

    def of_rows(self, rows: NDArray[np.integer]) -> GivenPreferences:
        """Return those of some rows among each other, in this order."""
        place = np.full(self.n_rows, -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        winner, loser = place[self.winner], place[self.loser]
        some = self.some((winner >= 0) & (loser >= 0))
        return replace(
            some,
            winner=place[some.winner].astype(np.uint32),
            loser=place[some.loser].astype(np.uint32),
            groups=self.groups.of_rows(rows),
        )

    def some(self, pairs: NDArray[Any]) -> GivenPreferences:
        """Return some of the pairs, among the same rows."""
        weight, margin = self.weight, self.margin
        return replace(
            self,
            winner=self.winner[pairs],
            loser=self.loser[pairs],
            weight=None if weight is None else weight[pairs],
            margin=None if margin is None else margin[pairs],
        )

    def components(self) -> NDArray[np.int64]:
        """Return the number of the connected component of each row.

        No pair leads from one component to another, so that nothing changes if all scores of one
        are shifted.
        """
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import connected_components

        n = self.n_rows
        ones = np.ones(len(self.winner), dtype=np.int8)
        graph = csr_array((ones, (self.winner, self.loser)), shape=(n, n))
        return np.asarray(connected_components(graph, directed=False)[1], dtype=np.int64)


AnyPreferences: TypeAlias = "Preferences | GivenPreferences | TopPreferences"


def numbered(pair: int) -> str:
    """Name a pair by its number, counted from zero."""
    return f"pair {pair}"


def given_preferences(
    pairs: Any,
    n_samples: int,
    weights: ArrayLike | None = None,
    margins: ArrayLike | None = None,
    qid: ArrayLike | None = None,
    *,
    name_of: Naming = numbered,
) -> GivenPreferences:
    """Check pairs as users give them.

    Parameters
    ----------
    pairs : array-like of shape (n_pairs, 2)
        Of each pair, the row of the winner and that of the loser, counted from zero.
    n_samples : int
        Number of rows.
    weights : array-like of shape (n_pairs,), or a number, optional
        Finite, and not negative.
    margins : array-like of shape (n_pairs,), or a number, optional
        Finite, and greater than 0.
    qid : array-like of shape (n_samples,), optional
        Query ids, which pairs may not cross.
    name_of : callable, optional
        What messages call the pair of a number, such as the line of a file.

    Raises
    ------
    ValueError
        If there are no pairs, or something is wrong with one; naming it.
    """
    winner, loser = _rows(pairs, n_samples, name_of)
    n_pairs = len(winner)
    weight = _of_pairs("pair_weights", weights, n_pairs)
    margin = _of_pairs("margins", margins, n_pairs)
    if weight is not None:
        _require(weight >= 0, weight, "pair_weights", "not negative", name_of)
        if not weight.any():
            raise InputError("all pair_weights are zero: no pair is left to learn from")
    if margin is not None:
        _require(margin > 0, margin, "margins", "greater than 0", name_of)
    groups = QueryGroups.from_qid(qid, n_samples)
    given = GivenPreferences(winner, loser, groups, weight, margin, qid is not None)
    _refuse_crossing(given, name_of)
    return given


def _rows(pairs: Any, n_samples: int, name_of: Naming) -> tuple[Rows, Rows]:
    """Return the rows of winners, and those of losers."""
    kind = getattr(getattr(pairs, "dtype", None), "kind", "")
    is_whole = kind in ("i", "u") and not is_masked(pairs)
    array = np.asarray(pairs) if is_whole else real_numbers(pairs, "pairs")
    if array.size == 0:
        raise InputError("pairs is empty: there are no preferences to learn from")
    if array.ndim != 2 or array.shape[1] != 2:
        raise InputError(
            f"pairs must have the shape (n_pairs, 2), a winner and a loser each, not {array.shape}"
        )
    is_row = (array >= 0) & (array < n_samples)
    if array.dtype.kind == "f":
        is_row &= array == np.floor(array)
    _refuse_rows(~is_row.all(axis=1), array, f"X has the rows 0 to {n_samples - 1}", name_of)
    winner, loser = (np.ascontiguousarray(array[:, k], dtype=np.uint32) for k in range(2))
    _refuse_rows(winner == loser, array, "a row cannot be preferred to itself", name_of)
    return winner, loser


def _refuse_rows(bad: Any, array: Any, why: str, name_of: Naming) -> None:
    if bad.any():
        pair = int(np.argmax(bad))
        found = ", ".join(f"{row:.17g}" for row in array[pair].tolist())
        raise InputError(f"{name_of(pair)} is ({found}), but {why}")


def _of_pairs(name: str, values: ArrayLike | None, n_pairs: int) -> Vector | None:
    """Return a number for each pair."""
    if values is None:
        return None
    numbers = real_numbers(values, name)
    if numbers.ndim == 0:
        numbers = np.full(n_pairs, float(numbers))
    if numbers.shape != (n_pairs,):
        raise InputError(f"{name} has shape {numbers.shape} but there are {n_pairs} pairs")
    return numbers


def _require(good: Any, values: Vector, name: str, bound: str, name_of: Naming) -> None:
    good &= values < np.inf
    if not good.all():
        pair = int(np.argmin(good))
        raise InputError(f"{name} must be finite and {bound}; {name_of(pair)} has {values[pair]:g}")


def _refuse_crossing(given: GivenPreferences, name_of: Naming) -> None:
    if given.groups.n_queries == 1:
        return
    query = given.groups.numbers
    bad = query[given.winner] != query[given.loser]
    if bad.any():
        pair = int(np.argmax(bad))
        raise InputError(
            f"{name_of(pair)} is of the rows {given.winner[pair]} and {given.loser[pair]}, which "
            "belong to different queries: a pair must lie within one, or leave out qid"
        )
