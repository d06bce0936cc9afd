"""Penalties on weights and their conjugates, in rational numbers.

::

    R(w) = sum over k of  a_k (r |v_k| + (1 - r) v_k^2 / 2),    v = w - prior,  lower <= w <= upper
    R*(u) = max over w of  u'w - R(w)
"""

from dataclasses import dataclass

import numpy as np
from gmpy2 import mpq

NONE = mpq(0)


@dataclass(frozen=True)
class Coordinate:
    """What a weight costs; a bound that is None is infinite."""

    lasso: mpq
    ridge: mpq
    prior: mpq
    lower: mpq | None
    upper: mpq | None

    def clip(self, w):
        """What is nearest to w within the bounds."""
        w = w if self.lower is None else max(w, self.lower)
        return w if self.upper is None else min(w, self.upper)

    def value(self, w):
        """R(w); None beyond the bounds."""
        v = w - self.prior
        return self.lasso * abs(v) + self.ridge * v * v / 2 if self.clip(w) == w else None

    def reach(self, u):
        """How large a multiple of u may be for the conjugate to be finite; None: any."""
        bound = self.upper if u > 0 else self.lower
        return None if u == 0 or self.ridge > 0 or bound is not None else self.lasso / abs(u)

    def conjugate(self, u):
        """R*(u), where it is finite."""
        pull = max(abs(u) - self.lasso, NONE) * (1 if u > 0 else -1)
        if self.ridge > 0:
            w = self.clip(self.prior + pull / self.ridge)
        elif pull == 0:
            w = self.clip(self.prior)
        else:
            w = self.upper if pull > 0 else self.lower
        return u * w - self.value(w)


class ExactPenalty:
    """The sum over the weights."""

    def __init__(self, conditions, size):
        columns = (
            np.broadcast_to(values, size)
            for values in (
                conditions.penalty_weights,
                conditions.prior,
                conditions.lower,
                conditions.upper,
            )
        )
        ratio = mpq(conditions.l1_ratio)
        self.coordinates = [
            Coordinate(ratio * mpq(a), (1 - ratio) * mpq(a), mpq(prior), finite(low), finite(high))
            for a, prior, low, high in zip(*(map(float, c) for c in columns), strict=True)
        ]

    @property
    def rest(self):
        """Where R is least."""
        return [mine.clip(mine.prior) for mine in self.coordinates]

    def nearest(self, w):
        return [mine.clip(mpq(value)) for mine, value in zip(self.coordinates, w, strict=True)]

    def value(self, w):
        """R(w); None beyond the bounds."""
        terms = [mine.value(mpq(value)) for mine, value in zip(self.coordinates, w, strict=True)]
        return None if None in terms else sum(terms)

    def reach(self, u):
        """The largest multiple of u, of at most 1, at which the conjugate is finite."""
        multiples = (mine.reach(value) for mine, value in zip(self.coordinates, u, strict=True))
        return min([mpq(1), *(multiple for multiple in multiples if multiple is not None)])

    def conjugate(self, u):
        return sum(mine.conjugate(value) for mine, value in zip(self.coordinates, u, strict=True))


def finite(value):
    return mpq(value) if np.isfinite(value) else None
