"""Pairs weighted by the gap between their labels, wherever the labels lie; each face takes them."""

import itertools
import json

import numpy as np
import pytest

import reference
from cases import WAYS, assert_optimal, make_loss, make_problem, optimum
from config_files import TRAINING, output_of, write_data
from ranksvm import RankSVM, dump_svmlight, load_model, ranksvm_grid
from ranksvm.cli import main
from ranksvm.files.treeranksvm import read_features, read_labels, read_qids
from ranksvm.names import COUNTINGS, LOSSES
from ranksvm.pairs.losses import Hinge, SmoothedHinge, SquaredHinge
from ranksvm.pairs.queries import QueryGroups

every_counting = pytest.mark.parametrize("counting", WAYS)
every_loss = pytest.mark.parametrize("loss", LOSSES)

LABELS = {
    "far from 0": lambda k: 1e6 + k % 2,
    "far from 0, close": lambda k: 1e6 + 1e-9 * k,
    "tiny": lambda k: 1e-9 * k,
    "huge": lambda k: 1e12 * k,
    "two scales": lambda k: np.where(k % 2, 1e12, 0) + 1e-3 * k,
    "geometric": lambda k: 3.0**k,
}


@every_counting
@pytest.mark.parametrize("name", LABELS)
def test_labels_of_any_size_and_place(name, counting):
    rng = np.random.default_rng(0)
    y, scores, V = LABELS[name](rng.integers(0, 40, 60)), rng.normal(size=60), np.eye(60)
    pairs = reference.enumerate_pairs(y, pair_weight="gap")
    options = {"pair_weight": "gap", **WAYS[counting]}
    hinge, squared = (
        make_loss(Hinge, y, **options).evaluate(scores),
        make_loss(SquaredHinge, y, **options),
    )
    assert squared.pairs.n_pairs == pytest.approx(pairs.weight.sum(), rel=1e-13)
    assert hinge.value == pytest.approx(reference.hinge(pairs, scores), rel=1e-13)
    gradient = reference.hinge_gradient(pairs, scores)
    terms = 1e-14 * pairs.weight.sum()
    np.testing.assert_allclose(hinge.gradient, gradient, rtol=1e-12, atol=terms)
    here = squared.evaluate(scores)
    assert here.value == pytest.approx(reference.squared_hinge(pairs, scores), rel=1e-13)
    gradient = reference.squared_hinge_gradient(pairs, scores)
    np.testing.assert_allclose(here.gradient, gradient, rtol=1e-12, atol=terms)
    M = reference.laplacian(pairs, scores)
    np.testing.assert_allclose(here.hessian_product(V), 2 * M, rtol=1e-12, atol=terms)


@every_counting
@pytest.mark.parametrize("distance", [1e6, 1e12])
def test_a_small_gap_is_not_lost_beside_large_labels(distance, counting):
    """Two clusters of labels, in order as scores are: only pairs within a cluster are active."""
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 2, 50)
    y = distance * cluster + rng.integers(0, 9, 50) / 8
    scores = 20 * cluster + rng.normal(size=50)
    pairs = reference.enumerate_pairs(y, pair_weight="gap")
    active = reference.slack(pairs, scores) > 0
    assert pairs.weight[active].max() <= 1 < distance / 2 < pairs.weight.max()
    here = make_loss(SquaredHinge, y, pair_weight="gap", **WAYS[counting]).evaluate(scores)
    assert here.value == pytest.approx(reference.squared_hinge(pairs, scores), rel=1e-12)
    gradient = reference.squared_hinge_gradient(pairs, scores)
    np.testing.assert_allclose(here.gradient, gradient, rtol=1e-11, atol=1e-12)
    M = reference.laplacian(pairs, scores)
    np.testing.assert_allclose(here.hessian_product(np.eye(50)), 2 * M, rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("counting", COUNTINGS)
def test_whole_labels_are_exact_wherever_they_lie(counting):
    rng = np.random.default_rng(2)
    k, scores = rng.integers(0, 30, 500), rng.normal(size=500)
    pairs = reference.enumerate_pairs(k, pair_weight="gap")
    expected = make_loss(Hinge, k, pair_weight="gap").evaluate(scores)
    assert expected.offset == pairs.weight[reference.slack(pairs, scores) > 0].sum()
    for shift in (0, 10**6, -(10**12)):
        loss = make_loss(Hinge, k + shift, pair_weight="gap", counting=counting)
        assert loss.pairs.n_pairs == pairs.weight.sum()
        here = loss.evaluate(scores)
        assert (here.value, here.offset) == (expected.value, expected.offset)
        np.testing.assert_array_equal(here.gradient, expected.gradient)


@pytest.fixture(scope="module")
def many_levels():
    """Real labels, so many distinct that a tree of digits is deep, and the truth from all pairs."""
    n = 5_000
    rng = np.random.default_rng(3)
    y = rng.permutation(np.r_[rng.normal(size=4_500), np.zeros(500)])
    scores, v = 3 * (y + rng.normal(size=n)), rng.normal(size=n)
    gradient, product, value, smoothing = np.zeros(n), np.zeros(n), 0.0, 0.0
    for rows in np.array_split(np.arange(n), 100):
        gap = np.maximum(0.0, y[rows][:, np.newaxis] - y)
        violation = np.maximum(0.0, 1 - (scores[rows][:, np.newaxis] - scores))
        alpha = np.minimum(violation / 0.5, 1)
        value += np.sum(gap * violation)
        smoothing += np.sum(gap * violation * (1 - alpha))
        gradient[rows] -= np.sum(gap * alpha, axis=1)
        gradient += np.sum(gap * alpha, axis=0)
        M = gap * ((violation > 0) & (violation <= 0.5))
        product[rows] += M.sum(axis=1) * v[rows] - M @ v
        product += M.sum(axis=0) * v - v[rows] @ M
    return y, scores, v, value, smoothing, gradient, 2 * product


@pytest.mark.parametrize("counting", ["merge", "tree", "pairs", "arrays"])
def test_many_levels(many_levels, counting):
    y, scores, v, value, smoothing, gradient, product = many_levels
    loss = make_loss(SmoothedHinge, y, pair_weight="gap", **WAYS[counting], width=0.5, n_threads=2)
    here = loss.evaluate(scores)
    assert here.value == pytest.approx(value, rel=1e-12)
    assert here.smoothing == pytest.approx(smoothing, rel=1e-11)
    np.testing.assert_allclose(here.gradient, gradient, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(here.hessian_product(v), product, rtol=1e-9, atol=1e-7)


# --- solutions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("loss", "solver"),
    [
        *itertools.product(LOSSES, ["newton", "trust_region"]),
        ("hinge", "bundle"),
        ("hinge", "cutting_planes"),
    ],
)
@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", None])
def test_optimum_is_that_of_the_explicit_pairs(normalize, solver, loss):
    X, k, qid = make_problem(4)
    y, C = 2.0**k + 1e3, 0.01 if normalize is None else 1.0
    model = RankSVM(
        C, loss=loss, pair_weight="gap", normalize=normalize, solver=solver, tol=1e-9
    ).fit(X, y, qid)
    w, value = optimum(loss, X, y, qid, C, normalize, pair_weight="gap")
    assert_optimal(model, w, value, known=1e-10)
    assert model.n_pairs_ == reference.enumerate_pairs(y, qid, pair_weight="gap").weight.sum()
    plain = RankSVM(C, loss=loss, normalize=normalize, tol=1e-9).fit(X, y, qid)
    assert np.linalg.norm(model.coef_ - plain.coef_) > 1e-3


@every_loss
@pytest.mark.parametrize("normalize", ["documents", "queries", None])
def test_sample_weights_are_repeated_rows(normalize, loss):
    X, y, qid = make_problem(5)
    weight = np.random.default_rng(0).integers(0, 4, len(y))
    rows = np.repeat(np.arange(len(y)), weight)
    options = {"loss": loss, "normalize": normalize, "pair_weight": "gap", "tol": 1e-10}
    C = 0.01 if normalize is None else 1.0
    weighted = RankSVM(C, **options).fit(X, y, qid, sample_weight=weight)
    repeated = RankSVM(C, **options).fit(X[rows], y[rows], qid[rows])
    assert weighted.n_pairs_ == repeated.n_pairs_
    assert weighted.objective_ == pytest.approx(repeated.objective_, rel=2e-10)


def test_gaps_of_one_are_plain_pairs():
    X, k, qid = make_problem(6, n_levels=2)
    plain = RankSVM().fit(X, k, qid)
    weighted = RankSVM(pair_weight="gap").fit(X, k + 7, qid)
    np.testing.assert_array_equal(weighted.coef_, plain.coef_)
    assert weighted.n_pairs_ == plain.n_pairs_


@every_loss
@pytest.mark.parametrize("scale", [2.0**-40, 2.0**40, 2.0**400])
def test_the_unit_of_the_labels_does_not_matter(scale, loss):
    """With enough features for Newton steps in single precision."""
    X, y, qid = make_problem(7, n=200, d=40)
    options = {"loss": loss, "pair_weight": "gap", "solver": "newton", "tol": 1e-6}
    one = RankSVM(**options).fit(X, y, qid)
    other = RankSVM(**options).fit(X, scale * y, qid)
    assert other.n_pairs_ == scale * one.n_pairs_
    assert other.objective_ == pytest.approx(one.objective_, rel=2e-6)
    assert other.n_iter_ <= 1.2 * one.n_iter_


def test_a_query_of_one_level_has_no_say():
    X, y, qid = make_problem(8)
    inside = qid != 1
    y = np.where(inside, y, 3.0)
    options = {"pair_weight": "gap", "normalize": "pairs", "tol": 1e-12}
    model = RankSVM(**options).fit(X, y, qid)
    without = RankSVM(**options).fit(X[inside], y[inside], qid[inside])
    assert model.n_pairs_ == without.n_pairs_
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-9)
    groups = QueryGroups.from_qid(qid, len(y))
    loss = make_loss(SquaredHinge, y, groups, pair_weight="gap")
    assert np.all(loss.evaluate(X[:, 0]).gradient[~inside] == 0)


# --- faces ----------------------------------------------------------------------------------------


@every_loss
def test_path_is_that_of_single_fits(loss):
    X, y, qid = make_problem(9)
    Cs = [0.1, 1.0, 10.0]
    grid = ranksvm_grid(X, y, qid, Cs, loss=loss, pair_weight="gap", tol=1e-8)
    values = [optimum(loss, X, y, qid, C, pair_weight="gap")[1] for C in Cs]
    np.testing.assert_allclose(grid.objectives, values, rtol=2e-8)


def test_command_line(tmp_path):
    X, y, qid = make_problem(10)
    data, path = tmp_path / "data", tmp_path / "model.json"
    dump_svmlight(data, X, y, qid)
    assert main(["train", str(data), str(path), "--pair-weight", "gap", "-q"]) == 0
    model = RankSVM(pair_weight="gap").fit(X, y, qid)
    np.testing.assert_array_equal(load_model(path).coef, model.coef_)
    assert json.loads(path.read_text())["parameters"]["pair_weight"] == "gap"


@pytest.mark.parametrize("name", ["gap", "none"])
def test_config_file(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_data()
    text = f"[Parameters]\npair_weight={name}\ntol=1e-6\n{TRAINING}[Output]\nmodel=m\n"
    output_of(text, capsys)
    model = RankSVM(
        loss="hinge",
        normalize="pairs",
        pair_weight=None if name == "none" else name,
        tol=1e-6,
    ).fit(read_features("f").X, read_labels("l"), read_qids("q"))
    np.testing.assert_array_equal(load_model("m").coef, model.coef_)


def test_an_unknown_weight_is_named():
    X, y, qid = make_problem(11)
    with pytest.raises(ValueError, match=r"pair_weight must be one of .*, not 'ndgc'"):
        RankSVM(pair_weight="ndgc").fit(X, y, qid)
    with pytest.raises(ValueError, match="pair_weight must be 'gap' or None, not 'ndgc'"):
        make_loss(Hinge, y, pair_weight="ndgc")


@pytest.mark.parametrize("y", [[-1e308, 0, 1e308], [0, 1e-310, 2e-310]])
def test_gaps_beyond_floating_point_are_refused(y):
    with pytest.raises(ValueError, match=r"the pairs weigh .* beyond floating point; scale"):
        RankSVM(pair_weight="gap").fit(np.eye(3), y)
