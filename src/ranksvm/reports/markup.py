"""HTML and SVG from elements: whatever is not markup is text, and is escaped."""

from __future__ import annotations

import html
import re
from typing import Any

# What HTML has no place for, and what changes the direction of all that follows: texts come from
# files, and may be hostile.
_UNFIT = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
    "\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_VOID = ("meta",)


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def escaped(content: Any) -> Markup:
    """Return markup as it is, and all else as text."""
    if isinstance(content, Markup):
        return content
    return Markup(html.escape(_UNFIT.sub("\ufffd", str(content))))


def joined(parts: Any) -> Markup:
    """Return parts one after the other."""
    return Markup("".join(map(escaped, parts)))


def element(name: str, /, *content: Any, **attributes: Any) -> Markup:
    """Return an element.

    Parameters
    ----------
    name : str
    *content : Markup or text
    **attributes
        Underscores stand for hyphens, and one at the end for nothing; those of None are left out.
    """
    given = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(_coordinate(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Markup(f"<{name}{given}>")
    return Markup(f"<{name}{given}>{joined(content)}</{name}>")


def _coordinate(value: Any) -> Any:
    """Return numbers with one digit after the point at most, which pictures do not need more of."""
    return f"{value:.1f}".removesuffix(".0") if isinstance(value, float) else value
