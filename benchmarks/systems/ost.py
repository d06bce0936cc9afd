"""OSTRankSVM, or Tree-TRON (Lee and Lin 2014): a trust-region Newton method, and a tree."""

from benchmarks.systems.dcm import DCM


class OST(DCM):
    """Trust-region Newton by conjugate gradients; an order-statistics tree, O(m log k)."""

    name = "OST"
    counting = "tree"


SYSTEMS = (OST(),)
