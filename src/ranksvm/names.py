"""The names that parameters may have, where the command line can read them without loading more."""

LOSSES = ("squared_hinge", "hinge")
NORMALIZATIONS = ("documents", "pairs", "queries", None)
SOLVERS = ("auto", "newton", "trust_region", "bundle", "cutting_planes")
COUNTINGS = ("auto", "merge", "levels", "joachims", "tree", "pairs")
