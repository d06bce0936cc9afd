"""Cross-validation on a cluster: folds are weights of queries, and no row is copied."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.grid import solve_grid
from ..linear.parameters import Parameters
from .data import ClusterData
from .training import make_problem


def scores_of_folds(
    data: ClusterData, of_each: Sequence[Parameters], n_folds: int
) -> NDArray[np.float64]:
    """Return the pairwise accuracy on each fold of what the others teach.

    Queries of a fold weigh nothing while the others train; each solution is the start for the next
    larger C.

    Parameters
    ----------
    data : ClusterData
        Whose queries are dealt to so many folds.
    of_each : sequence of Parameters
        That differ in C.
    n_folds : int

    Returns
    -------
    ndarray of shape (n_folds, n_parameters)

    Raises
    ------
    ValueError
        If a query is larger than a partition, or a fold has no pairs.
    """
    if data.rounds.has_shared:
        raise InputError(
            "folds are of queries that are whole in a partition, but one is larger than that: use "
            "fewer partitions, or DaskRankSVM"
        )
    least = min(of_each, key=lambda parameters: parameters.C)
    found = np.full((n_folds, len(of_each)), np.nan)
    for fold in range(n_folds):
        problem = make_problem(data, least, without=fold)
        weights = np.empty((len(of_each), data.n_features))
        for place, result in solve_grid(problem, of_each, for_choice=True):
            weights[place] = result.weights
        found[fold] = data.rounds.accuracy(fold, weights)
    if np.isnan(found).any():
        fold = int(np.flatnonzero(np.isnan(found).any(axis=1))[0])
        raise InputError(f"fold {fold} has no preference pairs: use fewer folds")
    return found
