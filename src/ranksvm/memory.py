"""Amounts of memory, as people write them."""

from __future__ import annotations

import math
import re
from typing import Any

from .errors import InputError

_AMOUNT = re.compile(r"\s*([0-9.]+(?:e[+-]?[0-9]+)?)\s*([KMGT]?)(I?)B?\s*", re.IGNORECASE)


def bytes_of(amount: Any, name: str = "max_memory") -> float:
    """Return how many bytes a number, or a text such as "4G", "500 MB" or "2GiB", stands for.

    Raises
    ------
    InputError
        If it stands for none, or is not above zero.

    Examples
    --------
    >>> from ranksvm.memory import bytes_of
    >>> bytes_of("4G"), bytes_of("2GiB"), bytes_of(1e6)
    (4000000000.0, 2147483648.0, 1000000.0)
    """
    found = _AMOUNT.fullmatch(amount) if isinstance(amount, str) else None
    try:
        if found is None:
            size = math.nan if isinstance(amount, (str, bool)) else float(amount)
        else:
            number, unit, binary = found.groups()
            power = "KMGT".find(unit.upper()) + 1 if unit else 0
            size = float(number) * (1024.0 if binary else 1000.0) ** power
    except (TypeError, ValueError):
        size = math.nan
    if not size > 0:
        raise InputError(
            f"{name} must be a number of bytes above 0, or a text such as '4G', not {amount!r}"
        )
    return size
