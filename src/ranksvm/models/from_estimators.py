"""The models in fitted estimators, pipelines and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

from . import Model
from .kernel import KernelModel
from .linear import LinearModel
from .pipelines import pipeline_factors


@runtime_checkable
class HasModel(Protocol):
    """A model, or an estimator that can say what it has learned as one."""

    def to_model(self) -> Model:
        """Return what predicts."""


def linear_model_of(ranker: Any, name: str | None = None) -> LinearModel:
    """Return the linear model in a ranker, and refuse others, which messages call by a name."""
    model = model_of(ranker)
    if isinstance(model, KernelModel):
        raise ValueError(
            f"{name or f'a {type(ranker).__name__}'} has no weights of features: it ranks by the "
            f"kernel {model.kernel}"
        )
    return model


def model_of(ranker: Any) -> Model:
    """Return the model in a ranker.

    Parameters
    ----------
    ranker : LinearModel, KernelModel, or fitted estimator
        One that has `to_model`, a pipeline of scikit-learn that ends in one with weights, after
        scalers, which go into the weights; or a search that has found one of these.

    Raises
    ------
    ValueError
        If a pipeline has other steps than scalers, or scalers before a kernel ranker.
    TypeError
        If the ranker is none of these.
    """
    ranker = getattr(ranker, "best_estimator_", ranker)
    if hasattr(ranker, "steps"):
        return _from_pipeline(ranker)
    if not isinstance(ranker, HasModel):
        raise TypeError(
            f"a {type(ranker).__name__} is no model of ranksvm, nor a fitted pipeline or search of "
            "one"
        )
    return ranker.to_model()


def _from_pipeline(pipeline: Any) -> LinearModel:
    *scalers, ranker = (step for _, step in pipeline.steps)
    model = model_of(ranker)
    if isinstance(model, KernelModel):
        raise ValueError(
            f"a {type(ranker).__name__} has no weights of features, which the steps before it "
            "could go into: save the ranker alone, and give it rows as it saw them"
        )
    names = getattr(pipeline, "feature_names_in_", None)
    scale = " + ".join(type(scaler).__name__ for scaler in scalers)
    return replace(
        model,
        weights=model.weights.times(pipeline_factors(scalers, model.n_features)),
        feature_names=model.feature_names if names is None else [str(name) for name in names],
        parameters={**model.parameters, "scale": scale},
    )
