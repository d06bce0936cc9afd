"""Pickles: refused, or read without running anything in them."""

import builtins
import collections
import functools
import io
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from ranksvm import load_model
from ranksvm.files import pickles
from ranksvm.files.model import is_model_file
from ranksvm.files.source import DataError

PROTOCOLS = range(pickle.HIGHEST_PROTOCOL + 1)


class Calls:
    """Something whose pickle calls a function."""

    def __init__(self, function, *arguments, state=None):
        self.reduced = (function, arguments) if state is None else (function, arguments, state)

    def __reduce__(self):
        return self.reduced


def load(tmp_path, value, protocol=4, **options):
    content = value if isinstance(value, bytes) else pickle.dumps(value, protocol)
    (tmp_path / "m.pckl").write_bytes(content)
    return load_model(tmp_path / "m.pckl", **options)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("value", [{"weights": [1.0]}, [1.0], np.ones(2), Calls(os.getcwd)])
def test_pickles_are_refused_unless_asked_for(tmp_path, value, protocol):
    with pytest.raises(DataError, match=r"is a Python pickle, which is not loaded .*train"):
        load(tmp_path, value, protocol)
    assert is_model_file(tmp_path / "m.pckl")  # and no scores, of which another thing is said


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    "value",
    [
        np.array([0.5, -2.0, 3.0]),
        np.array([0.5, -2.0, 3.0], dtype=">f8"),
        np.array([[0.5], [-2.0], [3.0]]),
        np.array([0.5, -2.0, 3.0], dtype=np.float32),
        [0.5, -2, np.float64(3)],
        {"weights": np.array([0.5, -2.0, 3.0]), "other": {"nested": (1, "a", b"b", None, True)}},
        {"coef_": (0.5, -2.0, 3.0)},
    ],
)
def test_arrays_and_containers_are_read(tmp_path, value, protocol):
    model = load(tmp_path, value, protocol, allow_pickle=True)
    assert model.coef.tolist() == [0.5, -2, 3]
    assert model.coef.dtype == np.float64


def test_names_are_read(tmp_path):
    value = {"weights": np.ones(2), "feature_names": ["a", "b"]}
    assert load(tmp_path, value, allow_pickle=True).feature_names == ["a", "b"]


def test_arrays_of_python_2_are_read(tmp_path):
    content = (
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\nq\x01cnumpy\nndarray\nq\x02K\x00\x85U\x01b"
        b"\x87Rq\x03(K\x01K\x02\x85cnumpy\ndtype\nq\x04U\x02f8K\x00K\x01\x87Rq\x05(K\x03U\x01<NNNJ"
        b"\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89U\x10"
        + np.array([1.5, -2.0]).tobytes()
        + b"tb."
    )
    assert load(tmp_path, content, allow_pickle=True).coef.tolist() == [1.5, -2]


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize(
    ("function", "arguments", "name"),
    [
        (os.system, ("touch pwned",), r"(posix|nt)\.system"),
        (builtins.eval, ("open('pwned', 'w')",), r"(builtins|__builtin__)\.eval"),
        (builtins.exec, ("open('pwned', 'w')",), r"(builtins|__builtin__)\.exec"),
        (builtins.getattr, ("", "join"), r"(builtins|__builtin__)\.getattr"),
        (builtins.open, ("pwned", "w"), r"(_io|io|builtins|__builtin__)\.open"),
        (builtins.set, ([1],), r"(builtins|__builtin__)\.set"),
        (subprocess.Popen, (["touch", "pwned"],), r"(subprocess|commands)\.Popen"),
        (np.load, ("pwned",), r"numpy\.load"),
        (np.save, ("pwned", [1.0]), r"numpy\.save"),
        (np.fromfile, ("pwned",), r"numpy.*fromfile"),
        (np.memmap, ("pwned",), r"numpy.*memmap"),
        (collections.OrderedDict, (), r"collections\.OrderedDict"),
        (functools.partial, (print,), r"functools\.partial"),
        (pickle.loads, (b"N.",), r"_?pickle\.loads"),
        (sys.exit, (0,), r"sys\.exit"),
    ],
)
def test_what_is_not_on_the_list_is_refused_by_name(
    tmp_path, monkeypatch, protocol, function, arguments, name
):
    monkeypatch.chdir(tmp_path)
    for value in (Calls(function, *arguments), {"weights": Calls(function, *arguments)}):
        with pytest.raises(
            DataError, match=rf"is a pickle that asks for '{name}', which is not on"
        ):
            load(tmp_path, value, protocol, allow_pickle=True)
    assert os.listdir(tmp_path) == ["m.pckl"]


def test_objects_are_refused_by_name(tmp_path):
    from ranksvm import RankSVM

    with pytest.raises(DataError, match=r"asks for 'ranksvm\.estimators\.rank_svm\.RankSVM"):
        load(tmp_path, RankSVM(), allow_pickle=True)


def dtype_of(kind):
    return b"cnumpy\ndtype\n(V" + kind + b"\nI00\nI01\ntR"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x04", "is not a whole pickle"),
        (pickle.dumps(np.ones(3))[:-3], "is not a whole pickle"),
        (b"\x80\x02}q\x00.", 'has no "weights"'),
        (pickle.dumps("text"), "must hold an array of weights, not a str"),
        (pickle.dumps(None), "must hold an array of weights, not a NoneType"),
        (pickle.dumps([1.0, "2"]), "must all be numbers"),
        (pickle.dumps([1.0, [2.0]]), "must all be numbers"),
        (pickle.dumps([10**400]), "too large"),
        (pickle.dumps([]), "holds no weights"),
        (pickle.dumps([1.0, float("nan")]), "the weight of feature 2 is nan"),
        (pickle.dumps(np.ones((2, 2))), "must be one row, not of shape"),
        (pickle.dumps(np.array(["a"])), "'U1', which is not a kind of number"),
        (pickle.dumps(np.array([{}])), "'O8', which is not a kind of number"),
        (pickle.dumps(np.array([1j])), "'c16', which is not a kind of number"),
        (pickle.dumps({"weights": [1.0], "feature_names": [1]}), "must be a list of texts"),
        (pickle.dumps({"weights": [1.0], "feature_names": ["a", "b"]}), "1 weights but 2 feature"),
        (b"cnumpy\nndarray\n(I1000000000000\ntR.", "asks for an array of its own making"),
        (b"cnumpy.core.multiarray\n_reconstruct\n(tR.", "an array without content"),
        # An attempt to give an allowed function new defaults.
        (b"\x80\x02cnumpy\ndtype\nN}U\x01aNs\x86b.", "tries to change a function"),
        (b"\x80\x02c_codecs\nencode\nX\x01\x00\x00\x00aX\x03\x00\x00\x00zip\x86R.", "than latin1"),
        # A place in the memo of which 2**31 would be allocated.
        (b"\x80\x02Nr\xff\xff\xff\x7f.", "made to take up memory"),
        (b"\x80\x02NQ.", "asks for objects that are not in it"),
        (
            b"cnumpy.core.multiarray\nscalar\n(" + dtype_of(b"f8") + b"C\x0412345678tR.",
            "is not a whole pickle",
        ),
    ],
)
def test_bad_pickles_get_a_sentence(tmp_path, content, message):
    with pytest.raises(DataError, match=message) as refusal:
        load(tmp_path, content, allow_pickle=True)
    assert str(refusal.value).startswith(str(tmp_path))


def test_a_shape_that_the_data_does_not_fill_is_refused(tmp_path):
    content = pickle.dumps(np.ones(3), 2).replace(b"K\x03\x85", b"K\x04\x85")
    with pytest.raises(DataError, match="holds an array of an impossible shape"):
        load(tmp_path, content, allow_pickle=True)


def test_nothing_else_is_ever_found():
    unpickler = pickles._Unpickler(io.BytesIO())
    for name in pickles._ALLOWED:
        module, _, function = name.rpartition(".")
        assert isinstance(unpickler.find_class(module, function), pickles._Function)


@pytest.mark.parametrize("opcodes", [b"\x85", b"N\x86", b"2\x86", b"q\x010h\x01\x85"])
def test_tuples_whose_hash_would_crash_or_take_for_ever_are_refused(opcodes):
    for count, message in ((1_000_000, "nests tuples too deeply"), (4, 'no "weights"')):
        with pytest.raises(DataError, match=message):
            pickles.read_pickle("m", b"\x80\x02}N" + opcodes * count + b"Ns.")
    wide = b"(" + b"h\x01" * 1000 + b"tq\x010"
    with pytest.raises(DataError, match="nests tuples too deeply"):
        pickles.read_pickle("m", b"\x80\x02}Nq\x010" + wide * 4 + b"h\x01Ns.")


def test_lists_may_be_long_and_arrays_many():
    for weights in (list(map(np.float64, range(3000))), (0, 1) * 5000, (0.5, 1.5) * 5000):
        for protocol in PROTOCOLS:
            coef, _ = pickles.read_pickle("m", pickle.dumps({"coef": weights}, protocol))
            assert coef.tolist() == list(weights)
