"""XGBoost: boosted trees, or a linear model, by its logistic loss of pairs."""

from typing import Any

from benchmarks.peers import Peer, by_query, rows_to_score
from benchmarks.systems import Report
from benchmarks.task import Rows, Task


class PairwiseTrees(Peer):
    """A hundred trees, as by default."""

    name = "XGBoost"
    losses = ()
    linear = False
    package = "xgboost"
    module = "xgboost"
    booster = "gbtree"

    def run(self, task: Task, report: Report) -> None:
        """Train in a hundred rounds; an iteration is one."""
        model = fit_pairwise(task.rows, self.booster, task.n_threads)
        report(model.get_num_boosting_rounds(), model.predict(rows_to_score(task)))


class PairwiseLinear(PairwiseTrees):
    """A hundred rounds of coordinate descent, as by default."""

    name = "XGBoost, gblinear"
    booster = "gblinear"


def fit_pairwise(rows: Rows, booster: str, n_threads: int) -> Any:
    """Train an XGBRanker."""
    from xgboost import XGBRanker

    ordered, _ = by_query(rows)
    model = XGBRanker(objective="rank:pairwise", booster=booster, random_state=0, n_jobs=n_threads)
    return model.fit(ordered.X, ordered.y, qid=ordered.qid)


SYSTEMS = (PairwiseTrees(), PairwiseLinear())
