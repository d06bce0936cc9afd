"""Training on packed data takes memory by rows, whatever the number of features."""

import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import re, resource, sys
from pathlib import Path
import numpy as np
from ranksvm import RankSVM, open_data, pack

kind, path = sys.argv[1:]
rng = np.random.default_rng(0)

def blocks(n, d):
    for first in range(0, n, 5000):
        share = 1.0 if kind == "dense" else 0.4
        X = rng.standard_normal((5000, d)) * (rng.random((5000, d)) < share)
        yield X, rng.integers(0, 4, 5000), (first + np.arange(5000)) // 25

model = RankSVM(n_threads=1)
model.fit(pack(blocks(5000, 128), path))  # what is loaded once is no part of it
data = pack(blocks(60_000, 128), path)
used = 1024 * int(re.search(r"VmData:\\s*(\\d+)", Path("/proc/self/status").read_text())[1])
most = used + 160 * data.shape[0] + (16 << 20)  # X takes 1024 bytes a row, dense
resource.setrlimit(resource.RLIMIT_DATA, (most, most))
model.fit(data)
model.score(data)
try:
    bytearray(data.bytes_of_X)
except MemoryError:
    print(model.status_)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux tells")
@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_training_under_a_limit_of_memory(tmp_path, kind):
    command = [sys.executable, "-c", PROGRAM, kind, tmp_path / "d.rsvm"]
    process = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (process.returncode, process.stdout) == (0, "converged\n"), process.stderr
