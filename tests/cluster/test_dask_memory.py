"""X is there once: partitions and steps use the numbers that were given, in the type they have."""

import tracemalloc

import numpy as np
import pytest
from scipy.sparse import random as random_sparse

from ranksvm.cluster import steps
from ranksvm.cluster.formula import Formula, Precision, Recipe
from ranksvm.cluster.partition import partition_of
from ranksvm.cluster.rows import rows_of, survey

N, D, SIZE = 10_000, 128, 20
RNG = np.random.default_rng(23)
DENSE = RNG.normal(size=(N, D))
SPARSE = random_sparse(N, 8 * D, 0.125, format="csr", random_state=5)
LABELS = (DENSE[:, 0] + RNG.normal(size=N)).round().clip(-2, 2)
QID = np.repeat(np.arange(N // SIZE), SIZE)


def arrays_of(X):
    return [X] if isinstance(X, np.ndarray) else [X.data, X.indices, X.indptr]


def of_solvers(partition):
    """Take every step that a fit may ask for."""
    d = partition.X.shape[1]
    w, p = RNG.normal(size=(2, d)) / d
    known = {"offset": None, "recipe": Recipe(None, "exponential", 30, "auto"), "w": w}
    formulas = [Formula("squared_hinge", 1.0), Formula("smoothed_hinge", 1.0, 0.1)]
    partition.matrix(None).column_sums()
    for formula in formulas:
        precision = Precision(np.ones(d), np.float32) if d == D else None
        steps.loss(partition, formula=formula, precision=precision, **known)
        steps.product(partition, formula=formula, p=p, **known)
        steps.diagonal(partition, formula=formula, **known)
    steps.upper(partition, formula=formulas[0], **known)


@pytest.mark.parametrize(
    "X",
    [DENSE, DENSE.astype(np.float32), SPARSE, SPARSE.astype(np.float32)],
    ids=["float64", "float32", "csr", "csr of float32"],
)
def test_no_step_has_a_second_copy(X):
    given = arrays_of(X)
    size = sum(array.nbytes for array in given)
    tracemalloc.start()
    try:
        rows = rows_of(X, LABELS, QID)
        survey(rows)
        partition = partition_of(rows, None, None)
        of_solvers(partition)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert partition.X.dtype == X.dtype
    for array, held in zip(given, arrays_of(partition.X), strict=True):
        assert np.shares_memory(array, held)
    assert peak < 0.6 * size, f"{peak / size:.2f} of X"
