"""Losses over preference pairs, in score space.

With preference pairs ``P = {(i, j): qid_i = qid_j, y_i > y_j}`` of weight ``v_ij``, a loss is
(:eq:`loss`)::

    L(s) = sum over (i, j) in P of  v_ij * phi(s_i - s_j).

It knows scores, labels and queries; neither X nor w nor C. All that is O(pairs) in these formulas
follows from the active pairs ``margin - (s_i - s_j) > 0`` by way of three vectors, which one sweep
over the sorted scores yields: the balance ``l+ - l-`` and degree ``l+ + l-`` of the documents, and
products with the Laplacian M of the graph of active pairs (Lee and Lin 2014, section 2.2; Airola
et al. 2011, equations 3 and 4).
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from .names import COUNTINGS, PAIR_WEIGHTS
from .queries import QueryGroups

if TYPE_CHECKING:
    from .arrays.device import ArrayDevice

Vector = NDArray[np.float64]
ROUNDING = 16 * float(np.finfo(np.float64).eps)  # of a long sum, in the size of its terms


class LossEvaluation(Protocol):
    """The loss at given scores; immutable."""

    @property
    def value(self) -> float:
        """The loss L(s)."""

    @property
    def gradient(self) -> Vector:
        """A subgradient of L at s, or nearly so, of shape (n_samples,)."""

    @property
    def offset(self) -> float:
        """Where the tangent meets 0: ``L(s) - gradient's``, less the smoothing."""

    @property
    def smoothing(self) -> float:
        """By how much the gradient fails to be a subgradient: it is an epsilon-subgradient.

        That is, ``L(t) >= L(s) + gradient'(t - s) - smoothing`` for all scores t.
        """

    @property
    def slack(self) -> float:
        """How exactly smoothing and offset are known."""

    @property
    def rounding(self) -> float:
        """How exactly the value is known."""


class PairLoss:
    """Preference pairs, and sweeps over them; the base of the losses.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Relevance labels, larger is better. Only their order within a query matters, and the gaps
        between them if pairs weigh these.
    groups : QueryGroups, optional
        The queries; one query by default.
    sample_weight : ndarray of shape (n_samples,), optional
        Row weights.
    query_weight : ndarray of shape (n_queries,), optional
        Query weights. The pair (i, j) of query q weighs
        ``v_ij = query_weight[q] * sample_weight[i] * sample_weight[j]``.
    pair_weight : {"gap"} or None, default=None
        "gap" multiplies this by the gap between the labels, ``y_i - y_j``, in the same sweep. Every
        pair has its gap to rounding, wherever the labels lie, and sums over labels and weights that
        are whole numbers are exact.
    margin : float, default=1.0
        The margin rho of the loss.
    counting : {"auto", "merge", "levels", "joachims", "tree", "pairs"}, default="auto"
        How active pairs are counted; results agree up to rounding. For a query of m documents with
        k distinct labels, once its scores are sorted:

        - "merge": O(m log k), a static tree over the labels;
        - "levels": O(m k), one sum per level (Lee and Lin 2014, supplement II.1);
        - "joachims": O(m k), one pass per level (Joachims 2006, as given in supplement II.2);
        - "tree": O(m log k), a red-black tree (TreeRSVM, Airola et al. 2011, algorithm 1);
        - "pairs": O(m^2), every pair;
        - "auto": "pairs" for a handful of documents, "merge" otherwise.
    n_threads : int, default=1
        Threads to use. Results do not depend on it, to the last bit.
    device : ArrayDevice, optional
        Where scores are, and gradients shall be; labels and weights are those of NumPy. There is
        one way of counting there, whatever `counting` is: O(n log k) in passes over all queries at
        once. By default, all are arrays of NumPy.

    Attributes
    ----------
    n_pairs : int or float
        Total weight of the pairs: their number, if there are no weights.
    pairs_per_query : ndarray of shape (n_queries,)
        The same for each query.
    n_levels : ndarray of shape (n_queries,)
        Number of distinct labels of each query.
    """

    def __init__(
        self,
        y: ArrayLike,
        groups: QueryGroups | None = None,
        *,
        sample_weight: Vector | None = None,
        query_weight: Vector | None = None,
        pair_weight: str | None = None,
        margin: float = 1.0,
        counting: str = "auto",
        n_threads: int = 1,
        device: ArrayDevice | None = None,
    ) -> None:
        if counting not in COUNTINGS:
            raise ValueError(f"counting must be one of {', '.join(COUNTINGS)}, not {counting!r}")
        if pair_weight not in PAIR_WEIGHTS:
            raise ValueError(f"pair_weight must be 'gap' or None, not {pair_weight!r}")
        labels = np.ascontiguousarray(y, dtype=np.float64)
        self.groups = groups or QueryGroups.from_qid(None, len(labels))
        self.margin = float(margin)
        self.counting = counting
        self.n_threads = n_threads
        self._pairs = _core.PreferencePairs(
            labels,
            self.groups.indptr,
            self.groups.order,
            sample_weight,
            query_weight,
            gaps=pair_weight == "gap",
            n_threads=n_threads,
        )
        self.pairs_per_query: Vector = self._pairs.pairs_per_query
        self.n_levels: NDArray[np.uint32] = self._pairs.n_levels
        total = float(self.pairs_per_query.sum())
        unweighted = sample_weight is None and query_weight is None and pair_weight is None
        self.n_pairs = int(total) if unweighted else total
        self.device = device
        if device is not None:
            from .arrays.preference_pairs import ArrayPairs

            self._array_pairs = ArrayPairs(
                device,
                self.groups,
                self._pairs.label,
                sample_weight=sample_weight,
                query_weight=query_weight,
                labels=labels if pair_weight == "gap" else None,
            )

    @property
    def n_samples(self) -> int:
        """Number of rows."""
        return self.groups.n_samples

    def as_vectors(self, values: ArrayLike) -> Any:
        """Return scores, or vectors like them, as sweeps take them."""
        if self.device is not None:
            return self.device.asarray(values, self.device.float64)
        return np.ascontiguousarray(values, dtype=np.float64)

    def sweep(
        self, scores: ArrayLike, loss: str, *, margin: float | None = None, width: float = 0.0
    ) -> _core.Sweep:
        """Find the active pairs at `scores`, and what a loss makes of them.

        `loss` is "hinge", "squared_hinge" or "smoothed_hinge", the last with its `width`; `margin`
        is that of this object, unless another is given.
        """
        margin = self.margin if margin is None else margin
        if self.device is not None:
            from .arrays.sweep import ArraySweep

            on_device = ArraySweep(self._array_pairs, self.as_vectors(scores), loss, margin, width)
            return cast("_core.Sweep", on_device)  # the same attributes
        return _core.Sweep(
            self._pairs,
            self.as_vectors(scores),
            loss,
            margin,
            self.counting,
            width,
            n_threads=self.n_threads,
        )


class Hinge(PairLoss):
    """The hinge loss ``phi(z) = max(0, margin - z)`` of SVM^rank and TreeRSVM.

    With N the weight of the active pairs and b their balance, ``L = margin N + b's`` and b is a
    subgradient (:eq:`hinge`; Airola et al. 2011, equations 3 and 4).
    """

    def evaluate(self, scores: ArrayLike) -> HingeEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""
        sweep = self.sweep(scores, "hinge")
        return HingeEvaluation(
            value=self.margin * sweep.n_active + sweep.balance_scores,
            gradient=sweep.gradient,
            offset=self.margin * sweep.n_active,
            rounding=ROUNDING * sweep.magnitude,
        )

    def smoothed(self, width: float = 1.0) -> SmoothedHinge:
        """Return the same loss with smooth derivatives; the pairs are shared."""
        other = SmoothedHinge.__new__(SmoothedHinge)
        vars(other).update(vars(self), width=float(width))
        return other


@dataclass(frozen=True, eq=False)
class HingeEvaluation:
    """The hinge loss at given scores."""

    value: float
    gradient: Vector
    offset: float
    rounding: float
    smoothing: float = 0.0
    slack: float = 0.0


class SquaredHinge(PairLoss):
    """The squared hinge loss ``phi(z) = max(0, margin - z)^2`` of Lee and Lin (2014).

    With N the weight of the active pairs, b their balance and M their Laplacian
    (:eq:`squared-hinge`)::

        L = margin^2 N + 2 margin b's + s'Ms,    gradient = 2 (M s + margin b),    Hessian = 2 M.
    """

    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""
        sweep = self.sweep(scores, "squared_hinge")
        value = (
            self.margin**2 * sweep.n_active
            + 2 * self.margin * sweep.balance_scores
            + sweep.scores_laplacian_scores
        )
        offset = self.margin**2 * sweep.n_active - sweep.scores_laplacian_scores
        return SmoothEvaluation(self, sweep, value, offset=offset, curvature=2.0)


class SmoothedHinge(PairLoss):
    """The hinge loss, with derivatives from a copy whose kink is rounded off.

    With its kink rounded off over a width h below the margin rho, the hinge is
    (:eq:`smoothed-hinge`)::

        phi_h(z) = (max(0, rho - z)^2 - max(0, rho - h - z)^2) / (2 h),

    a difference of two squared hinges with ``hinge - h/2 <= phi_h <= hinge`` and the slope
    ``-alpha``, where ``alpha = clip((rho - z) / h, 0, 1)``. As any slopes between 0 and 1, these
    make a dual feasible point of the hinge itself, so that its gradient is an epsilon-subgradient
    of the hinge (:eq:`smoothing`)::

        epsilon = sum over the pairs with rho - h < z < rho of  (rho - z) (1 - alpha).

    Parameters
    ----------
    width : float, default=1.0
        The width h, greater than 0.
    *args, **kwargs
        As for `PairLoss`.
    """

    def __init__(self, *args: Any, width: float = 1.0, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.width = float(width)

    def with_width(self, width: float) -> SmoothedHinge:
        """Return the same loss with another width."""
        other = copy.copy(self)
        other.width = float(width)
        return other

    def evaluate(self, scores: ArrayLike) -> SmoothEvaluation:
        """Evaluate at scores of shape (n_samples,): the hinge, and the smoothed derivatives."""
        sweep = self.sweep(scores, "smoothed_hinge", width=self.width)
        value = self.margin * sweep.n_active + sweep.balance_scores
        return SmoothEvaluation(
            self,
            sweep,
            value,
            offset=self.margin * sweep.slope_sum,
            curvature=1 / self.width,
            smoothing=max(sweep.smoothing, 0.0),
            slack=ROUNDING * sweep.band_magnitude,
        )


class SmoothEvaluation:
    """A loss at given scores, with its generalised Hessian: a multiple of the Laplacian M.

    Attributes
    ----------
    value : float
    gradient : ndarray of shape (n_samples,)
    offset : float
    smoothing : float
    slack : float
    rounding : float
    curvature : float
        The Hessian is ``curvature * M``.
    """

    def __init__(
        self,
        loss: PairLoss,
        sweep: _core.Sweep,
        value: float,
        *,
        offset: float,
        curvature: float,
        smoothing: float = 0.0,
        slack: float = 0.0,
    ) -> None:
        self._loss, self._sweep = loss, sweep
        self.value = value
        self.gradient: Vector = sweep.gradient
        self.offset = offset
        self.smoothing = smoothing
        self.slack = slack
        self.rounding: float = ROUNDING * sweep.magnitude
        self.curvature = curvature

    @property
    def groups(self) -> QueryGroups:
        """The queries; the Hessian has one diagonal block for each."""
        return self._loss.groups

    def n_levels(self, query: int) -> int:
        """Return the number of distinct labels of a query."""
        return int(self._loss.n_levels[query])

    @property
    def hessian_diagonal(self) -> Vector:
        """The diagonal of the Hessian, of shape (n_samples,)."""
        return self.curvature * self._sweep.degree()

    def hessian_product(self, v: ArrayLike) -> NDArray[np.float64]:
        """Multiply by the Hessian.

        Parameters
        ----------
        v : array-like of shape (n_samples,) or (n_samples, k)

        Returns
        -------
        ndarray of the shape of `v`
        """
        block = self._loss.as_vectors(v)
        product: NDArray[np.float64] = self._sweep.laplacian(block, n_threads=self._loss.n_threads)
        product *= self.curvature
        return product

    @cached_property
    def order(self) -> NDArray[np.int64]:
        """The rows in order of query, then score: of shape (n_samples,)."""
        return self._sweep.rows()

    @property
    def half_laplacian_unit(self) -> float:
        """The unit of `half_laplacian`: a power of two that keeps it within single precision."""
        return self._sweep.half_laplacian_unit

    def half_laplacian(
        self,
        queries: tuple[int, int],
        rows: NDArray[Any],
        out: NDArray[Any],
        columns: tuple[int, int] | None = None,
    ) -> None:
        """Multiply by N, where ``M = unit (N + N')``, for consecutive queries, on this thread.

        Parameters
        ----------
        queries : tuple (first, last)
            The queries ``first .. last - 1``.
        rows : ndarray of shape (n_rows, k), float32 or float64
            One row for each document of these queries, as in `order`.
        out : ndarray of the shape and dtype of `rows`
            Receives the product.
        columns : tuple (first, last), optional
            Treat the columns ``first .. last - 1`` only.
        """
        first_column, last_column = columns or (0, rows.shape[1])
        self._sweep.half_laplacian(*queries, rows, first_column, last_column, out)
