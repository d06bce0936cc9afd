"""What rankers that a solver trains share: its parameters, and what it says of its result."""

from __future__ import annotations

from typing import Any

from ..linear.feature_names import FeatureNames
from ..linear.parameters import Parameters
from ..linear.training import Fit
from .ranker import Ranker


class CertifiedRanker(Ranker):
    """Base of the estimators that minimise an objective up to a duality gap."""

    loss: str
    pair_weight: str | None
    normalize: str | None
    solver: str
    counting: str
    gains: str = "exponential"
    top: int = 30
    n_rounds: int = 3
    tol: float
    max_iter: int
    n_threads: int | None

    def _parameters(self, C: float) -> Parameters:
        return Parameters(
            C=C,
            loss=self.loss,
            pair_weight=self.pair_weight,
            normalize=self.normalize,
            solver=self.solver,
            counting=self.counting,
            tol=self.tol,
            max_iter=self.max_iter,
            gains=self.gains,
            top=self.top,
            n_rounds=self.n_rounds,
            n_threads=self.n_threads,
        )

    def _keep(self, fit: Fit, parameters: Parameters) -> None:
        self._trained_with = parameters
        self.objective_ = fit.result.value
        self.dual_gap_ = fit.result.dual_gap
        self.status_ = str(fit.result.status)
        self.n_iter_ = fit.result.n_iter
        self.history_ = fit.result.history
        self.n_pairs_ = fit.n_pairs
        self.n_queries_ = fit.n_queries

    def _facts(self) -> dict[str, Any]:
        """Return what models of every kind hold, of a training."""
        self._require_fitted()
        training = {
            "objective": self.objective_,
            "dual_gap": self.dual_gap_,
            "status": self.status_,
            "n_iter": self.n_iter_,
            "n_passes": self.history_[-1].n_passes,
            "n_pairs": self.n_pairs_,
            "n_queries": self.n_queries_,
        }
        names = self._feature_names()
        features = FeatureNames(self.n_features_in_, names)
        return {
            "feature_names": names,
            "parameters": self._trained_with.described(features),
            "training": training,
        }
