"""Ranking support vector machines, trained exactly and with a certificate.

Names are imported when they are first used, so that ``import ranksvm`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "BoundaryDisplay": "plots",
    "CoefficientsDisplay": "plots",
    "ConvergenceDisplay": "plots",
    "ConvergenceWarning": "linear.training",
    "KernelModel": "files.model",
    "KernelRankSVM": "estimators.kernel_rank_svm",
    "KernelRankSVMPathCV": "estimators.kernel_rank_svm_path_cv",
    "LinearModel": "files.model",
    "MetricAtKDisplay": "plots",
    "PathScoreDisplay": "plots",
    "QueryComparisonDisplay": "plots",
    "RankSVM": "estimators.rank_svm",
    "RankSVMCV": "estimators.rank_svm_cv",
    "RankSVMGrid": "linear.grid",
    "RegularizationCurveDisplay": "plots",
    "RegularizationPathDisplay": "plots",
    "ScoreDistributionDisplay": "plots",
    "RegularizationPath": "kernel.path.regularization",
    "convert_model": "files.foreign_models",
    "dump_svmlight": "files.svmlight",
    "evaluate": "metrics",
    "load_model": "files.model",
    "load_svmlight": "files.svmlight",
    "paired_randomization_test": "metrics",
    "pairwise_accuracy": "metrics",
    "ranksvm_grid": "linear.grid",
    "regularization_path": "kernel.path.regularization",
    "save_model": "files.model",
    "write_trec_run": "files.trec",
}

if TYPE_CHECKING:
    from .estimators.kernel_rank_svm import KernelRankSVM
    from .estimators.kernel_rank_svm_path_cv import KernelRankSVMPathCV
    from .estimators.rank_svm import RankSVM
    from .estimators.rank_svm_cv import RankSVMCV
    from .files.foreign_models import convert_model
    from .files.model import KernelModel, LinearModel, load_model, save_model
    from .files.svmlight import dump_svmlight, load_svmlight
    from .files.trec import write_trec_run
    from .kernel.path.regularization import RegularizationPath, regularization_path
    from .linear.grid import RankSVMGrid, ranksvm_grid
    from .linear.training import ConvergenceWarning
    from .metrics import evaluate, paired_randomization_test, pairwise_accuracy
    from .plots import (
        BoundaryDisplay,
        CoefficientsDisplay,
        ConvergenceDisplay,
        MetricAtKDisplay,
        PathScoreDisplay,
        QueryComparisonDisplay,
        RegularizationCurveDisplay,
        RegularizationPathDisplay,
        ScoreDistributionDisplay,
    )

__all__ = [
    "BoundaryDisplay",
    "CoefficientsDisplay",
    "ConvergenceDisplay",
    "ConvergenceWarning",
    "KernelModel",
    "KernelRankSVM",
    "KernelRankSVMPathCV",
    "LinearModel",
    "MetricAtKDisplay",
    "PathScoreDisplay",
    "QueryComparisonDisplay",
    "RankSVM",
    "RankSVMCV",
    "RankSVMGrid",
    "RegularizationCurveDisplay",
    "RegularizationPath",
    "RegularizationPathDisplay",
    "ScoreDistributionDisplay",
    "__version__",
    "convert_model",
    "dump_svmlight",
    "evaluate",
    "load_model",
    "load_svmlight",
    "paired_randomization_test",
    "pairwise_accuracy",
    "ranksvm_grid",
    "regularization_path",
    "save_model",
    "write_trec_run",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
