"""P-SWXRankSVM (Jin and Lin 2014): trust-region Newton on a GPU, queries side by side."""

import time
import warnings

import numpy as np

from benchmarks.systems import Report, System
from benchmarks.task import Task
from ranksvm import ConvergenceWarning, RankSVM


class PSWX(System):
    """`RankSVM` on a CUDA device."""

    name = "P-SWX"
    losses = ("squared_hinge",)

    def unable(self, task: Task) -> str:
        """Try a GPU, if there is one."""
        return super().unable(task) or no_gpu()

    def prepare(self) -> None:
        """Use the GPU for the first time, which takes seconds."""
        no_gpu()

    def run(self, task: Task, report: Report) -> None:
        """Fit again and again, with twice the iterations."""
        iterations, status = 1, ""
        while status in ("", "max_iter"):
            model = model_of(task, iterations)
            start = time.perf_counter()
            fit(model, task.X, task.y, task.qid)
            seconds = time.perf_counter() - start
            report(model.n_iter_, np.asarray(model.coef_), seconds=seconds)
            iterations, status = 2 * iterations, model.status_


def model_of(task: Task, iterations: int) -> RankSVM:
    """Make an estimator of so many iterations."""
    return RankSVM(
        task.c,
        normalize=None,
        solver="trust_region",
        tol=task.goal,
        max_iter=iterations,
        n_threads=task.n_threads,
        device="cuda",
    )


def fit(model: RankSVM, X: np.ndarray, y: np.ndarray, qid: np.ndarray | None) -> None:
    """Fit, whether or not it converges."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(X, y, qid)


def no_gpu() -> str:
    """Say why there is no GPU to train on; "" if there is one."""
    try:
        fit(RankSVM(device="cuda"), np.eye(3), np.arange(3.0), None)
    except (ImportError, MemoryError, RuntimeError, ValueError) as error:
        return f"{error}".partition(";")[0]
    return ""


SYSTEMS = (PSWX(),)
