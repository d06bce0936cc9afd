r"""Features as the values of B-splines, whose weighted sum is a smooth curve for each feature.

With the B-splines :math:`B_1 \ldots B_p` of a degree over knots :math:`t`, a feature x becomes
:math:`B_1(x) \ldots B_p(x)`, of which degree + 1 are not zero: the scores are
:math:`\sum_k f_k(x_k)` with :math:`f_k = \sum_j w_{kj} B_{kj}`, an additive ranker.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .base import MAX_MEMORY, FeatureMap, Matrix, Vector, densified, require_ascending, require_room

_EXTRAPOLATIONS = ("error", "constant", "linear", "continue", "periodic")
_MOST_DEGREES = 30


@dataclass(frozen=True, eq=False)
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
            raise ValueError(f"extrapolation must be one of {', '.join(_EXTRAPOLATIONS)}")
        if not 1 <= self.degree <= _MOST_DEGREES or len(self.knots) < 2 * self.degree + 2:
            raise ValueError(
                f"splines of degree {self.degree} have at least {2 * self.degree + 2} knots and "
                f"a degree from 1 to {_MOST_DEGREES}; there are {len(self.knots)} knots"
            )
        if self._n_splines < 1:
            raise ValueError("no spline of a feature is left")
        require_ascending(self.knots, "knots")

    @classmethod
    def fitted(cls, X: Any, n_knots: int = 5, degree: int = 3) -> SplineMap:
        """Return splines with evenly spaced knots from the least to the greatest value of each.

        Parameters
        ----------
        X : ndarray or CSR matrix of shape (n_samples, n_features)
        n_knots : int, default=5
        degree : int, default=3
        """
        low, high = (
            np.asarray(bound.todense()).ravel() if hasattr(bound, "todense") else bound
            for bound in (X.min(axis=0), X.max(axis=0))
        )
        step = np.where(high > low, high / (n_knots - 1) - low / (n_knots - 1), 1.0)
        places = np.arange(-degree, n_knots + degree)
        knots = low + places[:, None] * step
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
        """Map rows, as for `FeatureMap.apply`, to sparse ones."""
        from scipy.sparse import hstack

        n_stored = X.shape[1] * (self.degree + 1)
        require_room(X.shape[0], 2 * n_stored, f"the {n_stored:,} values of splines", max_memory)
        X = densified(X, max_memory)
        columns = [self._of_column(k, X[:, k]) for k in range(X.shape[1])]
        return hstack(columns, format="csr")

    def _of_column(self, k: int, values: Vector) -> Any:
        """Return the splines of a feature, sparse, of shape (n_samples, n_splines)."""
        knots = np.ascontiguousarray(self.knots[:, k])
        low, high = knots[self.degree], knots[-self.degree - 1]
        if self.extrapolation == "error" and np.any((values < low) | (values > high)):
            raise ValueError(
                f"feature {k + 1} has values beyond the knots of its splines, {low:g} to {high:g}"
            )
        if self.extrapolation == "periodic":
            period = high - low
            values = low + (values - low) % period if period > 0 else np.zeros_like(values)
        splines = self._within(knots, values, low, high)
        if self.extrapolation == "periodic":
            splines = splines[:, : -self.degree] + _wider(
                splines[:, -self.degree :], splines.shape[1] - self.degree
            )
        return splines[:, : self._n_splines]

    def _within(self, knots: Vector, values: Vector, low: float, high: float) -> Any:
        from scipy.interpolate import BSpline

        inside = values
        if self.extrapolation in ("constant", "linear"):
            inside = np.clip(values, low, high)
        extrapolates = self.extrapolation in ("continue", "periodic")
        splines = BSpline.design_matrix(
            np.ascontiguousarray(inside), knots, self.degree, extrapolates
        )
        if self.extrapolation == "linear":
            splines = splines + _beyond(knots, self.degree, values - inside, low, high)
        return splines


def _beyond(knots: Vector, degree: int, distance: Vector, low: float, high: float) -> Any:
    """Return what lines from the ends add at a distance, negative below and positive above."""
    from scipy.interpolate import BSpline
    from scipy.sparse import csr_matrix

    curves = BSpline.construct_fast(knots, np.eye(len(knots) - degree - 1), degree)
    slopes = csr_matrix(np.nan_to_num(curves(np.array([low, high]), nu=1)))
    beyond = np.column_stack([np.minimum(distance, 0), np.maximum(distance, 0)])
    return csr_matrix(beyond) @ slopes


def _wider(X: Any, n_columns: int) -> Any:
    from scipy.sparse import csr_matrix

    X = X.tocsr()
    return csr_matrix((X.data, X.indices, X.indptr), shape=(X.shape[0], n_columns))
