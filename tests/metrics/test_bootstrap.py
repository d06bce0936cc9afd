"""Intervals by the bootstrap over queries."""

import numpy as np
import pytest

from ranksvm.metrics import bootstrap
from ranksvm.metrics.bootstrap import bootstrap_interval


def test_intervals_are_those_of_rows_that_are_drawn():
    values = np.random.default_rng(1).normal(size=(40, 2))
    low, high = bootstrap_interval(values, 300, 0.9, 5)
    generator = np.random.default_rng(5)
    means = []
    for _ in range(300):
        counts = generator.multinomial(40, np.full(40, 1 / 40))
        means.append(np.repeat(values, counts, axis=0).mean(axis=0))
    np.testing.assert_allclose(low, np.quantile(means, 0.05, axis=0))
    np.testing.assert_allclose(high, np.quantile(means, 0.95, axis=0))


def test_intervals_are_about_those_of_normal_means():
    values = np.random.default_rng(0).normal(size=(2000, 1))
    low, high = bootstrap_interval(values)
    half = 1.96 * values.std() / np.sqrt(2000)
    assert (high - low)[0] == pytest.approx(2 * half, rel=0.1)
    assert low[0] < values.mean() < high[0]


def test_blocks_do_not_change_what_is_drawn(monkeypatch):
    values = np.random.default_rng(2).normal(size=(30, 3))
    whole = bootstrap_interval(values, 100)
    monkeypatch.setattr(bootstrap, "_BLOCK", 70)
    np.testing.assert_allclose(bootstrap_interval(values, 100), whole, rtol=1e-12)


def test_what_is_not_known_is_left_out():
    nothing = np.full(30, np.nan)
    some = np.random.default_rng(3).normal(size=30)
    some[::3] = np.nan
    low, high = bootstrap_interval(np.column_stack([some, nothing]))
    assert np.isnan([low[1], high[1]]).all()
    assert low[0] < np.nanmean(some) < high[0]
    assert np.isnan(bootstrap_interval(nothing[:, np.newaxis])).all()
