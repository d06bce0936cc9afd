"""
Time of each hot path by itself, as JSON: what `revisions.py` compares.

    python -m benchmarks.micro [--only sweep]

One thread, and seconds of the process, so that a busy machine counts little; the best of several
runs of each. A path that the installed ranksvm does not have is left out, with what it said.
"""

from __future__ import annotations

import argparse
import io
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

import ranksvm
from benchmarks.datasets.small import make_small
from benchmarks.datasets.text_like import make_text_like
from benchmarks.datasets.web_like import make_web_like

COUNTINGS = ("merge", "levels", "joachims", "tree", "pairs")
LEAST_SECONDS = 0.02  # of one measurement; quicker paths run several times
# What a revision says that has no such module, function, parameter or choice.
LACKING = (ImportError, AttributeError, TypeError, ValueError)
# Where revisions have the parts that are no names of the package itself, the latest place first.
PLACES = {
    "CorePairs": ("ranksvm.pairs.core_pairs",),
    "DesignMatrix": ("ranksvm.linear.design_matrix", "ranksvm.design_matrix"),
    "Kernel": ("ranksvm.kernel.kernels", "ranksvm.kernels"),
    "KernelFactor": ("ranksvm.kernel.factor", "ranksvm.kernel_factor"),
    "LinearObjective": ("ranksvm.linear.objective", "ranksvm.objective"),
    "Preferences": ("ranksvm.pairs.preferences",),
    "QueryGroups": ("ranksvm.pairs.queries", "ranksvm.queries"),
    "SquaredHinge": ("ranksvm.pairs.losses", "ranksvm.pair_loss"),
}
Call = Callable[[], Any]


def main() -> None:
    """Print seconds by path."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--only", default="", help="paths whose names begin so")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    seconds, lacking = {}, {}
    with threadpool_limits(1):
        for name, prepare in paths():
            if not name.startswith(args.only):
                continue
            try:
                call = prepare()
                call()
            except LACKING as error:
                lacking[name] = f"{type(error).__name__}: {error}"
            else:
                seconds[name] = best_time(call, args.repeats)
    package = str(Path(ranksvm.__file__).parent)
    print(json.dumps({"package": package, "seconds": seconds, "lacking": lacking}, indent=1))


def best_time(call: Call, repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Least seconds of a call, over measurements that are long enough for the clock."""
    n_calls, best = 1, np.inf
    while repeats > 0:
        start = clock()
        for _ in range(n_calls):
            call()
        elapsed = clock() - start
        if elapsed < LEAST_SECONDS:
            n_calls *= 2
        else:
            best = min(best, elapsed / n_calls)
            repeats -= 1
    return best


def paths() -> Iterator[tuple[str, Callable[[], Call]]]:
    """Name each hot path, with a function that makes its data and returns what is to be timed."""
    for counting in COUNTINGS:
        yield (
            f"sweep, {counting}, queries of 120",
            lambda counting=counting: sweep(counting, 60_000),
        )
    for counting in ("merge", "tree"):
        yield f"sweep, {counting}, one query, distinct labels", lambda c=counting: long_sweep(c)
    yield "Laplacian, a vector", lambda: laplacian(None)
    yield "Laplacian, 16 columns", lambda: laplacian(16)
    for kind in ("dense, float32", "dense, float64", "CSR"):
        yield f"X v, {kind}", lambda kind=kind: product(kind, "dot")
        yield f"X' u, {kind}", lambda kind=kind: product(kind, "t_dot")
    yield "X v, CSR, 5 vectors", lambda: products(5)
    yield "SVMlight parser, dense", lambda: parser_of(*(part[:8_000] for part in web()[:2]))
    yield "SVMlight parser, sparse", lambda: parser_of(*text())
    yield "SVMlight writer", writer
    yield "simplex QP, 120 planes", simplex_qp
    yield "Hessian, queries of 120", lambda: hessian(*web())
    yield "Hessian, one long query", lambda: hessian(web()[0][:12_000], web()[1][:12_000], None)
    yield "pivoted Cholesky, rbf", pivoted_cholesky
    yield "path events, rbf", path_events
    yield "metrics, nDCG and pairs", metrics
    yield "RankSVM, small", lambda: fit("squared_hinge")
    yield "RankSVM, small, hinge", lambda: fit("hinge")


@cache
def web() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Make dense rows of search results."""
    return make_web_like(rows=24_000, queries=200, features=136)


@cache
def text() -> tuple[Any, np.ndarray]:
    """Make sparse rows of words."""
    return make_text_like(rows=8_000)


def part(name: str) -> Any:
    """Find a part of the package wherever this revision has it."""
    for place in PLACES[name]:
        with suppress(ModuleNotFoundError):
            return getattr(import_module(place), name)
    raise ImportError(f"no {name} in {' or '.join(PLACES[name])}")


def squared_hinge(y: np.ndarray, qid: np.ndarray | None = None, **choices: Any) -> Any:
    """Make the loss of these labels as a function of the scores."""
    SquaredHinge = part("SquaredHinge")
    if hasattr(SquaredHinge, "sweep"):  # the revisions whose losses held their pairs
        return SquaredHinge(y, part("QueryGroups").from_qid(qid, len(y)), **choices)
    return SquaredHinge(part("CorePairs")(part("Preferences").from_labels(y, qid), **choices))


def objective(X: np.ndarray, y: np.ndarray, qid: np.ndarray | None, C: float) -> Any:
    """Make the objective of these rows as a function of the weights."""
    return part("LinearObjective")(part("DesignMatrix").from_array(X), squared_hinge(y, qid), C)


def sweep(counting: str, rows: int) -> Call:
    """Find value and gradient at other scores, with five levels."""
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, 5, rows), rng.standard_normal(rows)
    loss = squared_hinge(y, np.arange(rows) // 120, counting=counting)
    return lambda: loss.evaluate(scores).gradient


def long_sweep(counting: str) -> Call:
    """Find value and gradient of one long query, each label different."""
    latent, noise = np.random.default_rng(0).standard_normal((2, 60_000))
    loss = squared_hinge(latent, counting=counting)
    return lambda: loss.evaluate(5 * (latent + noise)).gradient


def laplacian(columns: int | None) -> Call:
    """Multiply by the Hessian at fixed scores."""
    _, y, qid = web()
    rng = np.random.default_rng(0)
    evaluation = squared_hinge(y, qid).evaluate(rng.standard_normal(len(y)))
    v = rng.standard_normal(len(y) if columns is None else (len(y), columns))
    return lambda: evaluation.hessian_product(v)


def product(kind: str, method: str) -> Call:
    """Pass over X once."""
    X = text()[0] if kind == "CSR" else web()[0].astype(kind.split()[-1])
    matrix = part("DesignMatrix").from_array(X)
    vector = np.random.default_rng(0).standard_normal(X.shape[method == "dot"])
    return lambda: getattr(matrix, method)(vector)


def products(n_vectors: int) -> Call:
    """Pass over sparse X once for several vectors, as folds do."""
    from ranksvm._core import CsrMatrix64

    X = text()[0]
    indptr, indices = X.indptr.astype(np.int64), X.indices.astype(np.int32)
    matrix = CsrMatrix64(indptr, indices, X.data.astype(np.float64), X.shape[1])
    vectors = list(np.random.default_rng(0).standard_normal((n_vectors, X.shape[1])))
    return lambda: matrix.dots(vectors, n_threads=1)


def parser_of(X: Any, y: np.ndarray) -> Call:
    """Read text from memory."""
    from ranksvm import dump_svmlight, load_svmlight

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.svm")
        dump_svmlight(path, X, y)
        content = path.read_bytes()
    return lambda: load_svmlight(io.BytesIO(content), n_threads=1)


def writer() -> Call:
    """Write to a file that nobody reads."""
    from ranksvm import dump_svmlight

    X, y = web()[0][:8_000], web()[1][:8_000]
    return lambda: dump_svmlight("/dev/null", X, y)


def simplex_qp() -> Call:
    """Solve again after each new plane."""
    from ranksvm._core import SimplexQp

    rng = np.random.default_rng(0)
    planes = rng.standard_normal((120, 200)) + rng.standard_normal(200)
    gram, linear = planes @ planes.T, rng.standard_normal(120)

    def solve_all() -> None:
        qp = SimplexQp()
        for k in range(len(linear)):
            qp.add(np.ascontiguousarray(gram[k, : k + 1]), linear[k])
            qp.solve()

    return solve_all


def hessian(X: np.ndarray, y: np.ndarray, qid: np.ndarray | None) -> Call:
    """Form the Hessian in weight space, in single precision as Newton's method wants it."""
    evaluation = objective(X, y, qid, 1e-3).evaluate(1e-3 / X.std(axis=0))
    evaluation.scaled_hessian(np.float32)  # standardises X, which only the first step has to
    return lambda: evaluation.scaled_hessian(np.float32)


def pivoted_cholesky() -> Call:
    """Find the features of a kernel."""
    X = make_small(rows=1_500, queries=50)[0]
    KernelFactor, kernel = part("KernelFactor"), part("Kernel")("rbf", gamma=0.2)
    return lambda: KernelFactor(kernel, X, 1e9).refine(1e-3)


def path_events() -> Call:
    """Follow the regularization path."""
    from ranksvm import regularization_path

    X, y, _ = make_small(rows=120, queries=5)
    return lambda: regularization_path(X, y, kernel="rbf", max_events=2_000, graph="reduced")


def metrics() -> Call:
    """Take two metrics in one pass."""
    from ranksvm.metrics import evaluate

    _, y, qid = web()
    scores = np.random.default_rng(0).standard_normal(len(y))
    names = ["ndcg@10", "pairwise_accuracy"]
    return lambda: evaluate(y, scores, qid, names, n_threads=1)


def fit(loss: str) -> Call:
    """Train a small model, from beginning to end."""
    from ranksvm import RankSVM

    X, y, qid = make_small(rows=2_000, queries=100)
    return lambda: RankSVM(loss=loss, n_threads=1).fit(X, y, qid)


if __name__ == "__main__":
    main()
