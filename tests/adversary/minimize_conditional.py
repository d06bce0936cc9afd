"""Optimal multipliers and weights where the penalty has kinks and bounds.

All is the sum of a quadratic and of rows ``z'w >= m - xi`` with xi >= 0: pairs, of the cost
``g xi`` or ``g xi^2``; the two sides of an absolute value, ``g xi``; and bounds, with xi = 0. The
method is that of `minimize.minimize_hinge`, from a point that need not satisfy anything. In the
precision of the present context of gmpy2.
"""

from dataclasses import dataclass
from operator import add
from typing import Any

from gmpy2 import get_context, mpfr

from .minimize import dot, longest, newton_step, transposed

MAX_ITER = 300
CENTRING = mpfr("0.001")


@dataclass(frozen=True)
class Row:
    """A row ``z'w >= margin - xi``; `limit` is the cost g, None for xi = 0."""

    z: Any
    margin: Any
    limit: Any = None
    is_squared: bool = False


@dataclass(frozen=True)
class Point:
    """Weights w, and for each row the multiplier a, slack s, multiplier b of xi, and xi."""

    w: list
    a: list
    s: list
    b: list
    xi: list

    def moved(self, step, t):
        return Point(*(ahead(getattr(self, n), getattr(step, n), t) for n in Point.__annotations__))


def minimize_conditional(truth, C, penalty):
    """Multipliers of the pairs of an exact problem, for this C, and the weights."""
    fixed = {k: c.lower for k, c in enumerate(penalty.coordinates) if is_fixed(c)}
    free = [k for k in range(len(penalty.coordinates)) if k not in fixed]
    pairs = [pair_row(truth, C, pair, fixed, free) for pair in truth.pairs]
    coordinates = [penalty.coordinates[k] for k in free]
    rows = [*pairs, *rows_of_penalty(coordinates)]
    w, a = fixed_solution(pairs) if not free else minimize_rows(rows, coordinates)
    weights = dict(fixed) | dict(zip(free, w, strict=True))
    return a[: len(pairs)], [weights[k] for k in range(len(weights))]


def is_fixed(coordinate):
    return coordinate.lower is not None and coordinate.lower == coordinate.upper


def pair_row(truth, C, pair, fixed, free):
    """A pair as a row of the weights that are not fixed."""
    rows = truth.space.vectors
    z = [(x - y) / pair.margin for x, y in zip(rows[pair.i], rows[pair.j], strict=True)]
    margin = 1 - sum(z[k] * value for k, value in fixed.items())
    is_squared = truth.problem.loss != "hinge"
    return Row([mpfr(z[k]) for k in free], mpfr(margin), mpfr(C * pair.weight), is_squared)


def rows_of_penalty(coordinates):
    """Absolute values and bounds; what the prior and a bound leave linear is a row, too."""
    for k, mine in enumerate(coordinates):
        for side, bound in ((1, mine.lower), (-1, mine.upper)):
            z = [mpfr(side * (k == other)) for other in range(len(coordinates))]
            if bound is not None:
                yield Row(z, mpfr(side * bound))
            if mine.lasso:
                yield Row(z, mpfr(side * mine.prior), mpfr(mine.lasso))


def fixed_solution(pairs):
    """No weights, and the slopes of the losses."""
    above = [max(pair.margin, mpfr(0)) if pair.is_squared else pair.margin > 0 for pair in pairs]
    return [], [(1 + p.is_squared) * p.limit * v for p, v in zip(pairs, above, strict=True)]


def minimize_rows(rows, coordinates):
    """Weights and multipliers of rows, by Mehrotra's method."""
    method = Method(rows, coordinates)
    point = method.start(coordinates)
    tiny = mpfr(2) ** (-get_context().precision // 2)
    n = len(rows) + sum(map(is_hinge, rows))
    for _ in range(MAX_ITER):
        gap = method.gap(point)
        if gap <= tiny * method.value(point) and method.error(point) <= tiny:
            break
        trial = method.direction(point, None, mpfr(0))
        after = method.gap(point.moved(trial, method.longest(point, trial)))
        goal = gap / n * max((after / gap) ** 3, CENTRING)
        step = method.direction(point, trial, goal)
        t = min(mpfr("0.9995") * method.longest(point, step), mpfr(1))
        point = point.moved(step, t)
    return point.w, point.a


class Method:
    """The equations of a step."""

    def __init__(self, rows, coordinates):
        self.rows = rows
        self.ridge = [mpfr(mine.ridge) for mine in coordinates]
        self.prior = [mpfr(mine.prior) for mine in coordinates]
        self.columns = transposed([row.z for row in rows])

    def start(self, coordinates):
        """Weights within their bounds, and slacks and multipliers about as large as they can be."""
        w = [mpfr(inside(mine)) for mine in coordinates]
        violation = [row.margin - dot(row.z, w) for row in self.rows]
        one = mpfr(1)
        xi = [one + max(v, 0) for v in violation]
        s = [one + max(-v, 0) for v in violation]
        a = [one if row.limit is None or row.is_squared else row.limit / 2 for row in self.rows]
        return Point(w, a, s, list(a), xi)

    def gap(self, point):
        of_xi = (
            b * xi for row, b, xi in zip(self.rows, point.b, point.xi, strict=True) if is_hinge(row)
        )
        return dot(point.a, point.s) + sum(of_xi)

    def value(self, point):
        """The objective, or what is left of it by slacks that are not yet right."""
        v = [w - prior for w, prior in zip(point.w, self.prior, strict=True)]
        losses = (
            row.limit * (a / (2 * row.limit)) ** 2 if row.is_squared else row.limit * xi
            for row, a, xi in zip(self.rows, point.a, point.xi, strict=True)
            if row.limit is not None
        )
        return sum(r * x * x for r, x in zip(self.ridge, v, strict=True)) / 2 + sum(losses)

    def error(self, point):
        """How far slacks are from what they stand for, relative to the margins and themselves."""
        found = (
            abs(e) / (1 + abs(row.margin))
            for row, e in zip(self.rows, self.slack_errors(point), strict=True)
        )
        return max(found)

    def slack_errors(self, point):
        """``z'w - m + xi - s``."""
        return [
            dot(row.z, point.w) - row.margin + self.xi(row, a, xi) - s
            for row, a, xi, s in zip(self.rows, point.a, point.xi, point.s, strict=True)
        ]

    @staticmethod
    def xi(row, a, xi):
        if row.limit is None:
            return mpfr(0)
        return a / (2 * row.limit) if row.is_squared else xi

    def direction(self, point, trial, goal):
        """Newton's step towards ``a s = b xi = goal``, of second order by a trial."""
        errors = enumerate(self.slack_errors(point))
        terms = [self.elimination(k, point, trial, goal, error) for k, error in errors]
        h, pull = map(list, zip(*terms, strict=True))
        pulled = [*map(add, pull, point.a)]
        of_columns = zip(self.columns, self.ridge, point.w, self.prior, strict=True)
        right = [dot(pulled, column) - r * (w - prior) for column, r, w, prior in of_columns]
        dw = newton_step(self.columns, h, right, self.ridge)
        changes = [
            self.change(k, point, trial, goal, p - q * dot(row.z, dw))
            for k, (row, p, q) in enumerate(zip(self.rows, pull, h, strict=True))
        ]
        da, ds, db, dxi = map(list, zip(*changes, strict=True))
        return Point(dw, da, ds, db, dxi)

    def elimination(self, k, point, trial, goal, error):
        """h and p with ``da = p - h z'dw``."""
        row, a, s, b, xi = self.rows[k], point.a[k], point.s[k], point.b[k], point.xi[k]
        r1 = goal - a * s - (trial.a[k] * trial.s[k] if trial else 0)
        if not is_hinge(row):
            q = s if row.limit is None else s + a / (2 * row.limit)
            return a / q, (r1 - a * error) / q
        # dxi = (r2 - xi db) / b with db = -da + d
        d = row.limit - a - b
        r2 = goal - b * xi - (trial.b[k] * trial.xi[k] if trial else 0)
        q = s + a * xi / b
        return a / q, (r1 - a * error - a * (r2 - xi * d) / b) / q

    def change(self, k, point, trial, goal, da):
        """The changes of a, s, b and xi."""
        row, a, s, b, xi = self.rows[k], point.a[k], point.s[k], point.b[k], point.xi[k]
        r1 = goal - a * s - (trial.a[k] * trial.s[k] if trial else 0)
        ds = (r1 - s * da) / a
        if not is_hinge(row):
            return da, ds, mpfr(0), mpfr(0)
        db = row.limit - a - b - da
        r2 = goal - b * xi - (trial.b[k] * trial.xi[k] if trial else 0)
        return da, ds, db, (r2 - xi * db) / b

    def longest(self, point, step):
        return longest((point.a, point.s, point.b, point.xi), (step.a, step.s, step.b, step.xi))


def is_hinge(row):
    return row.limit is not None and not row.is_squared


def inside(coordinate):
    """The prior, or else the middle of the bounds, or what is far from the only one."""
    low, high, prior = coordinate.lower, coordinate.upper, coordinate.prior
    if (low is None or low < prior) and (high is None or prior < high):
        return prior
    if low is not None and high is not None:
        return (low + high) / 2
    return low + 1 if high is None else high - 1


def ahead(values, changes, t):
    return [value + t * change for value, change in zip(values, changes, strict=True)]
