"""Pictures, as displays by scikit-learn's convention; knows results, and trains nothing."""

from .boundary import BoundaryDisplay
from .coefficient_path import CoefficientPathDisplay
from .coefficients import CoefficientsDisplay
from .contributions import (
    ContributionsDisplay,
    FeatureImportanceDisplay,
    PairContributionsDisplay,
)
from .convergence import ConvergenceDisplay
from .effects import FeatureEffectDisplay
from .figures import check_picture, save_figure
from .kaplan_meier import KaplanMeierDisplay
from .kernel_path import PathScoreDisplay, RegularizationPathDisplay
from .metric_at_k import MetricAtKDisplay
from .query_comparison import QueryComparisonDisplay
from .regularization import RegularizationCurveDisplay
from .score_distribution import ScoreDistributionDisplay

__all__ = [
    "BoundaryDisplay",
    "CoefficientPathDisplay",
    "CoefficientsDisplay",
    "ContributionsDisplay",
    "ConvergenceDisplay",
    "FeatureEffectDisplay",
    "FeatureImportanceDisplay",
    "KaplanMeierDisplay",
    "MetricAtKDisplay",
    "PairContributionsDisplay",
    "PathScoreDisplay",
    "QueryComparisonDisplay",
    "RegularizationCurveDisplay",
    "RegularizationPathDisplay",
    "ScoreDistributionDisplay",
    "check_picture",
    "save_figure",
]
