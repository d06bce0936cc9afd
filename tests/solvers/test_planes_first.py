"""When planes are given up: what they promise is measured against the work of the other solver."""

from dataclasses import replace

import pytest

from ranksvm.solvers import Iteration, Progress, automatic

N_PLANES = 100


def make_progress(n, gap, factor, bound=0.5):
    """A record of n lines, the last of which has this gap, each `factor` times that before."""
    line = Iteration(0, 1.0, gap, 1.0, 0, n, 2 * n, "bundle", 0.0)
    lines = [replace(line, iteration=k, dual_gap=gap / factor ** (n - 1 - k)) for k in range(n)]
    return Progress(tol=1e-6, history=lines, lower_bound=bound)


def promising(*args, **kwargs):
    return automatic._promising(make_progress(*args, **kwargs), N_PLANES)


def test_planes_have_a_fifth_of_the_work_before_they_are_asked():
    assert promising(20, 1.0, 1.0, bound=0.0)
    assert not promising(21, 1.0, 1.0, bound=1e-4)
    assert promising(100, 1.0, 1.0)
    assert not promising(101, 1.0, 1.0)


@pytest.mark.parametrize("done", [101, 150, 190])
def test_they_must_end_within_twice_the_work(done):
    left = 2 * N_PLANES - done
    assert promising(done, 1e-6 / 0.9 ** (left - 0.5), 0.9)
    assert not promising(done, 1e-6 / 0.9 ** (left + 0.5), 0.9)


def test_work_of_another_solver_before_does_not_count():
    progress = make_progress(300, 1e-3, 0.9)
    assert not automatic._promising(progress, N_PLANES)
    progress.first = 200
    assert automatic._promising(progress, N_PLANES)
