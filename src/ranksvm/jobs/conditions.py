"""What files ask of the weights: bounds, a prior, and what each is charged."""

from __future__ import annotations

import os
from dataclasses import replace

from ..files.feature_numbers import read_bounds, read_penalty_weights
from ..files.model import load_model
from ..files.rows import FileRows
from ..linear.condition_arguments import ConditionArguments
from ..linear.conditions import Conditions
from ..linear.feature_names import FeatureNames
from ..models.from_estimators import linear_model_of
from ..models.priors import prior_of
from .rows import Vector, feature_names

Path = str | os.PathLike[str] | None


def conditions_of_files(
    rows: FileRows,
    given: ConditionArguments,
    bounds: Path = None,
    prior: Path = None,
    penalty_weights: Path = None,
) -> Conditions:
    """Return what is asked of the weights of the features of rows.

    Parameters
    ----------
    rows : FileRows
    given : ConditionArguments
        What needs no file.
    bounds, prior, penalty_weights : str or path-like, optional
        Files of bounds and penalties (`ranksvm.files.feature_numbers`), and a model file.

    Raises
    ------
    DataError
        If a file cannot be read, or names features that are none.
    ValueError
        If what is asked for contradicts itself.
    """
    features = feature_names(rows)
    if bounds is not None:
        lower, upper = read_bounds(bounds, features)
        given = replace(given, lower_bounds=lower, upper_bounds=upper)
    if prior is not None:
        given = replace(given, prior=_prior(prior, features))
    if penalty_weights is not None:
        given = replace(given, penalty_weights=read_penalty_weights(penalty_weights, features))
    return given.conditions(features)


def _prior(path: str | os.PathLike[str], features: FeatureNames) -> Vector:
    name = os.fspath(path)
    model = linear_model_of(load_model(path), name)
    from_zero = model.training.get("zero_based")
    first = int(not from_zero) if isinstance(from_zero, bool) else None
    return prior_of(model, features, name, first)
