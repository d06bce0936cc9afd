"""The slow truth of penalties with kinks and bounds: explicit pairs, and solvers of others.

Of pairs there are the differences Z and weights g, c among them. The hinge loss, and absolute
values ``|v| = v+ + v-`` with ``v = v+ - v-``, make a quadratic programme, which Clarabel solves;
the squared hinge without absolute values is one for SciPy's L-BFGS-B, too.
"""

from math import fsum

import clarabel
import numpy as np
from scipy import sparse
from scipy.optimize import minimize


def columns(conditions, d):
    """Lasso, ridge, prior and bounds of each weight."""
    charged = np.broadcast_to(conditions.penalty_weights, d)
    others = (conditions.prior, conditions.lower, conditions.upper)
    r = conditions.l1_ratio
    return r * charged, (1 - r) * charged, *(np.broadcast_to(value, d) for value in others)


def objective(Z, g, conditions, loss, w):
    """``R(w) + sum of g phi(z'w)``, infinite beyond the bounds."""
    lasso, ridge, prior, lower, upper = columns(conditions, len(w))
    if (w < lower).any() or (w > upper).any():
        return np.inf
    v, violation = w - prior, np.maximum(0.0, 1 - Z @ w)
    losses = violation if loss == "hinge" else violation**2
    return fsum([*(lasso * np.abs(v)), *(ridge * v**2 / 2), *(g * losses)])


def minimize_by_clarabel(Z, g, conditions, loss):
    """The weights of a quadratic programme in v+, v-, and the violations of all pairs.

    Weights are counted in units that make the columns of Z alike, and costs in those of g.
    """
    n, d = Z.shape
    lasso, ridge, prior, lower, upper = columns(conditions, d)
    largest = np.abs(Z).max(axis=0, initial=0)
    unit, total = 1 / np.where(largest > 0, largest, 1.0), g.sum()
    turn = np.hstack([np.diag(unit), -np.diag(unit)])
    costs = g / total
    quadratic = [turn.T @ (ridge[:, None] / total * turn), np.diag(2 * costs)]
    if loss == "hinge":
        quadratic[1] *= 0
    linear = np.r_[np.tile(lasso * unit / total, 2), costs if loss == "hinge" else 0 * costs]
    low, high = np.isfinite(lower), np.isfinite(upper)
    blocks = [  # A x <= b
        (np.hstack([-Z @ turn, -np.eye(n)]), Z @ prior - 1),
        (-np.eye(2 * d + n), np.zeros(2 * d + n)),
        (
            np.hstack([-turn, np.zeros((d, n))])[low] / unit[low, None],
            ((prior - lower) / unit)[low],
        ),
        (
            np.hstack([turn, np.zeros((d, n))])[high] / unit[high, None],
            ((upper - prior) / unit)[high],
        ),
    ]
    A, b = np.vstack([block[0] for block in blocks]), np.concatenate([block[1] for block in blocks])
    x = solve_programme(sparse.block_diag(quadratic), linear, A, b)
    return np.clip(prior + turn @ x[: 2 * d], lower, upper)


def solve_programme(quadratic, linear, A, b):
    """The least ``x'Qx / 2 + q'x`` with ``A x <= b``."""
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-13
    cones = [clarabel.NonnegativeConeT(len(b))]
    upper = sparse.triu(quadratic, format="csc")
    solver = clarabel.DefaultSolver(upper, linear, sparse.csc_matrix(A), b, cones, settings)
    return np.array(solver.solve().x)


def minimize_by_lbfgsb(Z, g, conditions):
    """The weights for the squared hinge, without absolute values."""
    d = Z.shape[1]
    _, ridge, prior, lower, upper = columns(conditions, d)
    largest = np.abs(Z).max(axis=0, initial=0)
    unit, total = 1 / np.where(largest > 0, largest, 1.0), g.sum()

    def value(x):
        w = unit * x
        slack, v = np.maximum(0.0, 1 - Z @ w), w - prior
        value = np.sum(ridge * v**2) / 2 + g @ slack**2
        return value / total, unit * (ridge * v - 2 * (g * slack) @ Z) / total

    start = np.clip(prior, lower, upper) / unit
    bounds = np.stack([lower / unit, upper / unit], axis=1)
    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 10_000, "maxfun": 100_000, "maxcor": 50}
    found = minimize(value, start, jac=True, bounds=bounds, options=options)
    return np.clip(unit * found.x, lower, upper)


def falls(Z, g, conditions, w):
    """How steeply the squared hinge and penalty fall where one weight goes up, or down.

    Returns
    -------
    slope, room, curvature : arrays of shape (2, d)
        The derivative ahead, how far it goes on as a parabola that curves no more than that.
    """
    lasso, ridge, prior, lower, upper = columns(conditions, len(w))
    v, gradient = w - prior, -2 * (g * np.maximum(0.0, 1 - Z @ w)) @ Z
    curvature = ridge + 2 * g @ Z**2
    found = []
    for side, bound in ((1.0, upper), (-1.0, lower)):
        kink = np.where(side * v < 0, np.abs(v), np.inf)
        ahead = np.where(v == 0, 1.0, side * np.sign(v))
        slope = side * (gradient + ridge * v) + lasso * ahead
        found.append((slope, np.minimum(kink, np.abs(bound - w)), curvature))
    return tuple(np.array(part) for part in zip(*found, strict=True))
