r"""The mean of several rankers that a contest cannot tell apart, as one linear model.

Weights for another C, or of other features, give scores of another size, whose differences within
queries are all that ranks. So each member counts by its scores over their spread around the means
of the queries,

.. math:: s_i = \frac{1}{M} \sum_m \frac{s_{mi}}{\sigma_m}, \qquad
          \sigma_m^2 = \frac{1}{n} \sum_i (s_{mi} - \bar{s}_{m, q_i})^2

over the n rows of the training. What is certified is each member: that its weights minimise its
objective, up to its gap. The mean minimises nothing.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from ..linear.conditions import require_truth
from ..linear.grid_rounds import train_path
from ..linear.occurring import FeatureWeights
from ..linear.parameters import Parameters
from ..linear.rounds import train
from ..linear.training import Fit
from ..models.maps import FeatureMap
from ..models.maps.joined import side_by_side
from ..pairs.queries import QueryGroups
from ..threads import resolve_threads
from .contest import Contest, Entrant

Vector = NDArray[np.float64]


class Member(NamedTuple):
    """A candidate of a contest, trained on all rows.

    Attributes
    ----------
    params : dict
        C and all settings, by name.
    entrant : Entrant
    parameters : Parameters
        What it was trained with.
    fit : Fit
    """

    params: dict[str, Any]
    entrant: Entrant
    parameters: Parameters
    fit: Fit

    @property
    def spread(self) -> float:
        """The deviation of its scores from the means of their queries."""
        n_threads = resolve_threads(self.parameters.n_threads)
        scores = self.entrant.rows.X.scores(self.fit.result.weights, n_threads)
        return spread_within(scores, self.entrant.rows.preferences.groups)

    def described(self, share: float) -> dict[str, Any]:
        """Return what there is to say of it, with its share of the mean."""
        result = self.fit.result
        return {
            "params": self.params,
            "share": share,
            "objective": result.value,
            "dual_gap": result.dual_gap,
            "status": str(result.status),
            "n_iter": result.n_iter,
        }


def takes_mean(average: bool | str, param_grid: Any, one_standard_error: bool) -> bool:
    """Say whether a choice ends in a mean: by default, where nothing else is said of it.

    Parameters
    ----------
    average : bool or "auto"
        "auto" is for ``param_grid="auto"``, unless the rule of one standard error is asked for.
    param_grid : dict, list of dicts, "auto" or None
    one_standard_error : bool

    Raises
    ------
    ValueError
        If `average` is neither, or goes against that rule.
    """
    if isinstance(average, str) and average == "auto":
        return isinstance(param_grid, str) and param_grid == "auto" and not one_standard_error
    if isinstance(average, str):
        raise InputError(f"average must be 'auto', True or False, not {average!r}")
    require_truth("average", average)
    if average and one_standard_error:
        raise InputError(
            "one_standard_error chooses the simplest of those that are hardly worse, average the "
            "mean of those that are level with the best: leave out one of them"
        )
    return bool(average)


def require_no_bounds(entrants: Sequence[Entrant]) -> None:
    """Refuse to take means of weights that have bounds or a prior, which these would not keep."""
    if any(one.conditions.have_bounds or np.any(one.conditions.prior) for one in entrants):
        raise InputError(
            "average takes the mean of rankers whose scores are brought to one scale, which keeps "
            "no bounds and no prior of the weights: leave these out, or set average=False"
        )


def train_members(contest: Contest, places: Sequence[int]) -> list[Member]:
    """Train candidates on all rows, on one path of solutions those that can be.

    Parameters
    ----------
    contest : Contest
    places : sequence of int

    Returns
    -------
    list of Member
        In the order of the places.
    """
    chosen = {place: contest.chosen(place) for place in places}
    paths: dict[Hashable, list[int]] = {}
    for place, (entrant, parameters) in chosen.items():
        paths.setdefault(entrant.path_with(parameters), []).append(place)
    fits: dict[int, Fit] = {}
    for alike in paths.values():
        rows, of_each = chosen[alike[0]][0].rows, [chosen[place][1] for place in alike]
        if len(alike) == 1:  # as `RankSVM` trains, to the last bit
            fits[alike[0]] = train(rows.X, rows.preferences, of_each[0])
        else:
            of_path = train_path(rows.X, rows.preferences, of_each)
            fits.update(zip(alike, of_path, strict=True))
    return [Member(contest.params(place), *chosen[place], fits[place]) for place in places]


def mean_of(members: Sequence[Member]) -> tuple[tuple[FeatureMap, ...], FeatureWeights]:
    """Return the maps and the weights of the mean; a single member stays as it is."""
    if len(members) == 1:
        return members[0].entrant.maps, members[0].entrant.weights_of(members[0].fit)
    parts = []
    for one in members:
        spread = one.spread
        share = 1 / (len(members) * spread) if spread > np.finfo(np.float64).tiny else 0.0
        parts.append((one.entrant.maps, one.entrant.weights_of(one.fit).times(share)))
    return side_by_side(parts)


def least_certain(members: Sequence[Member]) -> Member:
    """Return the member with the largest gap."""
    return max(members, key=lambda one: one.fit.result.dual_gap)


def described(members: Sequence[Member]) -> list[dict[str, Any]]:
    """Return what there is to say of each member of a mean."""
    return [one.described(1 / len(members)) for one in members]


def of_mean(training: dict[str, Any], members: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return what a model file says of training, of which the mean itself has no objective."""
    rest = {name: value for name, value in training.items() if name != "objective"}
    return {**rest, "members": list(members)}


def spread_within(scores: Vector, groups: QueryGroups) -> float:
    """Return the root of the mean square of the scores less the means of their queries."""
    size = float(np.abs(scores).max(initial=0.0))
    if size == 0:
        return 0.0
    numbers = groups.numbers
    scaled = scores / size  # whose squares do not overflow
    sums = np.bincount(numbers, scaled, groups.n_queries)
    rest = scaled - (sums / np.diff(groups.indptr))[numbers]
    return size * float(np.sqrt(np.mean(rest * rest)))
