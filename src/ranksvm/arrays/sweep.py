"""One sweep over scores on a device: the active pairs, and what a loss makes of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError
from .layout import PairLayout
from .partner_sums import partner_sums
from .windows import Windows

Terms = dict[str, Any]
BLOCK_BYTES = 1 << 27  # of columns that are multiplied at once, which takes some ten times as much
# Of the fixed-point sums that gradients are made of; roles take as much again.
ROUNDING = 4 * float(np.finfo(np.float64).eps)


class ArraySweep:
    """The pairs active at a margin, ``margin - (s_i - s_j) > 0``; what `_core.Sweep` is to arrays.

    Attributes and methods have the same names and meaning; arrays live on the device of the pairs,
    and are in the order of rows. Nothing but the totals is brought to the host, all at once.

    Parameters
    ----------
    pairs : PairLayout
    scores : array of shape (n_samples,)
        By row; float64.
    loss : {"hinge", "squared_hinge", "smoothed_hinge"}
    margin : float
    width : float, default=0.0
        Of the smoothed hinge.

    Attributes
    ----------
    layout : PairLayout
    windows : Windows
    gradient : array of shape (n_samples,)
        The derivative of the loss by each score.
    n_active : float
        Total weight of the active pairs.
    value, offset : float
        The loss, and where its tangent meets 0; for the smoothed hinge, the hinge, and less the
        smoothing.
    magnitude : float
        The sum of the absolute values of the terms of the loss: what rounding is relative to.
    smoothing, band_magnitude : float
        Of the smoothed hinge: the sum of ``(margin - z) (1 - alpha)``, and what rounding is
        relative to in this and the offset.

    Raises
    ------
    ValueError
        If a score is not finite, or there is not one for each row; if the width is not above 0.
    """

    def __init__(
        self, pairs: PairLayout, scores: Any, loss: str, margin: float, width: float = 0.0
    ) -> None:
        self.layout, self._device = pairs, pairs.device
        self._margin, self._width = margin, width
        if loss == "smoothed_hinge" and not width > 0:
            raise InputError(f"the width of the smoothed hinge must be above 0, not {width}")
        self._check_rows("scores", scores)
        xp = self._device.xp
        finite = xp.isfinite(scores)
        margins = (margin, margin - width) if loss == "smoothed_hinge" else (margin,)
        finish = {
            "hinge": self._finish_hinge,
            "squared_hinge": self._finish_squared_hinge,
            "smoothed_hinge": self._finish_smoothed_hinge,
        }
        with np.errstate(over="ignore", invalid="ignore"):
            self.windows = Windows(pairs, xp.where(finite, scores, 0.0), margins)
            self._sums = partner_sums(pairs, self.windows)
            slot = self._sums.last(self._sums.slot)
            self._outer = 1.0 if pairs.outer is None else self._device.take(pairs.outer, slot)
            self._place = self._device.inverse(pairs.rows(slot))
            derivative, terms = finish[loss](self._sums.last(self._sums.score))
        self.gradient: Any = self._by_row(derivative)
        # In units of the largest, so that no square overflows.
        largest = xp.max(xp.abs(derivative))
        unit = xp.where(largest > 0, largest, 1.0)
        terms["gradient_square"] = (derivative / unit) ** 2
        if "gradient_magnitude" in terms:
            terms["gradient_magnitude"] = (terms["gradient_magnitude"] / unit) ** 2
        terms["unit"] = xp.zeros_like(derivative)
        terms["unit"][:1] = unit
        terms["not_finite"] = xp.astype(~finite, self._device.float64)
        total = dict(zip(terms, self._device.totals(list(terms.values())), strict=True))
        if total["not_finite"]:
            raise InputError("scores must be finite")
        self.n_active = total["active"]
        self.value, self.offset = total["value"], total["offset"]
        self.magnitude = total["magnitude"]
        self.gradient_norm = total["unit"] * total["gradient_square"] ** 0.5
        magnitude = total["unit"] * total.get("gradient_magnitude", 0.0) ** 0.5
        self.gradient_rounding = ROUNDING * magnitude * (1 if pairs.roles is None else 2)
        self.smoothing = total.get("smoothing", 0.0)
        self.band_magnitude = total.get("band_magnitude", 0.0)

    def _finish_hinge(self, score: Any) -> tuple[Any, Terms]:
        """Return the derivative by each score, and what the totals are sums of."""
        sums, xp = self._sums, self._device.xp
        balance = self._outer * (sums.n_better - sums.n_worse)
        active = self._outer * sums.n_better
        terms = {
            "active": active,
            "value": self._margin * active + balance * score,
            "offset": self._margin * active,
            "magnitude": self._margin * active + xp.abs(balance * score),
        }
        if not sums.is_exact:
            terms["gradient_magnitude"] = self._degree
        return balance, terms

    def _finish_squared_hinge(self, score: Any) -> tuple[Any, Terms]:
        sums, xp, margin = self._sums, self._device.xp, self._margin
        balance = self._outer * (sums.n_better - sums.n_worse)
        active = self._outer * sums.n_better
        product = self._outer * sums.differences(sums.score, precise=True)
        magnitude = margin**2 * active + xp.abs(2 * margin * balance * score)
        magnitude = magnitude + xp.abs(product * score)
        if not sums.is_exact:  # differences of two sums are as inexact as these
            magnitude = magnitude + 0.25 * self._degree * score**2
        lacking, slope = margin * active + balance * score, product + margin * balance
        of_terms = margin if sums.is_exact else 4 * (margin + xp.abs(score))
        return 2 * slope, {
            "active": active,
            "value": margin * lacking + slope * score,
            "offset": margin * lacking - slope * score,
            "magnitude": magnitude,
            "gradient_magnitude": xp.abs(product) + self._degree * of_terms,
        }

    def _finish_smoothed_hinge(self, score: Any) -> tuple[Any, Terms]:
        sums, xp, margin, width = self._sums, self._device.xp, self._margin, self._width
        inner_better, inner_worse = sums.counts(1)
        sums.forget_inner()
        slack_better, slack_worse = sums.slacks(margin)
        balance = inner_better + sums.n_better - (inner_worse + sums.n_worse)
        balance = self._outer * balance
        active = self._outer * (inner_better + sums.n_better)
        band = self._outer * slack_better / width
        tilt = self._outer * (slack_better - slack_worse) / width
        terms = {
            "active": active,
            "value": margin * active + balance * score,
            "offset": margin * (self._outer * inner_better + band),
            "magnitude": margin * active + xp.abs(balance * score),
            "smoothing": (width - margin) * band - tilt * score,
        }
        of_slopes = (
            inner_better + inner_worse + (xp.abs(slack_better) + xp.abs(slack_worse)) / width
        )
        if not sums.is_exact:
            # The band's slacks are differences, in widths; partners' scores are as near as it is.
            reach = abs(margin) + width + xp.abs(score)
            terms["band_magnitude"] = 2 * self._degree * reach * (1 + xp.abs(score)) / width
            of_slopes = of_slopes + 4 * (sums.n_better + sums.n_worse) * reach / width
        terms["gradient_magnitude"] = self._outer * of_slopes
        return self._outer * (inner_better - inner_worse) + tilt, terms

    @property
    def _degree(self) -> Any:
        return self._outer * (self._sums.n_better + self._sums.n_worse)

    def _check_rows(self, name: str, values: Any) -> None:
        n = self.layout.n_samples
        if values.shape[0] != n:
            raise InputError(f"{name} has {values.shape[0]} rows where there are {n}")

    def _by_row(self, last: Any) -> Any:
        """Bring values from the last order to that of rows."""
        return self._device.take(last, self._place)

    def degree(self) -> Any:
        """Return the diagonal of M, by row."""
        return self._by_row(self._degree)

    def rows(self) -> Any:
        """Return the row at each position, that is in order of query, then score."""
        return self.layout.rows(self._sums.slot)

    def laplacian(self, v: Any, n_threads: int = 1) -> Any:
        """Return ``M v``, for v of shape (n_samples,) or (n_samples, k).

        The library of the arrays decides on threads, whatever `n_threads` is.
        """
        self._check_rows("v", v)
        if v.ndim == 2:
            return self._laplacian_block(v)
        return self._laplacian(v)

    def _laplacian_block(self, v: Any) -> Any:
        """Multiply some columns at a time, as rows: each as if it were alone, to the last bit."""
        xp, (n, n_columns) = self._device.xp, v.shape
        width = max(1, BLOCK_BYTES // (8 * max(n, 1)))
        products = [
            self._laplacian(xp.permute_dims(v[:, first : first + width], (1, 0)))
            for first in range(0, n_columns, width)
        ]
        return xp.permute_dims(xp.concat(products), (1, 0)) if products else v

    def _laplacian(self, v: Any) -> Any:
        """Multiply a vector, or each row of a block."""
        by_score = self._device.take(self.layout.by_slot(v), self._sums.slot)
        return self._by_row(self._outer * self._sums.differences(by_score))
