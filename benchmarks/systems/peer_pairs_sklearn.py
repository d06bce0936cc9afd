"""scikit-learn on transformed pairs: classify the differences of rows, every pair of them."""

import warnings
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from benchmarks.peers import Peer, timed
from benchmarks.systems import Report
from benchmarks.task import Rows, Task
from ranksvm.kernel.path.graph import PreferenceGraph
from ranksvm.pairs.queries import QueryGroups

MOST_BYTES = 2e9  # of the differences
TOLERANCES = tuple(10.0**-k for k in range(1, 10))


class OnPairs(Peer):
    """A classifier of scikit-learn, with C = c, on the differences of the rows of each pair."""

    package = "scikit-learn"
    module = "sklearn"

    def refusal(self, task: Task) -> str:
        """Refuse differences that take more than a budget of memory."""
        needed = task.n_pairs * bytes_per_pair(task.X)
        return f"its pairs take {needed / 1e9:.0f} GB" if needed > MOST_BYTES else ""


class LinearSVCOnPairs(OnPairs):
    """LinearSVC: trust-region Newton for the squared hinge, dual coordinates for the hinge."""

    name = "LinearSVC on pairs"
    losses = ("squared_hinge", "hinge")
    max_iter: ClassVar[int] = 100_000

    def run(self, task: Task, report: Report) -> None:
        """Fit again and again, each time ten times as exactly; an iteration is a fit."""
        from sklearn.exceptions import ConvergenceWarning
        from sklearn.svm import LinearSVC

        (differences, signs), making = timed(lambda: transformed_pairs(task.rows))
        for k, tol in enumerate(TOLERANCES):
            model = LinearSVC(
                C=task.c,
                loss=task.loss,
                dual=task.loss == "hinge",
                tol=tol,
                fit_intercept=False,
                max_iter=self.max_iter,
                random_state=0,
            )
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                _, seconds = timed(lambda model=model: model.fit(differences, signs))
            report(k + 1, model.coef_[0], seconds=making + seconds)


class LogisticRegressionOnPairs(OnPairs):
    """LogisticRegression by Newton's method, as by default otherwise."""

    name = "logistic regression on pairs"
    losses = ()

    def run(self, task: Task, report: Report) -> None:
        """Fit once; an iteration is a Newton step."""
        model = fit_logistic_regression(task.rows, task.c)
        report(int(model.n_iter_[0]), model.coef_[0])


def fit_logistic_regression(rows: Rows, C: float = 1.0) -> Any:
    """Train a LogisticRegression on transformed pairs."""
    from sklearn.linear_model import LogisticRegression

    model = LogisticRegression(C=C, solver="newton-cholesky", fit_intercept=False)
    return model.fit(*transformed_pairs(rows))


def transformed_pairs(rows: Rows) -> tuple[Any, np.ndarray]:
    """Return differences of rows, in both directions by turns, and which direction is meant."""
    graph = PreferenceGraph.from_labels(rows.y, QueryGroups.from_qid(rows.qid, len(rows.y)))
    signs = np.where(np.arange(len(graph)) % 2, 1.0, -1.0)
    differences = rows.X[graph.upper] - rows.X[graph.lower]
    if sparse.issparse(differences):
        return sparse.diags(signs) @ differences, signs
    differences *= signs[:, np.newaxis].astype(differences.dtype)
    return differences, signs


def bytes_per_pair(X: Any) -> float:
    """Bytes of a difference, in double precision."""
    return 24 * X.nnz / X.shape[0] if sparse.issparse(X) else 8 * X.shape[1]


SYSTEMS = (LinearSVCOnPairs(), LogisticRegressionOnPairs())
