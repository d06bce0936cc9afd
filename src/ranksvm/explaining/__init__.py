"""Why a linear ranker ranks as it does: what each feature adds, and what it is worth."""

from .contributions import Contributions, explain, explain_pair
from .importance import FeatureImportance, feature_importance

__all__ = [
    "Contributions",
    "FeatureImportance",
    "explain",
    "explain_pair",
    "feature_importance",
]
