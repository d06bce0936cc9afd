"""What model files hold of fitted estimators, pipelines and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..files.model import KernelModel, LinearModel, Model, require_weights
from .scaling import pipeline_factors, rescaled_model


def linear_model(model: Any) -> LinearModel:
    """Return what `save_model` writes of a linear ranker, and refuse others."""
    return require_weights(stored_model(model), f"a {type(model).__name__}")


def stored_model(model: Any) -> Model:
    """Return what `save_model` writes, of any model that it takes."""
    if isinstance(model, LinearModel | KernelModel):
        return model
    from sklearn.utils.validation import check_is_fitted

    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        return _from_pipeline(model)
    if hasattr(model, "support_vectors_"):
        return _from_kernel_ranker(model)
    if hasattr(model, "path_"):
        return _from_path(model)
    check_is_fitted(model, "coef_")
    return LinearModel(model.coef_, _names_of(model), vars(model._trained_with), _training(model))


def _names_of(model: Any) -> list[str] | None:
    names = getattr(model, "feature_names_in_", None)
    return None if names is None else [str(name) for name in names]


def _training(model: Any) -> dict[str, Any]:
    return {
        "objective": model.objective_,
        "dual_gap": model.dual_gap_,
        "status": model.status_,
        "n_iter": model.n_iter_,
        "n_pairs": model.n_pairs_,
        "n_queries": model.n_queries_,
    }


def _from_kernel_ranker(model: Any) -> KernelModel:
    return KernelModel(
        model._kernel,
        model.support_vectors_,
        model.dual_coef_,
        feature_names=_names_of(model),
        parameters=vars(model._trained_with),
        training=_training(model),
    )


def _from_path(model: Any) -> KernelModel:
    """Return the solution that was chosen along a path."""
    path, support = model.path_, model.dual_coef_.nonzero()[0]
    return KernelModel(
        path.kernel,
        path.X[support],
        model.dual_coef_[support],
        feature_names=_names_of(model),
        parameters={"lambda": model.lambda_, "loss": "hinge", "graph": model.graph_},
        training={
            "status": path.status,
            "violation": path.violation,
            "n_pairs": model.n_pairs_,
            "n_queries": model.n_queries_,
        },
    )


def _from_pipeline(pipeline: Any) -> LinearModel:
    *scalers, ranker = (step for _, step in pipeline.steps)
    model = stored_model(ranker)
    if isinstance(model, KernelModel):
        raise ValueError(
            f"a {type(ranker).__name__} has no weights of features, which the steps before it "
            "could go into: save the ranker alone, and give it rows as it saw them"
        )
    names = _names_of(pipeline)
    if names is not None:
        model = replace(model, feature_names=names)
    scale = " + ".join(type(scaler).__name__ for scaler in scalers)
    return rescaled_model(model, pipeline_factors(scalers, len(model.coef)), scale)
