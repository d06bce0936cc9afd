"""What model files hold of fitted estimators, pipelines and searches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..scaling import pipeline_factors, rescaled_model
from .model import LinearModel


def linear_model(model: Any) -> LinearModel:
    """Return what `save_model` writes, of any model that it takes."""
    if isinstance(model, LinearModel):
        return model
    from sklearn.utils.validation import check_is_fitted

    model = getattr(model, "best_estimator_", model)
    if hasattr(model, "steps"):
        return _from_pipeline(model)
    if hasattr(model, "support_vectors_"):
        raise ValueError(
            f"a {type(model).__name__} has no weights of features, which is what model files hold; "
            "pickle it, or train a RankSVM"
        )
    check_is_fitted(model, "coef_")
    names = getattr(model, "feature_names_in_", None)
    return LinearModel(
        coef=model.coef_,
        feature_names=None if names is None else [str(name) for name in names],
        parameters=vars(model._trained_with),
        training={
            "objective": model.objective_,
            "dual_gap": model.dual_gap_,
            "status": model.status_,
            "n_iter": model.n_iter_,
            "n_pairs": model.n_pairs_,
            "n_queries": model.n_queries_,
        },
    )


def _from_pipeline(pipeline: Any) -> LinearModel:
    *scalers, ranker = (step for _, step in pipeline.steps)
    model = linear_model(ranker)
    names = getattr(pipeline, "feature_names_in_", None)
    if names is not None:
        model = replace(model, feature_names=[str(name) for name in names])
    scale = " + ".join(type(scaler).__name__ for scaler in scalers)
    return rescaled_model(model, pipeline_factors(scalers, len(model.coef)), scale)
