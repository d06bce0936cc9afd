"""Bounds and priors of weights, carried to scaled features and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm.linear.condition_arguments import ConditionArguments
from ranksvm.linear.conditions import NO_CONDITIONS, Conditions
from ranksvm.linear.feature_names import FeatureNames
from ranksvm.linear.occurring import Columns, FeatureWeights

INF = np.inf
NUMBERS = st.one_of(st.sampled_from([0.0, 0.1, -0.3, 1e-8, 7e9]), st.floats(-1e3, 1e3))
FACTORS = st.one_of(st.sampled_from([1.0, 1 / 3, 0.1, 1e-9, 3e8]), st.floats(1e-6, 1e6))


@st.composite
def conditions(draw, d):
    """Bounds in order, some of them infinite, and a prior."""
    ends = np.sort([[draw(NUMBERS), draw(NUMBERS)] for _ in range(d)], axis=1)
    keep = np.array([[draw(st.booleans()), draw(st.booleans())] for _ in range(d)])
    bounds = np.where(keep, ends, [-INF, INF])
    return Conditions(bounds[:, 0], bounds[:, 1], np.array([draw(NUMBERS) for _ in range(d)]))


@given(st.data(), st.integers(1, 5))
def test_what_is_at_a_bound_or_at_the_prior_comes_back_to_it_exactly(data, d):
    asked = data.draw(conditions(d))
    factors = np.array([data.draw(FACTORS) for _ in range(d)])
    columns = Columns(d)
    scaled = asked.scaled(factors, columns)
    np.testing.assert_array_less(scaled.lower, np.nextafter(scaled.upper, INF))
    ends = {"lower": asked.lower, "upper": asked.upper}
    ends["prior"] = np.clip(asked.prior, asked.lower, asked.upper)
    for name, expected in ends.items():
        here = np.isfinite(expected)
        there = np.clip(getattr(scaled, name), scaled.lower, scaled.upper)
        found = asked.unscaled(np.where(here, there, 0), factors, columns).dense
        np.testing.assert_array_equal(found[here], expected[here])
    between = np.clip(np.array([data.draw(NUMBERS) for _ in range(d)]), scaled.lower, scaled.upper)
    found = asked.unscaled(between, factors, columns).dense
    assert (asked.lower <= found).all()
    assert (found <= asked.upper).all()
    np.testing.assert_allclose(found, np.clip(factors * between, asked.lower, asked.upper))


def test_of_columns_that_are_some_of_the_features():
    columns = Columns(6, np.array([1, 4]))
    lower = np.array([0.5, 0.2, -INF, 0, -INF, -INF])
    asked = Conditions(lower=lower, prior=np.array([0, 0, 3.0, 0, 1.0, 0]))
    scaled = asked.scaled(np.array([2.0, 4.0]), columns)
    np.testing.assert_array_equal(scaled.lower, [0.5, 0.1, -INF, 0, -INF, -INF])
    np.testing.assert_array_equal(scaled.prior, [0, 0, 3, 0, 0.25, 0])
    found = asked.unscaled(np.array([0.1, 0.25]), np.array([2.0, 4.0]), columns)
    np.testing.assert_array_equal(found.dense, [0.5, 0.2, 3, 0, 1, 0])
    assert asked.n_at_bounds(found) == 3


def test_numbers_for_all_stay_numbers_where_no_scale_matters():
    asked = Conditions(lower=0.0)
    assert np.ndim(asked.scaled(np.ones(3), Columns(3)).lower) == 0
    weights = FeatureWeights(Columns(10**9, np.array([5, 8])), np.array([0.0, 2.0]))
    assert asked.n_at_bounds(weights) == 10**9 - 1
    assert NO_CONDITIONS.scaled(np.ones(3), Columns(3)) is NO_CONDITIONS


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ({}, {}),
        ({"positive": True}, {"positive": True}),
        (
            {"positive": True, "lower_bounds": {"a": 2}},
            {"positive": True, "lower_bounds": {"a": 2}},
        ),
        ({"lower_bounds": [0, 0]}, {"positive": True}),
        ({"lower_bounds": -1, "upper_bounds": [1, 1]}, {"lower_bounds": -1.0, "upper_bounds": 1.0}),
        (
            {"upper_bounds": {"b": 0}, "prior": [0, 3]},
            {"upper_bounds": {"b": 0}, "prior": {"b": 3}},
        ),
        ({"penalty_weights": 2, "l1_ratio": 1}, {"penalty_weights": 2.0, "l1_ratio": 1.0}),
    ],
)
def test_what_is_asked_for_is_described_shortly_and_read_back(arguments, expected):
    features = FeatureNames(2, ["a", "b"])
    asked = ConditionArguments(**arguments).conditions(features)
    assert asked.described(features) == expected
    again = ConditionArguments(**expected).conditions(features)
    for name in ("lower", "upper", "prior", "penalty_weights", "l1_ratio"):
        np.testing.assert_array_equal(
            np.broadcast_to(getattr(again, name), 2), np.broadcast_to(getattr(asked, name), 2)
        )


def test_features_without_names_are_described_by_numbers_from_one():
    asked = ConditionArguments(upper_bounds={1: 5}).conditions(FeatureNames(3))
    assert asked.described(FeatureNames(3)) == {"upper_bounds": {"2": 5.0}}
