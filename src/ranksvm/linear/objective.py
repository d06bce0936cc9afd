"""The RankSVM objective in weight space, and its certificate.

::

    P(w) = 0.5 |w|^2 + c * L(X w)

For any scores s and any (sub)gradient g of L at s, Fenchel duality bounds the optimum from below
(:eq:`dual`)::

    D = c * (L(s) - g's) - 0.5 |c X'g|^2  <=  min P.

At ``s = X w`` the two differ by ``P - D = 0.5 |w + c X'g|^2``, half the squared norm of the
(sub)gradient of P (:eq:`distance`): the certificate costs nothing. An epsilon-subgradient, such as
that of a smoothed hinge, does as well, and loosens the bound by ``c * epsilon``.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..arrays.matrix import ArrayMatrix
from ..pairs.losses import Hinge, LossEvaluation, SmoothedHinge, SmoothEvaluation, SquaredHinge
from .matrix import DesignMatrix

Vector = NDArray[np.float64]
Matrix = DesignMatrix | ArrayMatrix
Scores = Any  # one number for each row, where the loss lives: of NumPy, or of a device's library
Loss = SquaredHinge | SmoothedHinge | Hinge


class LinearObjective:
    """The objective of a linear ranker.

    Parameters
    ----------
    X : DesignMatrix, ArrayMatrix, ndarray or CSR matrix of shape (n_samples, n_features)
    loss : SquaredHinge, SmoothedHinge or Hinge
        On the device of X.
    c : float
        Weight of the loss.
    n_threads : int, default=1
    """

    def __init__(self, X: ArrayLike | Matrix, loss: Loss, c: float, n_threads: int = 1) -> None:
        if not isinstance(X, (DesignMatrix, ArrayMatrix)):
            X = DesignMatrix.from_array(X)
        self.X: Matrix = X
        self.loss = loss
        self.c = float(c)
        self.n_threads = n_threads

    def with_loss(self, loss: Loss) -> LinearObjective:
        """Return the same objective with another loss."""
        other = copy.copy(self)
        other.loss = loss
        return other

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.X.shape[1]

    @cached_property
    def standardization(self) -> tuple[Vector, Vector]:
        """Shift and scale of each feature, as used for the explicit Hessian."""
        return self.X.standardization(self.n_threads)

    def evaluate(self, w: ArrayLike) -> LinearEvaluation:
        """Evaluate the objective at weights of shape (n_features,)."""
        weights = np.ascontiguousarray(w, dtype=np.float64)
        scores = self.X.dot(weights, self.n_threads) if weights.any() else self.X.zeros()
        return LinearEvaluation(self, weights, scores, self.loss.evaluate(scores))

    def smoothed(self) -> LinearObjective:
        """Return this, with derivatives that are smooth: of the smoothed hinge for the hinge."""
        return self.with_loss(self.loss.smoothed()) if isinstance(self.loss, Hinge) else self


class LinearEvaluation:
    """The objective at given weights.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
    scores : array of shape (n_samples,)
        Where the loss lives.
    value : float
    """

    def __init__(
        self, objective: LinearObjective, weights: Vector, scores: Scores, loss: LossEvaluation
    ) -> None:
        self.weights, self.scores = weights, scores
        self.loss = loss
        self._objective = objective
        self.value: float = 0.5 * float(weights @ weights) + objective.c * loss.value

    @cached_property
    def gradient(self) -> Vector:
        """The (sub)gradient ``w + c X'g``, of shape (n_features,)."""
        objective = self._objective
        return self.weights + objective.c * objective.X.t_dot(
            self.loss.gradient, objective.n_threads
        )

    @cached_property
    def distance(self) -> float:
        """The part of the gap that comes from the weights: half the squared gradient."""
        return 0.5 * float(self.gradient @ self.gradient)

    @property
    def absolute_gap(self) -> float:
        """``P - D``: no point is better than this one by more."""
        return self.distance + self.smoothing + self.rounding

    @property
    def plane(self) -> tuple[Vector, float]:
        """The plane that touches ``c * L(X w)`` here from below: its slope and offset."""
        offset = self._objective.c * (self.loss.offset - self.loss.slack)
        return self.gradient - self.weights, offset

    @property
    def rounding(self) -> float:
        """How exactly the value and its bound are known."""
        return self._objective.c * self.loss.rounding

    @property
    def lower_bound(self) -> float:
        """The dual value D, a lower bound of the optimum."""
        return self.value - self.absolute_gap

    @property
    def duality_gap(self) -> float:
        """The relative duality gap ``(P - D) / max(|P|, tiny)``."""
        return self.absolute_gap / max(abs(self.value), float(np.finfo(np.float64).tiny))

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing, not from the weights."""
        return self._objective.c * (self.loss.smoothing + self.loss.slack)

    def narrowed(self, ratio: float) -> LinearEvaluation:
        """Return the same weights with the width of the smoothing multiplied by `ratio`."""
        loss = self._objective.loss
        assert isinstance(loss, SmoothedHinge)
        objective = self._objective.with_loss(loss.with_width(ratio * loss.width))
        return LinearEvaluation(
            objective, self.weights, self.scores, objective.loss.evaluate(self.scores)
        )

    @property
    def _smooth_loss(self) -> SmoothEvaluation:
        if not isinstance(self.loss, SmoothEvaluation):
            raise TypeError("the hinge loss has no second derivatives; use the smoothed hinge")
        return self.loss

    def image(self, p: Vector) -> Scores:
        """Return ``X p``, how the scores move when the weights move along p."""
        return self._objective.X.dot(p, self._objective.n_threads)

    def hessian_product(self, p: Vector, image: Scores | None = None) -> Vector:
        """Multiply p, of shape (n_features,), by the Hessian ``I + c X'HX`` (:eq:`hessian`).

        `image` is ``X p``, if it is known already.
        """
        objective = self._objective
        scores = self.image(p) if image is None else image
        curvature = self._smooth_loss.hessian_product(scores)
        product = objective.X.t_dot(curvature, objective.n_threads)
        product *= objective.c
        product += p
        return product

    @cached_property
    def hessian_diagonal_bound(self) -> Vector:
        """Bound the diagonal of the Hessian: ``1 + c (X * X)' diag(H)``, pairs taken singly.

        The same pass over X yields the gradient: ask for this first.
        """
        objective = self._objective
        product, squares = objective.X.t_dot_squares(
            self.loss.gradient, self._smooth_loss.hessian_diagonal, objective.n_threads
        )
        self.gradient = self.weights + objective.c * product
        return 1 + objective.c * squares

    def hessian(self) -> NDArray[np.float64]:
        """Form the Hessian ``I + c X'HX``, of shape (n_features, n_features)."""
        scaled, scale = self.scaled_hessian()
        return scaled / np.outer(scale, scale)

    def scaled_hessian(
        self, dtype: type[np.floating] = np.float64
    ) -> tuple[NDArray[np.float64], Vector]:
        """Form the Hessian explicitly, for standardised features.

        Parameters
        ----------
        dtype : numpy.float32 or numpy.float64
            Precision of the products.

        Returns
        -------
        hessian : ndarray of shape (n_features, n_features)
            ``diag(scale) (I + c X'HX) diag(scale)``.
        scale : ndarray of shape (n_features,)
        """
        objective = self._objective
        shift, scale = objective.standardization
        scaled = objective.X.hessian(self._smooth_loss, shift, scale, dtype, objective.n_threads)
        scaled *= objective.c
        scaled[np.diag_indices_from(scaled)] += scale**2
        return scaled, scale

    def along(self, p: Vector, image: Scores | None = None) -> Line:
        """Restrict the objective to ``w + t p``; `image` is ``X p``, if it is known already."""
        return Line(self._objective, self, p, self.image(p) if image is None else image)


@dataclass(frozen=True, eq=False)
class Line:
    """The objective along a direction: a trial costs a sweep over the scores, no pass over X."""

    objective: LinearObjective
    start: LinearEvaluation
    direction: Vector
    image: Scores

    @cached_property
    def slope(self) -> float:
        """The derivative at the start."""
        return self._slope(self.start)

    def _slope(self, evaluation: LinearEvaluation) -> float:
        slope = float(evaluation.weights @ self.direction)
        return slope + self.objective.c * float(evaluation.loss.gradient @ self.image)

    def trial(self, step: float) -> Trial:
        """Evaluate at ``w + step * p``."""
        weights = self.start.weights + step * self.direction
        scores = self.start.scores + step * self.image
        loss = self.objective.loss.evaluate(scores)
        evaluation = LinearEvaluation(self.objective, weights, scores, loss)
        return Trial(step, self._slope(evaluation), -0.5 * self.slope, evaluation)


@dataclass(frozen=True, eq=False)
class Trial:
    """A point on a line.

    Attributes
    ----------
    step : float
    slope : float
        The derivative along the line there.
    decrement : float
        What the step 1 would gain on a parabola with its vertex there.
    evaluation : LinearEvaluation
    """

    step: float
    slope: float
    decrement: float
    evaluation: LinearEvaluation
