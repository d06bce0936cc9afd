"""
dlib's svm_rank_trainer: cutting planes, for relevant and other documents of each query.

It minimises ``0.5 |w|^2 + C / N * sum over the N pairs of hinges``, so C = c N.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from peers import Peer, by_query, timed
from systems import Report
from task import Task

EPSILONS = tuple(10.0**-k for k in range(9))


class SvmRankTrainer(Peer):
    """Cutting planes; two levels of labels in each query."""

    name = "dlib"
    losses = ("hinge",)
    package = "dlib"
    module = "dlib"

    def refusal(self, task: Task) -> str:
        """Refuse more than two levels of labels."""
        levels = task.objective().loss.n_levels
        return "takes two levels of labels" if levels.max() > 2 else ""

    def run(self, task: Task, report: Report) -> None:
        """Fit again and again, each time ten times as exactly; an iteration is a fit."""
        import dlib

        data = ranking_pairs(task)
        sparse_rows = sparse.issparse(task.X)
        for k, epsilon in enumerate(EPSILONS):
            trainer = dlib.svm_rank_trainer_sparse() if sparse_rows else dlib.svm_rank_trainer()
            trainer.c = task.c * task.n_pairs
            trainer.epsilon = epsilon
            model, seconds = timed(lambda trainer=trainer: trainer.train(data))
            weights = np.zeros(task.X.shape[1])
            found = np.array(model.weights).ravel()
            weights[: len(found)] = found
            report(k + 1, weights, seconds=seconds)


def ranking_pairs(task: Task) -> Any:
    """Turn the queries that have pairs into objects of dlib."""
    import dlib

    sparse_rows = sparse.issparse(task.X)
    data = dlib.sparse_ranking_pairs() if sparse_rows else dlib.ranking_pairs()
    make = sparse_vector if sparse_rows else dlib.vector
    rows, sizes = by_query(task.rows)
    for first, last in pairwise(np.append(0, np.cumsum(sizes))):
        top = rows.y[first:last].max()
        if (rows.y[first:last] == top).all():
            continue
        query = dlib.sparse_ranking_pair() if sparse_rows else dlib.ranking_pair()
        for row in range(first, last):
            members = query.relevant if rows.y[row] == top else query.nonrelevant
            members.append(make(rows.X[row]))
        data.append(query)
    return data


def sparse_vector(row: sparse.csr_matrix) -> Any:
    """Turn a sparse row into an object of dlib."""
    import dlib

    vector = dlib.sparse_vector()
    for index, value in zip(row.indices, row.data, strict=True):
        vector.append(dlib.pair(int(index), float(value)))
    return vector


SYSTEMS = (SvmRankTrainer(),)
