"""Whatever a file holds, it is read right or refused in a sentence."""

import io
import os
import pickle
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pyarrow import csv, feather, parquet

from ranksvm import (
    KernelModel,
    LinearModel,
    load_model,
    load_table,
    open_data,
    pack,
    save_model,
)
from ranksvm.cli.models import _description
from ranksvm.config.file import read_config
from ranksvm.files.conversion import load_model_or_weights
from ranksvm.files.feature_numbers import read_bounds, read_penalty_weights
from ranksvm.files.foreign_models import save_liblinear, save_svmrank
from ranksvm.files.model import model_form, parse_model
from ranksvm.files.pairs import read_pairs
from ranksvm.files.scores import read_scores
from ranksvm.files.source import DataError
from ranksvm.files.treeranksvm import read_features, read_labels, read_qids
from ranksvm.kernel.kernels import Kernel
from ranksvm.linear.feature_names import FeatureNames
from ranksvm.linear.occurring import FeatureWeights
from ranksvm.models.maps import (
    AffineMap,
    JoinedMap,
    NystroemMap,
    QuantileMap,
    QueryMap,
    SplineMap,
)
from ranksvm.models.maps.chains import parts_of

MODELS = Path(__file__).parent / "models"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "treeranksvm"
NAME = "<stream>"


def written(save, folder):
    save(LinearModel(np.array([0.25, 0.0, -1.5e-3, 1e300])), folder / "m")
    return (folder / "m").read_bytes()


def of_some_features(name, folder):
    save_model(LinearModel(FeatureWeights.of_some({3: 0.5, 9: -1e300}, 5000)), folder / name)
    return (folder / name).read_bytes()


def dense_kernel(name, folder):
    vectors, coef = np.array([[0.5, 0.0], [-1e300, 3.0]]), np.array([0.25, -0.25])
    save_model(KernelModel(Kernel("polynomial", 0.5, 2, 1.0), vectors, coef), folder / name)
    return (folder / name).read_bytes()


def with_maps(name, folder):
    rows = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 5.0]])
    splines, quantiles = SplineMap.fitted(rows, 2, 1), QuantileMap.fitted(rows)
    maps = [AffineMap(np.ones(2), np.array([0.5, 1e300])), QueryMap(2), quantiles, splines]
    maps.append(NystroemMap(np.eye(2, 4), np.eye(2), "polynomial", 0.5, 2.0, 1.0))
    model = LinearModel(np.array([0.25, -1.5]), ["a", "b"], maps=maps)
    save_model(model, folder / name)
    return (folder / name).read_bytes()


def with_joined_maps(name, folder):
    rows = np.array([[0.0, 1.0], [2.0, 1.0], [3.0, 5.0]])
    quantiles = QuantileMap.fitted(rows)
    kernel = NystroemMap(np.eye(2), np.eye(2), "polynomial", 0.5, 2.0, 1.0)
    joined = JoinedMap(2, ((), (AffineMap(np.zeros(2), np.ones(2)), kernel)))
    maps = [quantiles, JoinedMap(2, ((joined,), (QueryMap(2),)))]
    members = [{"params": {"C": 1.0, "scale": None}, "share": 0.5, "dual_gap": 1e-4}] * 2
    model = LinearModel(np.arange(6.0), ["a", "b"], training={"members": members}, maps=maps)
    save_model(model, folder / name)
    return (folder / name).read_bytes()


def valid_files(folder):
    """Return files of each kind, as they are to be; `folder` is for some to be made in."""
    pickled = {"weights": np.ones(3), "feature_names": ["a", "b", "c"], "x": (1, 2.5, b"y")}
    return {
        "json": [(MODELS / "version1.json").read_bytes(), b'{"weights": {"1": 2}}'],
        "safetensors": [
            (MODELS / "version1.safetensors").read_bytes(),
            of_some_features("m.safetensors", folder),
        ],
        "kernel json": [(MODELS / "kernel1.json").read_bytes(), dense_kernel("m.json", folder)],
        "kernel safetensors": [
            (MODELS / "kernel1.safetensors").read_bytes(),
            dense_kernel("m.safetensors", folder),
        ],
        "maps json": [
            (MODELS / "version2.json").read_bytes(),
            (MODELS / "version3.json").read_bytes(),
            with_maps("m.json", folder),
            with_joined_maps("m.json", folder),
        ],
        "maps safetensors": [
            (MODELS / "version2.safetensors").read_bytes(),
            (MODELS / "version3.safetensors").read_bytes(),
            with_maps("m.safetensors", folder),
            with_joined_maps("m.safetensors", folder),
        ],
        "liblinear": [written(save_liblinear, folder)],
        "svmrank": [written(save_svmrank, folder)],
        "pickle": [
            *(pickle.dumps(pickled, protocol) for protocol in range(6)),
            pickle.dumps([1.5, np.float64(2), 3]),
        ],
        "weights": [b"1.5\n-2e-3\n0\n"],
        "scores": [b"1.5\n-2e-3\n0\n", b"1\r\n2\r\n3"],
        "pairs": [b"0\t1\n2\t0\t0.5\n1\t2\t1\t2 # x\n", b"0\t1\n2\t1\n"],
        "bounds": [b"feature,lower,upper\n1,0,inf\n3,,0.5\n", b"# x\n2 -inf 1e3\n", b'"1"\t\t2\n'],
        "penalties": [b"1,0.5\n2,0\n", b"name\tpenalty\n3\t2\n"],
        "config": [path.read_bytes() for path in sorted(EXAMPLES.glob("*.cfg"))],
        "features": [b"1:0.5 3:-2\n2:1e-3\n", b"0.5 1\n2 -3\n"],
        "labels": [b"1\n0.5\n-2\n"],
        "qids": [b"1\n1\n2\n", b"a\nb\nb\n"],
        **tables(folder),
        **{kind: [(packed(folder) / name).read_bytes()] for kind, name in PACKED.items()},
    }


def tables(folder):
    """Return the same table in every format, and some that are compressed."""
    columns = {"y": [1, 0, 2], "query": ["a", "a", "b"], "u": [0.5, 1.5, -2.0], "v": [1, 2, 3]}
    table = pa.table(columns)
    feather.write_feather(table, folder / "t.arrow", compression="uncompressed")
    feather.write_feather(table, folder / "t.feather", chunksize=2)
    parquet.write_table(table, folder / "t.parquet", row_group_size=2)
    parquet.write_table(table, folder / "t.pq", compression="none", use_dictionary=False)
    csv.write_csv(table, folder / "t.csv")
    text = (folder / "t.csv").read_bytes()
    return {
        "csv": [text, text.replace(b'"', b"").replace(b",", b"\t"), b"1 qid:1 1:2\n0 qid:1 1:3\n"],
        "parquet": [(folder / name).read_bytes() for name in ("t.parquet", "t.pq")],
        "arrow": [(folder / name).read_bytes() for name in ("t.arrow", "t.feather")],
    }


PACKED = {
    "packed meta": "meta.json",
    "packed names": "qid_names.json",
    "packed array": "indptr.npy",
}


def packed(folder):
    """Pack some rows, sparse and of queries with names."""
    pack([(np.eye(3), [0, 1, 1], ["a", "b", "b"])], folder / NAME, feature_names=["x", "y", "z"])
    return folder / NAME


def read_packed(kind, content, folder):
    """Read packed data of which one file holds this."""
    (packed(folder) / PACKED[kind]).write_bytes(content)
    data = open_data(folder / NAME)
    assert data.ids is None or len(data.ids) == 3
    data.preferences()
    return data


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Valid files of each kind; and, from here on, no file reaches a disk, which takes time."""
    folder = tmp_path_factory.mktemp("seeds")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield valid_files(folder)


FRAGMENTS = [
    *(b"NaN", b"Infinity", b"-inf", b"1e999", b"-0.0", b"1_0", b"0x10", "\uff11".encode(), b"true"),
    *(b"-1", b"0", b"2147483647", b"2147483648", b"9223372036854775808", b"9" * 20, b"9" * 5000),
    *(b"[" * 40, b"[" * 2000, b'{"a":' * 2000, b"[[]]", b"{}", b'{"a": 1, "a": 2}', b"null"),
    *(b'"', b"'", b"#", b"[", b"]", b"{", b"}", b":", b"=", b",", b" ", b"\t", b"\\"),
    *(b"\n", b"\r", b"\x0b", b"\x1c", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xed\xa0\x80"),
    *(b"\\ud800", "\u2028".encode(), "\x85".encode(), b"\x1b[2J", b"a" * 100_000, b"1 " * 50_000),
    *(struct.pack("<Q", 1 << power) for power in (3, 32, 40, 62, 63)),
    *(b"[[1]]", b"[1, {}]", b'"rbf"', b'"linear"', b'{"1": 1, "01": 2}', b"0.5,"),
    *(
        b"kernel=rbf\n",
        b"gamma=2\n",
        b"[Readers]\n",
        b"[Input]\n",
        b"model=",
        b"regparam=",
        b"threads=",
        b"qid:1 ",
        b"1:2 ",
    ),
    *(b"\x85", b"\x85" * 500, b"(", b"t", b"R", b"b", b"0", b"2", b"N", b"}", b"]", b"s", b"u."),
    *(b"cos\nsystem\n", b"cnumpy\ndtype\n", b"r\xff\xff\xff\x7f", b"\x8e" + b"\xff" * 8, b"\x94"),
]
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "flip", "insert", "replace", "repeat", "swap"]),
        st.floats(0, 1),
        st.floats(0, 1),
        st.one_of(st.sampled_from(FRAGMENTS), st.binary(min_size=1, max_size=4)),
    ),
    min_size=1,
    max_size=6,
)


def edited(content, edits):
    """Return what is left of a file after some edits."""
    content = bytearray(content)
    for edit, where, length, fragment in edits:
        begin = int(where * len(content))
        part = slice(begin, begin + int(length**4 * (len(content) - begin)) + 1)
        if edit == "cut":
            del content[part]
        elif edit == "flip":
            content[begin : begin + 1] = bytes(b ^ fragment[0] for b in content[begin : begin + 1])
        elif edit == "insert":
            content[begin:begin] = fragment
        elif edit == "replace":
            content[part] = fragment
        elif edit == "repeat":
            content[begin:begin] = content[part]
        else:
            content[:] = content[begin:] + content[:begin]
    return bytes(content[:1_000_000])


TABLES = ["csv", "parquet", "arrow"]
TREERANKSVM = {"features": read_features, "labels": read_labels, "qids": read_qids}


def reader_of(kind):
    if kind == "scores":
        return lambda content: read_scores(io.BytesIO(content), 3, "data")
    if kind == "pairs":
        return lambda content: read_pairs(io.BytesIO(content), 3, "data")
    if kind == "bounds":
        return lambda content: read_bounds(io.BytesIO(content), FeatureNames(3, first=1))
    if kind == "penalties":
        return lambda content: read_penalty_weights(io.BytesIO(content), FeatureNames(3, first=1))
    if kind == "config":
        return lambda content: read_config(io.BytesIO(content))
    if kind in TABLES:
        return lambda content: load_table(io.BytesIO(content), n_threads=1)
    if kind in TREERANKSVM:
        return lambda content: TREERANKSVM[kind](io.BytesIO(content))
    if kind == "weights":
        return lambda content: load_model_or_weights(io.BytesIO(content))
    return lambda content: parse_model(NAME, np.frombuffer(content, np.uint8), allow_pickle=True)


def check_outcome(kind, content, folder):
    """Read a file, and tell if it was: what it holds must be saved, and read back the same."""
    try:
        found = read_packed(kind, content, folder) if kind in PACKED else reader_of(kind)(content)
    except DataError as error:
        message = str(error)
        assert NAME in message
        assert message.isprintable()
        assert len(message) < 500
        return False
    if kind == "scores":
        assert len(found) == 3
        assert np.isfinite(found).all()
    if kind in TABLES:
        X = found.X if isinstance(found.X, np.ndarray) else found.X.data
        assert np.isfinite(X).all()
        assert found.y is None or np.isfinite(found.y).all()
    if kind == "pairs":
        assert ((found.pairs >= 0) & (found.pairs < 3)).all()
        assert (found.pairs[:, 0] != found.pairs[:, 1]).all()
    if kind == "bounds":
        lower, upper = found
        assert (lower <= upper).all()
        assert (lower < np.inf).all()
        assert (upper > -np.inf).all()
    if kind == "penalties":
        assert np.isfinite(found).all()
        assert (found >= 0).all()
    is_model = isinstance(found, LinearModel | KernelModel)
    if is_model and found.n_features < 10_000:
        check_model(found, model_form(content[:4096]), folder)
    return True


def finite(value):
    """Replace what is infinite or no number, as JSON asks for."""
    if isinstance(value, dict):
        return {key: finite(item) for key, item in value.items()}
    if isinstance(value, list):
        return [finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value


def numbers_of(model):
    """Return the arrays of a model."""
    if isinstance(model, LinearModel):
        return [model.coef, *(a for one in parts_of(model.maps) for a in one.arrays().values())]
    vectors = model.support_vectors
    parts = [vectors] if isinstance(vectors, np.ndarray) else [vectors.toarray(), vectors.data]
    return [model.dual_coef, *parts, *([] if model.scale is None else [model.scale])]


def check_model(model, form, folder):
    for numbers in numbers_of(model):
        assert numbers.dtype == np.float64
        assert np.isfinite(numbers).all()
    assert all(isinstance(text, str) for _, text in _description(model, form))
    for name in ("m.json", "m.safetensors"):
        save_model(model, folder / name)
        loaded = load_model(folder / name)
        for one, other in zip(numbers_of(loaded), numbers_of(model), strict=True):
            np.testing.assert_array_equal(one, other)
        assert loaded.feature_names == (model.feature_names or None)
        if isinstance(model, LinearModel):
            fields = [(one.name, one.fields()) for one in parts_of(loaded.maps)]
            assert fields == [(one.name, one.fields()) for one in parts_of(model.maps)]
            assert [len(one.parts) for one in loaded.maps] == [len(o.parts) for o in model.maps]
        assert loaded.parameters == finite(model.parameters)
        assert loaded.training == finite(model.training)


KINDS = ["json", "safetensors", "kernel json", "kernel safetensors"]
KINDS += ["maps json", "maps safetensors", "liblinear", "svmrank", "pickle", "weights"]
KINDS += ["scores", "pairs", "bounds", "penalties", "config", *TREERANKSVM, *TABLES, *PACKED]


@pytest.mark.parametrize("kind", KINDS)
@given(which=st.integers(0, 100), edits=EDITS)
@example(which=0, edits=[])
def test_edited_files(tmp_path_factory, seeds, kind, which, edits):
    content = seeds[kind][which % len(seeds[kind])]
    check_outcome(kind, edited(content, edits), tmp_path_factory.getbasetemp())


@pytest.mark.parametrize("kind", KINDS)
@given(
    content=st.one_of(st.binary(max_size=200), st.lists(st.sampled_from(FRAGMENTS)).map(b"".join))
)
@example(content=b"")
def test_anything_at_all(tmp_path_factory, kind, content):
    check_outcome(kind, content, tmp_path_factory.getbasetemp())


def test_parquet_with_another_number_of_rows_than_it_has(seeds):
    """Which 6 stands for: 3 become -3."""
    content, faults = seeds["parquet"][0], []
    for place in (k for k, byte in enumerate(content) if byte == 6):
        try:
            reader_of("parquet")(content[:place] + b"\x05" + content[place + 1 :])
        except DataError as error:
            faults.append(str(error))
    assert any("it has -3 rows by its metadata, and 3" in fault for fault in faults)


def test_the_fuzzer_reads_every_kind(tmp_path):
    command = [sys.executable, Path(__file__).parent / "fuzz_files.py", "1", "--folder", tmp_path]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    assert [line.split(":")[0] for line in lines] == KINDS
    for line in lines:
        n_files, n_refused = (int(word) for word in line.split() if word.isdecimal())
        assert 0 < n_refused < n_files, line
