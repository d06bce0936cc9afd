"""Charts as inline SVG: small, the same bytes every time, in the colours of the page.

Their texts are those of the page, and their colours classes of its style, so that they are light or
dark with it. Each has a title, which names it to those who do not see it, and a description of what
is to be seen; values stand beside bars, or in tables.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .axes import Axis
from .markup import Markup, element, joined
from .texts import fitted, number

WIDTH = 420.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 58.0, 404.0, 10.0, 40.0
_ROW = 22.0
_NAMES = 132.0  # of bars, at the left
_VALUES = 62.0  # of bars, at the right


class Bar(NamedTuple):
    """A value with a name, and an interval if it has one."""

    name: str
    value: float
    shown: str
    low: float | None = None
    high: float | None = None


def figure(title: str, description: str, drawing: Markup, height: float) -> Markup:
    """Return a drawing with its caption."""
    picture = element(
        "svg",
        element("title", title),
        element("desc", description),
        drawing,
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
    )
    return element("figure", element("figcaption", title), picture)


def bar_chart(
    title: str, description: str, bars: Sequence[Bar], ends: tuple[float, float] | None = None
) -> Markup:
    """Return horizontal bars from zero, or from the first of the ends of the axis."""
    values = [end for bar in bars for end in (bar.value, bar.low, bar.high) if end is not None]
    low, high = (min(0.0, *values), max(0.0, *values)) if ends is None else ends
    axis = Axis.over((low, high), _NAMES + 8, WIDTH - _VALUES)
    base = axis.place(min(max(0.0, axis.low), axis.high))
    height = _ROW * len(bars) + 8
    rule = _line(base, 2.0, base, height - 2, "axis")
    return figure(
        title,
        description,
        joined([*(_bar(k, bar, axis, base) for k, bar in enumerate(bars)), rule]),
        height,
    )


def _bar(k: int, bar: Bar, axis: Axis, base: float) -> Markup:
    middle = 4 + _ROW * (k + 0.5)
    end = axis.place(bar.value)
    parts = [
        _text(_NAMES, middle + 4, fitted(bar.name, 20), "end"),
        element(
            "rect",
            x=min(base, end),
            y=middle - 7,
            width=abs(end - base),
            height=14.0,
            class_="bar" if bar.value >= 0 else "bar below",
        ),
        _text(WIDTH - 2, middle + 4, bar.shown, "end"),
    ]
    if bar.low is not None and bar.high is not None:
        parts.append(_line(axis.place(bar.low), middle, axis.place(bar.high), middle, "whisker"))
    return element("g", element("title", f"{bar.name}: {bar.shown}"), *parts)


def histogram(
    title: str,
    description: str,
    edges: Sequence[float],
    counts: Sequence[float],
    labels: tuple[str, str],
    *,
    whole: bool = False,
) -> Markup:
    """Return columns between edges, evenly spaced, of whole numbers or not.

    The labels are those of the two axes.
    """
    height = 190.0
    across = Axis(edges[0], edges[-1], _LEFT, _RIGHT, whole=whole)
    up = Axis.over((0.0, max(*counts, 1.0)), height - _BOTTOM, _TOP)
    columns = [
        element(
            "rect",
            element("title", f"{number(low)} to {number(high)}: {number(count)}"),
            x=across.place(low) + 0.5,
            y=up.place(count),
            width=across.place(high) - across.place(low) - 1,
            height=up.start - up.place(count),
            class_="bar",
        )
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    return figure(
        title, description, joined([_frame(across, up, height, labels), *columns]), height
    )


def curve(
    title: str,
    description: str,
    x: Sequence[float],
    y: Sequence[float],
    labels: tuple[str, str],
    *,
    ends: tuple[float, float] | None = None,
    logarithmic: bool = False,
    points: bool = False,
    height: float = 190.0,
) -> Markup:
    """Return a line through points.

    Parameters
    ----------
    title, description : str
    x, y : sequence of float
    labels : tuple of str
        Of the two axes.
    ends : tuple of float, optional
        Of the axis of y; by default it spans the values.
    logarithmic : bool, default=False
        How y is spaced.
    points : bool, default=False
        Whether points are marked.
    height : float
    """
    across = Axis.over(x, _LEFT, _RIGHT)
    up = Axis.over(y if ends is None else ends, height - _BOTTOM, _TOP, logarithmic=logarithmic)
    places = [(across.place(a), up.place(b)) for a, b in zip(x, y, strict=True)]
    route = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
    marks = [element("circle", cx=a, cy=b, r=3, class_="point") for a, b in places if points]
    line = element("polyline", points=route, class_="line")
    return figure(
        title, description, joined([_frame(across, up, height, labels), line, *marks]), height
    )


def _frame(across: Axis, up: Axis, height: float, labels: tuple[str, str]) -> Markup:
    """Return the axes with their ticks and labels."""
    bottom = height - _BOTTOM
    parts = [_line(_LEFT, bottom, _RIGHT, bottom, "axis")]
    for place, text in up.ticks():
        parts += [
            _line(_LEFT, place, _RIGHT, place, "grid"),
            _text(_LEFT - 6, place + 4, text, "end"),
        ]
    for place, text in across.ticks():
        parts += [_line(place, bottom, place, bottom + 4, "axis"), _text(place, bottom + 17, text)]
    parts.append(_text(0.5 * (_LEFT + _RIGHT), height - 6, labels[0], "middle", "label"))
    middle = 0.5 * (_TOP + bottom)
    turned = f"rotate(-90 12 {middle:g})"
    parts.append(_text(12.0, middle, labels[1], "middle", "label", transform=turned))
    return joined(parts)


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> Markup:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=kind)


def _text(
    x: float,
    y: float,
    text: str,
    anchor: str = "middle",
    kind: str | None = None,
    transform: str | None = None,
) -> Markup:
    return element("text", text, x=x, y=y, text_anchor=anchor, class_=kind, transform=transform)
