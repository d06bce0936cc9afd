"""Markup, axes and numbers of reports."""

from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.reports.axes import Axis
from ranksvm.reports.markup import Markup, element, escaped
from ranksvm.reports.texts import at_least, at_most, fitted, number

FINITE = st.floats(-1e12, 1e12, allow_nan=False)


def test_text_is_escaped_and_markup_is_not():
    inner = element("b", "<i> & 'quotes'", title='"')
    assert inner == '<b title="&quot;">&lt;i&gt; &amp; &#x27;quotes&#x27;</b>'
    assert element("p", inner, 1) == f"<p>{inner}1</p>"
    assert element("td", class_="a", aria_label="b", x=1.25, y=2.0, gone=None) == (
        '<td class="a" aria-label="b" x="1.2" y="2"></td>'
    )


@given(st.text(st.characters()))
def test_no_text_is_markup(text):
    found = escaped(text)
    assert not set(found) & set("<>\"'")
    assert all(letter.isprintable() or letter in "\n\t" or ord(letter) > 127 for letter in found)
    found.encode()
    assert escaped(found) is found


def test_what_steers_terminals_and_directions_is_replaced():
    assert escaped("a\x00b\x1bc\u202ed\ud800") == "a\ufffdb\ufffdc\ufffdd\ufffd"


@given(st.lists(FINITE, min_size=1, max_size=5))
def test_axes_hold_what_they_are_over(values):
    axis = Axis.over(values, 50.0, 400.0)
    places = [axis.place(value) for value in values]
    assert min(places) >= 50 - 1e-6
    assert max(places) <= 400 + 1e-6
    ticks = axis.ticks()
    assert 1 <= len(ticks) <= 8
    assert all(49 < place < 401 for place, _ in ticks)
    assert len({text for _, text in ticks}) == len(ticks) or max(map(abs, values)) > 1e5


@given(st.lists(st.floats(1e-300, 1e300), min_size=1, max_size=5))
def test_logarithmic_axes(values):
    axis = Axis.over(values, 0.0, 100.0, logarithmic=True)
    assert all(-1e-6 <= axis.place(value) <= 100 + 1e-6 for value in values)
    assert 1 <= len(axis.ticks()) <= 7


def test_ticks_are_round():
    assert [text for _, text in Axis.over([0, 1], 0, 1).ticks()] == [
        "0", "0.2", "0.4", "0.6", "0.8", "1"
    ]  # fmt: skip
    logarithmic = Axis.over([2e-9, 0.5], 0, 1, logarithmic=True)
    assert [text for _, text in logarithmic.ticks()][:2] == ["1e-9", "1e-7"]


@given(st.floats(1e-20, 1e20), st.integers(1, 12))
def test_bounds_are_rounded_to_the_safe_side(value, digits):
    exact = Decimal(value)
    low, high = Decimal(at_least(exact, digits)), Decimal(at_most(exact, digits))
    assert low <= exact <= high
    assert high - low <= Decimal(10) ** (exact.adjusted() - digits + 1)


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (0, "0"),
        (12345, "12,345"),
        (12345.67, "12,346"),
        (1.5e12, "1.5e12"),
        (0.000012345, "1.234e-5"),
        (float("nan"), "-"),
        (None, "-"),
        (np.float64(0.25), "0.25"),
        ("x", "x"),
    ],
)
def test_numbers(value, shown):
    assert number(value) == shown


def test_names_that_are_too_long_lose_their_middle():
    assert fitted("a" * 40) == "a" * 40
    assert fitted("a" * 30 + "b" * 30) == "a" * 19 + "…" + "b" * 20
    assert isinstance(escaped("x"), Markup)
