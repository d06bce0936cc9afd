"""Maps side by side: the sum of linear models as one."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from cases import make_problem
from ranksvm import LinearModel, explain, export_model, load_model, save_model
from ranksvm.files.source import DataError
from ranksvm.linear.occurring import FeatureWeights
from ranksvm.models.effects import effect_curves
from ranksvm.models.maps import AffineMap, JoinedMap, NystroemMap, QuantileMap, QueryMap, SplineMap
from ranksvm.models.maps.joined import side_by_side

X, _, QID = make_problem(3, d=4)
X = np.maximum(np.round(X, 1), 0)
QUANTILES, QUERY, SPLINES = QuantileMap.fitted(X), QueryMap(4), SplineMap.fitted(X)
SCALE = AffineMap(np.array([1.0, 0.0, -1.0, 0.5]), np.array([0.5, 1.0, 2.0, 10.0]))
OF_SHARES = SplineMap.fitted(QUANTILES.apply(X), 3, 2)
KERNEL = NystroemMap.fitted(QUANTILES.apply(X), 5)
ADDITIVE = [(), (QUANTILES,), (QUANTILES, OF_SHARES), (SPLINES,), (SCALE, SPLINES), (SCALE,)]
CHAINS = [*ADDITIVE, (QUANTILES, KERNEL), (QUERY,), (QUERY, SPLINES)]


def n_weights(chain):
    return chain[-1].n_outputs if chain else 4


@st.composite
def members(draw, chains):
    """Draw chains, some of them twice, and weights."""
    chosen = draw(st.lists(st.sampled_from(chains), min_size=1, max_size=6))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return [(chain, FeatureWeights.of(rng.normal(size=n_weights(chain)))) for chain in chosen]


def one_model(several, **facts):
    maps, weights = side_by_side(several)
    return LinearModel(weights, maps=maps, **facts)


def models_of(several):
    return [LinearModel(weights, maps=maps) for maps, weights in several]


@given(members(CHAINS))
def test_scores_are_the_sums_of_those_of_the_members(several):
    model = one_model(several)
    expected = sum(one.predict(X, qid=QID) for one in models_of(several))
    assert model.n_features == 4
    assert model.needs_queries == any(QUERY in maps for maps, _ in several)
    for rows in (X, csr_matrix(X)):
        np.testing.assert_allclose(model.predict(rows, qid=QID), expected, atol=1e-10)
    if not model.needs_queries:
        blocks = np.concatenate([model.predict(X[:7]), model.predict(X[7:])])
        np.testing.assert_array_equal(model.predict(X), blocks)


@given(members(CHAINS))
def test_whatever_is_saved_is_loaded(tmp_path_factory, several):
    model = one_model(several, feature_names=list("abcd"))
    expected = model.predict(X, qid=QID)
    for name in ("m.json", "m.safetensors"):
        path = tmp_path_factory.getbasetemp() / name
        save_model(model, path)
        loaded = load_model(path)
        np.testing.assert_array_equal(loaded.predict(X, qid=QID), expected)
        assert [one.description for one in loaded.maps] == [one.description for one in model.maps]
        save_model(loaded, path)
        np.testing.assert_array_equal(load_model(path).predict(X, qid=QID), expected)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X, qid=QID), expected)


@given(members(ADDITIVE))
def test_contributions_and_curves_add_up(several):
    model = one_model(several)
    whole, parts = explain(model, X, QID), [explain(one, X, QID) for one in models_of(several)]
    np.testing.assert_allclose(whole.values, sum(one.values for one in parts), atol=1e-10)
    values, effects = effect_curves(model, X)
    curves = [effect_curves(one, X) for one in models_of(several)]
    for at, _ in curves:
        np.testing.assert_array_equal(values, at)
    np.testing.assert_allclose(effects, sum(effect for _, effect in curves), atol=1e-10)


def test_what_members_share_comes_once():
    chains = [(QUANTILES, KERNEL), (), (QUANTILES,), (), (QUANTILES, KERNEL)]
    several = [(chain, FeatureWeights.of(np.ones(n_weights(chain)))) for chain in chains]
    (joined,), weights = side_by_side(several)
    assert [[one.name for one in branch] for branch in joined.branches] == [
        ["quantiles", "joined maps"],
        [],
    ]
    assert joined.parts == (QUANTILES, KERNEL)
    assert weights.dense.tolist() == [2] * 5 + [1] * 4 + [2] * 4
    maps, weights = side_by_side([several[0], several[2]])
    assert [one.name for one in maps] == ["quantiles", "joined maps"]
    maps, weights = side_by_side([several[1], several[3]])
    assert maps == ()
    assert weights.dense.tolist() == [2] * 4


@given(st.lists(st.lists(st.integers(0, 4999), max_size=5, unique=True), min_size=1, max_size=4))
def test_weights_of_few_features_stay_few(several):
    some = [FeatureWeights.of_some(dict.fromkeys(one, 0.5), 5000) for one in several]
    dense = [one.dense for one in some]
    np.testing.assert_array_equal(FeatureWeights.added(some).dense, np.sum(dense, axis=0))
    side = FeatureWeights.concatenated(some)
    np.testing.assert_array_equal(side.dense, np.concatenate(dense))
    assert len(side.columns) == sum(map(len, several))
    mixed = FeatureWeights.concatenated([FeatureWeights.of(np.ones(3)), *some])
    np.testing.assert_array_equal(mixed.dense, np.concatenate([np.ones(3), *dense]))


def test_the_curves_of_joined_maps_span_what_a_branch_knows():
    several = [
        (chain, FeatureWeights.of(np.ones(n_weights(chain)))) for chain in ((), (QUANTILES,))
    ]
    values, _ = effect_curves(one_model(several))
    np.testing.assert_array_equal(values[[0, -1]], [X.min(axis=0), X.max(axis=0)])
    joined = JoinedMap(4, ((), (NystroemMap.fitted(X, 3),)))
    assert joined.domain is None


def joined_model(*chains):
    several = [(chain, FeatureWeights.of(np.ones(n_weights(chain)))) for chain in chains]
    return one_model(several, feature_names=list("abcd"))


def test_what_is_no_sum_or_no_curve_is_refused():
    with pytest.raises(ValueError, match="the map nystroem takes all of them at once"):
        explain(joined_model((), (QUANTILES, KERNEL)), X)
    within = joined_model((), (QUERY,))
    np.testing.assert_allclose(
        explain(within, X, QID).values.sum(axis=1), explain(within, X, QID).differences
    )
    with pytest.raises(ValueError, match="the features have no curves: values within the query"):
        effect_curves(within, X, QID)
    with pytest.raises(ValueError, match="maps features within queries: give qid"):
        within.predict(X)


@pytest.mark.parametrize("to", ["solr", "vespa", "ranklib", "sql", "python", "onnx"])
def test_engines_refuse_them(tmp_path, to):
    pytest.importorskip("onnx")
    model = joined_model((), (QUANTILES,))
    with pytest.raises(ValueError, match="joined maps"):
        export_model(model, tmp_path / "m", to)
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize(
    ("branches", "message"),
    [
        (((QUERY,),), "two branches or more"),
        (((), ()), "of which one may have no maps"),
        (((), (QueryMap(3),)), "a branch takes 3 features, but there are 4"),
        (((), (QUERY, QueryMap(3))), "makes 4 features, but 3 are taken after"),
    ],
)
def test_branches_that_do_not_fit_are_refused(branches, message):
    with pytest.raises(ValueError, match=message):
        JoinedMap(4, branches)


@pytest.mark.parametrize("rows", [np.ones((1000, 4)), csr_matrix(np.ones((1000, 4)))])
def test_joined_maps_keep_to_their_memory(rows):
    joined = JoinedMap(4, ((), (QUERY,)))
    assert joined.apply(rows).shape == (1000, 8)
    with pytest.raises(
        ValueError, match=r"the features of joined maps take .* GB, for 1,000 times"
    ):
        joined.apply(rows, max_memory=5e4)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"branches": 3}, 'joined maps: "branches" must be at most 100 lists of maps'),
        ({"branches": [[], 3]}, "branch 2 must list at most 100 maps"),
        ({"branches": [[], [3]]}, 'branch 2: map 1 must be a "map" of affine'),
        ({"branches": [[], []]}, "joined maps: joined maps need two branches or more"),
        ({"branches": [[], [{"map": "query"}]]}, "branch 2, map 1, query must have the fields"),
        ({"n_features": 3}, "a branch takes 4 features, but there are 3"),
        ({"more": 3}, "must have the fields"),
    ],
)
def test_damaged_branches_are_refused_in_a_sentence(tmp_path, change, message):
    save_model(joined_model((), (QUERY,)), tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    content["maps"][0].update(change)
    (tmp_path / "m.json").write_text(json.dumps(content))
    with pytest.raises(DataError, match=message):
        load_model(tmp_path / "m.json")


def test_kernels_with_endless_names_are_refused_in_a_sentence():
    with pytest.raises(ValueError, match=r"the kernel must be one of .*, not 'aaa.*") as refused:
        NystroemMap(np.eye(2), np.eye(2), "a" * 10_000)
    assert len(str(refused.value)) < 200


def test_branches_that_are_nested_deeply_are_refused(tmp_path):
    nested = []
    for _ in range(12):
        nested = [{"map": "joined maps", "n_features": 4, "branches": [[], nested]}]
    save_model(joined_model((), (QUERY,)), tmp_path / "m.json")
    content = json.loads((tmp_path / "m.json").read_text())
    (tmp_path / "m.json").write_text(json.dumps({**content, "maps": nested}))
    with pytest.raises(DataError, match="nested too deeply"):
        load_model(tmp_path / "m.json")
