"""Problems that are small, and hard for floating point, each by its kind and a seed."""

import hashlib
from dataclasses import dataclass, replace
from typing import Any
from zlib import crc32

import numpy as np
from scipy import sparse

from ranksvm.linear.conditions import Conditions
from ranksvm.names import LOSSES, NORMALIZATIONS

KERNEL_GAMMA = 0.5


@dataclass(frozen=True, eq=False)
class Problem:
    """What a ranker is trained on, and how; `X` is an array or CSR.

    Where there are `pairs`, these are given in place of labels, and `y` only says how many rows.
    """

    kind: str
    seed: int
    X: Any
    y: np.ndarray
    qid: np.ndarray | None = None
    sample_weight: np.ndarray | None = None
    query_weight: np.ndarray | None = None
    C: float = 1.0
    normalize: str | None = "documents"
    loss: str = "squared_hinge"
    pair_weight: str | None = None
    kernel: str | None = None
    pairs: np.ndarray | None = None
    pair_weights: np.ndarray | None = None
    margins: np.ndarray | None = None
    conditions: Conditions | None = None

    def __str__(self):
        return f"{self.kind}-{self.seed}"

    @property
    def has_inexact_kernel(self):
        """Whether kernel values are rounded otherwise from one kind of processor to another."""
        return self.kernel == "rbf"

    @property
    def fingerprint(self):
        """Short for all that the optimum depends on."""
        rows = self.X.tocsr() if sparse.issparse(self.X) else self.X
        arrays = (rows.indptr, rows.indices, rows.data) if sparse.issparse(rows) else (rows,)
        names = (self.C, self.normalize, self.loss, self.pair_weight, self.kernel)
        digest = hashlib.sha256(repr((names, rows.shape)).encode())
        for array in (*arrays, self.y, self.qid, self.sample_weight, self.query_weight):
            digest.update(b"-" if array is None else np.asarray(array, np.float64).tobytes())
        for array in (self.pairs, self.pair_weights, self.margins):
            digest.update(b"" if array is None else np.asarray(array, np.float64).tobytes())
        if self.has_inexact_kernel:
            digest.update(kernel_matrix(rows).tobytes())
        for value in vars(self.conditions).values() if self.conditions else ():
            digest.update(np.broadcast_to(value, rows.shape[1]).astype(np.float64).tobytes())
        return digest.hexdigest()[:16]


def kernel_matrix(X):
    """The values of the radial kernel for float64 X; squared distances are exact on a grid."""
    distance = ((X[:, np.newaxis] - X[np.newaxis]) ** 2).sum(axis=2)
    return np.exp(-KERNEL_GAMMA * distance)


def make(kind, seed):
    """The problem of this kind and seed; its loss takes turns."""
    r = np.random.default_rng([crc32(kind.encode()), seed])
    for _ in range(100):
        problem = KINDS[kind](r, ordinary(r, LOSSES[seed % 2]))
        if has_pairs(problem):
            return replace(problem, kind=kind, seed=seed)
    raise ValueError(f"no pairs in 100 problems of kind {kind}, seed {seed}")


def named(name):
    """The problem with this name, as `str` gives it."""
    kind, seed = name.rsplit("-", 1)
    return make(kind, int(seed))


def names(count, seed=0, kinds=None):
    """Names of so many problems, the kinds in turn."""
    kinds = list(kinds or KINDS)
    return [f"{kinds[k % len(kinds)]}-{seed + k // len(kinds)}" for k in range(count)]


def has_pairs(problem):
    """Whether a pair weighs something."""
    if problem.pairs is not None:
        return problem.pair_weights is None or bool(problem.pair_weights.any())
    n = len(problem.y)
    query = np.zeros(n) if problem.qid is None else problem.qid
    weight = np.ones(n)
    for factor in (problem.sample_weight, problem.query_weight):
        weight = weight if factor is None else weight * (factor > 0)
    pairs = (query[:, None] == query) & (problem.y[:, None] > problem.y)
    return bool((pairs * np.outer(weight, weight)).any())


# --- kinds: each takes random numbers and an ordinary problem -------------------------------------


def ordinary(r, loss):
    """Noisy labels, in one query or several."""
    n, d = int(r.integers(4, 25 if loss == "hinge" else 41)), int(r.integers(1, 6))
    X = r.normal(size=(n, d))
    return Problem(
        kind="ordinary",
        seed=0,
        X=X,
        y=levels(r, X @ r.normal(size=d) + 0.5 * r.normal(size=n)),
        qid=None if r.random() < 0.4 else r.integers(0, r.integers(1, 5), n),
        C=power(r, -2, 2),
        normalize=NORMALIZATIONS[r.integers(4)],
        loss=loss,
    )


def levels(r, latent):
    """Between two labels and as many as rows, in the order of `latent`."""
    n = len(latent)
    return np.floor(r.integers(2, n + 1) * latent.argsort().argsort() / n)


def power(r, low, high):
    """Any number between two powers of ten."""
    return float(10 ** r.uniform(low, high))


def powers(r, low, high, size):
    """Whole powers of ten, which NumPy rounds otherwise from one kind of processor to another."""
    return np.vectorize(lambda k: float(f"1e{k}"))(r.integers(low, high + 1, size))


def scaled_columns(r, problem):
    return replace(problem, X=problem.X * powers(r, -12, 12, problem.X.shape[1]))


def scaled(r, problem):
    X = problem.X * powers(r, -12, 12, 1)
    return replace(problem, X=X * powers(r, -3, 3, X.shape[1]) if r.random() < 0.5 else X)


def scaled_rows(r, problem):
    """Rows of different lengths, each as hard to see beside the next."""
    return replace(problem, X=problem.X * powers(r, -9, 9, (len(problem.y), 1)))


def large_c(r, problem):
    return replace(problem, C=power(r, 2, 12))


def tiny_c(r, problem):
    return replace(problem, C=power(r, -12, -2))


def weighted(r, problem):
    """Rows and queries of 1e8, 1e-8, 0 and 1 together."""
    n = len(problem.y)
    values = np.array([0.0, 1e-8, 1.0, 1e8, r.uniform(0, 3)])
    which = r.integers(1, 4)
    rows = r.choice(values, n) if which & 1 else None
    if not which & 2:
        return replace(problem, sample_weight=rows)
    qid = r.integers(0, 4, n) if problem.qid is None else problem.qid
    return replace(
        problem, sample_weight=rows, qid=qid, query_weight=r.choice(values, qid.max() + 1)[qid]
    )


def gaps(r, problem):
    """Pairs weigh the gaps between real labels, some of them narrow or far from zero."""
    n = len(problem.y)
    y = problem.y * power(r, -6, 6) + r.choice([0.0, 1e-3, 1.0]) * r.normal(size=n)
    return replace(problem, pair_weight="gap", y=y + r.choice([0.0, 1.0, 1e6]))


def offsets(r, problem):
    """Differences that matter are small beside the columns: timestamps, means, means by query."""
    return [timestamps, far_columns, far_queries][r.integers(3)](r, problem)


def timestamps(r, problem):
    n = len(problem.y)
    start, t, z = 10.0 ** r.integers(6, 13), r.integers(0, 1000, n), r.integers(1, 8, n)
    X = np.c_[start + t, start + t + z]
    return replace(problem, X=X, y=np.digitize(z + r.normal(size=n), [3, 5]).astype(float))


def far_columns(r, problem):
    return replace(problem, X=problem.X + powers(r, 3, 12, problem.X.shape[1]))


def far_queries(r, problem):
    qid = r.integers(0, 4, len(problem.y)) if problem.qid is None else problem.qid
    far = powers(r, 3, 12, (qid.max() + 1, problem.X.shape[1]))
    return replace(problem, X=problem.X + far[qid], qid=qid)


def separable(r, problem):
    """All pairs can be ordered, with little regularisation or at a large scale."""
    X = problem.X * r.choice([1.0, 1e3, 1e6, 1e7, 1e9])
    return replace(problem, X=X, y=levels(r, X[:, 0]), C=power(r, -1, 6))


def ties(r, problem):
    """Rows that repeat, columns that are constant, zero, or equal to others."""
    n, d = problem.X.shape
    X = np.round(problem.X)[r.integers(0, max(2, n // 3), n)]
    more = [np.full(n, power(r, -3, 9)), np.zeros(n), X[:, 0], X[:, -1] * 3]
    X = np.c_[X[:, : max(1, d - 2)], more[r.integers(4)], more[r.integers(4)]]
    return replace(problem, X=X, y=r.integers(0, 3, n).astype(float))


def single(r, problem):
    """Single precision, at scales and offsets that it can hold."""
    X = problem.X * powers(r, -6, 6, 1) + r.choice([0.0, 1.0, 1e3, 1e5])
    return replace(problem, X=X.astype(np.float32))


def csr(r, problem):
    """Sparse rows, with values in two parts, out of order, that add up exactly and may cancel."""
    X, whole = problem.X, 0.0
    if r.random() < 0.3 and np.abs(X).max() < 16:
        X, whole = np.round(X * 64).astype(X.dtype) / 64, 1024.0
    X = np.where(r.random(X.shape) < 0.6, X, 0).astype(X.dtype)
    rows, columns = np.nonzero(X)
    first = (X[rows, columns] / 2 + whole).astype(X.dtype)
    order = np.argsort(np.r_[rows, rows] + 0.9 * r.random(2 * len(rows)))
    values = np.r_[first, X[rows, columns] - first][order]
    indptr = np.r_[0, np.cumsum(2 * np.bincount(rows, minlength=len(X)))]
    return replace(
        problem, X=sparse.csr_matrix((values, np.r_[columns, columns][order], indptr), X.shape)
    )


def lone_queries(r, problem):
    """Queries of a single row or of one label, among others."""
    n = len(problem.y)
    qid = np.where(r.random(n) < 0.3, 100 + np.arange(n), r.integers(0, 3, n))
    return replace(problem, qid=qid, y=np.where(qid == 0, 1.0, problem.y))


def given(r, problem):
    """Pairs that repeat and go round in circles, with weights and margins of any size."""
    n, n_pairs = len(problem.y), int(r.integers(1, 60))
    winner = r.integers(0, n, n_pairs)
    pairs = np.stack([winner, (winner + r.integers(1, min(n, 4), n_pairs)) % n], axis=1)
    weights = r.choice([0.0, 1e-8, 1.0, 1e8, r.uniform(0, 3)], n_pairs)
    margins = powers(r, -6, 6, n_pairs if r.random() < 0.5 else 1) * r.uniform(0.5, 2, n_pairs)
    problem = scaled(r, problem) if r.random() < 0.5 else problem
    return replace(
        problem,
        y=np.zeros(n),
        qid=np.zeros(n) if problem.normalize == "queries" else None,
        pairs=pairs,
        pair_weights=weights if r.random() < 0.5 else None,
        margins=margins if r.random() < 0.6 else None,
    )


def given_kernel(r, problem):
    """Such pairs among few rows, with a kernel."""
    problem = rbf_kernel(r, problem)
    return replace(given(r, problem), X=problem.X)


def linear_kernel(r, problem):
    """Few rows, whose kernel values are exact."""
    return replace(few(r, problem), kernel="linear")


def rounded_kernel(r, problem):
    """Few rows, away from zero or not, whose kernel values are rounded."""
    X = problem.X[:12] + r.choice([0.0, 1.0, 100.0])
    return replace(few(r, problem), X=X, kernel="linear")


def rbf_kernel(r, problem):
    """Few rows, whose kernel values are the same in whatever order they are computed."""
    problem = few(r, problem)
    return replace(problem, X=problem.X[:, :2], kernel="rbf")


def few(r, problem):
    """Up to 12 rows on a grid; those that tie are the same rows."""
    n = min(12, len(problem.y))
    qid = None if problem.qid is None else problem.qid[:n]
    return replace(problem, X=np.round(problem.X[:n] * 4) / 4, y=problem.y[:n], qid=qid)


def bounds(r, problem):
    """Bounds, some of them equal, or without zero between them."""
    return replace(problem, conditions=Conditions(**random_bounds(r, problem)))


def prior(r, problem):
    """Weights that are to be near to others, whatever these are worth."""
    w = units(problem) * r.normal(size=problem.X.shape[1]) * powers(r, -3, 3, 1)
    return replace(problem, conditions=Conditions(prior=w))


def lasso(r, problem):
    """Absolute values, alone or with hardly any squares, by weights of any size."""
    charged = units(problem) ** -1.0 * powers(r, -3, 3, 1)
    charged = charged * powers(r, -3, 3, len(charged)) if r.random() < 0.5 else charged
    conditions = Conditions(l1_ratio=ratio(r), penalty_weights=charged)
    return replace(problem, conditions=conditions)


def conditions(r, problem):
    """All of these together, of any of the problems before; some weights are free of charge."""
    problem = everything(r, problem)
    limits, unit = random_bounds(r, problem), units(problem)
    charged = unit ** float(r.integers(-2, 1)) * powers(r, -2, 2, 1)
    is_bounded = np.isfinite(limits["lower"]) & np.isfinite(limits["upper"])
    charged = np.where(is_bounded & (r.random(len(unit)) < 0.4), 0.0, charged)
    near = unit * r.normal(size=len(unit)) * (r.random(len(unit)) < 0.5)
    found = Conditions(**limits, prior=near, l1_ratio=ratio(r), penalty_weights=charged)
    return replace(problem, conditions=found)


def ratio(r):
    return float(r.choice([0.0, 0.5, 1.0, 1.0, r.random(), 1 - 1e-9, 1 - 2.0**-53]))


def units(problem):
    """About how large a weight has to be to matter."""
    X = problem.X.toarray() if sparse.issparse(problem.X) else problem.X
    spread = np.ptp(np.asarray(X, dtype=np.float64), axis=0)
    return 1 / np.where(spread > 0, spread, 1.0)


def random_bounds(r, problem):
    unit, d = units(problem), problem.X.shape[1]
    lower, upper = np.sort(unit * r.normal(size=(2, d)) * powers(r, -2, 1, 1), axis=0)
    kind = r.integers(0, 7, d)
    lower = np.select([kind == 0, kind < 3], [-np.inf, 0.0], lower)
    upper = np.select([kind == 1, kind == 3, kind == 4], [np.inf, np.inf, lower], upper)
    return {"lower": lower, "upper": np.maximum(lower, upper)}


def extremes(r, problem):
    """Rows, C or gaps of labels far beyond all that is usual, though their squares are numbers."""
    which = r.integers(3)
    if which == 0:
        return replace(problem, X=problem.X * power(r, 12, 100) ** r.choice([-1, 1]))
    if which == 1:
        return replace(problem, C=power(r, 12, 100) ** float(r.choice([-1, 1])))
    y = problem.y * power(r, 6, 100) ** r.choice([-1, 1]) + r.choice([0.0, 1e15])
    return replace(problem, y=y, pair_weight="gap")


def everything(r, problem):
    """Several of the others, one after the other."""
    taken = r.random(len(MIXED)) < 0.4
    for mix in (mix for mix, take in zip(MIXED, taken, strict=True) if take):
        problem = mix(r, problem)
    if r.random() < 0.2 and np.abs(problem.X).max() < 1e30:
        problem = replace(problem, X=problem.X.astype(np.float32))
    return csr(r, problem) if r.random() < 0.2 else problem


MIXED = [lone_queries, ties, scaled_columns, scaled, offsets, gaps, weighted, large_c, tiny_c]
KINDS = {
    "ordinary": lambda r, problem: problem,
    "scales": scaled_columns,
    "scale": scaled,
    "rows": scaled_rows,
    "large_c": large_c,
    "tiny_c": tiny_c,
    "weights": weighted,
    "gaps": gaps,
    "offsets": offsets,
    "separable": separable,
    "ties": ties,
    "float32": single,
    "csr": csr,
    "queries": lone_queries,
    "linear_kernel": linear_kernel,
    "rbf_kernel": rbf_kernel,
    "rounded_kernel": rounded_kernel,
    "extremes": extremes,
    "given": given,
    "given_kernel": given_kernel,
    "everything": everything,
    "bounds": bounds,
    "prior": prior,
    "lasso": lasso,
    "conditions": conditions,
}
