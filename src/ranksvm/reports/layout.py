"""What pages are made of: sections, tables, lists of facts, and rows that open."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from .markup import Markup, element


class Section(NamedTuple):
    """A part of the page, with the name that links go to."""

    key: str
    title: str
    content: Sequence[Markup]


def paragraph(*content: Any, class_: str | None = None) -> Markup:
    """Return a paragraph."""
    return element("p", *content, class_=class_)


def heading(text: str) -> Markup:
    """Return a heading within a section."""
    return element("h3", text)


def table(
    caption: str, header: Sequence[str], rows: Iterable[Sequence[Any]], *, kind: str | None = None
) -> Markup:
    """Return a table, whose first cells name the rows; it scrolls by itself where it is wide."""
    names = [element("th", name, scope="col") for name in header]
    body = [
        element(
            "tr", element("th", row[0], scope="row"), *(element("td", cell) for cell in row[1:])
        )
        for row in rows
    ]
    whole = element(
        "table",
        element("caption", caption),
        element("thead", element("tr", *names)),
        element("tbody", *body),
        class_=kind,
    )
    return element("div", whole, class_="wide", role="region", aria_label=caption, tabindex=0)


def facts(pairs: Iterable[tuple[str, Any]], class_: str = "facts") -> Markup:
    """Return names and what belongs to them."""
    return element(
        "dl",
        *(
            element("div", element("dt", name), element("dd", value))
            for name, value in pairs
            if value is not None
        ),
        class_=class_,
    )


def opening(summary: Any, *content: Any) -> Markup:
    """Return what opens when its summary is chosen."""
    return element("details", element("summary", summary), *content)


def figures(*pictures: Markup) -> Markup:
    """Return figures, and tables, side by side, as many as there is room for."""
    return element("div", *pictures, class_="figures")


def page(title: str, lead: Sequence[Markup], sections: Sequence[Section], style: str) -> str:
    """Return a whole document."""
    links = [element("li", element("a", one.title, href=f"#{one.key}")) for one in sections]
    parts = [
        element(
            "section",
            element("h2", one.title, id=f"{one.key}-title"),
            *one.content,
            id=one.key,
            aria_labelledby=f"{one.key}-title",
        )
        for one in sections
    ]
    # Nothing is fetched, and nothing runs, whatever names of features may say.
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Markup(style)),
    )
    body = element(
        "body",
        element("header", element("h1", title), *lead),
        element("nav", element("ul", *links), aria_label="Sections"),
        element("main", *parts),
    )
    return "<!DOCTYPE html>\n" + element("html", head, "\n", body, lang="en") + "\n"
