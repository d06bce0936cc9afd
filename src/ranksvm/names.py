"""The names that parameters may have, where the command line can read them without loading more."""

LOSSES = ("squared_hinge",)
NORMALIZATIONS = ("documents", "pairs", "queries", None)
SOLVERS = ("auto", "newton", "trust_region")
COUNTINGS = ("auto", "merge", "levels", "joachims", "tree", "pairs")
