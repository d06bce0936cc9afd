"""The race of survival SVMs, judged by the certified optimum."""

import numpy as np
import pytest

from benchmarks import survival
from benchmarks.datasets.survival import Times, drawn_times


def test_ties_are_broken_as_pairs_are_compared():
    event, time = np.array([0, 1, 1, 0, 1], bool), np.array([2.0, 2.0, 1.0, 1.0, 2.0])
    broken = Times("small", np.zeros((5, 1)), event, time).without_ties()
    order = np.argsort(broken.time).tolist()
    assert order[:2] == [2, 3]
    assert set(order[2:4]) == {1, 4}
    assert order[4] == 0
    assert survival.comparable(broken).n_pairs == 7


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_both_reach_the_optimum_where_nothing_is_tied(capsys):
    pytest.importorskip("sksurv", reason="scikit-survival is not installed")
    times = drawn_times(120, 4)
    survival.report("drawn", times)
    lines = capsys.readouterr().out.splitlines()
    rows = [line.split("|")[1:-1] for line in lines if "SurvivalSVM" in line]
    assert len(rows) == len(survival.trainers())
    assert all(abs(float(above)) < 1e-3 for _, _, above, _ in rows)
    survival.growth([100, 200], limit=60)
    assert "| 200 " in capsys.readouterr().out
