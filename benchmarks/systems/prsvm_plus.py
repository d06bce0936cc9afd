"""PRSVM+ (Chapelle and Keerthi 2010): the same Newton method without a matrix of pairs."""

from benchmarks.systems import Report, System
from benchmarks.systems.prsvm import truncated_newton
from benchmarks.task import Task


class PRSVMPlus(System):
    """
    Truncated Newton; active pairs are counted with one sum for each level of labels.

    That costs as much as in SVM^rank, O(m log m + r m) with r levels (Airola et al. 2011, section
    4), and little where there are two levels, of which its authors wrote (Lee and Lin 2014, II.1).
    """

    name = "PRSVM+"
    losses = ("squared_hinge",)

    def run(self, task: Task, report: Report) -> None:
        """Take Newton steps; an iteration is one of them."""
        truncated_newton(task.objective("levels"), task.start, report)


SYSTEMS = (PRSVMPlus(),)
