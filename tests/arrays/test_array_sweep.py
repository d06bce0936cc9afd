"""Sweeps on arrays of other libraries; other tests of losses take them as one more way."""

from math import fsum

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
import strategies
from cases import is_member, make_loss, make_pairs, suits_arrays
from places import LIBRARIES, Place
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.fixed_point import FixedPoint
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

LOSSES = {
    "hinge": (Hinge, {}),
    "squared_hinge": (SquaredHinge, {}),
    "smoothed_hinge": (SmoothedHinge, {"width": 0.5}),
    "narrow": (SmoothedHinge, {"width": 2.0**-10}),
}
every_library = pytest.mark.parametrize("library", LIBRARIES)
every_loss = pytest.mark.parametrize("loss", LOSSES)


def device_of(library):
    return Place.named(library).device


def make_named(loss, y, groups=None, device=None, **weights):
    Loss, width = LOSSES[loss]
    return make_loss(Loss, y, groups, device=device, **width, **weights)


def assert_close(actual, expected, atol):
    np.testing.assert_allclose(ArrayDevice.to_host(actual), expected, rtol=1e-9, atol=atol)


# --- agreement with the core ----------------------------------------------------------------------


@every_library
@every_loss
@given(ranking=strategies.rankings(), seed=st.integers(0, 99))
def test_all_that_a_sweep_knows(ranking, seed, loss, library):
    device, n = device_of(library), len(ranking.y)
    assume(suits_arrays(ranking))
    groups, weights = QueryGroups.from_qid(ranking.qid, n), ranking.weights
    if ranking.query_weight is not None:
        rows = np.arange(n) if groups.order is None else groups.order
        weights["query_weight"] = ranking.query_weight[rows[groups.indptr[:-1]]]
    kind = LOSSES[loss][0].__name__
    kind = {"Hinge": "hinge", "SquaredHinge": "squared_hinge"}.get(kind, "smoothed_hinge")
    width = LOSSES[loss][1].get("width", 0.0)
    core, sorted_core, arrays = (
        make_pairs(ranking.y, groups, **where, **weights).sweep(ranking.scores, kind, 1.0, width)
        for where in ({}, {"counting": "merge"}, {"device": device})
    )
    if all(weight is None for weight in weights.values()):
        assert arrays.n_active == core.n_active
    noise = 1e-15 * core.magnitude
    for name in ("n_active", "value", "offset", "smoothing"):
        value = getattr(core, name)
        assert getattr(arrays, name) == pytest.approx(value, rel=1e-11, abs=noise / (width or 1))
    degree = core.degree()
    assert_close(arrays.degree(), degree, 1e-13 * degree.max())
    assert_close(arrays.gradient, core.gradient, 1e-12 * np.abs(core.gradient).max())
    V = np.random.default_rng(seed).normal(size=(n, 3))
    product = arrays.laplacian(device.asarray(V))
    assert_close(product, core.laplacian(V), 1e-12 * degree.max())
    for k in range(3):  # a block has the bits of its columns
        column = arrays.laplacian(device.asarray(V[:, k].copy()))
        np.testing.assert_array_equal(device.to_host(column), device.to_host(product)[:, k])
    members, here, there = is_member(ranking), device.to_host(arrays.rows()), sorted_core.rows()
    by_score, expected = (  # ties may come in any order
        ranking.scores[rows[members[rows]]] for rows in (here, there)
    )
    np.testing.assert_array_equal(by_score, expected)


@every_library
@given(data=st.data(), step=st.sampled_from([0.1, 1 / 3, 0.7]), margin=st.sampled_from([1, 0.3]))
def test_active_pairs_are_those_of_the_very_comparison(data, step, margin, library):
    """Many differences of scores are the margin, but for rounding."""
    device, n = device_of(library), 20
    y = data.draw(strategies.labels(n))
    offset = data.draw(st.sampled_from([0.0, 1.0, 1e6]))
    scores = offset + step * data.draw(strategies.integers(n, -9, 9))
    active = (y[:, np.newaxis] > y) & (scores[:, np.newaxis] - scores < margin)
    arrays, core = (
        make_pairs(y, device=where).sweep(scores, "hinge", margin) for where in (device, None)
    )
    assert arrays.n_active == core.n_active == active.sum()
    balance = active.sum(axis=0) - active.sum(axis=1)
    np.testing.assert_array_equal(device.to_host(arrays.gradient), balance)


def large_problem(kind):
    rng = np.random.default_rng(0)
    n = 30_000
    qid = rng.integers(0, 2_000, n) if kind == "queries" else None
    y = rng.permutation(n) if kind == "distinct" else rng.integers(0, 5, n)
    return y, QueryGroups.from_qid(qid, n), rng.normal(size=n), rng.normal(size=n)


every_kind = pytest.mark.parametrize("kind", ["distinct", "few", "queries"])
every_weight = pytest.mark.parametrize("weights", ["none", "rows", "gaps", "roles"])


def weights_of(weights, n):
    sample_weight = None if weights == "none" else np.random.default_rng(1).uniform(0.1, 10, n)
    options = {"sample_weight": sample_weight, "pair_weight": "gap" if weights == "gaps" else None}
    if weights == "roles":
        options["better_weight"] = np.random.default_rng(2).uniform(0, 5, n)
        options["worse_weight"] = np.random.default_rng(3).integers(0, 2, n).astype(float)
    return options


@every_kind
@every_weight
@every_loss
def test_large_problems(loss, weights, kind):
    y, groups, scores, v = large_problem(kind)
    device, weights = device_of("numpy:cpu"), weights_of(weights, len(y))
    core = make_named(loss, y, groups, **weights).evaluate(scores)
    arrays = make_named(loss, y, groups, device, **weights).evaluate(scores)
    assert arrays.value == pytest.approx(core.value, rel=1e-12)
    slack = core.slack + arrays.slack
    assert arrays.smoothing == pytest.approx(core.smoothing, rel=1e-10, abs=slack)
    assert_close(arrays.gradient, core.gradient, 1e-12 * np.abs(core.gradient).max())
    if loss != "hinge":
        product = core.hessian_product(v)
        assert_close(arrays.hessian_product(v), product, 1e-12 * np.abs(product).max())


def evaluated(device, problem, loss, weights):
    """Arrays of an evaluation, and numbers."""
    y, groups, scores, v = problem
    here = make_named(loss, y, groups, device, **weights).evaluate(device.asarray(scores))
    product = here.hessian_product(device.asarray(v))
    arrays = [device.to_host(a) for a in (here.gradient, here.hessian_diagonal, product)]
    return arrays, [here.value, here.offset, here.rounding, here.smoothing]


smooth_losses = pytest.mark.parametrize("loss", ["squared_hinge", "narrow"])


@every_kind
@every_weight
@smooth_losses
@pytest.mark.parametrize("library", [name for name in LIBRARIES if name != "numpy:cpu"])
def test_libraries_give_the_same_bits(loss, weights, kind, library):
    problem = large_problem(kind)
    weights = weights_of(weights, len(problem[0]))
    here, again, expected = (
        evaluated(device_of(name), problem, loss, weights)
        for name in (library, library, "numpy:cpu")
    )
    assert here[1] == again[1]
    assert here[1] == pytest.approx(expected[1], rel=1e-12)
    for other in (again, expected):
        assert all(map(np.array_equal, here[0], other[0]))


@every_kind
@every_weight
@smooth_losses
def test_threads_give_the_same_bits(loss, weights, kind):
    device, torch = device_of("torch:cpu"), pytest.importorskip("torch")
    problem, n_threads = large_problem(kind), torch.get_num_threads()
    weights = weights_of(weights, len(problem[0]))
    try:
        torch.set_num_threads(1)
        one = evaluated(device, problem, loss, weights)
        torch.set_num_threads(2)
        two = evaluated(device, problem, loss, weights)
    finally:
        torch.set_num_threads(n_threads)
    assert one[1] == two[1]
    assert all(map(np.array_equal, one[0], two[0]))


# --- rounding -------------------------------------------------------------------------------------


@every_weight
@every_loss
@pytest.mark.parametrize("spread", [1e-3, 1.0, 30.0, 1e5])
def test_value_is_as_exact_as_it_says(spread, loss, weights):
    rng = np.random.default_rng(2)
    y, device = rng.integers(0, 40, 60), device_of("numpy:cpu")
    weights = weights_of(weights, 60)
    pairs = reference.enumerate_pairs(y, **weights)
    for _ in range(20):
        scores = 1e3 + spread * rng.normal(size=60)
        here = make_named(loss, y, device=device, **weights).evaluate(scores)
        truth = reference.squared_hinge if loss == "squared_hinge" else reference.hinge
        assert abs(here.value - truth(pairs, scores)) <= here.rounding


@given(
    exponents=st.lists(st.integers(-30, 30), min_size=2, max_size=40),
    scale=st.sampled_from([1e-250, 1e-9, 1.0, 1e9, 1e290]),
    seed=st.integers(0, 99),
)
def test_sums_in_fixed_point_are_exact_though_prefix_sums_overflow(exponents, scale, seed):
    device = device_of("numpy:cpu")
    rng = np.random.default_rng(seed)
    values = scale * rng.uniform(0.5, 1, len(exponents)) * 2.0 ** np.array(exponents)
    values = np.tile(values, 500)
    fixed = FixedPoint(device, np.max(values), 2)
    digits = fixed.digits(values)
    assert np.array_equal(fixed.number(digits), values)
    sums = device.prefix_sums(digits, device.int64)
    assert not np.all(sums >= 0)
    pairs = fixed.number(sums[:, 2:] - sums[:, :-2])
    expected = [fsum(two) for two in zip(values[1:], values[:-1], strict=True)]
    np.testing.assert_allclose(pairs, expected, rtol=3e-16)


def test_whole_labels_are_exact_wherever_they_lie():
    rng = np.random.default_rng(2)
    device = device_of("numpy:cpu")
    k, scores = rng.integers(0, 30, 500), rng.normal(size=500)
    core = make_loss(Hinge, k, pair_weight="gap").evaluate(scores)
    for shift in (0, 10**6, -(10**12)):
        here = make_loss(Hinge, k + shift, pair_weight="gap", device=device).evaluate(scores)
        assert here.offset == core.offset
        np.testing.assert_array_equal(here.gradient, core.gradient)


# --- manners --------------------------------------------------------------------------------------


@every_library
@every_loss
def test_only_totals_are_brought_to_the_host(loss, library, monkeypatch):
    y, groups, scores, v = large_problem("queries")
    device, seen = device_of(library), []
    here = make_named(loss, y, groups, device)
    scores, v = device.asarray(scores), device.asarray(v)
    to_host = ArrayDevice.to_host
    monkeypatch.setattr(
        ArrayDevice, "to_host", staticmethod(lambda a: seen.append(len(a)) or to_host(a))
    )
    evaluation = here.evaluate(scores)
    assert len(seen) == 1
    assert seen[0] < 100
    if loss != "hinge":
        evaluation.hessian_product(v)
    assert len(seen) == 1


@every_library
def test_scores_in_single_precision_are_taken_as_they_are(library):
    device, rng = device_of(library), np.random.default_rng(4)
    y, scores = rng.integers(0, 5, 50), rng.normal(size=50).astype(np.float32)
    expected = make_loss(SquaredHinge, y).evaluate(scores)
    here = make_loss(SquaredHinge, y, device=device).evaluate(device.asarray(scores))
    assert here.value == pytest.approx(expected.value, rel=1e-14)
    assert here.gradient.dtype == device.float64


@every_library
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_scores_must_be_finite(bad, library):
    device = device_of(library)
    with pytest.raises(ValueError, match="scores must be finite"):
        make_loss(Hinge, np.arange(4), device=device).evaluate(np.array([0, 1, bad, 3]))


def test_rows_must_fit():
    loss = make_loss(SquaredHinge, np.arange(4), device=device_of("numpy:cpu"))
    with pytest.raises(ValueError, match="scores has 3 rows where there are 4"):
        loss.evaluate(np.zeros(3))
    with pytest.raises(ValueError, match="v has 5 rows where there are 4"):
        loss.evaluate(np.zeros(4)).hessian_product(np.zeros(5))


@pytest.mark.parametrize("width", [0.0, -1.0, np.nan])
def test_a_width_is_greater_than_nothing(width):
    loss = make_loss(SmoothedHinge, np.arange(4), width=width, device=device_of("numpy:cpu"))
    with pytest.raises(ValueError, match="width of the smoothed hinge must be above 0"):
        loss.evaluate(np.zeros(4))


# --- devices --------------------------------------------------------------------------------------


@every_library
def test_arrays_know_their_device(library):
    device = device_of(library)
    array = device.asarray([1.0, 2.0])
    assert ArrayDevice.of(array, array) == device
    np.testing.assert_array_equal(device.to_host(array), [1, 2])


def test_arrays_of_two_libraries_are_refused():
    array = device_of("torch:cpu").asarray([1.0])
    with pytest.raises(TypeError, match="namespace"):
        ArrayDevice.of(array, np.ones(1))


@pytest.mark.parametrize(
    "name", ["gpu", "cpu", "cuda:0", "torch", "torch:tpu", "numpy:cuda", "cupy:cpu", "torch:cuda:"]
)
def test_unknown_devices_are_named(name):
    with pytest.raises(ValueError, match=f"device must .* not '{name}'"):
        ArrayDevice.named(name)


def test_a_missing_gpu_is_told():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    count = torch.cuda.device_count()
    expected = f"torch sees {count} GPUs?, none of number {count}" if count else "torch sees no GPU"
    with pytest.raises(RuntimeError, match=expected):
        ArrayDevice.named(f"torch:cuda:{count}")
