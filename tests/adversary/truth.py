"""Objectives and optima of small problems, exactly: every pair written out, in rational numbers.

The optimum is computed with 320 bits, and then certified: its value, and that of a dual point, are
taken in rational arithmetic, and lie within `CLOSE` of each other::

    P(w) = 0.5 |w|^2 + c sum v_ij phi(z_ij'w)        z_ij = x_i - x_j
    D(a) = sum a_ij - 0.5 |sum a_ij z_ij|^2          0 <= a_ij <= c v_ij for the hinge
         - sum a_ij^2 / (4 c v_ij)                   0 <= a_ij for the squared hinge

A given pair with the margin m stands for one with the margin 1, ``z / m`` in the place of z, and m
or, for the squared hinge, ``m^2`` times its weight. For a kernel, rows are those of a factor of its
matrix, and ``|.|^2`` is taken by that matrix. Other penalties R stand in the place of ``0.5 |w|^2``
with their conjugates, and with the largest multiple of a that has one (`.penalty`).
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from operator import mul

from gmpy2 import context, get_context, is_finite, mpfr, mpq, mpz, sqrt
from scipy import sparse

from .minimize import minimize
from .minimize_conditional import minimize_conditional
from .penalty import ExactPenalty
from .problems import kernel_matrix

ONE = mpq(1)
BEYOND = mpq(10) ** 1000  # the penalty outside of the bounds
CLOSE = mpq(1, 10**25)
PRECISIONS = (320, 640, 1280)


class Uncertified(ArithmeticError):
    """No optimum was found whose dual point proves it."""


@dataclass(frozen=True, eq=False)
class Pair:
    """Row i is better than row j; `weight` is ``c v_ij`` for C = 1, as the margin makes it."""

    i: int
    j: int
    weight: mpq
    margin: mpq = ONE


def exact(values):
    """Floats as rational numbers."""
    return [mpq(float(value)) for value in values]


def exact_rows(X):
    """The rows of X; parts of a sparse value are added up."""
    if not sparse.issparse(X):
        return [exact(row) for row in X]
    rows = [[mpq(0)] * X.shape[1] for _ in range(X.shape[0])]
    for row, start, stop in zip(rows, X.indptr, X.indptr[1:], strict=False):
        for k in range(start, stop):
            row[X.indices[k]] += mpq(float(X.data[k]))
    return rows


def dot(u, v):
    return sum(map(mul, u, v), mpq(0))


# --- pairs and their weights ----------------------------------------------------------------------


def exact_pairs(problem):
    """The pairs that weigh anything, with c for C = 1 multiplied in."""
    n = len(problem.y)
    of_row, of_query = (
        [mpq(1)] * n if weight is None else exact(weight)
        for weight in (problem.sample_weight, problem.query_weight)
    )
    query = [0] * n if problem.qid is None else [int(q) for q in problem.qid]
    if problem.pairs is not None:
        return exact_given_pairs(problem, of_row, of_query, query)
    y = exact(problem.y)
    found = {}
    for i in range(n):
        for j in range(n):
            if query[i] == query[j] and y[i] > y[j]:
                gap = y[i] - y[j] if problem.pair_weight == "gap" else 1
                if weight := of_query[i] * of_row[i] * of_row[j] * gap:
                    found[i, j] = weight
    scale = normalization(problem.normalize, found, of_row, of_query, query)
    return [Pair(i, j, weight * scale[query[i]]) for (i, j), weight in found.items()]


def exact_given_pairs(problem, of_row, of_query, query):
    """Those that are given."""
    count = len(problem.pairs)
    weights, margins = (
        [mpq(1)] * count if values is None else exact(values)
        for values in (problem.pair_weights, problem.margins)
    )
    rows = [(int(i), int(j)) for i, j in problem.pairs]
    found = {(*rows[p], p): weight for p, weight in enumerate(weights) if weight}
    scale = normalization(problem.normalize, found, of_row, of_query, query)
    power = 1 if problem.loss == "hinge" else 2
    return [
        Pair(i, j, weight * scale[query[i]] * margins[p] ** power, margins[p])
        for (i, j, p), weight in found.items()
    ]


def normalization(normalize, weights, of_row, of_query, query):
    """c by query for C = 1; weights count rows, pairs and queries as often as they weigh."""
    total = sum(weights.values())
    if normalize == "queries":
        by_query, repeats = {}, {}
        for (i, *_), weight in weights.items():
            by_query[query[i]] = by_query.get(query[i], 0) + weight
            repeats[query[i]] = of_query[i]
        R = sum(repeats.values())
        return {q: repeats[q] / R / by_query[q] for q in by_query}
    c = {None: 1, "pairs": 1 / total, "documents": dot(of_row, of_query) / total}[normalize]
    return dict.fromkeys(query, c)


# --- spaces: rows, and what their combinations are ------------------------------------------------


class Rows:
    """Weights for the features of X."""

    def __init__(self, X):
        self.rows = exact_rows(X)
        self.vectors = self.rows

    def scores(self, w):
        return [dot(row, w) for row in self.rows]

    def squared_norm(self, w):
        return dot(w, w)

    def combination(self, g):
        """The weights ``X'g``."""
        return [dot(g, column) for column in zip(*self.rows, strict=True)]


class Kernel:
    """Coefficients for the functions of a kernel, whose matrix is K as given, in float64."""

    def __init__(self, K):
        self.K = exact_rows(K)
        with context(precision=PRECISIONS[-1]):
            self.vectors = cholesky_rows(self.K)

    def scores(self, beta):
        return [dot(row, beta) for row in self.K]

    def squared_norm(self, beta):
        return dot(beta, self.scores(beta))

    def combination(self, g):
        return list(g)


def cholesky_rows(K):
    """Rows L with ``L L' = K`` to the present precision; zero columns for rows that repeat."""
    n = len(K)
    L = [[mpfr(0)] * n for _ in range(n)]
    for j in range(n):
        pivot = mpfr(K[j][j]) - sum(value * value for value in L[j][:j])
        if pivot < -(mpfr(2) ** (-get_context().precision // 2)):
            raise Uncertified("the kernel matrix is not positive semidefinite")
        if pivot > mpfr(2) ** (-get_context().precision // 2):
            root = sqrt(pivot)
            for i in range(j, n):
                L[i][j] = (mpfr(K[i][j]) - sum(map(mul, L[i][:j], L[j][:j]))) / root
    return L


def space_of(problem):
    if problem.kernel == "rbf":
        return Kernel(kernel_matrix(problem.X))
    return Rows(problem.X)


# --- exact values ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Exact:
    """A problem in rational numbers."""

    problem: object
    space: object
    pairs: list

    @classmethod
    @lru_cache(maxsize=8)
    def of(cls, problem):
        return cls(problem, space_of(problem), exact_pairs(problem))

    def objective(self, weights, C=None):
        """P at weights (for a kernel, coefficients of all rows), rational or float."""
        w = [mpq(value) for value in weights]
        scores = self.space.scores(w)
        losses = (
            pair.weight * self.phi(1 - (scores[pair.i] - scores[pair.j]) / pair.margin)
            for pair in self.pairs
        )
        return self.penalty_at(w) + self.C(C) * sum(losses)

    @cached_property
    def penalty(self):
        """That of conditions on weights, or None for ``0.5 |w|^2``."""
        conditions = self.problem.conditions
        return None if conditions is None else ExactPenalty(conditions, len(self.space.rows[0]))

    def penalty_at(self, w):
        if self.penalty is None:
            return self.space.squared_norm(w) / 2
        value = self.penalty.value(w)
        return BEYOND if value is None else value

    def conjugate(self, u):
        return self.space.squared_norm(u) / 2 if self.penalty is None else self.penalty.conjugate(u)

    def phi(self, violation):
        """The loss of a pair by ``1 - z``."""
        if violation <= 0:
            return 0
        return violation if self.problem.loss == "hinge" else violation**2

    def bound(self, alphas, C=None):
        """D at multipliers of the pairs, which are clipped to where they may be."""
        C, hinge = self.C(C), self.problem.loss == "hinge"
        linear, quadratic, g = mpq(0), mpq(0), [mpq(0)] * len(self.problem.y)
        for pair, alpha in zip(self.pairs, alphas, strict=True):
            most = C * pair.weight
            a = max(mpq(alpha), mpq(0))
            a = min(a, most) if hinge else a
            linear += a
            quadratic += 0 if hinge else a * a / (4 * most)
            g[pair.i] += a / pair.margin
            g[pair.j] -= a / pair.margin
        u = self.space.combination(g)
        t = ONE if self.penalty is None else self.penalty.reach(u)
        return t * linear - t * t * quadratic - self.conjugate([t * value for value in u])

    def weights(self, alphas):
        """The primal point that multipliers of the pairs stand for."""
        g = [mpq(0)] * len(self.problem.y)
        for pair, alpha in zip(self.pairs, alphas, strict=True):
            g[pair.i] += mpq(alpha) / pair.margin
            g[pair.j] -= mpq(alpha) / pair.margin
        return self.space.combination(g)

    def optimum(self, C=None):
        """The least objective, from above, within `CLOSE`; C may be another than the problem's.

        Raises
        ------
        Uncertified
            If no precision proves one.
        """
        if self.penalty is not None and self.objective(self.penalty.rest, C) == 0:
            return mpq(0)
        for precision in PRECISIONS:
            with context(precision=precision):
                alphas, weights = self.solution(C)
                if not all(map(is_finite, [*alphas, *weights])):  # the precision is too low
                    continue
                value = self.objective(weights, C)
                if value - self.bound(alphas, C) <= CLOSE * value:
                    return value
        raise Uncertified(f"no certified optimum for {self.problem} with C={self.C(C)}")

    def solution(self, C):
        """Multipliers of the pairs, and weights, in the precision of the present context."""
        if self.penalty is None:
            alphas = minimize(self, self.C(C))
            return alphas, self.weights(alphas) if all(map(is_finite, alphas)) else []
        alphas, weights = minimize_conditional(self, self.C(C), self.penalty)
        return alphas, self.penalty.nearest(weights) if all(map(is_finite, weights)) else weights

    def C(self, C):
        return mpq(float(self.problem.C if C is None else C))


def optimum(problem, C=None):
    """The least objective of a problem, for its C or another: see `Exact.optimum`."""
    return Exact.of(problem).optimum(C)


def digits(value, count=45):
    """A rational number that is not negative in scientific notation, rounded up."""
    if value == 0:
        return "0e0"
    exponent = len(str(value.numerator)) - len(str(value.denominator)) - count
    shifted = value / mpq(10) ** exponent
    whole = mpz(-(-shifted.numerator // shifted.denominator))
    return f"{whole}e{exponent}"


def from_digits(text):
    """The rational number that `digits` wrote."""
    whole, exponent = text.split("e")
    return mpq(whole) * mpq(10) ** int(exponent)
