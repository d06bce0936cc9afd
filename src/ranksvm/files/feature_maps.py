"""What model files hold of the maps in front of a linear model.

::

    "maps": [
      {"map": "quantiles", "distribution": "uniform", "from_zero": true, "quantiles": [...]},
      {"map": "splines", "degree": 3, "extrapolation": "constant", ..., "knots": [...]}
    ]

The fields are those of the map (`ranksvm.models.maps`). In the safetensors layout, arrays are
tensors, "maps.0.quantiles" and so on, by the number of the map.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..models.maps import MAPS, FeatureMap
from .fields import is_finite
from .quoting import shown
from .safetensors import Tensor
from .source import DataError

_MOST_MAPS = 100
_MOST = 1 << 31  # of features, as files count them


def check(maps: Sequence[FeatureMap]) -> None:
    """Refuse to save what could not be loaded."""
    for number, one in enumerate(maps, 1):
        for key, values in one.arrays().items():
            if not np.isfinite(values).all():
                raise InputError(f"the {key} of map {number}, {one.name}, must be finite")


def to_json_parts(maps: Sequence[FeatureMap]) -> list[dict[str, Any]]:
    """Return what a JSON file holds of maps."""
    return [{"map": one.name, **one.fields(), **one.arrays()} for one in maps]


def from_json_parts(content: dict[str, Any], name: str) -> list[FeatureMap]:
    """Read the maps of a JSON file that messages call `name`."""
    maps = []
    for place, kind, fields in _listed(content, name):
        arrays = {
            key: _array(fields.get(key), n_dimensions, f'{place}: "{key}"')
            for key, n_dimensions in kind.ARRAYS.items()
        }
        _require_keys(fields, {"map", *kind.FIELDS, *kind.ARRAYS}, place)
        maps.append(_made(kind, fields, arrays, place))
    return maps


def tensors(maps: Sequence[FeatureMap]) -> dict[str, NDArray[np.float64]]:
    """Return the arrays of maps under the names that they have in a safetensors file."""
    return {
        f"maps.{k}.{key}": np.asarray(values, dtype=np.float64)
        for k, one in enumerate(maps)
        for key, values in one.arrays().items()
    }


def metadata(maps: Sequence[FeatureMap]) -> dict[str, Any]:
    """Return the other fields, if there are maps."""
    if not maps:
        return {}
    return {"maps": [{"map": one.name, **one.fields()} for one in maps]}


def expected(content: dict[str, Any], name: str) -> dict[str, Tensor]:
    """Return the tensors that the maps in the metadata of a safetensors file have."""
    return {
        f"maps.{k}.{key}": Tensor("F64", n_dimensions)
        for k, (_, kind, _) in enumerate(_listed(content, name))
        for key, n_dimensions in kind.ARRAYS.items()
    }


def from_tensors(
    found: dict[str, NDArray[Any]], content: dict[str, Any], name: str
) -> list[FeatureMap]:
    """Return the maps of a safetensors file, of tensors that have been read."""
    maps = []
    for k, (place, kind, fields) in enumerate(_listed(content, name)):
        arrays = {key: found[f"maps.{k}.{key}"] for key in kind.ARRAYS}
        for key, values in arrays.items():
            if not np.isfinite(values).all():
                raise DataError(f'{place}: the numbers of "{key}" must be finite')
        _require_keys(fields, {"map", *kind.FIELDS}, place)
        maps.append(_made(kind, fields, arrays, place))
    return maps


def _listed(
    content: dict[str, Any], name: str
) -> list[tuple[str, type[FeatureMap], dict[str, Any]]]:
    """Return what messages call each map, its kind and its fields."""
    maps = content.get("maps", [])
    if not isinstance(maps, list) or len(maps) > _MOST_MAPS:
        raise DataError(f'{name}: "maps" must list at most {_MOST_MAPS} maps of features')
    found = []
    for number, fields in enumerate(maps, 1):
        kind = fields.get("map") if isinstance(fields, dict) else None
        if not isinstance(kind, str) or kind not in MAPS:
            raise DataError(
                f'{name}: map {number} must be a "map" of {", ".join(MAPS)}, not {shown(kind)}'
            )
        found.append((f"{name}, map {number}, {kind}", MAPS[kind], fields))
    return found


def _require_keys(fields: dict[str, Any], wanted: set[str], place: str) -> None:
    if set(fields) != wanted:
        listed = ", ".join(f'"{key}"' for key in sorted(wanted))
        raise DataError(f"{place} must have the fields {listed}, and no others")


def _made(
    kind: type[FeatureMap], fields: dict[str, Any], arrays: dict[str, Any], place: str
) -> FeatureMap:
    given = {}
    for key, wanted in kind.FIELDS.items():
        value = fields[key]
        fits = is_finite(value) if wanted is float else type(value) is wanted
        if not fits or (wanted is int and abs(value) >= _MOST):
            raise DataError(f'{place}: "{key}" must be {_NAMES[wanted]}, not {shown(value)}')
        given[key] = wanted(value)
    try:
        made = kind(**given, **arrays)
    except ValueError as error:
        raise DataError(f"{place}: {error}") from None
    if not 0 < made.n_outputs < _MOST:
        raise DataError(f"{place} makes {made.n_outputs} features, too many")
    return made


_NAMES: dict[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


def _array(value: Any, n_dimensions: int, place: str) -> NDArray[np.float64]:
    """Return nested lists of finite numbers as an array."""
    rows = value if n_dimensions == 2 else [value]
    if not isinstance(rows, list) or not rows:
        raise DataError(f"{place} must be a list of lists of numbers")
    for row in rows:
        if not isinstance(row, list) or not row or len(row) != len(rows[0]):
            what = "a list of numbers" if n_dimensions == 1 else "lists, each as long, of numbers"
            raise DataError(f"{place} must be {what}")
        if not all(map(is_finite, row)):
            bad = next(number for number in row if not is_finite(number))
            raise DataError(f"{place} must have numbers only, not {shown(bad)}")
    found = np.array(rows, dtype=np.float64)
    return found if n_dimensions == 2 else found[0]
