"""Commands that map features: --scale quantile and query, --features nystroem and splines."""

import numpy as np
import pytest
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from ranksvm import RankSVM, dump_svmlight, load_model
from ranksvm.cli import main
from ranksvm.files.rows import CsrArrays
from ranksvm.files.svmlight import read_svmlight

QUERIES, ROWS, D = 12, 9, 5
OPTIONS = [
    ["--scale", "quantile"],
    ["--scale", "query"],
    ["--features", "nystroem:20"],
    ["--features", "nystroem:20", "--scale", "query"],
    ["--features", "splines"],
    ["--features", "splines:4", "--scale", "quantile"],
]


def run(*args):
    return main([str(arg) for arg in args])


def rows(seed, density):
    """Return features that are never negative, labels and query ids."""
    rng = np.random.default_rng(seed)
    n = QUERIES * ROWS
    X = np.round(np.exp(rng.normal(size=(n, D))), 2) * (rng.random((n, D)) < density)
    y = np.digitize(np.log1p(X) @ np.arange(1, D + 1) + rng.normal(size=n), [5, 8])
    return X, y, np.repeat(np.arange(QUERIES), ROWS)


@pytest.fixture(params=[0.9, 0.3], ids=["dense", "sparse"])
def files(request, tmp_path):
    for seed, name in enumerate(["train", "test"]):
        dump_svmlight(tmp_path / name, *rows(seed, request.param))
    assert isinstance(read_svmlight(tmp_path / "train").features, CsrArrays) == (
        request.param < 0.5
    )
    return tmp_path, *(rows(seed, request.param) for seed in range(2))


def predicted(folder, model):
    assert run("predict", folder / model, folder / "test", folder / "scores") == 0
    return np.loadtxt(folder / "scores")


def within_queries(X, qid):
    return np.vstack([MinMaxScaler().fit_transform(X[qid == q]) for q in np.unique(qid)])


def test_a_scale_within_queries_is_that_of_each(files):
    folder, (X, y, qid), (Z, _, other) = files
    assert run("train", folder / "train", folder / "m.json", "--scale", "query") == 0
    ranker = RankSVM().fit(within_queries(X, qid), y, qid)
    scores = predicted(folder, "m.json")
    np.testing.assert_allclose(scores, ranker.predict(within_queries(Z, other)), atol=1e-2)
    exact = load_model(folder / "m.json").predict(Z, qid=other)
    np.testing.assert_allclose(scores, exact, rtol=1e-12)


def test_kernel_features_are_those_of_the_pipeline(files):
    folder, (X, y, qid), (Z, _, _) = files
    options = ["--features", "nystroem:20", "--tol", "1e-9"]
    assert run("train", folder / "train", folder / "m.safetensors", *options) == 0
    nystroem = Nystroem(gamma=1 / D, n_components=20, random_state=0)
    pipeline = make_pipeline(StandardScaler(with_mean=False), nystroem, RankSVM(tol=1e-9))
    expected = pipeline.fit(X, y, ranksvm__qid=qid).predict(Z)
    scores = predicted(folder, "m.safetensors")
    np.testing.assert_allclose(scores, expected, atol=1e-3 * np.abs(expected).max())
    parameters = load_model(folder / "m.safetensors").parameters
    assert (parameters["scale"], parameters["features"]) == ("standard", "nystroem:20")


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_models_of_all_forms_rank_alike(files, capsys, options):
    folder, (X, y, qid), (Z, _, other) = files
    assert run("train", folder / "train", folder / "m.json", "-q", *options) == 0
    assert run("convert", folder / "m.json", folder / "m.safetensors") == 0
    scores = predicted(folder, "m.json")
    np.testing.assert_array_equal(predicted(folder, "m.safetensors"), scores)
    model = load_model(folder / "m.json")
    np.testing.assert_allclose(model.predict(Z, qid=other), scores, rtol=1e-9, atol=1e-9)
    seen = model.predict(X, qid=qid)
    assert RankSVM().fit(seen[:, None], y, qid).score(seen[:, None], y, qid) > 0.75
    capsys.readouterr()
    assert run("info", folder / "m.json") == 0
    shown = capsys.readouterr().out
    assert shown.count("\nmap ") == len(model.maps)
    for one in model.maps:
        assert one.description in shown


def test_quantiles_help_where_features_have_heavy_tails(tmp_path, capsys):
    rng = np.random.default_rng(0)
    X = rng.standard_cauchy(size=(600, 3)) ** 3
    y = np.digitize(np.arctan(np.cbrt(X)).sum(axis=1), [-1, 0, 1])
    dump_svmlight(tmp_path / "train", X, y)
    reached = []
    for scale in ("standard", "quantile"):
        assert run("train", tmp_path / "train", tmp_path / "m", "-q", "--scale", scale) == 0
        assert run("evaluate", tmp_path / "train", tmp_path / "m", "-q") == 0
        reached.append(float(capsys.readouterr().out.split()[6]))
    assert reached[0] < 0.8 < 0.95 < reached[1]


@pytest.mark.parametrize("options", OPTIONS, ids=" ".join)
def test_cross_validation_trains_what_train_does(files, capsys, options):
    folder, _, _ = files
    grid = ["--Cs", "0.5", "--folds", "3", "--tol", "1e-6", "-q"]
    assert run("cv", folder / "train", folder / "cv.json", *grid, *options) == 0
    train = ["-C", "0.5", "--tol", "1e-6", "-q", *options]
    assert run("train", folder / "train", folder / "m.json", *train) == 0
    np.testing.assert_array_equal(predicted(folder, "cv.json"), predicted(folder, "m.json"))


@pytest.mark.parametrize("scale", ["standard", "quantile", "query"])
def test_paths_of_scaled_features(files, capsys, scale):
    folder, _, _ = files
    options = ["--scale", scale, "--graph", "reduced", "--max-events", "50"]
    validation = ["--validation", folder / "test"]
    assert run("path", folder / "train", *options, *validation) == 0
    assert "best" in capsys.readouterr().out


def test_rows_that_end_before_the_features_of_the_model(files):
    folder, _, (Z, y, qid) = files
    assert run("train", folder / "train", folder / "m.json", "--scale", "quantile", "-q") == 0
    dump_svmlight(folder / "test", np.ascontiguousarray(Z[:, :3]), y, qid)
    Z[:, 3:] = 0
    np.testing.assert_allclose(
        predicted(folder, "m.json"), load_model(folder / "m.json").predict(Z), atol=1e-12
    )


def test_what_becomes_dense_is_said_and_refused_where_it_would_not_fit(tmp_path, capsys):
    X, y, qid = rows(0, 0.3)
    dump_svmlight(tmp_path / "train", X, y, qid)
    stored = (X != 0).sum()
    for features, n_values in [("nystroem:9", 9 * len(X)), ("splines", 4 * X.size)]:
        assert run("train", tmp_path / "train", tmp_path / "m", "--features", features) == 0
        said = capsys.readouterr().err
        assert f"mapped features are {n_values:,} numbers where there were {stored}" in said
    for scale in ("quantile", "query"):
        assert run("train", tmp_path / "train", tmp_path / "m", "--scale", scale) == 0
        assert "sparse no longer" not in capsys.readouterr().err
    for options in (["nystroem:9"], ["splines"]):
        limit = ["--max-memory", "1000", "--features", *options]
        assert run("train", tmp_path / "train", tmp_path / "other", *limit) == 2
        assert "more than max_memory=1e+03: use fewer rows or" in capsys.readouterr().err
    limit = ["--max-memory", "1000", "--scale", "quantile"]
    assert run("train", tmp_path / "train", tmp_path / "other", *limit) == 2
    assert "the quantiles take" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--features", "pca"], "features must be nystroem or splines, perhaps with how many"),
        (["--features", "nystroem:0"], "such as nystroem:300; not 'nystroem:0'"),
        (["--features", "splines:1"], "not 'splines:1'"),
        (["--features", "splines:"], "not 'splines:'"),
        (["--kernel", "rbf", "--scale", "query"], "--scale query is for the linear ranker: leave"),
        (["--kernel", "rbf", "--features", "splines"], "--features splines is for the linear"),
        (["--scale", "query"], "train has no qids, within which features are to be scaled: give"),
    ],
)
def test_mistakes_are_named(tmp_path, capsys, options, message):
    X, y, _ = rows(0, 0.9)
    dump_svmlight(tmp_path / "train", X, y)
    assert run("train", tmp_path / "train", tmp_path / "m", *options) == 2
    assert message in capsys.readouterr().err
    assert not (tmp_path / "m").exists()


def test_rows_without_queries_are_refused_by_a_model_that_needs_them(files, capsys):
    folder, _, (Z, y, _) = files
    assert run("train", folder / "train", folder / "m.json", "--scale", "query", "-q") == 0
    dump_svmlight(folder / "test", Z, y)
    assert run("predict", folder / "m.json", folder / "test", folder / "scores") == 2
    assert "test has no qids, within which features" in capsys.readouterr().err
    assert run("info", folder / "m.json", "--weights") == 2
    assert "it maps them first, by query" in capsys.readouterr().err
