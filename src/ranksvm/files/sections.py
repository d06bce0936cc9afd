"""Text in [Sections] of attribute=value lines, with the line of each for messages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches

from .quoting import shown
from .source import DataError, StrPath, read_bytes

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")

Attributes = Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Entry:
    """A value, and the attribute and line of the file that give it."""

    attribute: str
    value: str
    line: int


def read_sections(path: StrPath, known: Attributes) -> tuple[str, dict[str, dict[str, Entry]]]:
    """Read a file of sections.

    A hash begins a comment anywhere in a line. Case matters, order does not.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input.
    known : dict
        The attributes that each section may have.

    Returns
    -------
    name : str
        What messages call the file.
    sections : dict
        For each known section the entries by attribute.

    Raises
    ------
    DataError
        If the file cannot be read, a line is neither a section nor an attribute with a value, or
        one is unknown or given twice.
    """
    name, content = read_bytes(path)
    try:
        text = content.tobytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = 1 + content.tobytes().count(b"\n", 0, error.start)
        raise DataError(f"{name}, line {line}: the file must be UTF-8 text") from None
    return name, _parse(text, name, known)


def _parse(text: str, name: str, known: Attributes) -> dict[str, dict[str, Entry]]:
    sections: dict[str, dict[str, Entry]] = {section: {} for section in known}
    section = None
    for number, full_line in enumerate(text.split("\n"), 1):
        line, place = full_line.split("#")[0].strip(), f"{name}, line {number}"
        if not line:
            continue
        if _CONTROL.search(line):
            raise DataError(f"{place}: remove the control character in {shown(line)}")
        if line.startswith("["):
            section = _section(line, place, known)
            continue
        entry = _entry(line, number, place)
        if section is None:
            raise DataError(
                f"{place}: {shown(entry.attribute)} stands before any section"
                f"{_home(entry.attribute, known)}"
            )
        _require_known(entry.attribute, section, place, known)
        if entry.attribute in sections[section]:
            first = sections[section][entry.attribute].line
            raise DataError(
                f"{place}: {entry.attribute} is given again, after line {first}: remove one of them"
            )
        sections[section][entry.attribute] = entry
    return sections


def _section(line: str, place: str, known: Attributes) -> str:
    section = line[1:-1].strip()
    if not line.endswith("]") or section not in known:
        listed = ", ".join(f"[{name}]" for name in known)
        nearest = did_you_mean(line, [f"[{name}]" for name in known])
        raise DataError(f"{place}: a section must be one of {listed}, not {shown(line)}{nearest}")
    return section


def _entry(line: str, number: int, place: str) -> Entry:
    attribute, equals, value = (part.strip() for part in line.partition("="))
    if not equals or not attribute:
        raise DataError(f"{place}: expected [Section] or attribute=value, found {shown(line)}")
    if not value:
        raise DataError(f"{place}: {shown(attribute)} has no value: give one, or remove the line")
    return Entry(attribute, value, number)


# What config files cannot ask for, and what can.
_HINTS = dict.fromkeys(
    ("event", "events", "train_events", "ipcw", "tau"),
    ": times of events are for the command line, ranksvm train --event",
)


def _require_known(attribute: str, section: str, place: str, known: Attributes) -> None:
    if attribute in known[section]:
        return
    hint = (
        _HINTS.get(attribute) or _home(attribute, known) or did_you_mean(attribute, known[section])
    )
    raise DataError(
        f"{place}: [{section}] has no attribute {shown(attribute)}"
        f"{hint or '; it has ' + ', '.join(known[section])}"
    )


def _home(attribute: str, known: Attributes) -> str:
    homes = [f"[{section}]" for section, attributes in known.items() if attribute in attributes]
    return f": it belongs to {' or '.join(homes)}" if homes else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return the nearest of the known words as a question in brackets, or nothing."""
    by_lower_case = {name.lower(): name for name in known}
    nearest = get_close_matches(word.lower(), by_lower_case, 1)
    return f" (did you mean {by_lower_case[nearest[0]]}?)" if nearest else ""
