"""
KernelRankSVM against the matrix operations that its cost is made of, and against scikit-survival.

    RANKSVM_DATA=FOLDER python -m benchmarks.kernel [--rows 500 2000 5000] [--iterations 20 100]

The kernel is ``exp(-gamma |x - z|^2)`` on standardised features with gamma = 1 / d and a tenth of
it, C = 1. A fit includes the computation of the kernel. Beside it: the matrix of the kernel by
scikit-learn, the product of that with itself, its Cholesky factor, and its pivoted Cholesky factor
down to a remainder of 1e-14, both by LAPACK. One thread each, here as there. First come many
rows of Gaussian features, whose kernel has nearly as many columns as rows.

scikit-survival's FastKernelSurvivalSVM minimises, with all events observed and ``rank_ratio=1``,
``0.5 beta'K beta + alpha / 2 * sum over pairs of squared hinges``, so alpha = 2 C with
``normalize=None``. It counts equal times as pairs, so equal labels are ordered at random here, once
for both.
"""

import argparse
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpstrf
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from benchmarks.datasets.real import find_real, load_real
from benchmarks.harness import machine_line, medians, print_table
from benchmarks.survival import distinct_ranks
from ranksvm import KernelRankSVM
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

NAMES = ("abalone", "wine-white", "parkinsons")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--rows", type=int, nargs="+", default=[500, 2000, 5000])
    parser.add_argument("--wide", type=int, default=10_000, help="rows of features without order")
    parser.add_argument("--iterations", type=int, nargs="+", default=[20, 100], help="of the peer")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    print(machine_line())
    with threadpool_limits(1):
        columns = ("n", "gamma", "loss", "C", "rows used", "gap", "fit, seconds", "K", "dpotrf")
        title = f"{args.wide} rows of 10 Gaussian features, 5 levels, tol = 1e-3"
        print_table(title, (*columns, "fit / K", "fit / dpotrf"), wide(args.wide))
    data = dict(standardised())
    if not data:
        print("Skipped: set RANKSVM_DATA to the folder that holds the data.")
        return
    with threadpool_limits(1):
        for name, (X, y) in data.items():
            rows = [
                row
                for n in sorted({min(n, len(y)) for n in args.rows})
                for share in (0.1, 1.0)
                for row in fits(X[:n], y[:n], share / X.shape[1], args.repeats)
            ]
            columns = ("n", "gamma", "loss", "tol", "rank", "gap", "fit, seconds", "K", "K @ K")
            columns += ("dpotrf", "dpstrf", "fit / (K @ K)")
            print_table(f"{name}, d = {X.shape[1]}", columns, rows)
    try:
        import sksurv
    except ImportError:
        print("\nscikit-survival is not installed (pip install scikit-survival).")
        return
    with threadpool_limits(1):
        for name, (X, y) in data.items():
            title = f"{name}, 500 rows, against scikit-survival {sksurv.__version__}"
            columns = ("", "seconds", "objective", "relative distance to the optimum")
            rows = against_survival(X[:500], y[:500], args.iterations, args.repeats)
            print_table(title, columns, rows)


def standardised() -> Iterator[tuple[str, tuple[np.ndarray, np.ndarray]]]:
    """Name, X and y of the data sets that are found, in random order of rows."""
    for name in NAMES:
        path = find_real(name)
        if path is not None:
            X, y, _ = load_real(path)
            order = np.random.default_rng(0).permutation(len(y))
            X, y = X.toarray()[order], y[order]
            yield name, ((X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 1e-12), y)


def wide(n: int, d: int = 10) -> Iterator[tuple[float | int | str, ...]]:
    """Seconds of fits whose kernel has many large eigenvalues, each once."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    scores = X @ rng.normal(size=d) + 2 * X[:, 0] ** 2 + rng.normal(size=n)
    y = np.floor(5 * np.argsort(np.argsort(scores)) / n)
    for share in (0.1, 1.0, 10.0):
        gamma = share / d
        of_kernel = medians({"K": lambda gamma=gamma: rbf_kernel(X, gamma=gamma)}, 1)["K"]
        lifted = rbf_kernel(X, gamma=gamma) + 1e-3 * np.eye(n)
        cholesky = medians({"": lambda lifted=lifted: dpotrf(lifted)}, 1)[""]
        del lifted
        for loss in ("squared_hinge", "hinge"):
            model = KernelRankSVM(gamma=gamma, loss=loss, n_threads=1)
            seconds = medians({"fit": lambda model=model: model.fit(X, y)}, 1)["fit"]
            row = (n, gamma, loss, model.C, len(model.support_), model.dual_gap_)
            ratios = (seconds / of_kernel, seconds / cholesky)
            yield (*row, seconds, of_kernel, cholesky, *ratios)


def fits(
    X: np.ndarray, y: np.ndarray, gamma: float, repeats: int
) -> Iterator[tuple[float | int | str, ...]]:
    """Seconds of fits, and of matrix operations of the same size."""
    K = rbf_kernel(X, gamma=gamma)
    lifted = K + 1e-3 * np.eye(len(K))
    for loss in ("squared_hinge", "hinge"):
        for tol in (1e-3, 1e-6):
            model = KernelRankSVM(gamma=gamma, loss=loss, tol=tol, n_threads=1).fit(X, y)
            rank = len(model.support_) - 1
            calls = {
                "fit": lambda model=model: model.fit(X, y),
                "K": lambda: rbf_kernel(X, gamma=gamma),
                "K @ K": lambda: K @ K,
                "dpotrf": lambda: dpotrf(lifted),
                "dpstrf": lambda: dpstrf(K, tol=1e-14),
            }
            seconds = medians(calls, repeats)
            yield (
                *(len(y), round(gamma, 4), loss, tol, rank, model.dual_gap_),
                *seconds.values(),
                seconds["fit"] / seconds["K @ K"],
            )


def against_survival(
    X: np.ndarray, y: np.ndarray, iterations: list[int], repeats: int
) -> Iterator[tuple[float | str, ...]]:
    """Seconds, and how far above the optimum each one stops."""
    from sksurv.svm import FastKernelSurvivalSVM
    from sksurv.util import Surv

    gamma, y = 1 / X.shape[1], distinct_ranks(y)
    C = 2 / len(y)
    times, K = Surv.from_arrays(np.ones(len(y), dtype=bool), y), rbf_kernel(X, gamma=gamma)
    settings: dict[str, Any] = {"C": C, "gamma": gamma, "normalize": None, "n_threads": 1}
    optimum = KernelRankSVM(**settings, tol=1e-10).fit(X, y).objective_
    contestants: dict[str, tuple[Any, Any]] = {
        f"KernelRankSVM, tol={tol}": (KernelRankSVM(**settings, tol=tol), y) for tol in (1e-3, 1e-6)
    }
    for max_iter in iterations:
        peer = FastKernelSurvivalSVM(
            alpha=2 * C, rank_ratio=1, kernel="rbf", gamma=gamma, max_iter=max_iter, random_state=0
        )
        contestants[f"FastKernelSurvivalSVM, max_iter={max_iter}"] = peer, times
    loss = SquaredHinge(CorePairs(Preferences.from_labels(y)))
    for name, (model, target) in contestants.items():
        fit = {name: lambda model=model, target=target: model.fit(X, target)}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of iterations, which the table shows
            seconds = medians(fit, repeats)[name]
        beta = np.zeros(len(y))
        if isinstance(model, KernelRankSVM):
            beta[model.support_] = model.dual_coef_
        else:
            beta[:] = model.coef_
        value = 0.5 * beta @ K @ beta + C * loss.evaluate(K @ beta).value
        yield name, seconds, f"{value:.6f}", value / optimum - 1


if __name__ == "__main__":
    main()
