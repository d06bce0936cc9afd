"""PairRSVM, the baseline of Airola, Pahikkala and Salakoski (2011): every pair is looked at."""

from benchmarks.systems.tree_rsvm import TreeRSVM


class PairRSVM(TreeRSVM):
    """Cutting planes at the minimisers of the model; every pair is looked at, O(m^2)."""

    name = "PairRSVM"
    counting = "pairs"


SYSTEMS = (PairRSVM(),)
