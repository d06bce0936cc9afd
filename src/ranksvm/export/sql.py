"""A linear ranker as an expression of SQL, over columns named as its features.

It is meant for double precision columns; where one is NULL, the feature counts as 0. Tried with
SQLite and PostgreSQL.
"""

from __future__ import annotations

from ..models.maps import AffineMap, QuantileMap
from .exported import Exported, duplicates
from .formulas import Lines, lines_of

_TOGETHER = 50  # terms of a sum, so that databases which limit the depth of expressions take it
_LONGEST_NAME = 63  # bytes, of PostgreSQL


def sql(model: Exported, qid: str = "qid") -> str:
    """Return the scores as an expression, to be ordered by.

    Parameters
    ----------
    model : Exported
    qid : str, default="qid"
        The column of query ids, for models that scale within queries.
    """
    too_long = [name for name in model.names if len(name.encode()) > _LONGEST_NAME]
    model.require_names(
        {
            "empty": [name for name in model.names if not name],
            "with a zero character": [name for name in model.names if "\0" in name],
            f"longer than {_LONGEST_NAME} bytes": too_long,
            "more than once": duplicates([name.casefold() for name in model.names]),
        }
    )
    terms = [
        f"{_feature(model, term.place, term.name, qid)}*{_number(term.weight)}"
        for term in model.terms
    ]
    return _sum(terms) + "\n"


def _feature(model: Exported, place: int, name: str, qid: str) -> str:
    text = f"COALESCE({_quoted(name)},0)"
    for one in ([] if model.normalizer is None else [model.normalizer]) + list(model.maps):
        if isinstance(one, AffineMap):
            center, factor = float(one.center[place]), float(one.factors[place])
            text = f"(({text}-{_number(center)})*{_number(factor)})"
        elif isinstance(one, QuantileMap):
            text = _case(lines_of(one, place, model.target), text)
        else:
            text = _within_query(text, qid)
    return text


def _within_query(text: str, qid: str) -> str:
    low, high = (
        f"{extreme}({text}) OVER (PARTITION BY {_quoted(qid)})" for extreme in ("MIN", "MAX")
    )
    return f"COALESCE(({text}-{low})/NULLIF({high}-{low},0),0)"


def _case(lines: Lines, text: str) -> str:
    """Return lines as cases, halved again and again, so that each value takes few comparisons."""
    segments = lines.segments()

    def between(first: int, last: int) -> str:
        """Return the value from the knot `first` on, up to the knot `last`."""
        if last - first > 1:
            middle = (first + last) // 2
            cut = _number(segments[middle][0])
            below, above = between(first, middle), between(middle, last)
            return f"CASE WHEN {text}<{cut} THEN {below} ELSE {above} END"
        knot, at, after, slope = segments[first]
        line = f"{_number(after)}+({text}-{_number(knot)})*{_number(slope)}"
        if at == after:
            return f"({line})"
        return f"CASE WHEN {text}={_number(knot)} THEN {_number(at)} ELSE {line} END"

    first = _number(segments[0][0])
    before = _number(float(lines.before[0]))
    return f"(CASE WHEN {text}<{first} THEN {before} ELSE {between(0, len(segments))} END)"


def _sum(terms: list[str]) -> str:
    if len(terms) <= _TOGETHER:
        return "\n+ ".join(terms)
    size = max(_TOGETHER, -(-len(terms) // _TOGETHER))
    parts = [terms[k : k + size] for k in range(0, len(terms), size)]
    return "\n+ ".join(f"({_sum(part)})" for part in parts)


def _number(value: float) -> str:
    return repr(value) if value >= 0 else f"({value!r})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
