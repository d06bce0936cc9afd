"""Pairs, sweeps and the vectors of score space, which stay where the rows are.

The driver needs of a vector with a number for each row only what it is in weight space: scores
``X w`` are known by w, and a gradient g of the loss by ``X'g``. All that solvers do to such vectors
is linear, and a product of the two is one in weight space, too::

    g'(X p) = (X'g)'p.

So these stand-ins have the operators of arrays (``ranksvm.pairs.sweeps.Scores``), and no number of
a row ever comes to the driver.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.sweeps import Sweep
from .formula import Formula, Precision, Recipe
from .rounds import Rounds
from .sums import Total

Vector = NDArray[np.float64]


class Image:
    """Scores ``X w``, known by w."""

    def __init__(self, weights: Vector, precision: Precision | None = None) -> None:
        self.weights, self.precision = weights, precision

    def __add__(self, other: Image) -> Image:
        return Image(self.weights + other.weights)

    def __sub__(self, other: Image) -> Image:
        return Image(self.weights - other.weights)

    def __rmul__(self, factor: float) -> Image:
        return Image(factor * self.weights)

    def max(self) -> float:
        """Return 0: however large scores are, they are computed afresh, and never moved."""
        return 0.0

    min = max


class CoImage:
    """A vector g of score space, known by ``X'g``; with a Hessian that the same round brought."""

    def __init__(self, vector: Vector, hessian: Vector | None = None) -> None:
        self.vector, self.hessian = vector, hessian

    def __matmul__(self, image: Image) -> float:
        return float(self.vector @ image.weights)

    def __add__(self, other: CoImage) -> CoImage:
        return CoImage(self.vector + other.vector)

    def __sub__(self, other: CoImage) -> CoImage:
        return CoImage(self.vector - other.vector)

    def __truediv__(self, factor: float) -> CoImage:
        return CoImage(self.vector / factor)

    def __mul__(self, factor: float) -> CoImage:
        return CoImage(factor * self.vector)

    __rmul__ = __mul__


class ClusterSweep:
    """The sums of a sweep over all partitions, and rounds for what is asked for later."""

    is_of_parts = True

    def __init__(self, rounds: Rounds, formula: Formula, image: Image, total: Total) -> None:
        self._rounds, self._formula, self._weights = rounds, formula, image.weights
        self.value, self.offset = total.sum("value"), total.sum("offset")
        self.magnitude = total.sum("magnitude")
        self.smoothing = total.sum("smoothing")
        self.band_magnitude = total.sum("band_magnitude")
        self.gradient_norm = total.length("gradient_norm")
        self.gradient_rounding = total.length("gradient_rounding")
        hessian = total.part.arrays.get("hessian")
        self.gradient: Any = CoImage(total.array("slope"), hessian)

    def degree(self) -> Any:
        """Return the diagonal of the Laplacian, as ``(X * X)' degree``."""
        return CoImage(self._rounds.diagonal(self._formula, self._weights))

    def laplacian(self, v: Any, n_threads: int = 1) -> Any:
        """Return ``M v``, as ``X'M v``."""
        return CoImage(self._rounds.product(self._formula, self._weights, v.weights))

    def hessian(self, precision: Precision) -> NDArray[np.float64]:
        """Return ``Z'M Z`` in a precision."""
        return self._rounds.hessian(self._formula, self._weights, precision)


class Sweeps:
    """Sweeps as they were made, as long as what made them is there: a few vectors of weights."""

    def __init__(self) -> None:
        self._held: WeakKeyDictionary[Callable[[], Sweep], Sweep] = WeakKeyDictionary()

    def of(self, make: Callable[[], Sweep]) -> Sweep:
        """Return what `make` has made, or makes now."""
        sweep = self._held.get(make)
        if sweep is None:
            sweep = self._held[make] = make()
        return sweep


class ClusterPairs:
    """The preference pairs of all partitions; the `Pairs` of `ClusterMatrix`."""

    def __init__(self, rounds: Rounds, recipe: Recipe) -> None:
        self.rounds = rounds.with_recipe(recipe)
        self.recipe = recipe
        self.preferences: Any = rounds.preferences
        self.last_sweep: Any = Sweeps()
        self.n_threads = 1

    @property
    def groups(self) -> Any:
        """How many queries and rows there are."""
        return self.preferences.groups

    @cached_property
    def counts(self) -> Total:
        """Rows, pairs and queries that have some, with their weights; and sums of the columns."""
        return self.rounds.counts()

    def by_query(self) -> ClusterPairs:
        """Return pairs of which those of a query weigh as much as it."""
        pairs = ClusterPairs(self.rounds, self.recipe._replace(by_query=True))
        pairs.counts = self.counts
        return pairs

    @property
    def n_pairs(self) -> int | float:
        """Total weight of the pairs: their number, if there are no weights."""
        total = self.counts.sum("n_pairs")
        return total if self.preferences.is_weighted or self.recipe.pair_weight else int(total)

    @property
    def pairs_per_query(self) -> Vector:
        """Not known: they stay with the rows."""
        raise NotImplementedError

    def asarray(self, values: Any) -> Any:
        """Return vectors of score space as they are."""
        return values

    def sweep(self, scores: Any, loss: str, margin: float, width: float = 0.0) -> Any:
        """Evaluate a loss in a round, with its gradient by the weights."""
        formula = Formula(loss, margin, width)
        total = self.rounds.loss(formula, scores.weights, scores.precision)
        return ClusterSweep(self.rounds, formula, scores, total)
