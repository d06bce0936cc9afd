"""The factor of a path against NumPy's, as rows come and go."""

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

ROOT = Path(__file__).parents[2]
COMPILER = shutil.which("c++")


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if COMPILER is None:
        pytest.skip("needs a C++ compiler")
    path = tmp_path_factory.mktemp("native") / "cholesky"
    source = ROOT / "tests" / "native" / "cholesky.cpp"
    command = [COMPILER, "-std=c++20", "-O1", f"-I{ROOT / 'cpp'}", source, "-o", path]
    subprocess.run(command, check=True)
    return path


def run(program, G, changes):
    lines = [str(len(G)), *(" ".join(map(repr, row)) for row in G.tolist())]
    lines += [f"{command} {number}" for command, number in changes]
    found = subprocess.run(
        [program], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return [np.array(line.split(), dtype=float) for line in found.stdout.splitlines()]


@st.composite
def factored(draw):
    """A positive definite matrix of any scale, and rows that come and go."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 24))
    A = rng.normal(size=(n, n)) * 10 ** rng.uniform(-1, 1, n)
    scale = draw(st.sampled_from([1e-150, 1e-8, 1.0, 1e8, 1e150]))
    changes, present, sets = [], [], []
    for grows, where in draw(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), max_size=60)):
        absent = [i for i in range(n) if i not in present]
        if absent and (grows or not present):
            present.append(absent[int(where * (len(absent) - 1))])
            changes.append(("append", present[-1]))
        elif present:
            k = int(where * (len(present) - 1))
            changes.append(("remove", k))
            del present[k]
        sets.append(list(present))
    return scale * (A @ A.T + 0.1 * np.eye(n)), changes, sets


@given(problem=factored())
def test_solutions_are_those_of_the_rows_that_are_there(program, problem):
    G, changes, sets = problem
    lines = run(program, G, changes)
    assert len(lines) == 2 * len(sets)
    for rows, half, whole in zip(sets, lines[::2], lines[1::2], strict=True):
        of_rows, b = G[np.ix_(rows, rows)], np.arange(1.0, len(rows) + 1)
        L = np.linalg.cholesky(of_rows)
        expected = np.linalg.solve(L, b)
        np.testing.assert_allclose(
            np.abs(half), np.abs(expected), rtol=1e-6, atol=1e-9 * _largest(expected)
        )
        solution = np.linalg.solve(of_rows, b)
        np.testing.assert_allclose(whole, solution, rtol=1e-6, atol=1e-9 * _largest(solution))


def _largest(values):
    return np.max(np.abs(values), initial=0.0)
