"""Sums of floating-point numbers that are exact, as sums of whole numbers.

Sums over parts of a long array are differences of its prefix sums, in which floating-point numbers
would lose their digits. Whole multiples of a unit lose none, sums that overflow included, as long
as the differences themselves do not overflow. They are also the same in any order of addition.
"""

from __future__ import annotations

from typing import Any

from .device import ArrayDevice


class FixedPoint:
    """Numbers as multiples of a unit, and of a much smaller unit for what that leaves.

    Parameters
    ----------
    device : ArrayDevice
    largest : array of shape (1,) or (k, 1)
        No number is larger, in absolute value; or none in the same row of a block.
    n_terms : int
        No sum that matters has more terms.
    n_digits : int, default=2
        Without the second, the unit is `largest` times ``n_terms * 2**-60``, or nearly so.
    """

    def __init__(self, device: ArrayDevice, largest: Any, n_terms: int, n_digits: int = 2) -> None:
        xp = self._xp = device.xp
        n_bits = 60 - n_terms.bit_length()  # three times n_terms digits fit into 62 bits
        normal = xp.where(largest > 2.0**-960, largest, 2.0**-960)  # the scale must not overflow
        # Powers of two by search: those of libraries need not be exact.
        powers = device.powers_of_two
        exponent = xp.searchsorted(powers, xp.reshape(normal, (-1,)), side="right") - 1023
        scale = device.take(powers, n_bits - 1 - exponent + 1022)
        self._scale = xp.reshape(scale, tuple(normal.shape))
        self._ratio = 2.0**n_bits
        self._n_digits = n_digits

    def digits(self, values: Any) -> Any:
        """Split into whole numbers of the units, of shape (n_digits, ...)."""
        xp = self._xp
        scaled = values * self._scale
        digits = [xp.round(scaled)]
        if self._n_digits > 1:
            digits.append(xp.round((scaled - digits[0]) * self._ratio))
        return xp.astype(xp.stack(digits), xp.int64)

    def number(self, digits: Any) -> Any:
        """Put digits together again."""
        digits = self._xp.astype(digits, self._xp.float64)
        number = digits[0, ...]
        if self._n_digits > 1:
            number = number + digits[1, ...] / self._ratio
        return number / self._scale
