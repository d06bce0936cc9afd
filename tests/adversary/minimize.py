"""Optimal multipliers of the pairs, in the precision of the present context of gmpy2."""

from operator import mul

from gmpy2 import get_context, mpfr, sqrt

MAX_ITER = 500
CENTRING = mpfr("0.001")


def minimize(truth, C):
    """Multipliers of the pairs of an exact problem, for this C."""
    rows = [[mpfr(value) for value in row] for row in truth.space.vectors]
    Z = [
        [(a - b) / mpfr(p.margin) for a, b in zip(rows[p.i], rows[p.j], strict=True)]
        for p in truth.pairs
    ]
    g = [mpfr(C * pair.weight) for pair in truth.pairs]
    solve = minimize_hinge if truth.problem.loss == "hinge" else minimize_squared_hinge
    return solve(Z, g)


def dot(u, v):
    return sum(map(mul, u, v))


def transposed(Z):
    return list(zip(*Z, strict=True))


def newton_step(columns, h, right, ridge=None):
    """Solve ``(diag(ridge) + Z' diag(h) Z) x = right`` by Cholesky's method; by default, of I."""
    d = len(columns)
    ridge = [1] * d if ridge is None else ridge
    L = [[mpfr(0)] * d for _ in range(d)]
    for k in range(d):
        weighted = list(map(mul, h, columns[k]))
        for i in range(k, d):
            entry = dot(weighted, columns[i]) + (i == k) * ridge[k] - dot(L[i][:k], L[k][:k])
            L[i][k] = sqrt(entry) if i == k else entry / L[k][k]
    x = []
    for k in range(d):
        x.append((right[k] - dot(L[k][:k], x)) / L[k][k])
    for k in reversed(range(d)):
        x[k] = (x[k] - sum(L[i][k] * x[i] for i in range(k + 1, d))) / L[k][k]
    return x


# --- squared hinge: Newton's method with exact steps ----------------------------------------------


def minimize_squared_hinge(Z, g):
    """Newton's method; where the active pairs stay the same, a step ends at the optimum."""
    columns = transposed(Z)
    w = [mpfr(0)] * len(columns)
    violation = [mpfr(1)] * len(Z)
    active, t = None, mpfr(0)
    tiny = mpfr(2) ** (-get_context().precision // 3)
    for _ in range(MAX_ITER):
        before, active = active, [v > 0 for v in violation]
        if active == before and abs(t - 1) < tiny:
            break
        h = [2 * weight if a else mpfr(0) for weight, a in zip(g, active, strict=True)]
        pull = list(map(mul, h, violation))
        right = [dot(pull, column) - value for column, value in zip(columns, w, strict=True)]
        step = newton_step(columns, h, right)
        along = [dot(row, step) for row in Z]
        t = exact_step(dot(w, step), dot(step, step), violation, along, g)
        w = [value + t * s for value, s in zip(w, step, strict=True)]
        violation = [1 - dot(row, w) for row in Z]
    return [2 * weight * max(v, mpfr(0)) for weight, v in zip(g, violation, strict=True)]


def exact_step(slope, curvature, violation, along, g):
    """Where ``0.5 |w + t p|^2 + sum g max(0, violation - t along)^2`` is least, over t >= 0.

    Its derivative is linear between the steps at which pairs become active or cease to be.
    """
    bends = []
    for v, a, weight in zip(violation, along, g, strict=True):
        term = (-2 * weight * v * a, 2 * weight * a * a)
        if v > 0 or (v == 0 and a < 0):
            slope, curvature = slope + term[0], curvature + term[1]
        if a != 0 and v / a > 0:
            sign = -1 if v > 0 else 1
            bends.append((v / a, sign * term[0], sign * term[1]))
    for at, more_slope, more_curvature in sorted(bends):
        if slope + at * curvature >= 0:
            break
        slope, curvature = slope + more_slope, curvature + more_curvature
    return -slope / curvature if curvature > 0 else mpfr(0)


# --- hinge: a primal-dual interior point ----------------------------------------------------------


def minimize_hinge(Z, g):
    """Mehrotra's method, on ``z'w - 1 + xi = s``, with multipliers a of s and b = g - a of xi.

    All points are feasible, but for ``w = Z'a``, which rounding leaves for each step to mend.
    """
    columns = transposed(Z)
    a, w = start(columns, g)
    b = [weight - value for weight, value in zip(g, a, strict=True)]
    s, xi = slacks(Z, w)
    tiny = mpfr(2) ** (-get_context().precision // 2)
    for _ in range(MAX_ITER):
        gap = dot(a, s) + dot(b, xi)
        value = dot(w, w) / 2 + dot(g, xi)
        if gap <= tiny * value:
            break
        mu = gap / (2 * len(Z))
        point = (a, b, s, xi)
        zero = [mpfr(0)] * len(Z)
        trial = direction(Z, columns, w, point, zero, zero, mpfr(0))
        ahead = moved(point, trial[1:], longest(point, trial[1:]))
        goal = mu * max(((dot(ahead[0], ahead[2]) + dot(ahead[1], ahead[3])) / gap) ** 3, CENTRING)
        _, da, db, ds, dxi = trial
        step = direction(Z, columns, w, point, map(mul, da, ds), map(mul, db, dxi), goal)
        t = mpfr("0.9995") * longest(point, step[1:])
        t = min(t, mpfr(1))
        a, b, s, xi = moved(point, step[1:], t)
        w = [value + t * change for value, change in zip(w, step[0], strict=True)]
    return a


def start(columns, g):
    """The best multiple of all multipliers in the middle, and the weights that it stands for."""
    a = [weight / 2 for weight in g]
    w = [dot(a, column) for column in columns]
    norm = dot(w, w)
    t = min(mpfr(1), sum(a) / norm) if norm > 0 else mpfr(1)
    return [t * value for value in a], [t * value for value in w]


def slacks(Z, w):
    """Positive s and xi with ``z'w - 1 + xi = s``."""
    violation = [1 - dot(row, w) for row in Z]
    root = [sqrt(v * v + 1) for v in violation]
    # (root - v) / 2 and (root + v) / 2, without cancellation
    s = [(r - v) / 2 if v < 0 else 1 / (2 * (r + v)) for r, v in zip(root, violation, strict=True)]
    xi = [(r + v) / 2 if v > 0 else 1 / (2 * (r - v)) for r, v in zip(root, violation, strict=True)]
    return s, xi


def direction(Z, columns, w, point, second_as, second_bx, goal):
    """Newton's step (dw, da, db, ds, dxi) towards ``a s = b xi = goal``, of second order."""
    a, b, s, xi = point
    r1 = [goal - p * q - e for p, q, e in zip(a, s, second_as, strict=True)]
    r2 = [goal - p * q - e for p, q, e in zip(b, xi, second_bx, strict=True)]
    q = [p * t + o * x for p, t, o, x in zip(b, s, a, xi, strict=True)]
    h = [o * p / t for o, p, t in zip(a, b, q, strict=True)]
    pull = [(p * e1 - o * e2) / t for o, p, e1, e2, t in zip(a, b, r1, r2, q, strict=True)]
    right = [
        dot(pull, column) + dot(a, column) - value for column, value in zip(columns, w, strict=True)
    ]
    dw = newton_step(columns, h, right)
    along = [dot(row, dw) for row in Z]
    da = [p - k * z for p, k, z in zip(pull, h, along, strict=True)]
    db = [-change for change in da]
    dxi = [(e + x * change) / p for e, x, change, p in zip(r2, xi, da, b, strict=True)]
    ds = [z + change for z, change in zip(along, dxi, strict=True)]
    return dw, da, db, ds, dxi


def longest(point, step):
    """The longest step, of at most 1, that leaves no element negative."""
    t = mpfr(1)
    for values, changes in zip(point, step, strict=True):
        for value, change in zip(values, changes, strict=True):
            if change < 0 and value < -t * change:
                t = -value / change
    return t


def moved(point, step, t):
    return [
        [value + t * change for value, change in zip(values, changes, strict=True)]
        for values, changes in zip(point, step, strict=True)
    ]
