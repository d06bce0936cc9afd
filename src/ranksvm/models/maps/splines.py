r"""Features as the values of B-splines, whose weighted sum is a smooth curve for each feature.

With the B-splines :math:`B_1 \ldots B_p` of a degree over knots :math:`t`, a feature x becomes
:math:`B_1(x) \ldots B_p(x)`, of which degree + 1 are not zero: the scores are
:math:`\sum_k f_k(x_k)` with :math:`f_k = \sum_j w_{kj} B_{kj}`, an additive ranker.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ...errors import InputError
from ...records import record
from .base import MAX_MEMORY, FeatureMap, Matrix, Vector, densified, require_ascending, require_room

_EXTRAPOLATIONS = ("error", "constant", "linear", "continue", "periodic")
_MOST_DEGREES = 30


@record
class SplineMap(FeatureMap):
    """B-splines of each feature, as of scikit-learn's ``SplineTransformer``.

    Attributes
    ----------
    knots : ndarray of shape (n_knots, n_inputs)
        Ascending, with `degree` more at each end than the interval of the feature has.
    degree : int
    extrapolation : {"error", "constant", "linear", "continue", "periodic"}
        What is beyond the interval.
    include_bias : bool
        Whether the last spline of each feature is kept.
    """

    knots: Matrix
    degree: int = 3
    extrapolation: str = "constant"
    include_bias: bool = True

    name: ClassVar[str] = "splines"
    FIELDS: ClassVar[dict[str, type]] = {
        "degree": int,
        "extrapolation": str,
        "include_bias": bool,
    }
    ARRAYS: ClassVar[dict[str, int]] = {"knots": 2}

    def __post_init__(self) -> None:
        if self.extrapolation not in _EXTRAPOLATIONS:
            raise InputError(f"extrapolation must be one of {', '.join(_EXTRAPOLATIONS)}")
        if not 1 <= self.degree <= _MOST_DEGREES or len(self.knots) < 2 * self.degree + 2:
            raise InputError(
                f"splines of degree {self.degree} have at least {2 * self.degree + 2} knots and "
                f"a degree from 1 to {_MOST_DEGREES}; there are {len(self.knots)} knots"
            )
        if self._n_splines < 1:
            raise InputError("no spline of a feature is left")
        require_ascending(self.knots, "knots")

    @classmethod
    def fitted(cls, X: Any, n_knots: int = 5, degree: int = 3) -> SplineMap:
        """Return splines with evenly spaced knots from the least to the greatest value of each.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        n_knots : int, default=5
        degree : int, default=3

        Raises
        ------
        ValueError
            If knots are beyond floating point.
        """
        low, high = (
            np.asarray(bound.todense()).ravel() if hasattr(bound, "todense") else bound
            for bound in (X.min(axis=0), X.max(axis=0))
        )
        step = np.where(high > low, high / (n_knots - 1) - low / (n_knots - 1), 1.0)
        places = np.arange(-degree, n_knots + degree)
        with np.errstate(over="ignore", invalid="ignore"):
            knots = low + places[:, None] * step
            spans = knots[-1] - knots[0]
        _require_finite(spans, low, high)
        knots[n_knots + degree - 1] = np.maximum(knots[n_knots + degree - 1], high)
        return cls(np.maximum.accumulate(knots), degree)

    @property
    def n_inputs(self) -> int:
        """How many features there are."""
        return int(self.knots.shape[1])

    @property
    def n_outputs(self) -> int:
        """How many splines there are, of all features."""
        return self.n_inputs * self._n_splines

    @property
    def _n_splines(self) -> int:
        wrapped = self.degree if self.extrapolation == "periodic" else 0
        return len(self.knots) - self.degree - 1 - wrapped - (not self.include_bias)

    @property
    def description(self) -> str:
        """What the map does."""
        return (
            f"{self.n_inputs} features by {self._n_splines} splines each, of degree {self.degree}"
        )

    @property
    def domain(self) -> tuple[Vector, Vector]:
        """The interval of each feature."""
        return self.knots[self.degree], self.knots[-self.degree - 1]

    def apply(self, X: Any, qid: ArrayLike | None = None, *, max_memory: float = MAX_MEMORY) -> Any:
        """Map rows, as `FeatureMap` says, to sparse ones."""
        from scipy.sparse import csr_matrix

        n, d = X.shape
        n_stored = d * (self.degree + 1)
        require_room(n, 2 * n_stored, "the values of splines", max_memory)
        X = densified(X, max_memory)
        n_all = self._n_splines + (not self.include_bias)
        kind = np.int32 if max(n * n_stored, d * n_all) < 1 << 31 else np.int64
        values = np.empty((n, d, self.degree + 1))
        columns = np.empty(values.shape, dtype=kind)
        for k in range(d):
            values[:, k], places = self._of_feature(k, X[:, k])
            columns[:, k] = k * n_all + places % n_all
        indptr = np.arange(n + 1, dtype=kind) * kind(n_stored)
        mapped = csr_matrix((values.ravel(), columns.ravel(), indptr), (n, d * n_all))
        if self.extrapolation == "periodic":
            mapped.sum_duplicates()
        if not self.include_bias:
            mapped = mapped[:, np.arange(d * n_all) % n_all < n_all - 1]
        return mapped

    def _of_feature(self, k: int, values: Vector) -> tuple[Matrix, NDArray[np.integer]]:
        """Return the splines that are not zero, and which these are, of shape (n, degree + 1)."""
        from scipy.interpolate import BSpline

        knots = np.ascontiguousarray(self.knots[:, k])
        inside = np.ascontiguousarray(self._inside(k, values))
        extrapolates = self.extrapolation in ("continue", "periodic")
        found = BSpline.design_matrix(inside, knots, self.degree, extrapolates)
        splines = found.data.reshape(len(values), self.degree + 1)
        if self.extrapolation == "linear":
            first, last = _slopes(knots, self.degree)
            beyond = values - inside
            splines += np.minimum(beyond, 0)[:, None] * first
            splines += np.maximum(beyond, 0)[:, None] * last
        return splines, found.indices.reshape(splines.shape)

    def _inside(self, k: int, values: Vector) -> Vector:
        """Return values in the interval of a feature, unless its splines go on beyond it."""
        low, high = self.domain[0][k], self.domain[1][k]
        if self.extrapolation in ("constant", "linear"):
            return np.clip(values, low, high)
        if self.extrapolation == "periodic":
            period = high - low
            return low + (values - low) % period if period > 0 else np.zeros_like(values)
        if self.extrapolation == "error" and np.any((values < low) | (values > high)):
            raise InputError(
                f"feature {k + 1} has values beyond the knots of its splines, {low:g} to {high:g}"
            )
        return values


def _require_finite(spans: Vector, low: Vector, high: Vector) -> None:
    """Refuse features that are so large that what their knots span overflows."""
    wide = np.flatnonzero(~np.isfinite(spans))
    if len(wide):
        k = int(wide[0])
        raise InputError(
            f"feature {k + 1} goes from {low[k]:g} to {high[k]:g}, which is too far for the knots "
            "of splines in floating point; scale the features, say with scale='quantile'"
        )


def _slopes(knots: Vector, degree: int) -> tuple[Vector, Vector]:
    """Return the derivatives of the first splines at the start, and of the last at the end."""
    from scipy.interpolate import BSpline

    splines = BSpline.construct_fast(knots, np.eye(len(knots) - degree - 1), degree)
    ends = np.array([knots[degree], knots[-degree - 1]])
    slopes = np.nan_to_num(splines(ends, nu=1))
    return slopes[0, : degree + 1], slopes[1, -degree - 1 :]
