"""The names that options may have, where the command line can read them without loading more."""

LOSSES = ("squared_hinge", "hinge")
NORMALIZATIONS = ("documents", "pairs", "queries", None)
PAIR_WEIGHTS = (None, "gap", "gain", "ndcg")
GAINS = ("exponential", "linear")
CENSORING_WEIGHTS = (None, "uno", "uno_strata")
SOLVERS = ("auto", "newton", "row_space", "trust_region", "bundle", "cutting_planes")
MODEL_FORMS = ("json", "safetensors", "liblinear", "svmrank", "weights")
EXPORTS = (
    "solr",
    "elasticsearch",
    "opensearch",
    "ranklib",
    "vespa",
    "onnx",
    "sql",
    "python",
)
COUNTINGS = ("auto", "merge", "levels", "joachims", "tree", "pairs")
SCALES = ("standard", "minmax", "maxabs", "quantile", "query")
FEATURES = {"nystroem": 300, "splines": 5}  # and how many components, or knots

# The kernels that have names of their own everywhere, and the parameters of each.
KERNELS = {
    "linear": (),
    "rbf": ("gamma",),
    "polynomial": ("gamma", "degree", "coef0"),
    "poly": ("gamma", "degree", "coef0"),
    "sigmoid": ("gamma", "coef0"),
    "laplacian": ("gamma",),
    "cosine": (),
    "chi2": ("gamma",),
    "additive_chi2": (),
}
