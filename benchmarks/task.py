"""What the systems of the benchmarks are to do, and the judge of what they reach."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.objective import LinearObjective
from ranksvm.linear.parameters import Parameters
from ranksvm.linear.training import make_problem
from ranksvm.metrics import evaluate
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import Hinge, SquaredHinge
from ranksvm.pairs.preferences import Preferences

CACHE = Path("build/benchmarks/cache")
LOSSES = {"hinge": Hinge, "squared_hinge": SquaredHinge}
LARGEST_GRADE = 30  # gains 2^label - 1 beyond it measure the first rank alone


class Rows(NamedTuple):
    """Rows X (dense, C-ordered, or CSR), labels y and query numbers; qid None is one query."""

    X: Any
    y: np.ndarray
    qid: np.ndarray | None = None

    def store(self, cache: Path = CACHE) -> Path:
        """Write the arrays as .npy files, once, and return their folder, named by their hash."""
        arrays = {"y": self.y} if self.qid is None else {"y": self.y, "qid": self.qid}
        if sparse.issparse(self.X):
            shape = np.array(self.X.shape)
            arrays |= {"data": self.X.data, "indices": self.X.indices, "indptr": self.X.indptr}
            arrays |= {"shape": shape}
        else:
            arrays |= {"X": self.X}
        digest = blake2b(digest_size=12)
        for name, array in arrays.items():
            digest.update(f"{name} {array.dtype} {array.shape}".encode())
            digest.update(np.ascontiguousarray(array).reshape(-1).view(np.uint8))
        folder = cache / digest.hexdigest()
        complete = folder / "complete"
        if not complete.exists():
            folder.mkdir(parents=True, exist_ok=True)
            for name, array in arrays.items():
                np.save(folder / f"{name}.npy", array)
            complete.touch()
        return folder

    @classmethod
    def load(cls, folder: Path) -> Rows:
        """Map the arrays of `store` into memory, read-only."""
        arrays = {path.stem: np.load(path, mmap_mode="r") for path in folder.glob("*.npy")}
        if "X" in arrays:
            X = arrays["X"]
        else:
            parts = (arrays["data"], arrays["indices"], arrays["indptr"])
            X = sparse.csr_matrix(parts, tuple(arrays["shape"].tolist()), copy=False)
        return cls(X, arrays["y"], arrays.get("qid"))


@dataclass(frozen=True, eq=False)
class Task:
    """
    Minimise ``0.5 |w|^2 + c * sum over the preference pairs of phi(s_i - s_j)``, ``s = X w``.

    Attributes
    ----------
    name : str
    X : ndarray (C-contiguous) or CSR matrix of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,), float64
    qid : ndarray of shape (n_samples,) or None
        Numbers of the queries; None is one query.
    loss : {"hinge", "squared_hinge"}
    c : float
        Weight of one pair.
    test : Rows or None
        What the judge measures accuracy on; the training rows where it is None.
    goal : float
        A system may stop when it believes to be this close to the optimum, relatively.
    n_threads : int
        Threads that a system may use.
    """

    name: str
    X: Any
    y: np.ndarray
    qid: np.ndarray | None
    loss: str
    c: float
    test: Rows | None = None
    goal: float = 1e-6
    n_threads: int = 1

    @classmethod
    def from_rows(
        cls,
        name: str,
        rows: Rows,
        loss: str,
        C: float = 1.0,
        normalize: str | None = "pairs",
        **others: Any,
    ) -> Task:
        """Make a task whose c is as `RankSVM` has it: by "pairs", "documents" or None."""
        per_pair = cls(name, *rows, loss, 1.0)
        shares = {
            "pairs": lambda: 1 / per_pair.n_pairs,
            "documents": lambda: len(rows.y) / per_pair.n_pairs,
            None: lambda: 1.0,
        }
        return cls(name, *rows, loss, C * shares[normalize](), **others)

    @property
    def rows(self) -> Rows:
        """The training rows."""
        return Rows(self.X, self.y, self.qid)

    @cached_property
    def preferences(self) -> Preferences:
        """Which rows are better than which."""
        return Preferences.from_labels(self.y, self.qid)

    @cached_property
    def n_pairs(self) -> int:
        """Number of preference pairs."""
        return int(CorePairs(self.preferences).n_pairs)

    @cached_property
    def matrix(self) -> DesignMatrix:
        """The training rows, for products with them."""
        return DesignMatrix.from_array(self.X)

    @property
    def start(self) -> np.ndarray:
        """Weights to start from: zeros."""
        return np.zeros(self.X.shape[1])

    def objective(self, counting: str = "auto") -> LinearObjective:
        """Return what is to be minimised, with this way of counting active pairs."""
        pairs = CorePairs(self.preferences, counting, self.n_threads)
        return LinearObjective(self.matrix, LOSSES[self.loss](pairs), self.c, self.n_threads)


class Verdict(NamedTuple):
    """What the judge says of weights; NaN is a measure that the labels do not allow."""

    distance: float
    pairwise_accuracy: float
    ndcg: float


class Judge:
    """
    The certified optimum of a task, and the distance of any weights to it.

    Parameters
    ----------
    task : Task
    tol : float
        Relative duality gap of the optimum: distances are not known more exactly.
    limit : float
        Seconds that the search for it may take; what has been certified by then has to do.

    Attributes
    ----------
    optimum : float
        The objective at `weights`.
    gap : float
        The certificate: no weights are better by more than this, relatively.
    weights : ndarray of shape (n_features,)
    objective : LinearObjective
        By the fastest way of counting.
    """

    def __init__(self, task: Task, tol: float = 1e-9, limit: float = np.inf) -> None:
        parameters = Parameters(C=task.c, loss=task.loss, normalize=None, tol=tol, max_iter=100_000)
        problem = make_problem(task.matrix, Preferences.from_labels(task.y, task.qid), parameters)
        result = problem.minimize(parameters, callback=lambda line: line.seconds > limit)
        self.task = task
        self.optimum, self.gap, self.weights = result.value, result.dual_gap, result.weights
        self.objective = problem.objective
        self._rows = task.test or task.rows
        grades = self._rows.y
        self._graded = bool(grades.min() >= 0 and grades.max() <= LARGEST_GRADE)

    def value(self, weights: np.ndarray) -> float:
        """Return the objective at weights of shape (n_features,)."""
        return self.objective.evaluate(weights).value

    def distance(self, weights: np.ndarray) -> float:
        """Return ``(P(w) - P*) / P*``, but never less than the certificate's gap."""
        return max(self.value(weights) / self.optimum - 1, self.gap)

    def verdict(self, weights: np.ndarray) -> Verdict:
        """Return the distance, and how well the rows of the test set are ordered."""
        verdict = self.verdict_of_scores(self._rows.X @ weights)
        return verdict._replace(distance=self.distance(weights))

    def verdict_of_scores(self, scores: np.ndarray) -> Verdict:
        """Return how well the rows of the test set are ordered by scores; the distance is NaN."""
        metrics = ["pairwise_accuracy_pooled", *["ndcg"] * self._graded]
        mean = evaluate(self._rows.y, scores, self._rows.qid, metrics).mean
        return Verdict(np.nan, *(mean.get(metric, np.nan) for metric in (metrics[0], "ndcg")))
