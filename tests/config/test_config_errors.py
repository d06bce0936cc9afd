"""Config files that are refused: one sentence, exit status 2, and no file touched."""

import pickle
import re
from pathlib import Path

import numpy as np
import pytest

from config_files import TRAINING, assert_refused, output_of, write_data
from ranksvm import save_model
from ranksvm.cli import main, rank_svm
from ranksvm.files.treeranksvm import read_features, read_labels, write_labels
from ranksvm.models import LinearModel

PREDICTION = "[Output]\npredicted_labels=p\n[Input]\nmodel=m\nprediction_features=f"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with data."""
    monkeypatch.chdir(tmp_path)
    write_data()
    return tmp_path


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "c.cfg asks for nothing: it has neither .*"),
        ("[Parameters]\nregparam=1\n", "c.cfg asks for nothing: .*"),
        ("model=m", r"line 1: 'model' stands before any section: it belongs to \[Input\] or .*"),
        ("[input]", r"line 1: a section must be one of .*'\[input\]' \(did you mean \[Input\]\?\)"),
        ("\n[Inputs]", r"line 2: a section must .*\(did you mean \[Input\]\?\)"),
        ("[Input", r"line 1: a section must be one of .*"),
        (
            "[Input]\ntrain_feature=f",
            r".*line 2: .*'train_feature' \(did you mean train_features.*",
        ),
        (
            "[Input]\nMODEL=f",
            r"line 2: \[Input\] has no attribute 'MODEL' \(did you mean model\?\)",
        ),
        ("[Output]\nxyz=f", r"line 2: .* no attribute 'xyz'; it has model, predicted_labels"),
        ("[Input]\nregparam=1", r"line 2: .* 'regparam': it belongs to \[Parameters\]"),
        ("[Readers]\nmodel=x", r"line 2: .*'model': it belongs to \[Input\] or \[Output\]"),
        ("[Input]\nmodel", r"line 2: expected \[Section\] or attribute=value, found 'model'"),
        ("[Input]\n=m", r"line 2: expected \[Section\] or attribute=value, found '=m'"),
        ("[Input]\nmodel= # none", "line 2: 'model' has no value: give one, or remove the line"),
        ("[Input]\nmodel=a\n\nmodel=b", "line 4: model is given again, after line 2: remove .*"),
        ("[Input]\nmodel=a\x00b", r"line 2: remove the control character in 'model=a\\x00b'"),
        ("[Parameters]\nregparam=x", "line 2: regparam must be a number, not 'x'"),
        ("[Parameters]\nregparam=0", "line 2: regparam must be finite and greater than 0, not .*"),
        ("[Parameters]\nregparam=1e-310", "line 2: regparam must be finite and greater than 0.*"),
        ("[Parameters]\nregparam=1e999", "line 2: regparam must be finite and greater than 0.*"),
        ("[Parameters]\nregparam=nan", "line 2: regparam must be a number, not 'nan'"),
        (f"[Parameters]\nregparam={10**6 * '1'}x", "line 2: regparam must be a number, not '1.*"),
        ("[Parameters]\nregparam=1_0", "line 2: regparam must be a number, not '1_0'"),
        ("[Parameters]\nepsilon=-1", "line 2: epsilon must be finite and 0 or greater, not -1.0"),
        ("[Parameters]\nC=1\nregparam=1", "line 3: regparam is 1 / C: give one of the two"),
        ("[Parameters]\nverbose=true", r"line 2: verbose must be .*\(did you mean True\?\)"),
        ("[Parameters]\nloss=hing", r"line 2: loss must be one of .*\(did you mean hinge\?\)"),
        ("[Parameters]\nnormalize=None", r"line 2: normalize .*\(did you mean none\?\)"),
        ("[Parameters]\nthreads=0", "line 2: threads must be a whole number .*, not 0"),
        ("[Parameters]\nmax_iter=1.5", "line 2: max_iter must be a whole number, not '1.5'"),
        ("[Parameters]\nl1_ratio=2", "line 2: l1_ratio must be a number from 0 to 1, not 2.0"),
        ("[Parameters]\npositive=yes", "line 2: positive must be one of True, False, not 'yes'"),
        (f"{PREDICTION}\nbounds=b", "line 6: bounds needs training .*"),
        (
            f"{PREDICTION}\n[Parameters]\nl1_ratio=0.5",
            "line 7: l1_ratio needs training data .*",
        ),
        (
            "[Parameters]\nkernel=rbf\n[Input]\ntrain_set=s\nprior=m\n[Output]\nmodel=m2",
            "line 5: prior is for the linear ranker: a kernel has no weights of features",
        ),
        ("[Input]\nbounds=b\n[Readers]\nbounds=svmlight", r"line 4: .*'bounds': it belongs to .*"),
        ("[Input]\ntest_qids=q\nprediction_qids=q", "line 3: test_qids and prediction_qids are .*"),
        ("[Readers]\ntrain_set=svmlight", "line 2: a reader is given for train_set, which .*"),
        (
            "[Input]\ntrain_set=set\n[Readers]\ntrain_set=svmlite",
            "line 4: a reader must be one of svmlight, .*, labels, qids, pairs, not 'svmlite' .*",
        ),
        (
            "[Input]\ntrain_set=set\n[Readers]\ntrain_set=features",
            "line 4: the reader of train_set must be svmlight: a file of features does not hold it",
        ),
        (
            "[Input]\ntrain_labels=l\n[Readers]\ntrain_labels=qids",
            "line 4: the reader of train_labels must be labels or svmlight: .*",
        ),
    ],
)
def test_a_bad_config_file_is_refused(folder, capsys, text, message):
    if message.startswith("line"):
        message = "c.cfg, " + message
    assert_refused(text, message, capsys)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        ("train_features=f", "model=m", "line 2: train_features needs train_labels .*"),
        ("train_labels=l", "model=m", "line 2: train_labels needs train_features .*"),
        ("train_qids=q", "model=m", "line 2: train_qids needs train_features and train_labels.*"),
        ("", "model=m", r"line 4: model in \[Output\] needs training data in .*"),
        ("model=m", "", r"line 2: model in \[Input\] needs rows to predict: .*"),
        ("train_set=set", "", r"line 2: train_set leads to nothing: give model in \[Output\].*"),
        ("train_set=set\ntrain_labels=l", "model=m", "line 3: train_labels is part of train_set.*"),
        ("train_set=set\ntrain_features=f", "model=m", "line 3: train_features is part of .*"),
        ("train_set=set\nmodel=m", "", r"line 3: model in \[Input\] is read, but training .*"),
        (
            "train_set=set",
            "model=m\npredicted_labels=p",
            r"line 5: predicted_labels in \[Output\] .*",
        ),
        ("prediction_features=tf", "predicted_labels=p", "line 2: prediction_features needs a .*"),
        ("test_set=tset", "", "line 2: test_set needs a model, .*"),
        ("test_labels=tl", "", "line 2: test_labels needs predictions to compare with: .*"),
        (
            "predicted_labels=p",
            "",
            r"line 2: predicted_labels in \[Input\] needs test_labels, test_pairs or .*",
        ),
        ("train_set=set\ntest_qids=tq", "model=m", "line 3: test_qids needs test_labels, .*"),
        (
            "train_set=set\nprediction_features=tf",
            "model=m",
            "line 3: prediction_features leads to nothing: give predicted_labels .*",
        ),
        ("train_set=set\ntest_set=tset\ntest_labels=tl", "", "line 4: test_labels is part of .*"),
        (
            "train_set=set\ntest_set=tset\npredicted_labels=p",
            "",
            r"line 4: predicted_labels in \[Input\] is read, but a model predicts.*",
        ),
        (
            "train_set=set\ntrain_qids=q",
            "model=m",
            "line 3: train_qids is given, but the rows have qids of their own: remove one",
        ),
        (
            "train_features=f\ntrain_labels=l\ntrain_qids=set_without_qids\n[Readers]\n"
            "train_qids=svmlight",
            "model=m",
            "line 4: set_without_qids has no qids for train_qids",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(folder, capsys, inputs, outputs, message):
    assert_refused(f"[Input]\n{inputs}\n[Output]\n{outputs}\n", f"c.cfg, {message}", capsys)


@pytest.mark.parametrize(
    ("inputs", "outputs", "message"),
    [
        (
            "train_features=f\ntrain_labels=tl",
            "model=m",
            "f has 60 rows but tl has 30: train_features and train_labels must have one each",
        ),
        ("train_features=f\ntrain_labels=l\ntrain_qids=tq", "model=m", "f has 60 .* tq has 30.*"),
        (
            "train_set=set\nprediction_features=tf\ntest_labels=l",
            "model=m",
            "tf has 30 rows but l has 60: prediction_features and test_labels .*",
        ),
        (
            "train_set=set\nprediction_features=tf\ntest_labels=tl\nprediction_qids=q",
            "model=m",
            "tf has 30 rows but q has 60: prediction_features and prediction_qids .*",
        ),
        ("predicted_labels=l\ntest_labels=tl", "", "tl has 30 rows but l has 60.*"),
        ("train_set=none", "model=m", "c.cfg, line 2: there is no file none; relative paths .*"),
        ("train_set=/none", "model=m", "c.cfg, line 2: there is no file /none"),
        ("model=none\ntest_set=tset", "predicted_labels=p", "c.cfg, line 2: there is no file n.*"),
        ("train_set=.", "model=m", ". is a directory: name the files in it, such as ./.*"),
        (
            "train_set=set\nprediction_features=none",
            "model=m\npredicted_labels=p",
            "c.cfg, line 3: there is no file none; relative paths begin at .*, /.*",
        ),
        (
            "train_set=set\nprediction_features=tl",
            "model=m\npredicted_labels=p",
            "tl, line 1, column 1: expected index:value, found '.*'",
        ),
        ("train_set=f", "model=m", "f, line 1, column 1: expected a label .*"),
        ("train_set=set", "model=none/m", "c.cfg, line 4: cannot write none/m: the directory .*"),
        ("train_set=set", "model=.", "c.cfg, line 4: cannot write .: a file name is needed.*"),
        ("train_set=set", "model=./set", "c.cfg, line 4: model would overwrite train_set: name .*"),
        ("train_set=set", "model=c.cfg", "c.cfg, line 4: model would overwrite the config file.*"),
        (
            "train_set=set\ntest_set=tset",
            "model=p\npredicted_labels=./p",
            "c.cfg, line 6: predicted_labels would overwrite model: name another file",
        ),
        (
            "model=f\nprediction_features=tf",
            "predicted_labels=p",
            "f is not a model file: it begins with '.*",
        ),
    ],
)
def test_bad_files_are_refused_before_training(folder, capsys, inputs, outputs, message):
    assert_refused(f"[Input]\n{inputs}\n[Output]\n{outputs}\n", message, capsys)


def test_nothing_to_learn_is_refused(folder, capsys):
    write_labels("l", np.zeros(60))
    assert_refused(
        f"{TRAINING}[Output]\nmodel=m\n", ".*: no preference pairs to learn from: .*", capsys
    )


def test_a_config_file_that_cannot_be_read_is_refused(folder, capsys):
    for path, message in (
        ("none.cfg", "cannot read none.cfg: No such file or directory"),
        ("latin.cfg", "latin.cfg, line 2: the file must be UTF-8 text"),
    ):
        Path("latin.cfg").write_bytes(b"[Input]\nmodel=\xe9\n")
        assert main(["run", path]) == 2
        assert capsys.readouterr().err == f"ranksvm: error: {message}\n"


def test_bad_arguments_are_refused(capsys):
    for arguments, message in (
        ([], "the following arguments are required: CONFIG"),
        (["a", "b"], "unrecognized arguments: b"),
        (["a", "--hepl"], r"unrecognized arguments: --hepl \(did you mean --help\?\)"),
    ):
        with pytest.raises(SystemExit, match="2"):
            rank_svm(arguments)
        assert re.match(f"rank_svm: error: {message}", capsys.readouterr().err)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_refused(folder, capsys, protocol):
    Path("m").write_bytes(pickle.dumps(LinearModel(np.ones(2)), protocol))
    text = "[Input]\nmodel=m\nprediction_features=tf\n[Output]\npredicted_labels=p\n"
    assert_refused(text, "m is a Python pickle, which is not loaded because .*", capsys)


def test_python_2_pickles_are_refused(folder, capsys):
    for start in (b"(imodel\nLinearModel\np1\n", b"ccopy_reg\n_reconstructor\np1\n"):
        Path("m").write_bytes(start + b"(dp2\nS'W'\n")
        text = "[Input]\nmodel=m\nprediction_features=tf\n[Output]\npredicted_labels=p\n"
        assert_refused(text, "m is a Python pickle, .*", capsys)


def test_weights_of_a_pickle_can_be_converted(folder, capsys):
    """The text of weights that the script of the manual writes."""
    np.savetxt("coeff.txt", [1.0, -2.0, 0.5, 0.0])
    save_model(LinearModel(np.loadtxt("coeff.txt")), "m")
    output_of("[Input]\nmodel=m\nprediction_features=tf\n[Output]\npredicted_labels=p\n", capsys)
    np.testing.assert_allclose(read_labels("p"), read_features("tf").X @ [1, -2, 0.5, 0])
