"""The commands that look at models and change their form."""

import argparse
import io
import os
import pickle

import numpy as np
import pytest

from ranksvm import LinearModel, RankSVM, load_model, save_model
from ranksvm.cli.models import add_convert, add_info
from ranksvm.jobs.fingerprint import fingerprint
from ranksvm.names import MODEL_FORMS


def run(*arguments):
    parser = argparse.ArgumentParser(prog="ranksvm")
    commands = parser.add_subparsers()
    add_info(commands)
    add_convert(commands)
    args = parser.parse_args([str(argument) for argument in arguments])
    args.run(args)


@pytest.fixture
def model(tmp_path):
    """A named model as a file, and what it holds."""
    pd = pytest.importorskip("pandas")
    X = pd.DataFrame({"bm25": [0.0, 1.0, 2.0], "größe": [1.0, 0.0, 2.0], "x": [0.0, 0, 0]})
    save_model(RankSVM(C=2).fit(X, [0, 1, 2]), tmp_path / "m.json")
    return tmp_path / "m.json", load_model(tmp_path / "m.json")


def test_info(model, capsys):
    path, content = model
    run("info", path)
    text = capsys.readouterr().out
    assert "linear, json" in text
    assert "3, of which 2 have a weight" in text
    assert "bm25, größe, x\n" in text
    assert "C=2, loss=squared_hinge, " in text
    assert f"objective     {content.training['objective']:.9g}\n" in text
    assert f"relative gap  {content.training['dual_gap']:.9g}\n" in text
    assert "status=converged" in text


@pytest.mark.parametrize("form", MODEL_FORMS[:-1])
def test_info_of_every_form(model, tmp_path, capsys, form):
    run("convert", model[0], tmp_path / "m", "--to", form, "--quiet")
    run("info", tmp_path / "m")
    assert f"linear, {form}\n" in capsys.readouterr().out


def test_info_of_data_and_of_many_names(tmp_path, capsys):
    X = np.eye(20)
    training = {"fingerprint": fingerprint(X, np.zeros(20)), "data": "train.svm", "dual_gap": None}
    names = [f"f{k}" for k in range(20)]
    save_model(LinearModel(np.ones(20), names, {}, training), tmp_path / "m")
    run("info", tmp_path / "m")
    text = capsys.readouterr().out
    assert "f7, ...\n" in text
    assert "data=train.svm" in text
    assert "relative gap  none" in text
    assert "n_samples=20, n_features=20, n_nonzero=20, blake2b=" in text


def test_what_a_file_says_cannot_command_a_terminal(tmp_path, capsys):
    model = LinearModel(np.ones(1), ["\x1b[2J"], {"a\nb": "\x07"})
    save_model(model, tmp_path / "m")
    run("info", tmp_path / "m")
    text = capsys.readouterr().out
    assert r"\x1b[2J" in text
    assert r"a\nb=\x07" in text
    assert "\x1b" not in text


def test_weights(model, tmp_path, capfd):
    path, content = model
    np.savetxt(tmp_path / "expected", content.coef, "%.17g")
    run("info", path, "--weights", tmp_path / "w")
    assert capfd.readouterr().out == ""
    assert (tmp_path / "w").read_bytes() == (tmp_path / "expected").read_bytes()
    run("info", path, "--weights")
    assert capfd.readouterr().out == (tmp_path / "expected").read_text()


@pytest.mark.parametrize("form", MODEL_FORMS)
def test_convert(model, tmp_path, form, capsys):
    path, content = model
    run("convert", path, tmp_path / "a", "--to", form)
    told = capsys.readouterr().err
    run("convert", tmp_path / "a", tmp_path / "b.json")
    np.testing.assert_array_equal(load_model(tmp_path / "b.json").coef, content.coef)
    if form in ("json", "safetensors"):
        assert told == ""
        assert load_model(tmp_path / "b.json").feature_names == content.feature_names
    else:
        assert told == (
            f"note: {form} has no place for the feature names, parameters, training information\n"
        )


def test_counting_from_zero_is_noted(tmp_path, capsys):
    save_model(LinearModel(np.ones(2), training={"zero_based": True}), tmp_path / "m.json")
    run("convert", tmp_path / "m.json", tmp_path / "a", "--to", "svmrank")
    assert capsys.readouterr().err == (
        "note: the model was trained on features counted from zero; here they count from one\n"
    )
    run("convert", tmp_path / "m.json", tmp_path / "a", "--to", "svmrank", "-q")
    assert capsys.readouterr().err == ""


def test_convert_to_the_standard_output(model, capfd):
    run("convert", model[0], "-", "--to", "liblinear", "-q")
    assert capfd.readouterr().out.startswith("solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\n")


def test_the_name_of_the_target_tells_the_form(model, tmp_path):
    run("convert", model[0], tmp_path / "m.safetensors")
    assert (tmp_path / "m.safetensors").read_bytes()[8:9] == b"{"


def test_mistakes_are_told_before_anything_is_written(model, tmp_path):
    (tmp_path / "m.pckl").write_bytes(pickle.dumps({"weights": [1.0]}))
    for arguments, message in [
        (["convert", model[0], tmp_path / "x"], "does not tell a form to write"),
        (["convert", model[0], tmp_path / "none" / "x.json"], "the directory .* does not exist"),
        (["convert", tmp_path / "m.pckl", tmp_path / "x.json"], "is a Python pickle"),
        (["info", tmp_path / "m.pckl"], "is a Python pickle"),
        (["info", tmp_path / "none"], "cannot read .*none: No such file"),
        (["info", model[0], "--weights", tmp_path], "a file name is needed, not a directory"),
    ]:
        with pytest.raises((ValueError, OSError), match=message):
            run(*arguments)
    assert sorted(os.listdir(tmp_path)) == ["m.json", "m.pckl"]


def test_names_that_the_terminal_has_no_letters_for(tmp_path, monkeypatch):
    save_model(LinearModel(np.ones(1), ["größe"]), tmp_path / "m")
    with io.TextIOWrapper(io.BytesIO(), "ascii") as terminal:
        monkeypatch.setattr("sys.stdout", terminal)
        run("info", tmp_path / "m")
        terminal.flush()
        assert rb"gr\xf6\xdfe" in terminal.buffer.getvalue()


def test_convert_for_an_engine_and_back(model, tmp_path, capsys):
    path, content = model
    run("convert", path, tmp_path / "solr.json", "--to", "solr", "--name", "first")
    assert '"name": "first"' in (tmp_path / "solr.json").read_text()
    run("convert", tmp_path / "solr.json", tmp_path / "back.json")
    back = load_model(tmp_path / "back.json")
    assert dict(zip(back.feature_names, back.coef, strict=True)) == {
        name: weight
        for name, weight in zip(content.feature_names, content.coef, strict=True)
        if weight
    }
    assert capsys.readouterr().err == ""


def test_convert_for_an_engine_says_what_single_precision_changes(tmp_path, capsys):
    save_model(LinearModel(np.array([1.0, 2.0])), tmp_path / "m.json")
    (tmp_path / "names").write_text("a\nb\n")
    (tmp_path / "data.svm").write_text(
        "1 qid:1 1:1e8 2:1\n0 qid:1 1:1e8 2:1.25\n0 qid:2 1:-3 2:1\n"
    )
    options = ["--names", tmp_path / "names", "--check", tmp_path / "data.svm"]
    run("convert", tmp_path / "m.json", tmp_path / "out", "--to", "solr", *options, "--nonnegative")
    assert "of 1 pairs of rows" in capsys.readouterr().err
    assert '"constant"' in (tmp_path / "out").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--to", "solr", "--nonnegative"], "--nonnegative needs --check"),
        (["--to", "solr"], "knows features by name"),
        (["--to", "solr", "--names", "names"], "line 2: expected a name"),
        (["--to", "vespa", "--names", "binary"], "not UTF-8"),
    ],
)
def test_convert_for_an_engine_refuses(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    save_model(LinearModel(np.ones(2)), "m.json")
    (tmp_path / "names").write_text("a\n\n")
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=message):
        run("convert", "m.json", "out", *arguments)
    assert not (tmp_path / "out").exists()


def test_options_for_engines_are_refused_elsewhere(model, tmp_path, capsys):
    with pytest.raises(SystemExit):
        run("convert", model[0], tmp_path / "m.txt", "--to", "svmrank", "--names", "x")
    assert "--names is for solr" in capsys.readouterr().err
