"""The method of SVM^rank (Joachims 2006), as Lee and Lin (2014, supplement II.2) give it."""

from benchmarks.systems.tree_rsvm import TreeRSVM


class SvmRank(TreeRSVM):
    """
    Cutting planes at the minimisers of the model; a pass over the rows for each level of labels.

    The program has heuristics of its own beyond this, such as a cache of planes that it looks
    through before it makes a new one.
    """

    name = "SVM^rank-style"
    counting = "joachims"


SYSTEMS = (SvmRank(),)
