"""
dlib's svm_rank_trainer: cutting planes, for relevant and other documents of each query.

It minimises ``0.5 |w|^2 + C / N * sum over the N pairs of hinges``, so C = c N.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from benchmarks.peers import Peer, by_query, timed
from benchmarks.systems import Report
from benchmarks.task import Task

EPSILONS = tuple(10.0**-k for k in range(9))


class SvmRankTrainer(Peer):
    """Cutting planes; dense rows of two levels of labels in each query."""

    name = "dlib"
    losses = ("hinge",)
    package = "dlib-bin"
    module = "dlib"

    def refusal(self, task: Task) -> str:
        """Refuse sparse rows, and more than two levels of labels."""
        if sparse.issparse(task.X):
            return "takes no sparse rows here"
        levels = task.objective().loss.pairs.n_levels
        return "takes two levels of labels" if levels.max() > 2 else ""

    def run(self, task: Task, report: Report) -> None:
        """Fit again and again, each time ten times as exactly; an iteration is a fit."""
        import dlib

        data = ranking_pairs(task)
        for k, epsilon in enumerate(EPSILONS):
            trainer = dlib.svm_rank_trainer()
            trainer.c = task.c * task.n_pairs
            trainer.epsilon = epsilon
            model, seconds = timed(lambda trainer=trainer: trainer.train(data))
            report(k + 1, np.array(list(model.weights)), seconds=seconds)


def ranking_pairs(task: Task) -> Any:
    """Turn the queries that have pairs into objects of dlib."""
    import dlib

    data = dlib.ranking_pairs()
    rows, sizes = by_query(task.rows)
    for first, last in pairwise(np.append(0, np.cumsum(sizes))):
        best = rows.y[first:last] == rows.y[first:last].max()
        if best.all():
            continue
        query = dlib.ranking_pair()
        for row, is_best in zip(rows.X[first:last].tolist(), best, strict=True):
            (query.relevant if is_best else query.nonrelevant).append(dlib.vector(row))
        data.append(query)
    return data


SYSTEMS = (SvmRankTrainer(),)
