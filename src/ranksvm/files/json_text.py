"""JSON as model files hold it: numbers, texts, lists and dictionaries, without surprises."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any

import numpy as np

from ..errors import InputError
from .quoting import shown
from .source import DataError

_MAX_DEPTH = 32  # far more than a model needs, and far less than exhausts a stack


def to_json(value: Any, indent: int | None = None) -> str:
    """Return a value as JSON, with null for infinity and NaN, which JSON has no word for.

    Raises
    ------
    ValueError
        If the value holds anything but numbers, texts, arrays, lists, tuples and dictionaries, or
        is nested so deeply that `from_json` would refuse it.
    """
    text = json.dumps(_plain(value, _MAX_DEPTH), indent=indent, allow_nan=False, ensure_ascii=False)
    # A name of a file that is not UTF-8 has letters that only an escape can stand for.
    return text.encode("utf-8", "backslashreplace").decode()


def to_json_rows(content: dict[str, Any]) -> str:
    """Return a dictionary as `to_json` does, with a line for each field and each item of a list."""
    fields = []
    for key, value in content.items():
        if isinstance(value, list):
            text = "[\n  " + ",\n  ".join(map(to_json, value)) + "\n ]"
        else:
            text = to_json(value)
        fields.append(f" {to_json(key)}: {text}")
    return "{\n" + ",\n".join(fields) + "\n}"


def _plain(value: Any, levels: int) -> Any:
    if levels < 0:
        raise InputError("what a model file holds must not be nested so deeply")
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item, levels - 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, levels - 1) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, str | int | float):
        return value
    raise InputError(f"a model file holds numbers and texts, and no {type(value).__name__}")


def from_json(place: str, text: bytes) -> Any:
    """Read JSON that messages say is at `place`.

    Raises
    ------
    DataError
        If it is not UTF-8 or not JSON, gives a name twice in a dictionary, or is nested deeply.
    """
    try:
        content = json.loads(text.decode("utf-8-sig"), object_pairs_hook=_distinct)
    except UnicodeDecodeError as error:
        raise DataError(f"{place}: not UTF-8 text, from byte {error.start + 1} on") from None
    except json.JSONDecodeError as error:
        raise DataError(
            f"{place}, line {error.lineno}, column {error.colno}: not JSON: {error.msg}"
        ) from None
    except _Twice as error:
        raise DataError(f"{place}: {shown(str(error))} is given twice: remove one") from None
    except ValueError:
        raise DataError(f"{place}: a number has thousands of digits") from None
    except RecursionError:
        raise DataError(f"{place}: nested too deeply") from None
    if _is_deep(content, _MAX_DEPTH):
        raise DataError(f"{place}: nested too deeply")
    return content


class _Twice(ValueError):
    """A name that a dictionary gives twice."""


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise _Twice(Counter(name for name, _ in pairs).most_common(1)[0][0])
    return content


def _is_deep(value: Any, levels: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    items = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(item, levels - 1) for item in items)
