"""Rows that pairs at the kink tie together: at the optimum their scores are margins apart.

Where regularisation is weak and weights can give rows nearly any scores, most of the rows that
matter lie on a few plateaus at the optimum: a pair (i, j) at its kink has ``s_i - s_j`` equal to
the margin, and so the scores of all rows that such pairs connect are known, but for a constant::

    s_i = t + k_i margin,    k_i whole numbers    (:eq:`ties`).

The minimum of a smoothed hinge tells which rows these are, long before its smoothing is narrow
enough to end. Pairs are far too many, and their Hessian is conditioned the worse the narrower it
is; but dot products of sparse rows are conditioned well. So the ties are made exact for rows, by
the shortest change of the weights that does so, ``X'u`` with::

    P X X'u = P (k margin - s),    u zero but for tied rows,    P u = u,

where P takes off the mean of each component. A few dozen products find u.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..pairs.core_pairs import CorePairs
from ..pairs.loss_evaluation import SmoothEvaluation
from ..records import record
from .evaluation import AtWeights, Terms
from .penalties import SquaredNorm

Vector = NDArray[np.float64]
Indices = NDArray[np.intp]

NEAR, APART = 0.1, 0.5  # of a width: between scores of a plateau; from where the margin leads
MOST_NEIGHBOURS = 1 << 14  # of all plateaus, a margin away: where these are many, they are none
MOST_PRODUCTS, EXACT = 100, 1e-5  # what is left of the ties


@record
class Ties:
    """Rows that are tied, and where.

    Attributes
    ----------
    rows : ndarray of shape (n_tied,)
    component : ndarray of shape (n_tied,)
        Numbers of the components, from 0 on.
    level : ndarray of shape (n_tied,)
        How many margins a row lies above another of its component.
    """

    rows: Indices
    component: Indices
    level: Vector

    @classmethod
    def find(
        cls, queries: NDArray[np.integer], scores: Vector, width: float, margin: float
    ) -> Ties | None:
        """Find plateaus that lie a margin apart within a query; None if there are none, or many.

        Parameters
        ----------
        queries, scores : ndarray of shape (n_rows,)
            Of rows with pairs at the kink.
        width : float
            Of the smoothing that these were found with.
        margin : float
        """
        order = np.lexsort((scores, queries))
        s, q = scores[order], queries[order]
        is_first = np.ones(len(s), dtype=bool)
        is_first[1:] = (np.diff(s) > NEAR * width) | (np.diff(q) != 0)
        begins = np.flatnonzero(is_first)
        if len(begins) < 2:
            return None
        centres = np.add.reduceat(s, begins) / np.diff(begins, append=len(s))
        neighbours = _neighbours(centres, q[begins], APART * width, margin)
        if sum(int((high - low).sum()) for _, low, high in neighbours) > MOST_NEIGHBOURS:
            return None
        component, level = _connected(neighbours)
        plateau = np.cumsum(is_first) - 1
        is_tied = (np.bincount(component)[component] > 1)[plateau]
        if not is_tied.any():
            return None
        tied = plateau[is_tied]
        _, numbers = np.unique(component[tied], return_inverse=True)
        return cls(order[is_tied], numbers, level[tied])

    def centred(self, values: Vector) -> Vector:
        """Take off the mean of each component."""
        sums = np.bincount(self.component, values)
        centred: Vector = values - (sums / np.bincount(self.component))[self.component]
        return centred


def tied(here: AtWeights, limit: AtWeights) -> tuple[Vector | None, int]:
    """Return the shortest step from the minimum of a smoothed hinge that ties rows exactly.

    Parameters
    ----------
    here : AtWeights
        The minimum, nearly.
    limit : AtWeights
        Where minima lead for narrower smoothings, as far as is known: plateaus show there.

    Returns
    -------
    step : ndarray of shape (n_features,) or None
        None where no rows are tied, or pairs are not those of labels, on the host.
    n_products : int
        How many products with the rows, and with their transpose, it took.
    """
    objective, loss, pairs = here.objective, here.loss, here.objective.loss.pairs
    if not (isinstance(pairs, CorePairs) and isinstance(loss, SmoothEvaluation)):
        return None, 0
    if not isinstance(objective.penalty, SquaredNorm):
        return None, 0
    rows, margin = np.flatnonzero(loss.hessian_diagonal), objective.loss.margin
    ties = Ties.find(pairs.groups.numbers[rows], limit.scores[rows], here.width, margin)
    if ties is None:
        return None, 0
    rows = rows[ties.rows]
    wanted = ties.centred(margin * ties.level - here.scores[rows])
    return _shortest(objective, ties, rows, wanted)


def _shortest(objective: Terms, ties: Ties, rows: Indices, wanted: Vector) -> tuple[Vector, int]:
    """Return the shortest step that moves centred scores of rows as wanted, nearly."""
    products, n_threads = objective.products, objective.n_threads
    step, forces = np.zeros(objective.size), np.zeros(objective.X.shape[0])
    left, direction, before, n_products = wanted, wanted, float(wanted @ wanted), 0
    enough = EXACT**2 * before
    while before > enough and n_products < MOST_PRODUCTS:
        forces[rows] = direction
        along = products.t_dot(forces, n_threads)
        image = ties.centred(products.dot(along, n_threads)[rows])
        n_products += 1
        curvature = float(direction @ image)
        if not curvature > 0:
            break
        step += before / curvature * along
        left = left - before / curvature * image
        after = float(left @ left)
        direction, before = left + after / before * direction, after
    return step, n_products


def _neighbours(
    centres: Vector, queries: NDArray[np.integer], apart: float, margin: float
) -> list[tuple[int, Indices, Indices]]:
    """Return the ranges of plateaus that lie a margin above each, and below, nearly."""
    extent = float(np.ptp(centres)) + 2 * (margin + apart)
    _, numbers = np.unique(queries, return_inverse=True)
    keys = centres + extent * numbers  # queries one after another, beyond reach
    return [
        (sign, *(np.searchsorted(keys, keys + sign * margin + k * apart) for k in (-1, 1)))
        for sign in (1, -1)
    ]


def _connected(neighbours: list[tuple[int, Indices, Indices]]) -> tuple[Indices, Vector]:
    """Return the component of each plateau, and how many margins it lies above the first of it."""
    n_plateaus = len(neighbours[0][1])
    component, level = np.full(n_plateaus, -1), np.zeros(n_plateaus)
    for first in range(n_plateaus):
        if component[first] >= 0:
            continue
        component[first], stack = first, [first]
        while stack:
            plateau = stack.pop()
            for sign, low, high in neighbours:
                for other in range(low[plateau], high[plateau]):
                    if component[other] < 0:
                        component[other], level[other] = first, level[plateau] + sign
                        stack.append(other)
    return component, level
