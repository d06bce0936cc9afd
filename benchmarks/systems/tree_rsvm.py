"""TreeRSVM (Airola, Pahikkala and Salakoski 2011): planes at minimisers, a tree to count."""

from benchmarks.systems import Report, System, progress
from benchmarks.task import Task
from ranksvm.solvers import bundle


class TreeRSVM(System):
    """Cutting planes at the minimisers of the model; pairs counted by a red-black tree."""

    name = "TreeRSVM"
    losses = ("hinge",)
    counting = "tree"

    def run(self, task: Task, report: Report) -> None:
        """Add planes; an iteration is a plane."""
        objective = task.objective(self.counting)
        bundle(objective, task.start, progress(task, report), line_search=False)


SYSTEMS = (TreeRSVM(),)
