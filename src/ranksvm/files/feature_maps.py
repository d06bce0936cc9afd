"""What model files hold of the maps in front of a linear model.

::

    "maps": [
      {"map": "quantiles", "distribution": "uniform", "from_zero": true, "quantiles": [...]},
      {"map": "splines", "degree": 3, "extrapolation": "constant", ..., "knots": [...]}
    ]

The fields are those of the map (`ranksvm.models.maps`). "joined maps" have "branches", too, a
list of such lists. In the safetensors layout, arrays are tensors, "maps.0.quantiles" and so on, by
the number of the map; in a branch, "maps.0.branches.1.0.quantiles".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..models import maps as kinds
from ..models.maps import FeatureMap
from .fields import is_finite
from .quoting import shown
from .safetensors import Tensor
from .source import DataError

_MOST_MAPS = 100  # of a list
_MOST = 1 << 31  # of features, as files count them


def check(maps: Sequence[FeatureMap]) -> None:
    """Refuse to save what could not be loaded."""
    for number, one in enumerate(maps, 1):
        for part in one.parts:
            for key, values in part.arrays().items():
                if not np.isfinite(values).all():
                    raise InputError(f"the {key} of map {number}, {part.name}, must be finite")


def to_json_parts(maps: Sequence[FeatureMap], *, with_arrays: bool = True) -> list[dict[str, Any]]:
    """Return what a JSON file holds of maps, or that without the arrays."""
    parts = []
    for one in maps:
        part = {"map": one.name, **one.fields(), **(one.arrays() if with_arrays else {})}
        if isinstance(one, kinds.JoinedMap):
            branches = [to_json_parts(branch, with_arrays=with_arrays) for branch in one.branches]
            part["branches"] = branches
        parts.append(part)
    return parts


def from_json_parts(content: dict[str, Any], name: str) -> list[FeatureMap]:
    """Read the maps of a JSON file that messages call `name`."""

    def arrays(part: _Part) -> dict[str, NDArray[np.float64]]:
        return {
            key: _array(part.fields.get(key), n_dimensions, f'{part.place}: "{key}"')
            for key, n_dimensions in part.kind.ARRAYS.items()
        }

    return [_made(part, arrays, in_fields=True) for part in _listed(content, name)]


def tensors(maps: Sequence[FeatureMap], path: str = "maps") -> dict[str, NDArray[np.float64]]:
    """Return the arrays of maps under the names that they have in a safetensors file."""
    found = {}
    for k, one in enumerate(maps):
        for key, values in one.arrays().items():
            found[f"{path}.{k}.{key}"] = np.asarray(values, dtype=np.float64)
        if isinstance(one, kinds.JoinedMap):
            for number, branch in enumerate(one.branches):
                found |= tensors(branch, f"{path}.{k}.branches.{number}")
    return found


def metadata(maps: Sequence[FeatureMap]) -> dict[str, Any]:
    """Return the other fields, if there are maps."""
    return {"maps": to_json_parts(maps, with_arrays=False)} if maps else {}


def expected(content: dict[str, Any], name: str) -> dict[str, Tensor]:
    """Return the tensors that the maps in the metadata of a safetensors file have."""
    return {
        f"{part.path}.{key}": Tensor("F64", n_dimensions)
        for listed in _listed(content, name)
        for part in listed.whole()
        for key, n_dimensions in part.kind.ARRAYS.items()
    }


def from_tensors(
    found: dict[str, NDArray[Any]], content: dict[str, Any], name: str
) -> list[FeatureMap]:
    """Return the maps of a safetensors file, of tensors that have been read."""

    def arrays(part: _Part) -> dict[str, NDArray[np.float64]]:
        of_part = {key: found[f"{part.path}.{key}"] for key in part.kind.ARRAYS}
        for key, values in of_part.items():
            if not np.isfinite(values).all():
                raise DataError(f'{part.place}: the numbers of "{key}" must be finite')
        return of_part

    return [_made(part, arrays, in_fields=False) for part in _listed(content, name)]


class _Part(NamedTuple):
    """What a file says of a map, not yet checked.

    Attributes
    ----------
    place : str
        What messages call it.
    path : str
        What the names of its tensors begin with.
    kind : type of FeatureMap
    fields : dict
    branches : list of list of _Part
    """

    place: str
    path: str
    kind: type[FeatureMap]
    fields: dict[str, Any]
    branches: list[list[_Part]]

    def whole(self) -> Iterator[_Part]:
        """Yield the map, and all in its branches."""
        yield self
        for branch in self.branches:
            for part in branch:
                yield from part.whole()


def _listed(content: dict[str, Any], name: str) -> list[_Part]:
    """Return what a file says of each map."""
    return _parts(content.get("maps", []), "maps", name, f'{name}: "maps"')


def _parts(maps: Any, path: str, name: str, place: str) -> list[_Part]:
    """Read a list at a place, whose maps messages call by a name and their number."""
    if not isinstance(maps, list) or len(maps) > _MOST_MAPS:
        raise DataError(f"{place} must list at most {_MOST_MAPS} maps of features")
    found = []
    known = kinds.kinds_of_maps() if maps else {}
    for number, fields in enumerate(maps, 1):
        kind = fields.get("map") if isinstance(fields, dict) else None
        if not isinstance(kind, str) or kind not in known:
            raise DataError(
                f'{name}: map {number} must be a "map" of {", ".join(known)}, not {shown(kind)}'
            )
        called, inner = f"{name}, map {number}, {kind}", f"{path}.{number - 1}"
        is_joined = known[kind] is kinds.JoinedMap
        branches = _branches(fields, inner, called) if is_joined else []
        found.append(_Part(called, inner, known[kind], fields, branches))
    return found


def _branches(fields: dict[str, Any], path: str, place: str) -> list[list[_Part]]:
    branches = fields.get("branches")
    if not isinstance(branches, list) or len(branches) > _MOST_MAPS:
        raise DataError(f'{place}: "branches" must be at most {_MOST_MAPS} lists of maps')
    return [
        _parts(
            branch, f"{path}.branches.{k}", f"{place}, branch {k + 1}", f"{place}, branch {k + 1}"
        )
        for k, branch in enumerate(branches)
    ]


def _require_keys(fields: dict[str, Any], wanted: set[str], place: str) -> None:
    if set(fields) != wanted:
        listed = ", ".join(f'"{key}"' for key in sorted(wanted))
        raise DataError(f"{place} must have the fields {listed}, and no others")


def _made(
    part: _Part, arrays: Callable[[_Part], dict[str, NDArray[np.float64]]], *, in_fields: bool
) -> FeatureMap:
    """Return a map of the arrays of each part, which are among its fields or are not."""
    place, kind = part.place, part.kind
    given: dict[str, Any] = dict(arrays(part))
    keys = {"map", *kind.FIELDS, *(kind.ARRAYS if in_fields else ())}
    if kind is kinds.JoinedMap:
        keys.add("branches")
        given["branches"] = tuple(
            tuple(_made(one, arrays, in_fields=in_fields) for one in branch)
            for branch in part.branches
        )
    _require_keys(part.fields, keys, place)
    for key, wanted in kind.FIELDS.items():
        value = part.fields[key]
        fits = is_finite(value) if wanted is float else type(value) is wanted
        if not fits or (wanted is int and abs(value) >= _MOST):
            raise DataError(f'{place}: "{key}" must be {_NAMES[wanted]}, not {shown(value)}')
        given[key] = wanted(value)
    try:
        made = kind(**given)
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
