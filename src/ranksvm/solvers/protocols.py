"""What solvers need from an objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]
# What an objective needs to know of a direction, linear in it: of NumPy, or of the library of a
# device, whose arrays have the same operators.
Image: TypeAlias = NDArray[np.float64]
P = TypeVar("P", bound="Point")
P_co = TypeVar("P_co", bound="Point", covariant=True)


class Plane(NamedTuple):
    """The plane ``slope'w + offset``, its slope exact to within ``noise * grain``."""

    slope: Vector
    offset: float
    noise: float
    grain: Vector

    @property
    def is_finite(self) -> bool:
        """Whether it lies within floating point."""
        return bool(np.isfinite(self.offset) and np.isfinite(self.slope).all())


class NewtonSystem(NamedTuple):
    """Hessian ``B'HB`` by coordinates y of the step ``B y``, and the maps B' and B.

    The Hessian may be rough: that of a part of the data.
    """

    hessian: NDArray[np.float64]
    to_coordinates: Callable[[Vector], Vector]
    to_weights: Callable[[Vector], Vector]
    is_rough: bool = False


class FewRows(NamedTuple):
    """The quadratic function ``l'B p + (B p)'M (B p) / 2`` of a step p, for B of few rows.

    Attributes
    ----------
    slope : ndarray of shape (n_rows,)
        l.
    curvature : ndarray of shape (n_rows, n_rows)
        M.
    image, transposed : callable
        Products with B and B'.
    gram : callable
        ``B diag(a) B'`` for a vector a that is never negative.
    """

    slope: Vector
    curvature: NDArray[np.float64]
    image: Callable[[Vector], Vector]
    transposed: Callable[[Vector], Vector]
    gram: Callable[[Vector], NDArray[np.float64]]


class Face(NamedTuple):
    """Where a penalty is smooth, and its gradient there.

    Attributes
    ----------
    gradient : ndarray of shape (size,)
    low, high : ndarray of shape (size,)
        Ends of the intervals, coordinate by coordinate.
    """

    gradient: Vector
    low: Vector
    high: Vector


class Separable(Protocol):
    """A convex function of the weights that is a sum over them, with kinks and bounds."""

    @property
    def is_smooth(self) -> bool:
        """Whether it has neither."""

    def value(self, w: Vector) -> float:
        """Return it; infinite where weights may not be."""

    def curvature(self, w: Vector) -> Vector:
        """Return its second derivatives."""

    def proximal(self, z: Vector, step: Vector) -> Vector:
        """Return the least ``R(x) + |x - z|^2 / (2 step)``, coordinate by coordinate."""

    def face(self, w: Vector, towards: Vector) -> Face:
        """Return where it is smooth around w, on the side of other weights at a kink."""

    def nearest(self, w: Vector) -> Vector:
        """Return w, or where weights may be that is nearest to it."""

    def below(self, value: float) -> Separable:
        """Return this with bounds that hold wherever it is at most a value."""


class Remembered(Protocol):
    """What is to be known of an objective at given weights when solvers are elsewhere."""

    @property
    def weights(self) -> Vector:
        """Where this is, of shape (size,)."""

    @property
    def value(self) -> float:
        """The objective."""

    @property
    def rounding(self) -> float:
        """How exactly the value is known, as the function of what lines have moved."""

    def confirmed(self, bound: float, enough: float) -> tuple[Vector, float]:
        """Return weights and the objective there, computed afresh: no less than it is.

        The weights are those of this evaluation, or some near them where that brings what is
        confirmed down to `enough`. The minimum is known to be no less than `bound`.
        """


class Point(Remembered, Protocol):
    """An objective at given weights, with its certificate: all that a record needs to know."""

    @property
    def distance(self) -> float:
        """The part of the gap that comes from the weights."""

    @property
    def absolute_gap(self) -> float:
        """A bound of ``value - minimum``."""

    @property
    def lower_bound(self) -> float:
        """A lower bound of the minimum, whatever rounding has done to what it is made of."""

    def remembered(self) -> Remembered:
        """Return what is to be known of this later, in little memory."""

    @property
    def smoothing(self) -> float:
        """The part of the gap that comes from smoothing, not from the weights."""

    @property
    def width(self) -> float:
        """The width of the smoothing: 1 as an objective is smoothed at first."""

    @property
    def has_kinks(self) -> bool:
        """Whether the function itself, without the smoothing, has kinks."""

    def narrowed(self: P, ratio: float) -> P:
        """Return the same weights with the width of the smoothing multiplied by `ratio`."""


class Evaluation(Point, Protocol):
    """An objective at given weights: immutable, every part computed at most once."""

    @property
    def gradient(self) -> Vector:
        """The gradient, of the shape of the weights."""

    @property
    def plane(self) -> Plane:
        """A plane that touches ``value - 0.5 |w|^2`` here from below."""

    @property
    def sampled(self) -> Evaluation | None:
        """The objective on the sample at the same weights; None if there is none."""

    def resampled(self) -> Evaluation | None:
        """Return that on another sample, which is drawn for these weights."""

    @property
    def begins_wide(self) -> bool:
        """Whether a smoothing that begins wide may serve products from the first step on."""

    def widened(self) -> Evaluation | None:
        """Return where to begin anew with a smoothing at which the gradient is not far too long.

        None, unless regularisation is so weak that all pairs can lie at the kink.
        """

    def tied(self: P, limit: P) -> tuple[P | None, int]:
        """Return where all that pairs at the kink tie together is so, and the products it took.

        `limit` is where minima lead, like this one, for narrower smoothings. None if nothing is.
        """

    def foreseen(self, ratio: float) -> Evaluation:
        """Return the model of the narrowed smoothing if what is smoothed now stays so.

        Gradient and Hessian are those of the model.
        """

    def image(self, p: Vector) -> Image:
        """Return what the objective needs to know of a direction."""

    def hessian_product(self, p: Vector, image: Image | None = None) -> Vector:
        """Multiply by the Hessian."""

    def with_metric(self) -> tuple[Evaluation, Vector]:
        """Return this, and a diagonal that conjugate gradients are to be preconditioned by."""

    def rounded(self) -> Evaluation:
        """Return this with images and Hessian products that are quicker, and hardly less exact."""

    def near_enough(self, image: Image, target: float) -> Image | None:
        """Return the image of a step if its products tell values to within a target; else None."""

    def newton_system(self, dtype: type[np.floating], *, roughly: bool = False) -> NewtonSystem:
        """Return the equations of Newton steps; `dtype` is precise enough.

        The Hessian may be known but `roughly`.
        """

    def last_system(self) -> NewtonSystem | None:
        """Return the same by a Hessian that was formed for a problem nearby; None if none is."""

    def along(
        self, p: Vector, image: Image | None = None, *, end: Vector | None = None
    ) -> Line[Evaluation]:
        """Restrict the objective to the line through the weights along p.

        `image` is that of p, if it is known; `end` are the weights at its end, if they are known
        exactly.
        """

    def towards(
        self,
        p: Vector,
        dtype: type[np.floating] | None = None,
        *,
        roughly: bool = False,
        is_last: bool = True,
        end: Vector | None = None,
    ) -> Line[Evaluation]:
        """Restrict as `along` does, where the full step is likely to be taken.

        The pass over the data that brings the image may bring value and gradient there as well,
        and for a `dtype` the Hessian of `newton_system` in that precision, which may be known but
        `roughly`. Without one, it may bring what confirms the value there, if the step is likely to
        be the last. `end` are the weights there, if they are known exactly.
        """

    @property
    def slope_of_loss(self) -> Vector:
        """The gradient without that of the penalty."""

    def hessian_of_loss(self, dtype: type[np.floating]) -> NDArray[np.float64]:
        """Return the Hessian without that of the penalty; `dtype` is precise enough."""

    def few_rows(self) -> FewRows | None:
        """Return the model of the loss by few rows; None if its Hessian serves better."""

    def last_hessian_of_loss(self) -> NDArray[np.float64] | None:
        """Return the same as it was formed for a problem nearby; None if none is kept."""


class Trial(Protocol[P_co]):
    """A point on a line."""

    @property
    def step(self) -> float:
        """Where on the line, in lengths of the direction."""

    @property
    def slope(self) -> float:
        """The derivative along the line there."""

    @property
    def decrement(self) -> float:
        """What the step 1 would gain on a parabola with its vertex there."""

    @property
    def evaluation(self) -> P_co:
        """The objective there."""


class Line(Protocol[P_co]):
    """An objective restricted to a line."""

    @property
    def slope(self) -> float:
        """The derivative at the start."""

    def trial(self, step: float) -> Trial[P_co]:
        """Return the point at a step."""


class CountsPasses(Protocol):
    """What knows how much it has read."""

    @property
    def n_passes(self) -> int:
        """How often all data have been read so far, which is what a disk or a cluster takes."""


class Objective(CountsPasses, Protocol):
    """A function of a vector of `size` weights."""

    @property
    def size(self) -> int:
        """Number of weights."""

    @property
    def n_threads(self) -> int:
        """Threads to use for work on vectors of weights."""

    @property
    def penalty(self) -> Separable:
        """What is added to the loss."""

    def smoothed(self) -> Objective:
        """Return the same objective with smooth derivatives."""

    def narrowed(self, ratio: float) -> Objective:
        """Return this with the width of its smoothing multiplied by `ratio`."""

    def resumed(self) -> Objective:
        """Return this, smoothed as narrowly as the solution of a problem nearby left it."""

    @property
    def sampled(self) -> Objective | None:
        """Nearly the same function, made of a sample of the data; None if there is none."""

    def evaluate(
        self, w: Vector, dtype: type[np.floating] | None = None, *, roughly: bool = False
    ) -> Evaluation:
        """Return the objective at w.

        The pass over the data that this takes may bring the Hessian in the precision of a `dtype`,
        which may be known but `roughly`.
        """
