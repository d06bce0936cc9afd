"""The RankSVM objective at given weights: its value, derivatives and certificate.

::

    P(w) = R(w) + c * L(X w),    R(w) = 0.5 |w|^2

For any scores s and any (sub)gradient g of L at s, Fenchel duality bounds the optimum from below
(:eq:`dual`)::

    D = c * (L(s) - g's) - R*(-c X'g)  <=  min P.

At ``s = X w`` the two differ by ``P - D = 0.5 |w + c X'g|^2``, half the squared norm of the
(sub)gradient of P (:eq:`distance`): the certificate costs nothing. An epsilon-subgradient, such as
that of a smoothed hinge, does as well, and loosens the bound by ``c * epsilon``. So does a multiple
of g, of which the best is known (:eq:`best-multiple`); it is never negative, and far from the
optimum it is the better by orders of magnitude.

Rounding belongs to the certificate. A lower bound allows for that of the loss, of its gradient, and
of ``X'g``, column by column. The value is what it is at weights, not at scores that were moved
along lines and drifted from ``X w``: in the end it is computed afresh, and raised by what the
rounding of scores could hide (`ranksvm.linear.objective.LinearObjective.upper_value`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..lazy import cached_property
from ..pairs.loss_evaluation import LossEvaluation, SmoothEvaluation
from ..pairs.losses import PairLoss, SquaredHinge
from ..pairs.sweeps import Scores
from ..records import record
from ..solvers.protocols import FewRows, NewtonSystem, Plane
from .dual_curve import Dual
from .known import LastSolution
from .matrix import Fresh, Hessian, Matrix, Rounded, Slope
from .penalties import SQUARED_NORM, Penalty
from .rough_hessian import MUCH, promised
from .row_space import RowSpace

Vector = NDArray[np.float64]

RARE, RARER = 0.1, 4.0  # features for each row, between which rare ones matter


@record
class Terms:
    """What the objective of a linear ranker is the sum of, and how it is computed.

    Parameters
    ----------
    X : Matrix of shape (n_samples, n_features)
    loss : PairLoss
        Of pairs that live where X does.
    c : float
        Weight of the loss.
    n_threads : int, default=1
    penalty : Penalty, optional
        R; by default ``0.5 |w|^2``.
    rows : RowSpace, optional
        Of X: where to find Newton steps for that penalty, if not by the Hessian in weight space.
    last : LastSolution, optional
        Keeps the Hessian that was formed last, and slopes, for other weights and another c.
    rounded : Rounded, optional
        What images and Hessian products are computed by, instead of X.
    """

    X: Matrix
    loss: PairLoss
    c: float
    n_threads: int = 1
    penalty: Penalty = SQUARED_NORM
    rows: RowSpace | None = None
    last: LastSolution | None = None
    rounded: Rounded | None = None

    @property
    def products(self) -> Matrix | Rounded:
        """What images and Hessian products are computed by."""
        return self.X if self.rounded is None else self.rounded

    @property
    def size(self) -> int:
        """Number of weights."""
        return self.X.shape[1]

    def has_few_rows(self, *, by_levels: bool) -> bool:
        """Say whether weights can give rows any scores nearly; or rank them as any labels say."""
        pairs, (n, d) = self.loss.pairs, self.X.shape
        n_levels = getattr(pairs, "n_levels", None) if by_levels else None  # a cluster has none
        if n_levels is None:
            return n - pairs.groups.n_queries < d
        return pairs.groups.n_to_rank(n_levels) < d

    @property
    def n_passes(self) -> int:
        """How often X has been read so far."""
        return self.X.n_passes

    @cached_property
    def grain(self) -> Vector:
        """How the rounding of ``X'g`` is spread over the features: as the lengths of columns."""
        return np.sqrt(self.X.column_squares(self.n_threads))

    @cached_property
    def restraint(self) -> Vector | float:
        """What to multiply the diagonal of the loss by, to precondition conjugate gradients.

        ``rarity^min(d / 3n, 1 / 4)``: where sparse rows are hardly more than features, rare
        features curve the loss together by more than each of them alone (:eq:`restraint`).
        """
        n, d = self.X.shape
        rarity = self.X.rarity(self.n_threads) if RARE * n <= d <= RARER * n else None
        return 1.0 if rarity is None else rarity ** min(d / (3 * n), 0.25)

    @property
    def has_far_fewer_rows(self) -> bool:
        """Whether conjugate gradients go at the pace of the rows' dot products."""
        n, d = self.X.shape
        return d > RARER * n


@record
class AtWeights:
    """The objective at given weights; immutable, every part computed at most once.

    Attributes
    ----------
    objective : Terms
    weights : ndarray of shape (n_features,)
    scores : array of shape (n_samples,)
        Where the loss lives.
    loss : LossEvaluation
    known_slope : Slope or None
        The gradient of the loss by the weights, if a pass over X has brought it already.
    known_hessian : Hessian or None
        That of the loss, likewise.
    fresh : Fresh or None
        Scores that were computed from the weights, and not moved on the way here, likewise.
    """

    objective: Terms
    weights: Vector
    scores: Scores
    loss: LossEvaluation
    known_slope: Slope | None = None
    known_hessian: Hessian | None = None
    fresh: Fresh | None = None

    @cached_property
    def value(self) -> float:
        """The objective ``P(w)``."""
        return self.objective.penalty.value(self.weights) + self.objective.c * self.loss.value

    @cached_property
    def _of_loss(self) -> Slope:
        if self.known_slope is not None:
            return self.known_slope
        X = self.objective.X
        return Slope(X.t_dot(self.loss.gradient, self.objective.n_threads), X.rounding_of_sums)

    @cached_property
    def _slope(self) -> Vector:
        return self.objective.c * self._of_loss.values

    @cached_property
    def gradient(self) -> Vector:
        """The (sub)gradient ``w + c X'g``, of shape (n_features,)."""
        return self.objective.penalty.gradient(self.weights) + self._slope

    @cached_property
    def distance(self) -> float:
        """The part of the gap that comes from the weights: ``R(w) + R*(u) - w'u``.

        Where R* is infinite, it is what neither smoothing nor the best multiple explains.
        """
        distance = self.objective.penalty.gap(self.weights, -self._slope)
        if np.isfinite(distance):
            return distance
        return max(self.absolute_gap - self.smoothing - self.rounding, 0.0)

    @property
    def slope_of_loss(self) -> Vector:
        """The (sub)gradient ``c X'g`` of the loss alone."""
        return self._slope

    @property
    def absolute_gap(self) -> float:
        """``P - D``: no point is better than this one by more."""
        return max(self.value + self.rounding - self.lower_bound, 0.0)

    @property
    def plane(self) -> Plane:
        """A plane that touches ``c * L(X w)`` here from below."""
        loss, slope = self.loss, self._slope
        multiple = min(loss.largest_multiple, 1.0)
        offset = self.objective.c * (loss.offset - loss.slack - loss.rounding)
        if multiple < 1.0:
            slope, offset = multiple * slope, multiple * offset
        return Plane(slope, offset, self._noise, self.objective.grain)

    @cached_property
    def _noise(self) -> float:
        """How exactly the slope is known, in grains of the objective."""
        of_sums = self._of_loss.rounding * self.loss.gradient_norm
        return self.objective.c * (of_sums + self.loss.gradient_rounding)

    @property
    def rounding(self) -> float:
        """How exactly the value and its bound are known."""
        return self.objective.c * self.loss.rounding

    @property
    def lower_bound(self) -> float:
        """The dual value D of the best multiple of g, a lower bound of the optimum."""
        return self.dual.bound

    @cached_property
    def dual(self) -> Dual:
        """The dual values of multiples of g."""
        objective = self.objective
        ray = self.loss.dual(objective.c, 0.0)
        return objective.penalty.dual(ray, -self._slope, self._noise * objective.grain)

    @property
    def duality_gap(self) -> float:
        """The relative duality gap ``(P - D) / max(|P|, tiny)``."""
        return self.absolute_gap / max(abs(self.value), float(np.finfo(np.float64).tiny))

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing, not from the weights."""
        return self.objective.c * (self.loss.smoothing + self.loss.slack)

    @property
    def width(self) -> float:
        """The width of the smoothing, 1 if there is none."""
        return self.objective.loss.smoothing_width

    @property
    def has_kinks(self) -> bool:
        """Whether the loss itself, without the smoothing, has kinks."""
        return not isinstance(self.objective.loss, SquaredHinge)

    @property
    def _smooth_loss(self) -> SmoothEvaluation:
        if not isinstance(self.loss, SmoothEvaluation):
            raise TypeError("the hinge loss has no second derivatives; use the smoothed hinge")
        return self.loss

    def image(self, p: Vector) -> Scores:
        """Return ``X p``, how the scores move when the weights move along p."""
        return self.objective.products.dot(p, self.objective.n_threads)

    def slope_along(self, p: Vector, image: Scores) -> float:
        """Return the derivative along p, for the image ``X p``."""
        return self.objective.penalty.slope(self.weights, p) + self._loss_along(image)

    def slope_before(self, p: Vector, image: Scores) -> float:
        """Return the derivative along p where it ends here: at kinks, that of what lies behind."""
        return self._loss_along(image) - self.objective.penalty.slope(self.weights, -p)

    def _loss_along(self, image: Scores) -> float:
        return self.objective.c * float(self.loss.gradient @ image)

    def hessian_product(self, p: Vector, image: Scores | None = None) -> Vector:
        """Multiply p, of shape (n_features,), by the Hessian ``I + c X'HX`` (:eq:`hessian`).

        `image` is ``X p``, if it is known already.
        """
        objective = self.objective
        scores = self.image(p) if image is None else image
        curved = self._smooth_loss.hessian_product(scores)
        product = objective.products.t_dot(curved, objective.n_threads)
        product *= objective.c
        product += objective.penalty.curvature(self.weights) * p
        return product

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
        return self._with_penalty(*self._scaled_of_loss(dtype))

    def _with_penalty(
        self, scaled: NDArray[np.float64], scale: Vector
    ) -> tuple[NDArray[np.float64], Vector]:
        curvature = self.objective.penalty.curvature(self.weights)
        scaled[np.diag_indices_from(scaled)] += curvature * scale**2
        return scaled, scale

    def hessian_of_loss(self, dtype: type[np.floating] = np.float64) -> NDArray[np.float64]:
        """Form ``c X'HX``, of shape (n_features, n_features), in the precision of a dtype."""
        return _unscaled(*self._scaled_of_loss(dtype))

    def few_rows(self) -> FewRows | None:
        """Return the model of the loss by the rows of X, where they are known to be few."""
        objective, rows = self.objective, self.objective.rows
        if rows is None:
            return None
        return FewRows(
            objective.c * self.loss.gradient,
            objective.c * self._smooth_loss.hessian_product(np.eye(len(self.scores))),
            self.image,
            lambda z: objective.X.t_dot(z, objective.n_threads),
            rows.weighted_gram,
        )

    def last_hessian_of_loss(self) -> NDArray[np.float64] | None:
        """Return the same as it was formed last; None if none is kept."""
        objective = self.objective
        last = None if objective.last is None else objective.last.hessian(objective.c)
        return None if last is None else _unscaled(*last)

    def _scaled_of_loss(self, dtype: type[np.floating]) -> tuple[NDArray[np.float64], Vector]:
        objective = self.objective
        X, n_threads = objective.X, objective.n_threads
        shift, scale = X.standardization(n_threads)
        known = self._known(dtype)
        if known is not None:
            scaled = objective.c * known.matrix
        else:
            scaled = X.hessian(self._smooth_loss, shift, scale, dtype, n_threads)
            scaled *= objective.c
        if objective.last is not None:
            objective.last.keep_hessian(scaled, scale, objective.c)
        return scaled, scale

    def _known(self, dtype: type[np.floating]) -> Hessian | None:
        known = self.known_hessian
        return known if known is not None and known.dtype in (dtype, np.float64) else None

    def newton_system(
        self, dtype: type[np.floating] = np.float64, *, roughly: bool = False
    ) -> NewtonSystem:
        """Form the equations of Newton steps, for standardised features or in row space."""
        rows, known = self.objective.rows, self._known(dtype)
        if rows is not None:
            loss = self._smooth_loss
            return self._scaled_system(*rows.scaled_hessian(loss, self.objective.c, dtype))
        rough = self._rough_system() if roughly and known is None else None
        if rough is not None:
            return rough
        is_rough = known is not None and known.is_rough
        return self._scaled_system(*self.scaled_hessian(dtype))._replace(is_rough=is_rough)

    def _rough_system(self) -> NewtonSystem | None:
        objective = self.objective
        _, scale = objective.X.standardization(objective.n_threads)
        hessian = objective.X.rough_hessian(self._smooth_loss, scale, objective.n_threads)
        if hessian is None:
            return None
        slope = scale * self._of_loss.values
        if not self.weights.any() and promised(hessian, slope) < MUCH * self.loss.value:
            return None
        hessian *= objective.c
        return self._scaled_system(*self._with_penalty(hessian, scale))._replace(is_rough=True)

    def last_system(self) -> NewtonSystem | None:
        """Return the same by the Hessian of the loss that was formed last; None if none is kept."""
        objective = self.objective
        last = None if objective.last is None else objective.last.hessian(objective.c)
        return None if last is None else self._scaled_system(*self._with_penalty(*last))

    def _scaled_system(self, hessian: NDArray[np.float64], scale: Vector) -> NewtonSystem:
        rows = self.objective.rows
        if rows is None:
            return NewtonSystem(hessian, lambda g: scale * g, lambda y: scale * y)
        return NewtonSystem(
            hessian,
            lambda g: scale * rows.from_weights(g),
            lambda y: rows.to_weights(scale * y),
        )


def _unscaled(hessian: NDArray[np.float64], scale: Vector) -> NDArray[np.float64]:
    """Return the Hessian for features as they are, in double precision."""
    unscaled = hessian / scale
    unscaled /= scale[:, np.newaxis]
    return unscaled
