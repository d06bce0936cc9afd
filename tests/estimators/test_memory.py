"""Memory of training beyond X, by the largest resident size of a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

MEASURE = """
import ctypes, re, sys
from pathlib import Path
import numpy as np
from ranksvm import RankSVM

def data(n, short):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 8))
    y = np.digitize(X @ np.arange(8) + 20 * rng.standard_normal(n), [0, 10, 20, 30]).astype(float)
    return X, y, np.arange(n) // 40 if short else None

def peak():
    return 1024 * int(re.search(r"VmHWM:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])

loss, short, n = sys.argv[1], sys.argv[2] == "short", 400_000
ranker = RankSVM(loss=loss, n_threads=2)
ranker.fit(*data(2_000, short))
X, y, qid = data(n, short)
ctypes.CDLL(None).malloc_trim(0)
Path("/proc/self/clear_refs").write_text("5")
before = peak()
ranker.fit(X, y, qid)
print((peak() - before) / n)
"""
BLOCKS = 60  # bytes a row that the blocks of the Hessian are worth here, whatever the rows


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="only Linux tells")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(("shape", "most"), [("short", 120), ("one ranking", 250)])
def test_bytes_a_row(loss, shape, most):
    command = [sys.executable, "-c", MEASURE, loss, shape]
    found = subprocess.run(command, check=True, capture_output=True, text=True)
    assert float(found.stdout) <= most + BLOCKS
