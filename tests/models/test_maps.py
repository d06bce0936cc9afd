"""Maps of features in front of linear models."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.stats import rankdata
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    QuantileTransformer,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)

from cases import make_problem
from ranksvm import (
    LinearModel,
    RankSVM,
    RankSVMCV,
    convert_model,
    load_model,
    save_model,
)
from ranksvm.models.from_estimators import model_of
from ranksvm.models.maps import AffineMap, NystroemMap, QuantileMap, QueryMap, SplineMap
from ranksvm.plots import CoefficientsDisplay

SPLINES = [
    SplineTransformer(n_knots, degree=degree, extrapolation=beyond, include_bias=bias)
    for n_knots, degree, beyond, bias in [
        (5, 3, "constant", True),
        (4, 3, "linear", True),
        (4, 2, "linear", False),
        (2, 1, "constant", True),
        (4, 3, "continue", True),
        (5, 3, "periodic", True),
        (4, 1, "periodic", False),
    ]
]
STEPS = [
    [QuantileTransformer(n_quantiles=20)],
    [QuantileTransformer(n_quantiles=20, output_distribution="normal")],
    [QuantileTransformer(n_quantiles=20), StandardScaler()],
    [StandardScaler(), QuantileTransformer(n_quantiles=20)],
    *([splines] for splines in SPLINES),
    [QuantileTransformer(n_quantiles=20), SplineTransformer(4, sparse_output=True)],
    [MinMaxScaler(), Nystroem(n_components=9, random_state=0)],
    [RobustScaler(), "passthrough", MaxAbsScaler(), Nystroem(n_components=5, random_state=0)],
    [Nystroem("polynomial", n_components=5, degree=2, coef0=0.5, random_state=0)],
    [Nystroem("linear", n_components=3, random_state=0)],
    [MinMaxScaler(), Nystroem("chi2", n_components=5, random_state=0)],
    [Nystroem("laplacian", kernel_params={"gamma": 0.3}, n_components=5, random_state=0)],
]
VALUES = st.sampled_from([-3.0, -1.0, 0.0, 0.0, 0.5, 1.0, 7.0])


@st.composite
def matrices(draw, least=2):
    n, d = draw(st.integers(least, 12)), draw(st.integers(1, 3))
    X = np.array(draw(st.lists(VALUES, min_size=n * d, max_size=n * d))).reshape(n, d)
    return X * 10.0 ** draw(st.integers(-3, 3))


def problem():
    X, y, qid = make_problem(3, d=4)
    return np.round(X, 1), y, qid


def beyond(X):
    """Return rows that go beyond those of the training, and lie between them."""
    return np.vstack([X, X * 1.5 + 0.01, np.zeros(X.shape[1]), X.max(axis=0), X.min(axis=0)])


def stored(model, tmp_path, name):
    save_model(model, tmp_path / name)
    return load_model(tmp_path / name)


def require_same(scores, expected, up_to_constant):
    shift = scores - expected
    if up_to_constant:
        shift = shift - shift[0]
    np.testing.assert_allclose(shift, 0, atol=1e-12 * max(1, np.abs(expected).max()))


def shifts(steps):
    """Whether the last step goes into the weights, but for what it adds."""
    return isinstance(steps[-1], StandardScaler)


@pytest.mark.parametrize("steps", STEPS, ids=str)
@pytest.mark.parametrize("name", ["m.json", "m.safetensors"])
def test_pipelines_are_stored_whole(tmp_path, steps, name):
    X, y, qid = problem()
    pipeline = make_pipeline(*steps, RankSVM()).fit(X, y, ranksvm__qid=qid)
    Z = beyond(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # chi2 of what is negative
        if "chi2" in str(steps):
            Z = np.clip(Z, X.min(axis=0), None)
        expected = pipeline.predict(Z)
    loaded = stored(pipeline, tmp_path, name)
    assert loaded.maps
    assert loaded.n_features == 4
    require_same(loaded.predict(Z), expected, shifts(steps))
    require_same(loaded.predict(csr_matrix(Z)), expected, shifts(steps))
    np.testing.assert_array_equal(
        loaded.predict(Z), stored(loaded, tmp_path, "again.json").predict(Z)
    )


# scikit-learn 1.6 divides by the period of what is constant, which is zero.
@pytest.mark.filterwarnings("ignore:invalid value encountered in remainder")
@given(X=matrices(), Z=matrices(), step=st.sampled_from([[s] for s in SPLINES] + STEPS[:2]))
def test_maps_are_those_of_scikit_learn(X, Z, step):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # more quantiles than rows
        step = step[0].fit(X)
    Z = np.resize(Z, (len(Z), X.shape[1]))
    one = model_of(make_pipeline(step, LinearModel(np.ones(step.transform(Z).shape[1])))).maps[0]
    expected = step.transform(Z)
    assume(np.isfinite(expected).all())
    for rows in (Z, csr_matrix(Z)):
        mapped = one.apply(rows)
        mapped = mapped if isinstance(mapped, np.ndarray) else mapped.toarray()
        scale = max(1, np.abs(expected).max())
        np.testing.assert_allclose(mapped, expected, atol=1e-12 * scale, rtol=1e-12)


@given(matrices(least=1), st.booleans())
def test_quantiles_are_fitted_as_by_scikit_learn(X, sparse):
    fitted = QuantileMap.fitted(csr_matrix(X) if sparse else X)
    expected = QuantileTransformer(n_quantiles=len(X)).fit(X)
    np.testing.assert_allclose(fitted.quantiles, expected.quantiles_, atol=1e-14 * np.abs(X).max())
    mapped = fitted.apply(X)
    for k, column in enumerate(X.T):
        shares = (rankdata(column) - 1) / max(len(column) - 1, 1)
        shares[column == column.max()], shares[column == column.min()] = 1, 0
        shift = mapped[:, k] - shares
        np.testing.assert_allclose(shift, shift[0], atol=1e-12)
    np.testing.assert_array_equal(fitted.apply(0 * X), 0)
    of_sparse = fitted.apply(csr_matrix(X))
    assert of_sparse.nnz == (X != 0).sum()
    np.testing.assert_array_equal(of_sparse.toarray(), mapped)


def within_queries(X, qid):
    """Map each query by MinMaxScaler."""
    found = np.empty(X.shape)
    for q in np.unique(qid):
        found[qid == q] = MinMaxScaler().fit_transform(X[qid == q])
    return found


@given(matrices(least=1), st.data())
def test_queries_are_mapped_one_by_one(X, data):
    qid = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    one = QueryMap(X.shape[1])
    for rows in (X, np.abs(X)):
        expected = within_queries(rows, qid)
        np.testing.assert_allclose(one.apply(rows, qid), expected, atol=1e-12)
        mapped = one.apply(csr_matrix(rows), qid)
        assert isinstance(mapped, np.ndarray) == (rows.min() < 0)
        dense = mapped if isinstance(mapped, np.ndarray) else mapped.toarray()
        np.testing.assert_allclose(dense, expected, atol=1e-12)


def test_huge_spreads_do_not_overflow():
    X = np.array([[-1.7e308], [1.7e308], [0.0]])
    np.testing.assert_allclose(QueryMap(1).apply(X), [[0], [1], [0.5]])


@given(matrices(least=1), st.integers(2, 6), st.integers(1, 3))
def test_fitted_splines_hold_all_values_and_sum_to_one(X, n_knots, degree):
    splines = SplineMap.fitted(X, n_knots, degree)
    low, high = splines.domain
    assert (low <= X).all()
    assert (high >= X).all()
    np.testing.assert_array_equal(
        SplineMap.fitted(csr_matrix(X), n_knots, degree).knots, splines.knots
    )
    mapped = splines.apply(X)
    assert splines.n_outputs == mapped.shape[1] == X.shape[1] * (n_knots + degree - 1)
    np.testing.assert_allclose(mapped.sum(axis=1), X.shape[1])


@pytest.mark.parametrize("n_components", [3, 100])
def test_kernel_features_are_those_of_nystroem(n_components):
    X, _, _ = problem()
    one = NystroemMap.fitted(X, n_components)
    m = min(n_components, len(X))
    expected = Nystroem(
        gamma=1 / X.var(axis=0).sum(), n_components=m, random_state=0
    ).fit_transform(X)
    np.testing.assert_allclose(one.apply(X), expected, atol=1e-12)
    of_sparse = NystroemMap.fitted(csr_matrix(X), n_components).apply(csr_matrix(X))
    np.testing.assert_allclose(of_sparse, expected, atol=1e-6)


def test_kernels_of_rows_that_do_not_vary_have_a_width():
    X = np.full((3, 2), 0.7)
    for rows in (X, csr_matrix(X)):
        assert NystroemMap.fitted(rows, 2).gamma == pytest.approx(0.5)


def test_models_that_map_within_queries_ask_for_qid(tmp_path):
    X, _, qid = problem()
    model = LinearModel(np.arange(4.0), maps=[QueryMap(4)])
    loaded = stored(model, tmp_path, "m.json")
    assert loaded.needs_queries
    scores = within_queries(X, qid) @ np.arange(4.0)
    np.testing.assert_allclose(loaded.predict(X, qid=qid), scores, atol=1e-12)
    with pytest.raises(ValueError, match="maps features within queries: give qid, the query of"):
        loaded.predict(X)


def test_rows_are_mapped_in_blocks_that_do_not_matter():
    model = LinearModel(np.ones(2), maps=[QuantileMap(np.array([[0.0, 1.0], [1.0, 3.0]]))])
    X = np.random.default_rng(0).random((10_000, 2)) * 3
    expected = np.concatenate([model.predict(X[:7]), model.predict(X[7:])])
    np.testing.assert_array_equal(model.predict(X), expected)
    assert model.predict(X[:0]).shape == (0,)


def test_affine_maps_in_front_of_others(tmp_path):
    X, y, qid = problem()
    pipeline = make_pipeline(
        StandardScaler(), QuantileTransformer(n_quantiles=9), RankSVMCV([0.1, 1.0], cv=3)
    )
    frame = pd.DataFrame(X, columns=list("abcd"))
    pipeline.fit(frame, y, ranksvmcv__qid=qid)
    model = stored(pipeline, tmp_path, "m.json")
    assert [one.name for one in model.maps] == ["affine", "quantiles"]
    assert model.feature_names == list("abcd")
    assert model.parameters["scale"] == "StandardScaler + QuantileTransformer"
    np.testing.assert_allclose(
        model.predict(frame[list("dbca")]), pipeline.predict(frame), atol=1e-12
    )


def mapped_model():
    return LinearModel(np.ones(2), maps=[QuantileMap(np.array([[0.0, 1.0], [1.0, 3.0]]))])


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("kind", [np.array, csr_matrix])
def test_values_that_are_not_finite_are_refused(bad, kind):
    with pytest.raises(ValueError, match="X must be finite; "):
        mapped_model().predict(kind([[1.0, 2.0], [3.0, bad]]))


def test_other_numbers_of_features_are_refused():
    with pytest.raises(ValueError, match="X has 3 features but the model has 2"):
        mapped_model().predict(np.ones((1, 3)))
    with pytest.raises(ValueError, match="map quantiles makes 2 features, but 3 are taken after"):
        LinearModel(np.ones(3), maps=mapped_model().maps)


@pytest.mark.parametrize("form", ["liblinear", "svmrank", "weights"])
def test_forms_of_weights_refuse_maps(tmp_path, form):
    save_model(mapped_model(), tmp_path / "m.json")
    message = "m.json has no weights of the features as they are: it maps them first, by quantiles"
    with pytest.raises(ValueError, match=message):
        convert_model(tmp_path / "m.json", tmp_path / "other", form)
    assert not (tmp_path / "other").exists()
    with pytest.raises(ValueError, match="has no weights of the features as they are"):
        CoefficientsDisplay.from_estimator(mapped_model())


def test_what_grows_too_much_is_refused():
    X = csr_matrix((1000, 10))
    for one in (AffineMap(np.ones(10), np.ones(10)), SplineMap.fitted(X)):
        with pytest.raises(ValueError, match=r" take .* GB, for 1,000 times [\d]* numbers"):
            one.apply(X, max_memory=1e4)
    with pytest.raises(
        ValueError, match=r"the kernel features take 0.00016 GB, for 1,000 times 20"
    ):
        NystroemMap(np.eye(10), np.eye(10)).apply(X, max_memory=1e4)


# What newer releases of scikit-learn can do besides.
NEWER = (
    [{"handle_missing": "zeros"}] if "handle_missing" in SplineTransformer().get_params() else []
)


@pytest.mark.parametrize(
    "step",
    [
        QuantileTransformer(n_quantiles=9, ignore_implicit_zeros=True),
        Nystroem(lambda x, z: x @ z, n_components=3),
        *(SplineTransformer(**more) for more in NEWER),
        SplineTransformer(degree=0),
        SplineTransformer(degree=1, extrapolation="linear"),
    ],
    ids=lambda step: type(step).__name__,
)
def test_steps_that_do_what_maps_do_not_are_refused(tmp_path, step):
    X, y, _ = problem()
    X = csr_matrix(np.abs(X)) if isinstance(step, QuantileTransformer) else X
    pipeline = make_pipeline(step, RankSVM()).fit(X, y)
    with pytest.raises(ValueError, match="a model file holds weights, and maps of features that"):
        save_model(pipeline, tmp_path / "m.json")


def test_values_beyond_the_knots_are_errors_where_splines_say_so():
    X, y, _ = problem()
    pipeline = make_pipeline(SplineTransformer(extrapolation="error"), RankSVM()).fit(X, y)
    model = model_of(pipeline)
    require_same(model.predict(X), pipeline.predict(X), False)
    with pytest.raises(ValueError, match="feature 1 has values beyond the knots of its splines"):
        model.predict(X * 2)


GOOD = '"n_features": 2, "weights": {"1": 1}, "format": "ranksvm linear model"'
QUANTILES = '{"map": "quantiles", "distribution": "uniform", "from_zero": true, "quantiles": '


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ("7", '"maps" must list at most 100 maps'),
        (
            "[7]",
            'map 1 must be a "map" of affine, quantiles, query, splines, nystroem, joined maps, n',
        ),
        ('[{"map": "pca"}]', "must be a \"map\" of .*, not 'pca'"),
        (f"[{QUANTILES}[[0, 1], [0]]}}]", '"quantiles" must be lists, each as long, of numbers'),
        (f'[{QUANTILES}[[0, 1], [0, "a"]]}}]', "must have numbers only, not 'a'"),
        (f"[{QUANTILES}[[0, 1], [0, 0]]}}]", "the quantiles of each feature must ascend"),
        (f"[{QUANTILES}[[0], [1]]}}]", '"n_features" must be 1, as of the first map, not 2'),
        (f'[{QUANTILES}[[0, 1]], "x": 1}}]', "must have the fields .*, and no others"),
        ('[{"map": "query", "n_features": 2.5}]', '"n_features" must be a whole number, not 2.5'),
        ('[{"map": "query", "n_features": 0}]', "n_features must be at least 1"),
        (
            '[{"map": "query", "n_features": 2}, {"map": "query", "n_features": 3}]',
            "the map query makes 2 features, but 3 are taken after",
        ),
        ('[{"map": "affine", "center": [0], "factors": [1, 1]}]', "1 centres do not fit 2 factors"),
        (
            '[{"map": "splines", "degree": 3, "extrapolation": "constant", "include_bias": true, '
            '"knots": [[0, 0], [1, 1]]}]',
            "splines of degree 3 have at least 8 knots and a degree from 1 to 30; there are 2",
        ),
        (
            '[{"map": "nystroem", "kernel": "rbf", "gamma": -1, "degree": 1, "coef0": 0, '
            '"components": [[0, 0]], "normalization": [[1]]}]',
            "gamma must be finite and greater than 0",
        ),
    ],
)
def test_damaged_maps_are_refused_in_a_sentence(tmp_path, maps, message):
    (tmp_path / "m.json").write_text(f'{{{GOOD}, "format_version": 2, "maps": {maps}}}')
    with pytest.raises(ValueError, match=message):
        load_model(tmp_path / "m.json")
