"""The rounds that an objective is made of: steps of all partitions, and of shared queries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from dask._task_spec import TaskRef
from numpy.typing import NDArray

from . import steps
from .driver import Driver
from .formula import Formula, Precision, Recipe
from .graph import Graph, Step
from .sums import FAN, Total, depth_of

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
        What it holds are bundles of partitions; or, if there are shared queries, partitions, and
        after these the shared queries.
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
    def partitions(self) -> list[TaskRef]:
        """The partitions, in bundles where no queries are shared."""
        return self.driver.held[:-1] if self.has_shared else self.driver.held

    @property
    def shared(self) -> list[TaskRef]:
        """The shared queries, if there are any."""
        return self.driver.held[-1:] if self.has_shared else []

    @property
    def rounding_of_tree(self) -> int:
        """How many numbers are added up one after the other beyond a partition."""
        return FAN + depth_of(len(self.driver.held) + 1)

    def counts(self) -> Total:
        """Count rows, pairs and queries; add up squares and scatter of the columns."""

        def build(graph: Graph) -> list[TaskRef]:
            given = {"recipe": self.recipe, "offset": self.offset}
            return self._of_all(graph, "count", steps.counts, self.driver.held, **given)

        self._read(1)
        return self.driver.total("count", build)

    def loss(self, formula: Formula, w: Vector, precision: Precision | None) -> Total:
        """Evaluate the loss, with its gradient by the weights, and for a precision the Hessian."""

        def build(graph: Graph) -> list[TaskRef]:
            of_shared = steps.sent_scores, steps.shared_loss
            backs, more = self._shared(graph, "loss", of_shared, formula, w, w=w)
            arguments = {"w": w, "precision": precision}
            return self._map(graph, "loss", steps.loss, formula, backs, arguments) + more

        total = self.driver.total("loss", build)
        self._read(int(total.largest("passes")))
        return total

    def hessian(self, formula: Formula, w: Vector, precision: Precision) -> NDArray[np.float64]:
        """Form the Hessian, in units of the curvature."""

        def build(graph: Graph) -> list[TaskRef]:
            arguments = {"w": w, "precision": precision}
            return self._map(graph, "hessian", steps.hessian, formula, [], arguments)

        self._read(1)
        return self.driver.total("hessian", build).array("hessian")

    def product(self, formula: Formula, w: Vector, p: Vector) -> Vector:
        """Multiply a direction by the Hessian, in units of the curvature."""

        def build(graph: Graph) -> list[TaskRef]:
            of_shared = steps.sent_pair, steps.shared_product
            backs, _ = self._shared(graph, "product", of_shared, formula, w, w=w, p=p)
            return self._map(graph, "product", steps.product, formula, backs, {"w": w, "p": p})

        self._read(2)
        return self.driver.total("product", build).array("product")

    def diagonal(self, formula: Formula, w: Vector) -> Vector:
        """Return the sum over rows of squares times the diagonal, in the same units."""

        def build(graph: Graph) -> list[TaskRef]:
            of_shared = steps.sent_scores, steps.shared_diagonal
            backs, _ = self._shared(graph, "diagonal", of_shared, formula, w, w=w)
            return self._map(graph, "diagonal", steps.diagonal, formula, backs, {"w": w})

        self._read(1)
        return self.driver.total("diagonal", build).array("squares")

    def upper(self, formula: Formula, w: Vector) -> float:
        """Return the loss from fresh scores, and not less than it is."""

        def build(graph: Graph) -> list[TaskRef]:
            parts = self._map(graph, "confirm", steps.upper, formula, [], {"w": w})
            if not self.has_shared:
                return parts
            sent = self._sent(graph, "confirm", steps.sent_bounds, w=w)
            return parts + self._sweep(graph, "confirm", steps.shared_upper, formula, sent)

        self._read(1)
        total = self.driver.total("confirm", build)
        return total.sum("value") + total.sum("rounding")

    def accuracy(self, fold: int, weights: NDArray[np.float64]) -> Vector:
        """Return the share of the pairs of a fold in the right order, by each row of weights.

        NaN, if it has no pairs.
        """

        def build(graph: Graph) -> list[TaskRef]:
            arguments = {"offset": self.offset, "fold": fold, "weights": weights}
            return self._of_all(graph, "accuracy", steps.accuracy, self.partitions, **arguments)

        self._read(len(weights))
        total = self.driver.total("accuracy", build)
        n_pairs = total.sum("n_pairs")
        return total.array("correct") / n_pairs if n_pairs else np.full(len(weights), np.nan)

    def _map(
        self,
        graph: Graph,
        name: str,
        step: Step,
        formula: Formula,
        backs: Sequence[TaskRef],
        arguments: dict[str, Any],
    ) -> list[TaskRef]:
        """Take a step of a loss; `backs` are what comes from shared queries, if there are any."""
        arguments = {"offset": self.offset, "recipe": self.recipe, "formula": formula, **arguments}
        if backs:
            return graph.map(name, step, self.partitions, backs, **arguments)
        return self._of_all(graph, name, step, self.partitions, **arguments)

    def _of_all(
        self, graph: Graph, name: str, step: Step, held: list[TaskRef], **arguments: Any
    ) -> list[TaskRef]:
        """Take a step of all partitions, those of a bundle in one task."""
        if self.has_shared:
            return graph.map(name, step, held, **arguments)
        return graph.map(name, partial(steps.of_bundle, step), held, **arguments)

    def _shared(
        self,
        graph: Graph,
        name: str,
        of_shared: tuple[Step, Step],
        formula: Formula,
        at: Vector,
        **arguments: Vector,
    ) -> tuple[list[TaskRef], list[TaskRef]]:
        """Ask for a sweep over shared queries; return what goes back, and what is added."""
        if not self.has_shared:
            return [], []
        send, sweep = of_shared
        sent = self._sent(graph, name, send, **arguments)
        swept = self._sweep(graph, name, sweep, formula, sent, w=at) * len(sent)
        backs = graph.map(name, steps.back_of, swept, range(len(sent)))
        return backs, graph.map(name, steps.part_of, swept[:1])

    def _sent(self, graph: Graph, name: str, send: Step, **arguments: Vector) -> list[TaskRef]:
        return graph.map(name, send, self.partitions, offset=self.offset, **arguments)

    def _sweep(
        self,
        graph: Graph,
        name: str,
        sweep: Step,
        formula: Formula,
        sent: list[TaskRef],
        **arguments: Vector,
    ) -> list[TaskRef]:
        arguments_of_all = {"recipe": self.recipe, "formula": formula, **arguments}
        return graph.map(name, sweep, self.shared, [sent], **arguments_of_all)

    def _read(self, n: int) -> None:
        if self.passes is not None:
            self.passes.n += n
