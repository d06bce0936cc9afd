"""DCMRankSVM (Lee and Lin 2014): a trust-region Newton method, and direct counting."""

from benchmarks.systems import Report, System, progress
from benchmarks.task import Task
from ranksvm.solvers import trust_region


class DCM(System):
    """
    Trust-region Newton by conjugate gradients; one sum for each level of labels, O(m k).

    The method is the library's, which differs from the published one in that it preconditions, and
    searches along the steps where that one rejects them.
    """

    name = "DCM"
    losses = ("squared_hinge",)
    counting = "levels"

    def run(self, task: Task, report: Report) -> None:
        """Take Newton steps; an iteration is a product with the Hessian, as in its figures."""
        following = progress(task, report, lambda line: line.n_products)
        trust_region(task.objective(self.counting), task.start, following)


SYSTEMS = (DCM(),)
