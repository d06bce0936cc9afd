"""The models in fitted estimators, pipelines and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from ..errors import InputError
from . import Model
from .kernel import KernelModel
from .linear import LinearModel

if TYPE_CHECKING:
    from .maps import AffineMap


@runtime_checkable
class HasModel(Protocol):
    """A model, or an estimator that can say what it has learned as one."""

    def to_model(self) -> Model:
        """Return what predicts."""


def linear_model_of(ranker: Any, name: str | None = None) -> LinearModel:
    """Return the linear model in a ranker, one of weights for the features as they are.

    Others are refused, which messages call by a name.
    """
    model = model_of(ranker)
    shown = name or f"a {type(ranker).__name__}"
    if isinstance(model, KernelModel):
        raise InputError(
            f"{shown} has no weights of features: it ranks by the kernel {model.kernel}"
        )
    require_weights(model, shown)
    return model


def require_weights(model: LinearModel, shown: str) -> None:
    """Refuse models that map features first; messages call them by a name."""
    if model.maps:
        listed = " and ".join(one.name for one in model.maps)
        raise InputError(
            f"{shown} has no weights of the features as they are: it maps them first, by {listed}"
        )


def model_of(ranker: Any) -> Model:
    """Return the model in a ranker.

    Parameters
    ----------
    ranker : LinearModel, KernelModel, or fitted estimator
        One that has `to_model`, a pipeline of scikit-learn that ends in one with weights, after
        scalers, which go into the weights, and transformers that `ranksvm.models.maps` knows; or a
        search that has found one of these.

    Raises
    ------
    ValueError
        If a pipeline has other steps than these, or any before a kernel ranker.
    TypeError
        If the ranker is none of these.
    """
    ranker = getattr(ranker, "best_estimator_", ranker)
    if hasattr(ranker, "steps"):
        return _from_pipeline(ranker)
    if isinstance(ranker, type):
        raise TypeError(f"{ranker.__name__} is a class: give a fitted {ranker.__name__}(...)")
    if hasattr(ranker, "cv_results_") and not isinstance(ranker, HasModel):
        raise TypeError(f"this {type(ranker).__name__} has no best_estimator_: set refit=True")
    if not isinstance(ranker, HasModel):
        raise TypeError(
            f"a {type(ranker).__name__} is no model of ranksvm, such as RankSVM, nor a fitted "
            "pipeline or search of one"
        )
    return ranker.to_model()


def scaled_model_of(ranker: Any, *, folds: bool = True) -> tuple[Model, AffineMap | None]:
    """Return the model in a ranker as `model_of` does, or apart from the scaler before it.

    Parameters
    ----------
    ranker : LinearModel, KernelModel, or fitted estimator
    folds : bool, default=True
        Whether scalers go into the weights.

    Returns
    -------
    model : LinearModel or KernelModel
    scaler : AffineMap or None
        None if there is none, or it went into the weights.
    """
    model = model_of(ranker)
    ranker = getattr(ranker, "best_estimator_", ranker)
    if folds or not hasattr(ranker, "steps") or isinstance(model, KernelModel):
        return model, None
    from .maps import AffineMap
    from .pipelines import pipeline_maps

    maps = pipeline_maps([step for _, step in ranker.steps[:-1]])
    if len(maps) != 1 or not isinstance(maps[0], AffineMap) or model.maps:
        return model, None
    weights = linear_model_of(ranker.steps[-1][1]).weights
    return replace(model, weights=weights), maps[0]


def _from_pipeline(pipeline: Any) -> LinearModel:
    from .pipelines import folded, pipeline_maps

    *steps, ranker = (step for _, step in pipeline.steps)
    model = model_of(ranker)
    if isinstance(model, KernelModel):
        raise InputError(
            f"a {type(ranker).__name__} has no weights of features, which the steps before it "
            "could go into: save the ranker alone, and give it rows as it saw them"
        )
    maps, weights = folded([*pipeline_maps(steps), *model.maps], model.weights)
    names = getattr(pipeline, "feature_names_in_", None)
    if names is not None:
        names = [str(name) for name in names]
    elif not maps:
        names = model.feature_names
    scale = " + ".join(type(step).__name__ for step in steps)
    return LinearModel(
        weights, names, {**model.parameters, "scale": scale}, model.training, tuple(maps)
    )
