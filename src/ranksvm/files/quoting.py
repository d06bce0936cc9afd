"""What was found, as messages show it."""

from __future__ import annotations

from typing import Any

_LENGTH = 40


def shown(found: Any) -> str:
    """Return the beginning of what was found: texts in quotes, the rest as Python writes it."""
    if isinstance(found, bytes):
        found = found[: 2 * _LENGTH].decode("utf-8", "backslashreplace")
    if isinstance(found, str):
        return repr(found[:_LENGTH] + "..." * (len(found) > _LENGTH))
    text = repr(found)
    return text[:_LENGTH] + "..." * (len(text) > _LENGTH)
