"""The default of the library: the solver that suits the task, and its fastest way of counting."""

from benchmarks.systems import Report, System, progress
from benchmarks.task import Task
from ranksvm.linear.choice_by_cost import choose_solver
from ranksvm.linear.parameters import Parameters


class RanksvmAuto(System):
    """What `ranksvm.RankSVM` does with ``solver="auto"``."""

    name = "ranksvm"
    losses = ("squared_hinge", "hinge")

    def run(self, task: Task, report: Report) -> None:
        """Let the library choose; an iteration is one of its solver."""
        parameters = Parameters(C=task.c, loss=task.loss, normalize=None, n_threads=task.n_threads)
        objective = task.objective()
        solver = choose_solver(task.matrix, objective.loss.pairs.preferences, parameters)
        solver.minimize(objective, task.start, progress(task, report))


SYSTEMS = (RanksvmAuto(),)
