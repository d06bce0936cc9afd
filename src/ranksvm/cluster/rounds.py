"""The rounds that an objective is made of: steps of all partitions, and of shared queries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import steps
from .driver import Driver, Pending
from .formula import Formula, Precision, Recipe
from .sums import Total, depth_of

Vector = NDArray[np.float64]


@dataclass(frozen=True)
class ClusterGroups:
    """How many queries and rows all partitions have."""

    n_queries: int
    n_samples: int


@dataclass(frozen=True)
class ClusterPreferences:
    """What is known on the driver of labels, which stay with the rows."""

    groups: ClusterGroups
    is_weighted: bool
    common_margin: float = 1.0
    typical_margin: float = 1.0
    least_margin: float = 1.0


@dataclass
class Passes:
    """How often all data have been read."""

    n: int = 0


@dataclass(frozen=True)
class Rounds:
    """Rounds over held partitions, and the place of shared queries, if there are any.

    Attributes
    ----------
    driver : Driver
        What it holds are the partitions, and after these the shared queries, if there are any.
    preferences : ClusterPreferences
    has_shared : bool
    recipe : Recipe or None
    offset : ndarray of shape (n_features,), or None
        What all partitions take off the columns, where they share queries; else each decides.
    passes : Passes or None
    """

    driver: Driver
    preferences: ClusterPreferences
    has_shared: bool
    recipe: Recipe | None = None
    offset: Vector | None = None
    passes: Passes | None = None

    def with_recipe(self, recipe: Recipe | None) -> Rounds:
        """Return rounds over the pairs of a recipe, and a count of passes of their own."""
        return replace(self, recipe=recipe, passes=self.passes or Passes())

    @property
    def partitions(self) -> list[Pending]:
        """The futures of the partitions."""
        return self.driver.held[:-1] if self.has_shared else self.driver.held

    @property
    def shared(self) -> list[Pending]:
        """That of the shared queries, if there are any."""
        return self.driver.held[-1:] if self.has_shared else []

    @property
    def rounding_of_tree(self) -> int:
        """How many numbers are added up one after the other beyond a partition."""
        return depth_of(len(self.driver.held) + 1)

    def counts(self) -> Total:
        """Count rows, pairs and queries."""

        def submit() -> list[Pending]:
            return self.driver.map("count", steps.counts, self.driver.held, recipe=self.recipe)

        return self.driver.round("count", submit)

    def columns(self) -> Total:
        """Add up squares and scatter of the columns."""

        def submit() -> list[Pending]:
            return self.driver.map("scale", steps.columns, self.partitions, offset=self.offset)

        self._read(1)
        return self.driver.round("scale", submit)

    def loss(self, formula: Formula, w: Vector, precision: Precision | None) -> Total:
        """Evaluate the loss, with its gradient by the weights, and for a precision the Hessian."""

        def submit() -> list[Pending]:
            backs, more = self._shared(
                "loss", (steps.sent_scores, steps.shared_loss), formula, w, w=w
            )
            arguments = {"w": w, "precision": precision}
            return self._map("loss", steps.loss, formula, backs, arguments) + more

        total = self.driver.round("loss", submit)
        self._read(int(total.largest("passes")))
        return total

    def hessian(self, formula: Formula, w: Vector, precision: Precision) -> NDArray[np.float64]:
        """Form the Hessian, in units of the curvature."""

        def submit() -> list[Pending]:
            arguments = {"w": w, "precision": precision}
            return self._map("hessian", steps.hessian, formula, [], arguments)

        self._read(1)
        return self.driver.round("hessian", submit).array("hessian")

    def product(self, formula: Formula, w: Vector, p: Vector) -> Vector:
        """Multiply a direction by the Hessian, in units of the curvature."""

        def submit() -> list[Pending]:
            backs, _ = self._shared(
                "product", (steps.sent_pair, steps.shared_product), formula, w, w=w, p=p
            )
            return self._map("product", steps.product, formula, backs, {"w": w, "p": p})

        self._read(2)
        return self.driver.round("product", submit).array("product")

    def diagonal(self, formula: Formula, w: Vector) -> Vector:
        """Return the sum over rows of squares times the diagonal, in the same units."""

        def submit() -> list[Pending]:
            backs, _ = self._shared(
                "diagonal", (steps.sent_scores, steps.shared_diagonal), formula, w, w=w
            )
            return self._map("diagonal", steps.diagonal, formula, backs, {"w": w})

        self._read(1)
        return self.driver.round("diagonal", submit).array("squares")

    def upper(self, formula: Formula, w: Vector) -> float:
        """Return the loss from fresh scores, and not less than it is."""

        def submit() -> list[Pending]:
            futures = self._map("confirm", steps.upper, formula, [], {"w": w})
            if not self.has_shared:
                return futures
            sent = self._sent("confirm", steps.sent_bounds, w=w)
            return futures + self._sweep("confirm", steps.shared_upper, formula, sent)

        self._read(1)
        total = self.driver.round("confirm", submit)
        return total.sum("value") + total.sum("rounding")

    def accuracy(self, fold: int, weights: NDArray[np.float64]) -> Vector:
        """Return the share of the pairs of a fold in the right order, by each row of weights.

        NaN, if it has no pairs.
        """

        def submit() -> list[Pending]:
            arguments = {"offset": self.offset, "fold": fold, "weights": weights}
            return self.driver.map("accuracy", steps.accuracy, self.partitions, **arguments)

        self._read(len(weights))
        total = self.driver.round("accuracy", submit)
        n_pairs = total.sum("n_pairs")
        return total.array("correct") / n_pairs if n_pairs else np.full(len(weights), np.nan)

    def _map(
        self,
        name: str,
        step: Callable[..., Any],
        formula: Formula,
        backs: Sequence[Pending],
        arguments: dict[str, Any],
    ) -> list[Pending]:
        arguments = {"offset": self.offset, "recipe": self.recipe, "formula": formula, **arguments}
        if not backs:
            return self.driver.map(name, step, self.partitions, **arguments)
        return self.driver.map(name, step, self.partitions, backs, **arguments)

    def _shared(
        self,
        name: str,
        of_shared: tuple[Callable[..., Any], Callable[..., Any]],
        formula: Formula,
        at: Vector,
        **arguments: Vector,
    ) -> tuple[list[Pending], list[Pending]]:
        """Ask for a sweep over shared queries; return what goes back, and what is added."""
        if not self.has_shared:
            return [], []
        send, sweep = of_shared
        sent = self._sent(name, send, **arguments)
        swept = self._sweep(name, sweep, formula, sent, w=at) * len(sent)
        backs = self.driver.map(name, steps.back_of, swept, range(len(sent)))
        return backs, self.driver.map(name, steps.part_of, swept[:1])

    def _sent(self, name: str, send: Callable[..., Any], **arguments: Vector) -> list[Pending]:
        return self.driver.map(name, send, self.partitions, offset=self.offset, **arguments)

    def _sweep(
        self,
        name: str,
        sweep: Callable[..., Any],
        formula: Formula,
        sent: list[Pending],
        **arguments: Vector,
    ) -> list[Pending]:
        arguments_of_all = {"recipe": self.recipe, "formula": formula, **arguments}
        return self.driver.map(name, sweep, self.shared, [sent], **arguments_of_all)

    def _read(self, n: int) -> None:
        if self.passes is not None:
            self.passes.n += n
