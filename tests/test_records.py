"""Records are made as dataclasses are, and say so where they cannot be."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import field, fields, replace
from typing import ClassVar

import pytest

from ranksvm.records import record


@record
class Place:
    """A place."""

    row: int
    column: int = 3
    kind: ClassVar[str] = "place"


@record(kw_only=True)
class Named(Place):
    """A place that has a name."""

    name: str
    note: str = ""
    others: list[str] = field(default_factory=list)


@record
class Checked(Place):
    """A place that has to be one."""

    def __post_init__(self) -> None:
        if self.row < 0:
            raise ValueError("no row has a negative number")


@record
class Told:
    """What is told of, by default to none."""

    listener: Callable[[str], str] = str.upper
    at_last: Callable[[str], str] = lambda text: text


class Own(Place):
    """A place that is made otherwise."""

    def __init__(self, text: str) -> None:
        super().__init__(*map(int, text.split(",")))


def test_fields_are_given_by_place_or_by_name() -> None:
    for place in (Place(1, 2), Place(1, column=2), Place(column=2, row=1), Own("1,2")):
        assert (place.row, place.column) == (1, 2)
    assert Place(1).column == 3
    named = Named(note="", name="a", row=1)
    assert list(vars(named)) == ["row", "column", "name", "note", "others"]
    assert named.others == []
    assert named.others is not Named(1, name="a").others
    assert (named.row, named.column, named.name, named.note) == (1, 3, "a", "")


def test_functions_may_be_defaults() -> None:
    assert Told().at_last("a") == "a"
    assert Told(at_last=str.title).at_last("a") == "A"
    assert Told().listener("a") == "A"


def test_records_check_themselves() -> None:
    assert Checked(1).row == 1
    with pytest.raises(ValueError, match="negative"):
        replace(Checked(1), row=-1)


def test_copies_differ_in_what_is_replaced() -> None:
    first = Named(1, name="a")
    second = replace(first, name="b", column=5)
    assert (second.row, second.column, second.name) == (1, 5, "b")
    assert (first.column, first.name) == (3, "a")
    assert [one.name for one in fields(second)] == ["row", "column", "name", "note", "others"]


def test_records_are_equal_to_themselves_alone_and_are_shown() -> None:
    place = Place(1)
    assert place == place != Place(1)
    assert repr(place) == "Place(row=1, column=3)"


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Place(), "missing a required argument: 'row'"),
        (lambda: Place(1, 2, 3), "too many positional arguments"),
        (lambda: Place(1, row=2), "multiple values for argument 'row'"),
        (lambda: Place(1, line=2), "got an unexpected keyword argument 'line'"),
        (lambda: Place(1, kind="x"), "got an unexpected keyword argument 'kind'"),
        (lambda: Named(1, 2, "a"), "'name'|too many positional"),
        (lambda: Named(1), "missing a required .*argument: 'name'"),
        (lambda: replace(Place(1), line=2), "got an unexpected keyword argument 'line'"),
    ],
)
def test_wrong_fields_are_named(make, why: str) -> None:
    with pytest.raises(TypeError, match=why):
        make()


def test_signatures_are_those_of_the_fields() -> None:
    assert str(inspect.signature(Place)) == "(row: 'int', column: 'int' = 3)"
    assert str(inspect.signature(Named)).startswith(
        "(row: 'int', column: 'int' = 3, *, name: 'str', note: 'str' = '', others: 'list[str]' ="
    )
    assert list(inspect.signature(Own).parameters) == ["text"]
