"""Whatever is wrong with a folder, it is said in a sentence, and nothing is lost."""

import json
import os
import resource
import shutil
import subprocess
import sys
from contextlib import nullcontext, suppress

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm import RankSVM, open_data, pack, save_model
from ranksvm.disk.folder import is_packed, whole_folder
from ranksvm.errors import InputError
from ranksvm.files.atomic import OutputError
from ranksvm.files.source import DataError

COMMAND = [sys.executable, "-m", "ranksvm"]
FRAGMENTS = ["-1", "0", "1e9", '"x"', "null", "[]", "{}", "true", "99999999999999999999", "NaN", ""]


def packed(folder, layout="dense", names=False):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 5)) * (rng.random((40, 5)) < (0.9 if layout == "dense" else 0.2))
    qid = [f"q{k // 8}" for k in range(40)] if names else np.arange(40) // 8
    return pack([(X, np.arange(40) % 3, qid, np.ones(40), np.ones(40))], folder / "d.rsvm")


@pytest.fixture(params=["dense", "csr"])
def folder(request, tmp_path):
    packed(tmp_path, request.param, names=True)
    return tmp_path / "d.rsvm"


def names_of(folder):
    return sorted(path.name for path in folder.iterdir())


def test_files_that_are_cut_off_or_too_long_or_missing(folder):
    for name in names_of(folder):
        if not name.endswith(".npy"):
            continue
        content = (folder / name).read_bytes()
        for cut in (0, 5, 60, 128, len(content) - 1):
            (folder / name).write_bytes(content[:cut])
            with pytest.raises(DataError, match=rf"{name} (is cut off|is no array of NumPy)"):
                open_data(folder)
        (folder / name).write_bytes(content + b"0")
        with pytest.raises(DataError, match=f"{name} is too long"):
            open_data(folder)
        (folder / name).unlink()
        with pytest.raises(DataError, match=f"cannot read .*{name}: No such file"):
            open_data(folder)
        (folder / name).write_bytes(content)
    open_data(folder)


def test_arrays_of_another_type_or_shape(folder):
    for name in names_of(folder):
        if not name.endswith(".npy"):
            continue
        content, values = (folder / name).read_bytes(), np.load(folder / name)
        np.save(folder / name, values[:-1])
        with pytest.raises(DataError, match=rf"{name} has shape .*where meta\.json says"):
            open_data(folder)
        np.save(folder / name, values.astype(">i2"))
        with pytest.raises(DataError, match=rf"{name} holds .*i2.*, where meta\.json says"):
            open_data(folder)
        np.save(folder / name, values)
        open_data(folder)  # as NumPy writes it
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("name", ["indptr.npy", "query_indptr.npy"])
def test_places_that_do_not_rise(tmp_path, name):
    packed(tmp_path, "csr")
    path = tmp_path / "d.rsvm" / name
    places = np.load(path)
    places[2] = places[-1] + 1
    np.save(path, places)
    with pytest.raises(DataError, match=rf"{name} must rise from 0 to"):
        open_data(tmp_path / "d.rsvm")


def test_columns_beyond_the_matrix(tmp_path):
    packed(tmp_path, "csr")
    path = tmp_path / "d.rsvm" / "indices.npy"
    indices = np.load(path)
    for column in (-(2**31), -1, 5, 2**31 - 1):
        indices[3] = column
        np.save(path, indices)
        with pytest.raises(DataError, match=r"indices\.npy: .* index lies outside the matrix"):
            RankSVM().fit(open_data(tmp_path / "d.rsvm"))


def test_sums_of_columns_that_are_others(folder):
    path = folder / "columns.npy"
    sums = np.load(path)
    sums[0, 3] += 1
    np.save(path, sums)
    with pytest.raises(DataError, match=r"columns\.npy is damaged: .*; pack the data again"):
        RankSVM().fit(open_data(folder))
    meta = json.loads((folder / "meta.json").read_text())
    del meta["fingerprint_of_sums"]  # as of an older version
    (folder / "meta.json").write_text(json.dumps(meta))
    open_data(folder).design_matrix()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_packing_would_have_refused(tmp_path, value):
    packed(tmp_path)
    expected = {
        "y.npy": r"y\.npy holds labels that are no finite numbers",
        "weight.npy": "sample_weight must be finite; row 3",
        "query_weight.npy": "query_weight must be finite; row 3",
        "X.npy": "scores must be finite",
    }
    for name, message in expected.items():
        path = tmp_path / "d.rsvm" / name
        content, values = path.read_bytes(), np.load(path)
        values.reshape(-1)[3] = value
        np.save(path, values)
        with pytest.raises(InputError, match=message):
            RankSVM().fit(open_data(tmp_path / "d.rsvm"))
        path.write_bytes(content)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
@pytest.mark.parametrize("name", ["pipe", "\ud800", "x" * 5000, ""])
def test_sources_that_are_no_files_are_not_read(tmp_path, name):
    packed(tmp_path)
    os.mkfifo(tmp_path / "pipe")  # whose reader would wait for ever
    path = tmp_path / "d.rsvm" / "meta.json"
    source = {"name": name, "bytes": 0, "mtime_ns": 0, "fingerprint": ""}
    if name == "pipe":
        source["name"] = str(tmp_path / name)
    path.write_text(json.dumps({**json.loads(path.read_text()), "sources": [source]}))
    warned = pytest.warns(UserWarning, match="is stale") if name == "pipe" else nullcontext()
    with warned:
        open_data(tmp_path / "d.rsvm")


@pytest.mark.parametrize("names", [["\ud800"] * 5, [1] * 5, ["a"] * 4, {}])
def test_names_of_queries_that_cannot_be(tmp_path, names):
    packed(tmp_path, names=True)
    (tmp_path / "d.rsvm" / "qid_names.json").write_text(json.dumps(names))
    with pytest.raises(DataError, match=r"qid_names\.json must list the names of 5 queries"):
        _ = open_data(tmp_path / "d.rsvm").query_names


def test_folders_that_hold_no_packed_data(tmp_path):
    with pytest.raises(DataError, match=r"cannot read .*meta\.json: No such file"):
        open_data(tmp_path)
    texts = {"{": "is no JSON", "[]": "not that of packed data", "[" * 10**5: "meta"}
    for text, message in texts.items():
        (tmp_path / "meta.json").write_text(text)
        with pytest.raises(DataError, match=message):
            open_data(tmp_path)


def test_other_versions(folder):
    content = json.loads((folder / "meta.json").read_text())
    (folder / "meta.json").write_text(json.dumps({**content, "version": 2}))
    with pytest.raises(DataError, match="is of version 2, where 1 is read: pack the data again"):
        open_data(folder)


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may read all")
def test_permissions(folder):
    (folder / "y.npy").chmod(0)
    with pytest.raises(DataError, match=r"cannot read .*y\.npy: Permission denied"):
        open_data(folder)
    folder.parent.chmod(0o500)
    with pytest.raises(OutputError, match=r"cannot write .*e\.rsvm: Permission denied"):
        packed(folder.parent / "e.rsvm")


def test_a_folder_that_may_not_be_looked_into_is_not_replaced(tmp_path, monkeypatch):
    (tmp_path / "d.rsvm").mkdir()
    (tmp_path / "d.rsvm" / "mine").write_text("")
    known = os.stat

    def stat(path, *args, **more):
        if str(path).endswith("meta.json"):
            raise PermissionError(13, "Permission denied", path)
        return known(path, *args, **more)

    monkeypatch.setattr(os, "stat", stat)
    assert is_packed(tmp_path / "d.rsvm")
    with pytest.raises(OutputError, match="it exists, and holds no packed data"):
        packed(tmp_path)
    assert names_of(tmp_path / "d.rsvm") == ["mine"]


def check(folder):
    """Use all that is not X, or be refused in a sentence."""
    with suppress(ValueError):  # a DataError is one
        data = open_data(folder)
        assert data.ids is None or len(data.ids) == 40
        data.preferences()
        data.design_matrix()
        repr(data)


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """A function that returns a copy of packed data, in the place of the last one."""
    made = {}
    for layout, names in [("dense", True), ("csr", True), ("dense", False), ("csr", False)]:
        folder = tmp_path_factory.mktemp("made")
        packed(folder, layout, names)
        made[layout, names] = folder / "d.rsvm"
    target = tmp_path_factory.mktemp("copies") / "d.rsvm"

    def copied(layout="dense", names=True):
        shutil.rmtree(target, ignore_errors=True)
        return shutil.copytree(made[layout, names], target)

    return copied


@given(st.data())
def test_hostile_meta(copy, data):
    folder = copy(data.draw(st.sampled_from(["dense", "csr"])))
    path = folder / data.draw(st.sampled_from(["meta.json", "qid_names.json"]))
    text = path.read_text()
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(text)))
        length = data.draw(st.integers(0, 12))
        text = text[:place] + data.draw(st.sampled_from(FRAGMENTS)) + text[place + length :]
    path.write_text(text)
    check(folder)


@given(st.data())
def test_hostile_fields(copy, data):
    folder = copy()
    path = folder / "meta.json"
    content = json.loads(path.read_text())
    name = data.draw(st.sampled_from(sorted(content)))
    values = [-1, 0, 1, 39, 41, 10**30, 1.5, None, "x", "csr", [], {}, ["a"] * 5, [{}], True]
    content[name] = data.draw(st.sampled_from(values))
    path.write_text(json.dumps(content))
    check(folder)


@given(st.data())
def test_hostile_headers(copy, data):
    folder = copy(data.draw(st.sampled_from(["dense", "csr"])), names=False)
    names = [name for name in names_of(folder) if name.endswith(".npy")]
    path = folder / data.draw(st.sampled_from(names))
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, 127))] = data.draw(st.integers(0, 255))
    path.write_bytes(content)
    check(folder)


def limited(n_bytes):
    """A function that lets files of a new process grow to so many bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (n_bytes, n_bytes))


def test_a_full_disk(tmp_path):
    lines = "".join(f"{k % 3} qid:{k // 10} 1:{k} 2:{k * k}\n" for k in range(5000))
    (tmp_path / "a.svm").write_text(lines)
    process = subprocess.run(
        [*COMMAND, "pack", "a.svm", "d.rsvm"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        preexec_fn=limited(50_000),
    )
    assert process.returncode == 2
    assert process.stderr == "ranksvm: error: cannot write d.rsvm: File too large\n"
    assert names_of(tmp_path) == ["a.svm"]


CUTTING = """
import os, sys
from ranksvm.cli import main
from ranksvm.disk.data import PackedData
known = PackedData.design_matrix
def cut(self, *arguments):
    X = known(self, *arguments)
    os.truncate(os.path.join("d.rsvm", sys.argv[1]), 0)
    return X
PackedData.design_matrix = cut
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize(
    ("name", "command"),
    [
        ("y.npy", ["train", "d.rsvm", "-"]),
        ("X.npy", ["train", "d.rsvm", "-"]),
        ("X.npy", ["predict", "m.json", "d.rsvm", "-"]),
        ("X.npy", ["train", "rows.svm", "-", "--validation", "d.rsvm"]),
    ],
)
def test_a_file_that_is_cut_off_while_it_is_mapped(tmp_path, name, command):
    packed(tmp_path)
    save_model(RankSVM().fit(open_data(tmp_path / "d.rsvm")), tmp_path / "m.json")
    (tmp_path / "rows.svm").write_text("".join(f"{k % 2} 0:1 4:{k + 1}\n" for k in range(9)))
    process = subprocess.run(
        [sys.executable, "-c", CUTTING, name, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert process.returncode == 2, process.stderr
    last = process.stderr.splitlines()[-1]
    assert last.startswith("ranksvm: error: a file of d.rsvm was cut off while")


def test_what_was_abandoned_is_removed(tmp_path):
    abandoned = tmp_path / ".ranksvm-pack-0123456789abcdef"
    abandoned.mkdir()
    (abandoned / "X.npy").write_bytes(b"")
    with whole_folder(tmp_path / "e.rsvm") as folder:
        used = folder.path
        packed(tmp_path)  # which leaves alone what is in use
        assert os.path.isdir(used)
        folder.create("meta.json")
    assert names_of(tmp_path) == ["d.rsvm", "e.rsvm"]


def test_an_error_of_the_blocks_is_their_own(tmp_path):
    def blocks():
        yield [[1.0]], [0]
        (tmp_path / "none").read_text()

    with pytest.raises(FileNotFoundError, match="none"):
        pack(blocks(), tmp_path / "d.rsvm")
    assert names_of(tmp_path) == []
