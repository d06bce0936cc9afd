"""Numbers as readers want them, and names that fit."""

from __future__ import annotations

import math
from typing import Any

NONE = "–"


def number(value: Any, digits: int = 4) -> str:
    """Return a number: whole ones with thousands apart, others with some digits."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return NONE
    if isinstance(value, str | bool):
        return str(value)
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:.{digits}g}".replace("e-0", "e-").replace("e+0", "e+")


def measured(value: float) -> str:
    """Return the value of a metric."""
    return NONE if math.isnan(value) else f"{value:.4f}"


def signed(value: float) -> str:
    """Return a difference of metrics, with its sign."""
    return NONE if math.isnan(value) else f"{value:+.4f}"


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
