"""Pictures, by scikit-learn's convention of displays. matplotlib is imported when one is drawn."""

from .coefficients import CoefficientsDisplay
from .convergence import ConvergenceDisplay
from .figures import check_picture, save_figure
from .metric_at_k import MetricAtKDisplay
from .query_comparison import QueryComparisonDisplay
from .regularization import RegularizationCurveDisplay
from .score_distribution import ScoreDistributionDisplay

__all__ = [
    "CoefficientsDisplay",
    "ConvergenceDisplay",
    "MetricAtKDisplay",
    "QueryComparisonDisplay",
    "RegularizationCurveDisplay",
    "ScoreDistributionDisplay",
    "check_picture",
    "save_figure",
]
