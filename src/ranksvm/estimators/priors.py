"""What users may give as a prior: numbers, or anything that has weights of features."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..arrays.libraries import to_host
from ..errors import InputError
from ..linear.condition_arguments import OfFeatures
from ..linear.feature_names import FeatureNames


def prior_values(prior: Any, features: FeatureNames) -> OfFeatures:
    """Return the numbers of a prior: its own, or the weights of a model, file or fitted ranker.

    Raises
    ------
    ValueError
        If it has no weights of features, or of none of these.
    DataError
        If a file is no model.
    """
    numbers: OfFeatures = to_host(prior)
    if numbers is None or isinstance(numbers, int | float | np.ndarray):
        return numbers
    from ..models.from_estimators import HasModel, linear_model_of
    from ..models.priors import prior_of

    if isinstance(prior, str | os.PathLike):
        from ..files.model import load_model

        return prior_of(linear_model_of(load_model(prior), str(prior)), features, str(prior))
    if isinstance(prior, HasModel | BaseEstimator):
        return prior_of(linear_model_of(prior, "the prior"), features, "the prior")
    return numbers


def the_one_prior(of_estimator: Any, of_fit: Any) -> Any:
    """Return the prior that is given to an estimator or to its `fit`.

    Raises
    ------
    ValueError
        If both are, or an estimator is given to an estimator.
    """
    if isinstance(of_estimator, BaseEstimator):
        raise InputError(
            "a fitted ranker is a prior for fit(X, y, prior=...): as a parameter of an estimator "
            "it would be cloned, and not be fitted any more"
        )
    if of_estimator is not None and of_fit is not None:
        raise InputError("prior is given twice, as a parameter and to fit: give one of the two")
    return of_estimator if of_fit is None else of_fit
