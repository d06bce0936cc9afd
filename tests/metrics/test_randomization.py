import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import permutation_test

import reference_metrics
import strategies
from ranksvm.metrics import paired_randomization_test


@st.composite
def paired_values(draw):
    n = draw(st.integers(1, 8))
    return draw(strategies.integers(n, 0, 4)) / 7, draw(strategies.integers(n, 0, 4)) / 7


@given(values=paired_values())
def test_few_queries_are_enumerated(values):
    p = paired_randomization_test(*values)
    assert p == pytest.approx(reference_metrics.randomization_test(*values), abs=1e-15)
    assert p == paired_randomization_test(*values[::-1])


def noisy_models(n=40, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.uniform(size=n)
    return a, a + rng.normal(0.02, 0.1, n)


def mean_difference(x, y, axis):
    return np.mean(x, axis=axis) - np.mean(y, axis=axis)


@pytest.mark.parametrize(("n", "tolerance"), [(10, 1e-12), (40, 0.02)])
def test_agrees_with_scipy(n, tolerance):
    a, b = noisy_models(n)
    theirs = permutation_test(
        (a, b),
        mean_difference,
        permutation_type="samples",
        n_resamples=20_000,
        vectorized=True,
        random_state=1,
    )
    ours = paired_randomization_test(a, b, n_permutations=20_000, random_state=0)
    assert ours == pytest.approx(theirs.pvalue, abs=tolerance)


def test_draws_follow_the_seed_and_approach_the_exact_value():
    a, b = noisy_models(12)
    exact = paired_randomization_test(a, b)
    drawn = [
        paired_randomization_test(a, b, n_permutations=4000, random_state=s) for s in (0, 0, 1)
    ]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn == pytest.approx([exact] * 3, abs=0.04)


def test_many_queries_and_a_sure_difference():
    a = np.arange(5000) / 5000
    assert paired_randomization_test(a, a + 0.1, n_permutations=999, random_state=0) == 1 / 1000
    assert paired_randomization_test(a, a) == 1


def test_queries_left_out_of_both_do_not_count():
    a, b = [0.1, np.nan, 0.5, 0.7], [0.2, np.nan, 0.4, 0.9]
    assert paired_randomization_test(a, b) == paired_randomization_test(
        a[::2] + a[3:], b[::2] + b[3:]
    )


@pytest.mark.parametrize(
    ("a", "b", "options", "match"),
    [
        ([1, 2], [1], {}, r"\(2,\) and \(1,\)"),
        ([1, np.nan], [1, 2], {}, "query 1 has the values nan and 2.0"),
        ([np.nan], [np.nan], {}, "no query with a value"),
        ([], [], {}, "no query with a value"),
        ([1], [2], {"n_permutations": 0}, "n_permutations must be at least 1, not 0"),
    ],
)
def test_errors(a, b, options, match):
    with pytest.raises(ValueError, match=match):
        paired_randomization_test(a, b, **options)
