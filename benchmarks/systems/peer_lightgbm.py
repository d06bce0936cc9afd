"""LightGBM: boosted trees by lambdarank (Burges 2010)."""

from typing import Any

import numpy as np

from benchmarks.peers import Peer, by_query, rows_to_score
from benchmarks.systems import Report
from benchmarks.task import LARGEST_GRADE, Rows, Task

LARGEST_QUERY = 10_000


class LambdaRank(Peer):
    """A hundred trees, as by default."""

    name = "LightGBM"
    losses = ()
    linear = False
    package = "lightgbm"
    module = "lightgbm"

    def refusal(self, task: Task) -> str:
        """Refuse what are no grades."""
        y = task.y
        if y.min() < 0 or y.max() > LARGEST_GRADE or (y != np.rint(y)).any():
            return f"takes labels 0 to {LARGEST_GRADE}"
        if np.diff(task.preferences.groups.indptr).max() > LARGEST_QUERY:
            return f"takes {LARGEST_QUERY:,} rows a query"
        return ""

    def run(self, task: Task, report: Report) -> None:
        """Grow all trees; an iteration is a tree."""
        model = fit_lambdarank(task.rows, task.n_threads)
        report(model.n_estimators, model.predict(rows_to_score(task)))


def fit_lambdarank(rows: Rows, n_threads: int) -> Any:
    """Train an LGBMRanker."""
    from lightgbm import LGBMRanker

    ordered, sizes = by_query(rows)
    model = LGBMRanker(verbosity=-1, random_state=0, deterministic=True, n_jobs=n_threads)
    return model.fit(ordered.X, ordered.y, group=sizes)


SYSTEMS = (LambdaRank(),)
