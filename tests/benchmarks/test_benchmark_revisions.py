"""What the comparison of revisions makes of its measurements."""

from functools import partial
from multiprocessing import get_context

import numpy as np
import pytest

from benchmarks import micro, revisions, shape_fit, shapes
from benchmarks.datasets.solver_shapes import make_few_rows
from benchmarks.revisions import Comparison, compare, measure_round, standard_error
from benchmarks.shape_fit import Shape


def make_round(base, head, again, lacking=((), (), ())):
    return [
        {"seconds": seconds, "lacking": dict.fromkeys(missing, "ImportError: no such module")}
        for seconds, missing in zip((base, head, again), lacking, strict=True)
    ]


def test_the_ratio_is_the_median_of_those_within_rounds():
    # The machine slows down from round to round, and after / before stays 2.
    rounds = [make_round({"a": s}, {"a": 2 * s}, {"a": s}) for s in (1.0, 3.0, 9.0)]
    (comparison,) = compare(rounds)
    assert comparison.ratio == pytest.approx(2)
    assert (comparison.before, comparison.after) == pytest.approx((3, 6))
    assert comparison.noise == 0
    assert comparison.verdict == "slower"
    assert comparison.row == (
        "a",
        pytest.approx(3e3),
        pytest.approx(6e3),
        "2.000",
        "0.0%",
        "slower",
    )


def test_a_difference_within_the_noise_is_none():
    rounds = [make_round({"a": 1.0}, {"a": 1.05}, {"a": again}) for again in (1.1, 0.9, 1.1, 0.9)]
    (comparison,) = compare(rounds)
    assert comparison.noise > 0.03
    assert comparison.verdict == ""
    faster = comparison._replace(ratio=0.2)
    assert faster.verdict == "faster"


def test_rounds_that_agree_by_chance_do_not_convince():
    rounds = [
        make_round(
            dict.fromkeys("abc", 1.0), {"a": 1.05, "b": 1.0, "c": 1.0}, {"a": 1.0, "b": b, "c": c}
        )
        for b, c in ((1.1, 1.2), (0.9, 0.8), (1.1, 1.2))
    ]
    a, b, c = compare(rounds)
    assert a.noise == b.noise
    assert a.noise < c.noise
    assert a.verdict == ""
    (alone,) = compare([[{**r, "seconds": {"a": r["seconds"]["a"]}} for r in k] for k in rounds])
    assert alone.verdict == "slower"


def test_what_a_revision_lacks_is_said_and_stands_in_its_place():
    with_new = {"a": 1.0, "new": 2.0, "b": 3.0}
    rounds = [
        make_round({"a": 1.0, "b": 3.0}, with_new, {"a": 1.0, "b": 3.0}, (["new"], [], ["new"]))
    ]
    a, new, b = compare(rounds)
    assert [comparison.name for comparison in (a, new, b)] == ["a", "new", "b"]
    assert new.verdict == "not before: ImportError: no such module"
    assert np.isnan(new.before)
    assert new.after == pytest.approx(2)
    assert new.row[1:5] == ("", pytest.approx(2000), "", "")
    swapped = [[r[1], r[0], r[1]] for r in rounds]
    assert compare(swapped)[1].verdict == "not after: ImportError: no such module"
    nowhere = [make_round({}, {}, {}, (["c"], ["c"], ["c"]))]
    assert compare(nowhere)[0].verdict.startswith("not before: ImportError: no such module; not af")


def test_the_standard_error_is_that_of_the_median_ratio():
    rng = np.random.default_rng(0)
    n_rounds, spread = 101, 0.02
    base, head, again = spread * rng.standard_normal((3, 2000, n_rounds))
    actual = np.median(head - (base + again) / 2, axis=1).std()
    estimated = np.mean([standard_error(differences) for differences in again - base])
    assert estimated == pytest.approx(actual, rel=0.1)


def test_rounds_begin_at_either_end(monkeypatch):
    order = []
    monkeypatch.setattr(
        revisions, "measure", lambda package, only: order.append(package) or package
    )
    assert measure_round(0, "base", "head") == ["base", "head", "base"]
    order.clear()
    turns = iter(range(3))
    monkeypatch.setattr(revisions, "measure", lambda package, only: (package, next(turns)))
    assert measure_round(1, "base", "head") == [("base", 2), ("head", 1), ("base", 0)]


def test_unknown_revisions_are_refused_in_words():
    with pytest.raises(SystemExit, match="'no-such-revision' is no revision"):
        revisions.commit_of("no-such-revision")


def test_quick_calls_are_repeated_until_the_clock_can_tell():
    now, calls = [0.0], []

    def call():
        calls.append(now[0])
        now[0] += 1e-3 * (1 + (len(calls) > 100))

    assert micro.best_time(call, 2, clock=lambda: now[0]) == pytest.approx(1e-3)
    assert len(calls) == 1 + 2 + 4 + 8 + 16 + 32 + 32


@pytest.mark.parametrize("name", ["sweep, tree, queries", "simplex QP", "path events"])
def test_hot_paths_run(name):
    (prepare,) = (prepare for path, prepare in micro.paths() if path.startswith(name))
    prepare()()


def test_names_of_hot_paths_differ():
    names = [name for name, _ in micro.paths()]
    assert len(names) == len(set(names))


def test_a_comparison_without_reason_has_a_ratio():
    assert Comparison("a", 1.0, 1.0, 1.0, 0.01).row[3:] == ("1.000", "1.0%", "")


def run_apart(shape, limit):
    with get_context("fork").Pool(1) as pool:  # it limits its process
        return pool.apply(shape_fit.measure, (shape, 1, limit))


def test_a_fit_of_a_shape_tells_its_gap_or_why_there_is_none():
    few_rows = partial(make_few_rows, 30, 50)
    done = run_apart(Shape(few_rows, {"tol": 1e-4}), 60.0)
    assert done["why"] == ""
    assert 0 <= done["gap"] <= 1e-4
    assert done["seconds"] > 0
    hard = {"loss": "hinge", "C": 1e3, "solver": "bundle", "tol": 1e-12, "max_iter": 1_000_000}
    large = partial(make_few_rows, 400, 500)
    assert run_apart(Shape(large, hard), 0.01) == {"why": shape_fit.UNFINISHED}
    assert run_apart(Shape(no_data), 1.0) == {"why": shape_fit.ABSENT}


def no_data():
    return None


def test_rows_of_shapes_have_a_ratio_where_both_fits_end():
    before, after = ({"seconds": s, "gap": 1e-4, "why": ""} for s in (3.0, 1.5))
    assert shapes.row("few rows", 2, before, after)[2:] == (3.0, "1e-04", 1.5, "1e-04", 0.5)
    unfinished = {"seconds": np.nan, "why": shape_fit.UNFINISHED}
    line = shapes.row("few rows", 1, unfinished, after)
    assert line[2:] == ("", shape_fit.UNFINISHED, 1.5, "1e-04", "")
