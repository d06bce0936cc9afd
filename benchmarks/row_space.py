"""
Few rows of many features: fits by way of the dot products of the rows.

Times are CPU seconds on one thread, beside those of ``X @ X.T``, which any method with a kernel
matrix needs, and of scikit-learn's LinearSVC on the same rows, which ranks no pairs. Then come dot
products of sparse rows, text-like and uniform, against SciPy's ``X @ X.T`` of the same.
"""

import argparse
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.svm import LinearSVC

from benchmarks.datasets.text_like import make_text_like
from ranksvm import RankSVM
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.row_space import gram_matrix
from ranksvm.threads import one_blas_thread

SHAPES = ((200, 20_000), (500, 10_000), (500, 5_000))


def make_data(
    rows: int, features: int, badly_scaled: bool, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """Make normal features and five levels of a noisy linear function."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(rows, features))
    target = X @ rng.normal(size=features) / np.sqrt(features) + 0.5 * rng.normal(size=rows)
    y = np.digitize(target, np.quantile(target, [0.2, 0.4, 0.6, 0.8]))
    if badly_scaled:
        X = X * 10.0 ** rng.uniform(-3, 3, features) + 10.0 ** rng.uniform(-3, 4, features)
    return X, y


def cpu_seconds(work) -> float:
    """Run, and return the CPU time that it took."""
    start = time.process_time()
    work()
    return time.process_time() - start


def main() -> None:
    """Print a table of times."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[1])
    parser.add_argument("--tol", type=float, default=1e-3)
    tol = parser.parse_args().tol
    print(f"{'data':22}{'X @ X.T':>9}{'LinearSVC':>11}{'squared hinge':>15}{'hinge':>9}")
    with warnings.catch_warnings(), one_blas_thread():
        warnings.simplefilter("ignore")
        for rows, features in SHAPES:
            for badly_scaled in (False, True):
                X, y = make_data(rows, features, badly_scaled)
                svc = LinearSVC(dual=True)
                rankers = [
                    RankSVM(loss=loss, tol=tol, n_threads=1) for loss in ("squared_hinge", "hinge")
                ]
                times = [
                    cpu_seconds(lambda X=X: X @ X.T),
                    cpu_seconds(lambda X=X, y=y, svc=svc: svc.fit(X, y > 2)),
                    *(cpu_seconds(lambda X=X, y=y, m=m: m.fit(X, y)) for m in rankers),
                ]
                name = f"{rows} x {features:,}{' scaled' if badly_scaled else ''}"
                print(f"{name:22}{times[0]:9.3f}{times[1]:11.3f}{times[2]:15.3f}{times[3]:9.3f}")
        compare_sparse()


def compare_sparse() -> None:
    """Print times of dot products of sparse rows."""
    print(f"\n{'sparse rows':22}{'stored':>9}{'SciPy':>9}{'gram':>9}")
    for rows in (1_000, 4_000, 8_000):
        print_products(f"{rows} texts", make_text_like(rows)[0])
    for share in (0.01, 0.05, 0.1):
        X = sparse.random(1_000, 5_000, share, "csr", random_state=0)
        print_products(f"1000 x 5000, {share:.0%} full", X)


def print_products(name: str, X: sparse.csr_matrix) -> None:
    """Print times of dot products of these rows."""
    by_scipy = cpu_seconds(lambda: X @ X.T)
    here = cpu_seconds(lambda: gram_matrix(DesignMatrix.from_array(X)))
    print(f"{name:22}{X.nnz:9}{by_scipy:9.3f}{here:9.3f}")


if __name__ == "__main__":
    main()
