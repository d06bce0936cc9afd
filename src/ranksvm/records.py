"""Records: dataclasses that are quick to define, and as quick to make as other objects.

For each thing that a dataclass can do, a method is compiled when it is defined, which in many a
module takes longer than all else; so records have compiled constructors alone. That nothing is
assigned to them later is for type checkers to see, and each is equal to itself alone: most hold
arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, TypeVar, overload

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
        shown = vars(cls).get("__repr__", _shown)
        cls = dataclass(cls, eq=False, repr=False, kw_only=kw_only)
        cls.__repr__ = shown
        return cls


def _shown(self: Any) -> str:
    listed = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))
    return f"{type(self).__qualname__}({listed})"
