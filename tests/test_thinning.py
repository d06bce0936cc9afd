"""Which cases of a test are run: all pairs of its parameters, or all of its values."""

from collections import Counter
from itertools import combinations, product

import pytest

from pairwise import covering

GRID = [
    {"place": "cpu", "a": (a,), "b": (b,), "c": (c,)}
    for a, b, c in product(range(5), range(3), range(3))
]


def together(cases, n):
    values = (sorted(value for value in case.items() if value[0] != "place") for case in cases)
    return {some for case in values for some in combinations(case, n)}


@pytest.mark.parametrize(("n", "most"), [(1, 5), (2, 18), (3, 45)])
def test_what_occurs_together_in_any_case_is_kept_in_few(n, most):
    kept = covering(GRID, Counter(), n)
    assert together([GRID[k] for k in kept], n) == together(GRID, n)
    assert len(kept) <= most


def test_cases_of_fewer_parameters_are_kept():
    of_two = [{name: case[name] for name in ("place", "a", "b")} for case in GRID[::3]]
    assert covering(of_two, Counter(), 2) == set(range(15))
    of_one = [{name: case[name] for name in ("place", "a")} for case in GRID[::9]]
    assert covering(of_one, Counter(), 2) == set(range(5))


def test_libraries_take_turns():
    cases = [dict(case, place=place) for place in ("one", "other") for case in GRID]
    taken = Counter()
    covering(cases, taken, 1)
    assert abs(taken["one"] - taken["other"]) <= 1
