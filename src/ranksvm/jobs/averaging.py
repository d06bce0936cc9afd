"""Training the mean of candidates on the rows of files."""

from __future__ import annotations

from collections.abc import Sequence

from ..files.rows import FileRows
from ..linear.training import Fit
from ..models import LinearModel
from ..selection.averaging import described, least_certain, mean_of, of_mean, train_members
from ..selection.contest import Contest
from .rows import feature_names, naming_lack_of_pairs, require_unchanged
from .training import training_of, warn_unless_converged


def train_mean(rows: FileRows, contest: Contest, places: Sequence[int]) -> tuple[Fit, LinearModel]:
    """Train the mean of candidates on the rows of a file.

    Parameters
    ----------
    rows : FileRows
    contest : Contest
        On these rows.
    places : sequence of int
        The best first.

    Returns
    -------
    fit : Fit
        That with the largest gap.
    model : LinearModel
    """
    with naming_lack_of_pairs(rows):
        members = train_members(contest, places)
    require_unchanged(rows)
    for one in members:
        warn_unless_converged(one.fit.shortfall)
    best, fit = members[0], least_certain(members).fit
    maps, weights = mean_of(members)
    settings = {name: value for name, value in best.params.items() if value is not None}
    parameters = {**settings, **best.parameters.described(feature_names(rows))}
    training = of_mean(training_of(fit, rows), described(members))
    return fit, LinearModel(weights, rows.feature_names, parameters, training, maps)
