import json
import os
import re
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, QuantileTransformer, StandardScaler

import engines
from ranksvm import (
    KernelRankSVM,
    QueryScaler,
    RankSVM,
    export_model,
    pairwise_accuracy,
    register_skl2onnx,
)
from ranksvm.export import changed_pairs, single_precision_scores
from ranksvm.export.formulas import lines_of
from ranksvm.models import LinearModel
from ranksvm.models.maps import QuantileMap, QueryMap
from ranksvm.names import EXPORTS

X, y = load_diabetes(return_X_y=True)
X = X * 40 + np.arange(10)
QID = np.arange(len(y)) % 20
NAMES = [f"attribute(f{k})" for k in range(10)]


@pytest.fixture(scope="module")
def model():
    return LinearModel(RankSVM().fit(X, y, QID).coef_, NAMES)


@pytest.fixture(scope="module")
def pipeline():
    return make_pipeline(StandardScaler(), RankSVM(qid=None)).fit(X, y)


def exported(tmp_path, model, to, **options):
    path = tmp_path / "out"
    export_model(model, path, to, **options)
    return path.read_bytes() if to == "onnx" else path.read_text()


def share_changed(before, after):
    """The share of the pairs of a query that another engine ranks otherwise; ties count half."""
    return 1 - pairwise_accuracy(before, after, QID)


def of_engine(to, text, rows, names):
    if to == "ranklib":
        return engines.ranklib_scores(text, rows)
    return {
        "solr": engines.solr_scores,
        "elasticsearch": engines.elasticsearch_scores,
        "opensearch": engines.elasticsearch_scores,
        "vespa": engines.vespa_scores,
    }[to](text, rows, names)


GOLDEN = Path(__file__).parent / "golden"
ENGINES = ("solr", "elasticsearch", "opensearch", "ranklib", "vespa")


@pytest.mark.parametrize("to", ENGINES)
def test_engines_rank_as_the_model(tmp_path, model, to):
    scores = of_engine(to, exported(tmp_path, model, to), X, NAMES)
    assert share_changed(model.predict(X), scores) <= 1e-4


@pytest.mark.parametrize("to", ["solr", "elasticsearch", "opensearch"])
@pytest.mark.parametrize("scaler", [StandardScaler(), MinMaxScaler()])
def test_engines_normalise_as_the_scaler(tmp_path, to, scaler):
    ranker = make_pipeline(scaler, RankSVM()).fit(X, y)
    options = {"feature_names": NAMES, "scaling": "normalizers"}
    scores = of_engine(to, exported(tmp_path, ranker, to, **options), X, NAMES)
    assert share_changed(ranker.predict(X), scores) <= 1e-4
    np.testing.assert_allclose(scores, ranker.predict(X), atol=1e-4)


@pytest.mark.parametrize("to", ["solr", "elasticsearch", "opensearch", "vespa"])
@pytest.mark.parametrize("scaling", ["fold", "normalizers"])
def test_no_score_is_negative_within_the_ranges(tmp_path, pipeline, to, scaling):
    if (to, scaling) == ("vespa", "normalizers"):
        pytest.skip("Vespa has no normalizers")
    options = {"feature_names": NAMES, "scaling": scaling, "offset": "nonnegative", "X": X}
    text = exported(tmp_path, pipeline, to, **options)
    low, high = X.min(axis=0), X.max(axis=0)
    corners = np.where(np.random.default_rng(0).random((500, 10)) < 0.5, low, high)
    worst = np.where(pipeline[-1].coef_ > 0, low, high)
    rows = np.vstack([X, corners, worst])
    scores = of_engine(to, text, rows, NAMES)
    assert scores.min() >= 0
    assert scores[-1] == pytest.approx(0, abs=1e-3 * float(np.abs(scores).max()))


SCALES = {
    "plain": None,
    "standard": StandardScaler(),
    "quantile": QuantileTransformer(n_quantiles=30),
    "query": QueryScaler(),
}


@pytest.mark.parametrize("scaling", ["fold", "normalizers"])
@pytest.mark.parametrize("scale", SCALES)
def test_what_runs_scores_as_the_model(tmp_path, scale, scaling):
    rows = X.copy()
    rows[:, 3] = np.round(rows[:, 3])  # ties, so that knots are equal
    if scaling == "normalizers" and scale != "standard":
        pytest.skip("there is no scaler to leave out")
    steps = [] if SCALES[scale] is None else [SCALES[scale]]
    ranker = make_pipeline(*steps, RankSVM()).fit(rows, y)
    beyond = np.vstack([rows, rows[:5] + 100, rows[:5] - 100, np.zeros((1, 10))])
    expected = ranker.predict(beyond)
    options = {"feature_names": NAMES, "scaling": scaling}
    for scores in (
        by_python(tmp_path, exported(tmp_path, ranker, "python", **options), beyond),
        by_sqlite(exported(tmp_path, ranker, "sql", **options), beyond),
        by_onnx(exported(tmp_path, ranker, "onnx", **options), beyond),
    ):
        shift = scores - expected
        assert np.ptp(shift) <= 1e-12 * max(1, np.abs(expected).max())
        if scaling == "normalizers":
            assert np.abs(shift).max() <= 1e-12 * max(1, np.abs(expected).max())


def by_python(tmp_path, text, rows):
    """Score in an interpreter without any package."""
    (tmp_path / "scorer.py").write_text(text)
    program = (
        "import sys, json; sys.path.insert(0, sys.argv[1]); from scorer import score, rank\n"
        "rows = json.load(sys.stdin); scores = score(rows)\n"
        "assert rank(rows) == sorted(range(len(rows)), key=lambda k: -scores[k])\n"
        "assert 'numpy' not in sys.modules\n"
        "print(json.dumps(scores))"
    )
    content = json.dumps([dict(zip(NAMES, row, strict=True)) for row in rows.tolist()])
    command = [sys.executable, "-I", "-S", "-c", program, str(tmp_path)]
    done = subprocess.run(command, input=content, capture_output=True, text=True, check=True)
    return np.array(json.loads(done.stdout))


def by_sqlite(text, rows, qid=None):
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f'"{name}" DOUBLE PRECISION' for name in NAMES)
    database.execute(f"CREATE TABLE documents (n INTEGER, qid INTEGER, {columns})")
    places = ", ".join("?" * 12)
    qid = np.zeros(len(rows), dtype=int) if qid is None else qid
    database.executemany(
        f"INSERT INTO documents VALUES ({places})",
        [(n, int(q), *row) for n, (q, row) in enumerate(zip(qid, rows.tolist(), strict=True))],
    )
    found = database.execute(f"SELECT n, {text} FROM documents ORDER BY n").fetchall()
    return np.array([score for _, score in found])


def by_onnx(content, rows):
    scores = run_onnx(content, rows)
    assert scores.shape == (len(rows),)
    return scores


def run_onnx(content, rows):
    onnxruntime = pytest.importorskip("onnxruntime")
    session = onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"])
    (scores,) = session.run(None, {"X": rows})
    assert scores.dtype == np.float64
    return scores


def test_sql_scales_within_each_query(tmp_path):
    ranker = RankSVM().fit(X, y, QID)
    model = LinearModel(ranker.coef_, NAMES, maps=[QueryMap(10)])
    scores = by_sqlite(exported(tmp_path, model, "sql"), X, QID)
    np.testing.assert_allclose(scores, model.predict(X, qid=QID), atol=1e-12)


def test_sql_counts_null_as_zero(tmp_path, model):
    rows = [[None] * 10, [0.0] * 10]
    database = sqlite3.connect(":memory:")
    database.execute(f"CREATE TABLE t ({', '.join(f'{chr(34)}{n}{chr(34)}' for n in NAMES)})")
    database.executemany(f"INSERT INTO t VALUES ({', '.join('?' * 10)})", rows)
    text = exported(tmp_path, model, "sql")
    assert len(set(database.execute(f"SELECT {text} FROM t").fetchall())) == 1


def test_many_features_fit_into_an_expression(tmp_path):
    model = LinearModel(np.arange(1.0, 1801.0), [f"f{k}" for k in range(1800)])
    text = exported(tmp_path, model, "sql")
    database = sqlite3.connect(":memory:")
    columns = ", ".join(f'"f{k}"' for k in range(1800))
    database.execute(f"CREATE TABLE t ({columns})")
    database.execute(f"INSERT INTO t VALUES ({', '.join('1' for _ in range(1800))})")
    assert database.execute(f"SELECT {text} FROM t").fetchone()[0] == 1800 * 1801 / 2


KNOTS = arrays(np.float64, st.integers(1, 12), elements=st.integers(-3, 3).map(float))


@settings(max_examples=100)
@given(KNOTS, st.booleans(), st.floats(-5, 5, width=16))
def test_lines_are_the_quantile_map(knots, from_zero, x):
    quantiles = QuantileMap(np.sort(knots)[:, None], "uniform", from_zero)
    lines = lines_of(quantiles, 0, "SQL")
    for value in (x, *knots):
        expected = quantiles.apply(np.array([[value]]))[0, 0]
        assert lines.value(value) == pytest.approx(expected, abs=1e-14)


def test_zero_weights_are_left_out_and_whole_numbers_are_no_integers(tmp_path):
    model = LinearModel(np.array([1.0, 0.0, -2.0]), ["a", "b", "c"])
    assert json.loads(exported(tmp_path, model, "solr"))["params"]["weights"] == {"a": 1, "c": -2}
    assert '"a": 1.0' in exported(tmp_path, model, "solr")
    assert exported(tmp_path, model, "ranklib").endswith("\n1:1.0 3:-2.0\n")
    assert "b" not in exported(tmp_path, model, "elasticsearch").split("definition")[1]


def test_names_can_be_mapped(tmp_path):
    model = LinearModel(np.array([1.0, 0.5]), ["title score", "age"])
    names = {"title score": "bm25(title)", "age": "freshness(updated)"}
    text = exported(tmp_path, model, "vespa", feature_names=names)
    assert "1.0 * bm25(title)" in text
    assert "+ 0.5 * freshness(updated)" in text


def test_all_bad_names_are_named_at_once(tmp_path):
    model = LinearModel(np.ones(4), ["bm25(title)", "two words", "x;y", "x;y"])
    with pytest.raises(ValueError, match=r"'two words', 'x;y', 'x;y'; more than once: 'x;y'"):
        exported(tmp_path, model, "vespa")
    with pytest.raises(ValueError, match="more than once: 'x;y'"):
        exported(tmp_path, model, "solr")


REFUSED = [
    ("solr", {}, LinearModel(np.ones(2)), "knows features by name"),
    ("solr", {"feature_names": ["a"]}, LinearModel(np.ones(2)), "1 names but the model has 2"),
    ("solr", {"feature_names": {"a": "b"}}, LinearModel(np.ones(2), ["a", "c"]), "nothing for 'c'"),
    ("vespa", {}, LinearModel(np.zeros(2), ["a", "b"]), "all weights are zero"),
    ("solr", {}, LinearModel(np.array([1e300]), ["a"]), "single precision"),
    ("elasticsearch", {}, LinearModel(np.array([1e-60, 1]), ["a", "b"]), "1e-60 of 'a'"),
    ("solr", {"scaling": "normalizers"}, LinearModel(np.ones(1), ["a"]), "needs the scaler"),
    ("solr", {"offset": "nonnegative"}, LinearModel(np.ones(1), ["a"]), "needs X"),
    ("solr", {"offset": "5"}, LinearModel(np.ones(1), ["a"]), "offset must be"),
    ("sql", {"offset": "nonnegative", "X": X}, LinearModel(np.ones(1), ["a"]), "allows negative"),
    ("sql", {}, LinearModel(np.ones(2), ["a", "A"]), "more than once"),
    ("sql", {}, LinearModel(np.ones(1), ["a" * 64]), "longer than 63 bytes"),
    ("pmml", {}, LinearModel(np.ones(1), ["a"]), "to must be one of"),
    (
        "solr",
        {},
        LinearModel(np.ones(1), ["a"], maps=[QuantileMap(np.arange(3.0)[:, None])]),
        "maps them first, by quantiles",
    ),
    (
        "sql",
        {},
        LinearModel(np.ones(1), ["a"], maps=[QuantileMap(np.arange(3.0)[:, None], "normal")]),
        "no normal quantiles",
    ),
]


@pytest.mark.parametrize(("to", "options", "model", "message"), REFUSED)
def test_what_cannot_be_is_refused_and_nothing_written(tmp_path, to, options, model, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        export_model(model, tmp_path / "out", to, **options)
    assert not list(tmp_path.iterdir())


def test_kernels_are_refused(tmp_path):
    kernel = KernelRankSVM().fit(X[:30], y[:30])
    for to in EXPORTS:
        with pytest.raises(ValueError, match="ranks by the kernel"):
            export_model(kernel, tmp_path / "out", to)


def test_golden_files(tmp_path):
    model = LinearModel(np.array([0.3, 0.0, -2.0]), ["bm25", "unused", "price"])
    for to in ("solr", "elasticsearch", "ranklib", "vespa", "sql", "python"):
        golden = (GOLDEN / f"{to}.txt").read_text()
        assert exported(tmp_path, model, to, name="golden") == golden


@pytest.fixture(scope="module")
def postgres():
    """A function that answers a query with a server of its own, on a socket."""
    programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"))
    if not programs or os.geteuid() != 0:
        pytest.skip("no PostgreSQL, or no root to start it as the user postgres")
    folder = Path(mkdtemp())
    shutil.chown(folder, "postgres")

    def run(*command, check=True, **options):
        command = ["runuser", "-u", "postgres", "--", *map(str, command)]
        return subprocess.run(command, capture_output=True, text=True, check=check, **options)

    run(programs[-1] / "initdb", "-D", folder / "data", "-A", "trust")
    options = f"-k {folder} -c listen_addresses='' -c fsync=off"
    control = programs[-1] / "pg_ctl"
    command = [control, "-D", folder / "data", "-o", options, "-l", folder / "log", "-w"]
    start = ["runuser", "-u", "postgres", "--", *map(str, [*command, "start"])]
    subprocess.run(start, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    yield lambda text: run("psql", "-h", folder, "-At", "-q", input=text).stdout.split()
    run(control, "-D", folder / "data", "-m", "fast", "stop", check=False)
    shutil.rmtree(folder)


@pytest.mark.parametrize("scale", SCALES)
def test_postgresql_scores_as_the_model(tmp_path, postgres, scale):
    steps = [] if SCALES[scale] is None else [SCALES[scale]]
    ranker = make_pipeline(*steps, RankSVM()).fit(X, y)
    text = exported(tmp_path, ranker, "sql", feature_names=NAMES)
    columns = ", ".join(f'"{name}" DOUBLE PRECISION' for name in NAMES)
    rows = ", ".join(f"({n}, 0, {', '.join(map(repr, row))})" for n, row in enumerate(X.tolist()))
    answer = postgres(
        f"CREATE TEMPORARY TABLE documents (n INTEGER, qid INTEGER, {columns});\n"
        f"INSERT INTO documents VALUES {rows};\nSELECT {text} FROM documents ORDER BY n;\n"
    )
    shift = np.array(answer, dtype=float) - ranker.predict(X)
    assert np.ptp(shift) <= 1e-12 * max(1, np.abs(ranker.predict(X)).max())


def changes(X):
    model = LinearModel(np.ones(1))
    return changed_pairs(model.predict(X), single_precision_scores(model, X), None)


def test_single_precision_is_said_to_change_pairs():
    rows = 1e6 + np.arange(40.0)[:, None] / 100
    changed, total = changes(rows)
    assert total == 40 * 39 / 2
    assert changed > 10
    assert changes(rows - 1e6) == (0, total)


def test_skl2onnx_converts_pipelines():
    skl2onnx = pytest.importorskip("skl2onnx")
    from sklearn.decomposition import PCA

    register_skl2onnx()
    ranker = make_pipeline(PCA(5), RankSVM()).fit(X, y)
    types = [("X", skl2onnx.common.data_types.DoubleTensorType([None, 10]))]
    made = skl2onnx.to_onnx(ranker, initial_types=types, target_opset=18)
    scores = np.ravel(run_onnx(made.SerializeToString(), X))
    np.testing.assert_allclose(scores, ranker.predict(X), rtol=1e-9, atol=1e-12)
