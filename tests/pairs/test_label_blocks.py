"""Queries of so many labels that the default counts in blocks of them."""

import numpy as np
import pytest

from cases import make_pairs

N = (1 << 19) + 40_000  # rows, of which some share a label


@pytest.fixture(scope="module")
def ranking():
    rng = np.random.default_rng(0)
    scores = rng.standard_normal(N)
    return np.round(scores + rng.standard_normal(N), 7), scores


def of_row(i, y, s, v, loss, width):
    """The derivative of the loss by the score of a row, and the row of M v, by its pairs."""
    sign = np.sign(y - y[i])  # 1 for those that are better
    slack = 1 + sign * (s[i] - s)
    active = (sign != 0) & (slack > 0)
    alpha = {
        "hinge": 1.0,
        "squared_hinge": 2 * slack,
        "smoothed_hinge": np.minimum(slack / width, 1.0) if width else None,
    }[loss]
    curved = active & (slack <= width) if loss == "smoothed_hinge" else active
    return np.sum(sign * alpha * active), np.sum(v[i] - v[curved], axis=0)


# Spread widely, scores are summed in two parts; a width beyond the margin has windows of their own.
@pytest.mark.parametrize(
    ("loss", "width", "spread"),
    [
        ("hinge", 0.0, 1.0),
        ("squared_hinge", 0.0, 1.0),
        ("squared_hinge", 0.0, 1e4),
        ("smoothed_hinge", 0.25, 1.0),
        ("smoothed_hinge", 1.5, 1.0),
    ],
)
def test_some_rows_agree_with_their_pairs(loss, width, spread, ranking):
    y, scores = ranking[0], spread * ranking[1]
    pairs = make_pairs(y, n_threads=2)
    assert pairs.n_levels[0] > 1 << 19
    sweep = pairs.sweep(scores, loss, 1.0, width)
    rng = np.random.default_rng(1)
    V = rng.standard_normal((N, 5))
    products = None if loss == "hinge" else sweep.laplacian(V)
    for i in [*rng.integers(0, N, 12), y.argmin(), y.argmax(), scores.argmax()]:
        slope, product = of_row(i, y, scores, V, loss, width)
        assert sweep.gradient[i] == pytest.approx(slope, rel=1e-9, abs=1e-6 * (loss != "hinge"))
        if products is not None:
            np.testing.assert_allclose(products[i], product, rtol=1e-9, atol=1e-6)


def test_any_number_of_threads_gives_the_same_bits(ranking):
    y, scores = ranking
    sweeps = [make_pairs(y, n_threads=n).sweep(scores, "squared_hinge", 1.0) for n in (1, 3)]
    np.testing.assert_array_equal(sweeps[0].gradient, sweeps[1].gradient)
    assert sweeps[0].magnitude == sweeps[1].magnitude
