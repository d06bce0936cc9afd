"""
PRSVM (Chapelle and Keerthi 2010): truncated Newton on the explicit, sparse matrix of pairs.

With the rows ``e_i - e_j`` of A, one for each pair, and those of the active pairs in ``A_w``, the
squared hinge loss is ``|1 - A_w s|^2`` and its Hessian ``2 A_w'A_w``.
"""

import os
from itertools import count
from typing import NamedTuple

import numpy as np
from scipy import sparse

from benchmarks.systems import Report, System
from benchmarks.task import Task
from ranksvm.kernel.path.graph import PreferenceGraph
from ranksvm.linear.objective import LinearEvaluation, LinearObjective
from ranksvm.pairs.loss_evaluation import SmoothEvaluation
from ranksvm.pairs.queries import QueryGroups
from ranksvm.pairs.rounding import ROUNDING
from ranksvm.pairs.sweeps import LastSweep
from ranksvm.solvers.line_search import line_search

SMALLEST_DECREMENT = 1e-6
RESIDUAL = 1e-3  # at which conjugate gradients end, relatively
BYTES_PER_PAIR = 100  # of the list of pairs, of A and of its active rows
MOST_PRODUCTS = 500


class PRSVM(System):
    """Truncated Newton on the explicit matrix of pairs, to a Newton decrement of 1e-6."""

    name = "PRSVM"
    losses = ("squared_hinge",)

    def unable(self, task: Task) -> str:
        """Refuse pairs that would take more than half of the memory."""
        needed = BYTES_PER_PAIR * task.n_pairs
        if needed > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 2:
            return f"its pairs need {needed / 1e9:.0f} GB"
        return super().unable(task)

    def run(self, task: Task, report: Report) -> None:
        """Take Newton steps; an iteration is one of them."""
        loss = ExplicitPairs(task.y, task.preferences.groups)
        objective = LinearObjective(task.matrix, loss, task.c, task.n_threads)
        truncated_newton(objective, task.start, report)


class ExplicitPairs:
    """The squared hinge loss by its pairs, listed: behind the same face as those of the library."""

    n_threads = 1
    smoothing_width = 1.0
    asarray = staticmethod(np.asarray)

    def __init__(self, y: np.ndarray, groups: QueryGroups) -> None:
        graph = PreferenceGraph.from_labels(y, groups)
        rows = np.stack([graph.upper, graph.lower], axis=1).ravel()
        signs = np.tile([1.0, -1.0], len(graph))
        ends = np.arange(0, len(rows) + 1, 2)
        self.last_sweep = LastSweep()
        self.A = sparse.csr_matrix((signs, rows, ends), (len(graph), len(y)))

    def narrowed(self, ratio: float) -> "ExplicitPairs":
        """Return this: nothing is smoothed."""
        return self

    def evaluate(self, scores: np.ndarray) -> SmoothEvaluation:
        """Evaluate the loss at scores of shape (n_samples,)."""
        slack = 1 - self.A @ scores
        active = slack > 0
        A, slack = self.A[active], slack[active]
        value, gradient = float(slack @ slack), -2 * (A.T @ slack)
        return SmoothEvaluation(
            value=value,
            gradient=gradient,
            offset=2 * float(slack.sum()) - value,
            rounding=ROUNDING * value,
            gradient_norm=float(np.linalg.norm(gradient)),
            gradient_rounding=ROUNDING * float(np.linalg.norm(abs(A).T @ slack)),
            quadratic=value,
            largest_multiple=np.inf,
            pairs=self,
            make_sweep=lambda: ActivePairs(A),
            curvature=2.0,
        )


class ActivePairs(NamedTuple):
    """The rows of the matrix of pairs that are active."""

    A: sparse.csr_matrix

    def laplacian(self, v: np.ndarray, n_threads: int = 1) -> np.ndarray:
        """Return ``A'A v``."""
        return self.A.T @ (self.A @ v)


def truncated_newton(objective: LinearObjective, w0: np.ndarray, report: Report) -> None:
    """
    Minimise by Newton steps that conjugate gradients find, each with a line search.

    The end is a Newton decrement ``0.5 g'H^-1 g`` below 1e-6 of the objective.
    """
    current = objective.evaluate(w0)
    for iteration in count():
        report(iteration, current.weights)
        step = newton_step(current)
        decrement = -0.5 * float(current.gradient @ step)
        trial, _ = line_search(current.along(step), accuracy=1e-3)
        if trial is None:
            return
        current = trial.evaluation
        if decrement < SMALLEST_DECREMENT * current.value:
            report(iteration + 1, current.weights)
            return


def newton_step(current: LinearEvaluation) -> np.ndarray:
    """Solve ``H p = -g`` by conjugate gradients."""
    residual = -current.gradient
    step, direction = np.zeros_like(residual), residual
    energy = float(residual @ residual)
    goal = RESIDUAL**2 * energy
    for _ in range(MOST_PRODUCTS):
        product = current.hessian_product(direction)
        alpha = energy / float(direction @ product)
        step = step + alpha * direction
        residual = residual - alpha * product
        energy, previous = float(residual @ residual), energy
        if energy <= goal:
            break
        direction = residual + (energy / previous) * direction
    return step


SYSTEMS = (PRSVM(),)
