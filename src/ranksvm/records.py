"""Records: dataclasses that are quick to define.

For each thing that a dataclass can do, a method is compiled when it is defined, which in many a
module takes longer than all else; so records share a constructor. That nothing is assigned to them
later is for type checkers to see, and each is equal to itself alone: most hold arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, overload

if TYPE_CHECKING:
    from inspect import Signature

T = TypeVar("T")

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform

    @overload
    def record(cls: type[T], /) -> type[T]: ...

    @overload
    def record(*, kw_only: bool) -> Callable[[type[T]], type[T]]: ...

    @dataclass_transform(eq_default=False, frozen_default=True)
    def record(cls: type[T] | None = None, /, *, kw_only: bool = False) -> Any:
        """Make a class a record of the fields that it annotates, as a dataclass is."""

else:

    def record(cls=None, /, *, kw_only=False):
        """Make a class a record of the fields that it annotates, as a dataclass is."""
        if cls is None:
            return lambda cls: record(cls, kw_only=kw_only)
        own = {"__repr__": _shown, "__init__": _construct} | vars(cls)
        cls = dataclass(cls, init=False, eq=False, repr=False, match_args=False, kw_only=kw_only)
        cls.__repr__, cls.__init__ = own["__repr__"], own["__init__"]
        cls.__signature__, each = _Signature(), fields(cls)
        positional = tuple(field.name for field in each if not field.kw_only)
        needed = {field.name for field in each if _default(field) is MISSING}
        cls._made_of = positional, needed, {field.name: field for field in each}
        return cls


def _construct(self: Any, *values: Any, **named: Any) -> None:
    positional, needed, known = self._made_of
    given = dict(zip(positional, values, strict=False))
    given.update(named)
    is_each_once = len(given) == len(values) + len(named)
    if not (is_each_once and needed <= given.keys() <= known.keys()):
        _Signature.of(type(self)).bind(*values, **named)  # raises TypeError, and says why
    for name, field in known.items():
        if name in given:
            self.__dict__[name] = given[name]
        else:
            is_made = field.default is MISSING
            self.__dict__[name] = field.default_factory() if is_made else field.default
    check = getattr(self, "__post_init__", None)
    if check is not None:
        check()


def _default(field: Field[Any]) -> Any:
    return field.default_factory if field.default is MISSING else field.default


class _Signature:
    """What a record is made of, as `inspect.signature` tells it."""

    def __get__(self, instance: object, owner: type) -> Signature:
        if owner.__init__ is not _construct:  # type: ignore[misc]
            raise AttributeError("__signature__")
        return self.of(owner)

    @staticmethod
    def of(owner: Any) -> Signature:
        """Return that of a class of records."""
        from inspect import Parameter, Signature

        parameters = [
            Parameter(
                field.name,
                Parameter.POSITIONAL_OR_KEYWORD if by_place else Parameter.KEYWORD_ONLY,
                default=Parameter.empty if _default(field) is MISSING else _default(field),
                annotation=field.type,
            )
            for by_place in (True, False)
            for field in fields(owner)
            if (field.name in owner._made_of[0]) == by_place
        ]
        return Signature(parameters)


def _shown(self: Any) -> str:
    listed = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
    return f"{type(self).__qualname__}({listed})"
