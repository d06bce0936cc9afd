"""What a path says that it takes."""

import numpy as np
import pytest

from ranksvm import regularization_path
from ranksvm.kernel.kernels import Kernel
from ranksvm.kernel.path.cost import cost_of_path, effective_rank

ROWS = np.random.default_rng(0).normal(size=(120, 3))


@pytest.mark.parametrize("values", [[1.0], [2.0, 2.0, 2.0], [3.0, 1.0], [5.0, 1e-3, 1e-3]])
def test_effective_rank_counts_equal_eigenvalues(values):
    Q = np.linalg.qr(np.random.default_rng(1).normal(size=(6, len(values))))[0]
    K = (Q * values) @ Q.T
    expected = np.sum(values) ** 2 / np.sum(np.square(values))
    assert effective_rank(K) == pytest.approx(expected)


def test_no_kernel_at_all_has_rank_zero():
    assert effective_rank(np.zeros((3, 3))) == 0


def test_narrow_kernels_come_with_hints():
    smooth, narrow = (Kernel("rbf", gamma=gamma).matrix(ROWS) for gamma in (0.1, 1000.0))
    assert "may take much less" not in cost_of_path(smooth, 500, "full")
    full, reduced = (cost_of_path(narrow, 500, graph) for graph in ("full", "reduced"))
    assert "some 119 pairs are free" in full
    assert "--graph reduced" in full
    assert "--scale" in full
    assert "--graph reduced" not in reduced
    assert "--scale" in reduced


def test_many_pairs_come_with_a_hint_and_the_number_of_events():
    K = Kernel("rbf", gamma=0.1).matrix(ROWS)
    full, reduced = (cost_of_path(K, 400_000, graph) for graph in ("full", "reduced"))
    assert "up to some 1,200,000 events" in full
    assert full.endswith("; graph='reduced' (--graph reduced) may take much less")
    assert "may take much less" not in reduced


def test_is_said_before_the_path_begins(capsys):
    y = np.arange(120) % 2
    regularization_path(ROWS, y, kernel="rbf", max_events=1)
    assert capsys.readouterr().err == ""
    regularization_path(ROWS, y, kernel="rbf", max_events=1, verbose=1)
    first, header, *_ = capsys.readouterr().err.splitlines()
    assert "path over 3,600 pairs of 120 rows" in first
    assert "events" in header
