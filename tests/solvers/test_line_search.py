"""Where a search along a line begins, and where it may end."""

from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from ranksvm.solvers.line_search import line_search


@dataclass
class Parabola:
    """``(t - least)^2 / 2``, and where it has been looked at."""

    least: float
    steps: list[float] = field(default_factory=list)

    @property
    def slope(self) -> float:
        return -self.least

    def trial(self, step: float) -> SimpleNamespace:
        self.steps.append(step)
        return SimpleNamespace(step=step, slope=step - self.least)


@pytest.mark.parametrize("first", [1.0, 2.0, 5.0])
@pytest.mark.parametrize("least", [1e-3, 0.9, 2.1, 40.0])
def test_a_search_begins_where_it_is_told_to(first, least):
    line = Parabola(least)
    trial, n_trials = line_search(line, first=first, accuracy=0.1)
    assert line.steps[0] == first
    assert n_trials == len(line.steps)
    assert trial.step == line.steps[-1]
    assert abs(trial.slope) <= 0.1 * least


def test_the_longest_step_is_taken_where_the_line_still_falls():
    line = Parabola(40.0)
    trial, _ = line_search(line, longest=3.0)
    assert trial.step == 3.0
    assert max(line.steps) == 3.0
