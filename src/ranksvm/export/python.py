"""A linear ranker as a Python module of a few lines, which needs nothing but Python."""

from __future__ import annotations

from ..models.maps import AffineMap, QuantileMap, QueryMap
from .exported import Exported, Term, duplicates
from .formulas import lines_of

_AFFINE = """

def affine(center, factor):
    return lambda column: [(x - center) * factor for x in column]
"""
_LINES = """

def lines(before, knots, at, after, slope):
    def value(x):
        k = bisect_right(knots, x) - 1
        if k < 0:
            return before
        return at[k] if x == knots[k] else after[k] + (x - knots[k]) * slope[k]

    return lambda column: [value(x) for x in column]
"""
_WITHIN = """

def within_query(column):
    low, high = min(column), max(column)
    return [(x - low) / (high - low) if high > low else 0.0 for x in column]
"""
_SCORES = '''

def score(rows):
    """Return the scores of {of_what}; what a row lacks counts as 0."""
    scores = [0.0] * len(rows)
    for name, (weight, *steps) in FEATURES.items():
        column = [float(row.get(name) or 0.0) for row in rows]
        for step in steps:
            column = step(column)
        scores = [total + weight * x for total, x in zip(scores, column)]
    return scores


def rank(rows):
    """Return the places of the rows, best first."""
    scores = score(rows)
    return sorted(range(len(rows)), key=lambda k: -scores[k])
'''


def python(model: Exported) -> str:
    """Return a module with ``score(rows)`` and ``rank(rows)``, for rows as mappings of names."""
    model.require_names({"more than once": duplicates(model.names)})
    kinds = {type(one) for one in _maps(model)}
    parts = ['"""Scores of rows: higher is better; they compare within a query."""\n']
    if QuantileMap in kinds:
        parts.append("\nfrom bisect import bisect_right\n")
    for kind, text in [(AffineMap, _AFFINE), (QuantileMap, _LINES), (QueryMap, _WITHIN)]:
        if kind in kinds:
            parts.append(text)
    listed = "".join(f"    {term.name!r}: {_feature(model, term)},\n" for term in model.terms)
    gap = "\n\n" if kinds else "\n"
    parts.append(f"{gap}FEATURES = {{\n{listed}}}\n")
    of_what = "all rows of a query" if QueryMap in kinds else "rows"
    parts.append(_SCORES.replace("{of_what}", of_what))
    return "".join(parts)


def _maps(model: Exported) -> list[AffineMap | QuantileMap | QueryMap]:
    given = [*([] if model.normalizer is None else [model.normalizer]), *model.maps]
    return [one for one in given if isinstance(one, (AffineMap, QuantileMap, QueryMap))]


def _feature(model: Exported, term: Term) -> str:
    steps = [_step(one, term.place, model.target) for one in _maps(model)]
    return f"({', '.join([repr(term.weight), *steps])},)"


def _step(one: AffineMap | QuantileMap | QueryMap, place: int, target: str) -> str:
    if isinstance(one, AffineMap):
        return f"affine({float(one.center[place])!r}, {float(one.factors[place])!r})"
    if isinstance(one, QueryMap):
        return "within_query"
    lines = lines_of(one, place, target)
    parts = [list(part) for part in zip(*lines.segments(), strict=True)]
    return f"lines({float(lines.before[0])!r}, {', '.join(map(repr, parts))})"
