"""Ranking support vector machines, trained exactly and with a certificate.

Names are imported when they are first used, so that ``import ranksvm`` is quick. Displays are in
`ranksvm.plots`, single metrics in `ranksvm.metrics`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from . import metrics as metrics
    from . import plots as plots
    from .disk.data import open_data as open_data
    from .disk.packing import pack as pack
    from .estimators.convergence import ConvergenceWarning as ConvergenceWarning
    from .estimators.grid import ranksvm_grid as ranksvm_grid
    from .estimators.kernel_rank_svm import KernelRankSVM as KernelRankSVM
    from .estimators.kernel_rank_svm_path_cv import KernelRankSVMPathCV as KernelRankSVMPathCV
    from .estimators.kernel_survival_svm import KernelSurvivalSVM as KernelSurvivalSVM
    from .estimators.onnx_converters import register_skl2onnx as register_skl2onnx
    from .estimators.query_scaler import QueryScaler as QueryScaler
    from .estimators.rank_svm import RankSVM as RankSVM
    from .estimators.rank_svm_cv import RankSVMCV as RankSVMCV
    from .estimators.regularization_path import regularization_path as regularization_path
    from .estimators.survival_svm import SurvivalSVM as SurvivalSVM
    from .estimators.survival_svm_cv import SurvivalSVMCV as SurvivalSVMCV
    from .explaining import explain as explain
    from .explaining import explain_pair as explain_pair
    from .explaining import feature_importance as feature_importance
    from .export import export_model as export_model
    from .files.conversion import convert_model as convert_model
    from .files.model import load_model as load_model
    from .files.model import save_model as save_model
    from .files.svmlight import dump_svmlight as dump_svmlight
    from .files.svmlight import load_svmlight as load_svmlight
    from .files.trec import write_trec_run as write_trec_run
    from .jobs.data import load_table as load_table
    from .kernel.path.regularization import RegularizationPath as RegularizationPath
    from .linear.grid import RankSVMGrid as RankSVMGrid
    from .metrics import concordance_index as concordance_index
    from .metrics import evaluate as evaluate
    from .metrics import paired_randomization_test as paired_randomization_test
    from .metrics import pairwise_accuracy as pairwise_accuracy
    from .models import KernelModel as KernelModel
    from .models import LinearModel as LinearModel
    from .models.ranking import rank as rank
    from .reports import report as report

# Where each public name is: what is above for type checkers, whom a test holds to it.
_HOMES = {
    "ConvergenceWarning": "estimators.convergence",
    "KernelModel": "models",
    "KernelRankSVM": "estimators.kernel_rank_svm",
    "KernelRankSVMPathCV": "estimators.kernel_rank_svm_path_cv",
    "KernelSurvivalSVM": "estimators.kernel_survival_svm",
    "LinearModel": "models",
    "QueryScaler": "estimators.query_scaler",
    "RankSVM": "estimators.rank_svm",
    "RankSVMCV": "estimators.rank_svm_cv",
    "RankSVMGrid": "linear.grid",
    "RegularizationPath": "kernel.path.regularization",
    "SurvivalSVM": "estimators.survival_svm",
    "SurvivalSVMCV": "estimators.survival_svm_cv",
    "concordance_index": "metrics",
    "convert_model": "files.conversion",
    "dump_svmlight": "files.svmlight",
    "evaluate": "metrics",
    "explain": "explaining",
    "explain_pair": "explaining",
    "export_model": "export",
    "feature_importance": "explaining",
    "load_model": "files.model",
    "load_svmlight": "files.svmlight",
    "load_table": "jobs.data",
    "open_data": "disk.data",
    "pack": "disk.packing",
    "paired_randomization_test": "metrics",
    "pairwise_accuracy": "metrics",
    "rank": "models.ranking",
    "ranksvm_grid": "estimators.grid",
    "register_skl2onnx": "estimators.onnx_converters",
    "regularization_path": "estimators.regularization_path",
    "report": "reports",
    "save_model": "files.model",
    "write_trec_run": "files.trec",
}

__all__ = ["__version__", *_HOMES]


def __getattr__(name: str) -> Any:
    if name in ("metrics", "plots"):
        return import_module(f".{name}", __name__)
    if name == "__version__":
        return import_module("importlib.metadata").version("ranksvm")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
