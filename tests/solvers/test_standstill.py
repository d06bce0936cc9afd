"""When a solver has stalled: by what value and bound have gained over the last iterations."""

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from ranksvm.solvers import Progress, Status
from ranksvm.solvers.progress import HAIR, LITTLE, LONG_PATIENCE, PATIENCE, SMOOTHED_LITTLE, STILL


@dataclass(frozen=True)
class Point:
    """An evaluation that has as much left as its value, beside a bound of zero."""

    value: float
    lower_bound: float = 0.0
    smoothing: float = 0.0
    rounding: float = 0.0
    distance: float = 1.0
    width: float = 1.0
    has_kinks: bool = True
    drift: float = 0.0

    def remembered(self):
        return self

    def confirmed(self, bound, enough):
        return np.zeros(1), self.value + self.drift


def n_iterations(gain, most, **settings):
    """Count iterations until a solver stalls whose value falls by the same part each time."""
    progress = Progress(max_iter=most)
    progress.begin("bundle", SimpleNamespace(n_passes=0))
    value = 1.0
    for k in range(most):
        if progress.record(Point(value, **settings), 1.0) is Status.STALLED:
            return k
        value *= 1 - gain
    return most


def test_ten_iterations_that_gain_nothing_are_the_end():
    assert n_iterations(0.0, 100) == PATIENCE
    assert n_iterations(0.05 * LITTLE, 100) == PATIENCE


@pytest.mark.parametrize(("share", "stalls"), [(0.9, True), (1.1, False)])
def test_so_are_thirty_that_hardly_gain_anything_of_the_gap(share, stalls):
    n = n_iterations(share * STILL / LONG_PATIENCE, 100)
    assert n == (LONG_PATIENCE if stalls else 100)


@pytest.mark.parametrize(("share", "stalls"), [(0.9, True), (1.1, False)])
def test_with_smoothing_they_have_to_gain_more(share, stalls):
    n = n_iterations(share * SMOOTHED_LITTLE / LONG_PATIENCE, 100, smoothing=1.0)
    assert n == (LONG_PATIENCE if stalls else 100)


@pytest.mark.parametrize(("share", "stalls"), [(0.9, False), (1.1, True)])
def test_a_claim_that_is_a_hair_too_small_is_none(share, stalls):
    """A solver goes on if the gap is too large by a hundredth at most, and has to reach less."""
    progress = Progress(tol=1e-3)
    progress.begin("bundle", SimpleNamespace(n_passes=0))
    drift = share * HAIR * 1e-3
    just, less = (1 / (1 - 1e-3 * (1 - part)) for part in (1e-6, 2 * share * HAIR))
    first = progress.record(Point(just, lower_bound=1.0, drift=drift), 1.0)
    assert first is (Status.STALLED if stalls else None)
    assert progress.history[-1].dual_gap > 1e-3
    if not stalls:
        assert progress.record(Point(less, lower_bound=1.0, drift=drift), 1.0) is Status.CONVERGED
        assert progress.history[-1].dual_gap <= 1e-3


@pytest.mark.parametrize("n_beside", [0, 20, 50])
@pytest.mark.parametrize(("gain", "n_own"), [(0.01, 100), (0.0, LONG_PATIENCE)])
def test_what_another_solver_gains_beside_counts_neither_way(gain, n_own, n_beside):
    """However good a point it finds: smoothed steps are worse on their way there."""
    progress, counts = Progress(max_iter=1000), SimpleNamespace(n_passes=0)
    progress.begin("trust_region", counts)
    for k in range(100):
        if progress.record(Point((1 - gain) ** k, smoothing=1.0), 1.0) is Status.STALLED:
            break
        if k == 4 and n_beside > 0:
            with progress.aside():
                progress.begin("bundle", counts)
                for j in range(n_beside):
                    assert progress.record(Point(0.1 * 0.9**j), 1.0) is None
    assert len(progress.own(progress.history)) == min(n_own + 1, 100)
    assert len(progress.history) == len(progress.own(progress.history)) + n_beside
