"""
FastSurvivalSVM of scikit-survival (Pölsterl et al. 2015): truncated Newton and trees to count.

With all events observed and ``rank_ratio=1`` it minimises ``0.5 |w|^2 + alpha / 2 * sum over pairs
of squared hinges``, so alpha = 2 c. It counts equal times as pairs, in an order drawn at random.
"""

import warnings
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers import Peer, timed
from benchmarks.systems import Report
from benchmarks.task import Task


class FastSurvivalSVM(Peer):
    """Newton steps by conjugate gradients, for one dense query of distinct labels."""

    name = "scikit-survival"
    losses = ("squared_hinge",)
    package = "scikit-survival"
    module = "sksurv"

    def refusal(self, task: Task) -> str:
        """Refuse what is no survival data."""
        if sparse.issparse(task.X):
            return "takes no sparse rows"
        if task.preferences.groups.n_queries > 1:
            return "takes one query"
        if len(np.unique(task.y)) < len(task.y):
            return "takes ties for pairs"
        return ""

    def run(self, task: Task, report: Report) -> None:
        """Fit again and again, with twice the iterations; one is a Newton step."""
        limit, steps = 1, 1
        while steps == limit:
            limit *= 2
            model = make_survival_svm(task.c, max_iter=limit, tol=task.goal * 1e-3)
            fitted, seconds = timed(lambda model=model: fit(model, task.X, task.y))
            steps = int(fitted.n_iter_)
            report(steps, fitted.coef_, seconds=seconds)


def make_survival_svm(c: float, **settings: Any) -> Any:
    """Make an estimator for which a pair weighs c."""
    from sksurv.svm import FastSurvivalSVM

    return FastSurvivalSVM(alpha=2 * c, rank_ratio=1, random_state=0, **settings)


def survival_times(y: np.ndarray) -> np.ndarray:
    """Turn labels into times of observed events."""
    from sksurv.util import Surv

    return Surv.from_arrays(np.ones(len(y), dtype=bool), np.asarray(y) - np.min(y) + 1)


def fit(model: Any, X: np.ndarray, y: np.ndarray) -> Any:
    """Fit, whether or not it converges."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, survival_times(y))


SYSTEMS = (FastSurvivalSVM(),)
