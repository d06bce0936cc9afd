"""Numbers as readers want them, and names that fit."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

NONE = "-"


def number(value: Any, digits: int = 4) -> str:
    """Return a number: whole ones with thousands apart, others with some digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    if isinstance(value, str | bool):
        return str(value)
    size = abs(value)
    if size < 1e9 and (size >= 10.0 ** (digits - 1) or float(value).is_integer()):
        return f"{value:,.0f}"
    return short(value, digits)


def short(value: float, digits: int = 6) -> str:
    """Return a number in few letters."""
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e").replace("e+", "e")


def at_least(value: Decimal, digits: int) -> str:
    """Return a number with so many digits, rounded down."""
    return _rounded(value, digits, ROUND_FLOOR)


def at_most(value: Decimal, digits: int) -> str:
    """Return a number with so many digits, rounded up."""
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: Decimal, digits: int, rounding: str) -> str:
    context = Context(prec=digits, rounding=rounding)
    found = context.plus(value).normalize(context)
    return f"{found:f}" if -5 < found.adjusted() < 12 else f"{found:e}"


def measured(value: float) -> str:
    """Return the value of a metric."""
    return NONE if math.isnan(value) else f"{value:.4f}"


def signed(value: float, digits: int = 4) -> str:
    """Return a difference, with its sign."""
    return NONE if math.isnan(value) else f"{round(value, digits) + 0.0:+.{digits}f}"


def interval(low: float, high: float, form: str = ".4f") -> str:
    """Return the ends of an interval."""
    if math.isnan(low) or math.isnan(high):
        return NONE
    return f"{low:{form}} to {high:{form}}"


def share(part: float, whole: float) -> str:
    """Return how many of a hundred."""
    return NONE if not whole else f"{100 * part / whole:.3g} %"


def counted(count: float, singular: str, plural: str | None = None) -> str:
    """Return how many of what."""
    return f"{number(count)} {singular if count == 1 else plural or singular + 's'}"


def fitted(name: Any, length: int = 40) -> str:
    """Return a name with an ellipsis in the middle, if it is too long."""
    text = str(name)
    half = length // 2
    return text if len(text) <= length else f"{text[: half - 1]}…{text[-half:]}"
