"""What somebody meets in the first hour: statuses, habits from elsewhere, hints, examples."""

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from ranksvm import dump_svmlight
from ranksvm.cli import main
from ranksvm.cli.examples import EXAMPLES
from ranksvm.cli.program import COMMANDS, build_parser


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The files that examples name, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    rng = np.random.default_rng(0)
    for name in ("train", "test"):
        X = rng.normal(size=(60, 3))
        y = np.digitize(X @ [1, 2, 0.5] + rng.normal(size=60), [-1, 1])
        qid = np.repeat(np.arange(1, 13), 5)
        dump_svmlight(f"{name}.svm", X, y, qid)
        table = np.column_stack([y, qid, X])
        header = "label,query,price,stars,age"
        np.savetxt(f"{name}.csv", table, "%g", ",", header=header, comments="")
    np.savetxt("scores.txt", rng.normal(size=60))
    Path("train.cfg").write_text("[Input]\ntrain_set=train.svm\n[Output]\nmodel=of_config.json\n")
    return tmp_path


@pytest.fixture
def trained(folder):
    assert main(["train", "train.csv", "model.json", "-q"]) == 0
    return folder


def refusal(capsys, *arguments, status=2):
    """Return the sentence that arguments are refused by."""
    try:
        found = main(list(arguments))
    except SystemExit as end:
        found = end.code
    captured = capsys.readouterr()
    assert (found, captured.out) == (status, ""), captured
    return captured.err


def commands_with_help():
    parser = build_parser()
    of_plot = build_parser("plot")._subparsers._group_actions[0].choices["plot"]
    return [parser.prog, *(f"ranksvm {name}" for name in COMMANDS)] + [
        f"ranksvm plot {kind}" for kind in of_plot._subparsers._group_actions[0].choices
    ]


def test_every_help_ends_with_examples(capsys):
    assert set(commands_with_help()) == set(EXAMPLES)
    for command, examples in EXAMPLES.items():
        with pytest.raises(SystemExit, match="0"):
            main([*command.split()[1:], "--help"])
        assert capsys.readouterr().out.endswith("\n  ".join(["examples:", *examples]) + "\n")


@pytest.mark.parametrize("command", [name for name in EXAMPLES if name != "ranksvm demo"])
def test_examples_do_what_they_say(trained, command, capsys):
    for example in EXAMPLES[command]:
        if example == "ranksvm demo":
            continue  # which is run by itself
        assert main(shlex.split(example)[1:]) == 0, (example, capsys.readouterr().err)


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["trian", "a", "b"], "train"),
        (["plot", "effect", "a", "b"], "effects"),
        (["train", "a", "b", "--loss", "hing"], "hinge"),
    ],
)
def test_misspelt_words_are_met_with_those_that_may_be_meant(folder, capsys, arguments, meant):
    assert f"(did you mean {meant}?)" in refusal(capsys, *arguments)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("# Title\n\nProse, with commas.\n", "notes is no data: as a table it has one column"),
        ('{"weights": [1]}', "notes is JSON, as models are, not data"),
        ("\n<html>", "notes is HTML or XML, not data"),
    ],
)
def test_what_is_no_data_is_told(folder, capsys, content, message):
    Path("notes").write_text(content)
    assert message in refusal(capsys, "train", "notes", "model.json")


def test_the_weight_of_pairs_is_no_count(folder, capsys):
    assert main(["train", "train.svm", "m.json"]) == 0
    assert re.search(r" queries, \d+ pairs\n", capsys.readouterr().err)
    assert main(["train", "train.svm", "m.json", "--pair-weight", "ndcg"]) == 0
    assert re.search(r" queries, pair weight [\d,]+\.\d\n", capsys.readouterr().err)


def test_the_table_of_what_is_tried_fits_a_terminal(folder, capsys):
    main(["cv", "train.svm", "--auto", "--folds", "2", "--Cs", "1"])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 88
    assert "features=nystroem, pair_weight=ndcg, scale=quantile:" in lines


def test_exit_statuses_tell_what_has_happened(trained, capsys, monkeypatch):
    early = ["train.csv", "early.json", "--max-iter", "1", "--tol", "1e-12"]
    assert main(["train", *early]) == 3
    assert Path("early.json").exists()
    assert main(["train", *early, "--allow-unconverged"]) == 0
    assert main(["cv", *early, "--Cs", "1,10"]) == 3
    capsys.readouterr()
    assert "no-such-option" in refusal(capsys, "train", "train.csv", "m", "--no-such-option")

    def broken(*_):
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr("ranksvm.cli.program.write_model", broken)
    assert main(["train", "train.csv", "m.json", "-q"]) == 1
    said = capsys.readouterr().err
    assert "internal error: ValueError: operands could" in said
    assert "a fault of ranksvm, not yours: please report it" in said
    assert "Traceback" not in said
    assert main(["train", "train.csv", "m.json", "-q", "--debug"]) == 1
    assert "in broken" in capsys.readouterr().err


def test_a_mistake_shows_where_it_was_found_with_debug(folder, capsys):
    said = refusal(capsys, "train", "none.csv", "m.json", "--debug")
    assert said.startswith("Traceback")
    assert said.endswith("ranksvm: error: cannot read none.csv: No such file or directory\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["predict", "test.csv", "model.json"],
        ["evaluate", "model.json", "test.csv"],
        ["explain", "test.csv", "model.json", "--rows", "1"],
        ["plot", "importance", "test.csv", "model.json", "a.svg"],
        ["plot", "scores", "model.json", "test.csv", "a.svg"],
    ],
)
def test_model_and_data_are_told_apart(trained, arguments, capsys):
    assert main(arguments) == 0
    said = capsys.readouterr().out
    k = arguments.index("model.json")
    other = 2 if arguments[0] == "plot" else 1
    if other == k:
        other = k + 1
    arguments[k], arguments[other] = arguments[other], arguments[k]
    assert main(arguments) == 0
    assert capsys.readouterr().out == said


def test_scores_go_to_the_last_file_in_either_order(trained):
    assert main(["predict", "model.json", "test.csv", "a.txt"]) == 0
    assert main(["predict", "test.csv", "model.json", "b.txt"]) == 0
    assert Path("a.txt").read_text() == Path("b.txt").read_text()


@pytest.mark.parametrize("option", ["-c", "-e", "-t", "-g", "-l"])
def test_options_of_svm_rank_get_a_hint(folder, option, capsys):
    said = refusal(capsys, "train", option, "1", "train.svm", "model.json")
    assert re.match(rf"ranksvm train: error: unrecognized arguments: {option}: .*--\w", said)


def test_metrics_may_be_written_in_capitals(trained, capsys):
    assert main(["evaluate", "test.csv", "model.json", "--metrics", "NDCG@5, MAP"]) == 0
    capitals = capsys.readouterr().out.split()
    assert main(["evaluate", "test.csv", "model.json", "--metrics", "ndcg@5,map"]) == 0
    assert [word.lower() for word in capitals] == capsys.readouterr().out.split()


def test_verbose_tells_of_iterations_where_there_is_no_terminal(folder, capsys):
    main(["train", "train.csv", "m.json"])
    assert "iteration " not in capsys.readouterr().err
    main(["train", "train.csv", "m.json", "-v"])
    assert "iteration " in capsys.readouterr().err
    main(["cv", "train.csv", "--Cs", "1", "-v"])
    assert re.search("^5 of 5 trainings", capsys.readouterr().err, re.MULTILINE)
    main(["path", "train.svm", "-v", "--max-events", "5"])
    assert "pairs" in capsys.readouterr().err.splitlines()[0]
    assert "exclude each other" in refusal(capsys, "train", "train.csv", "m.json", "-v", "-q")


def test_a_name_of_a_pickle_is_said_to_hold_json(folder, capsys):
    assert main(["train", "train.svm", "m.pkl"]) == 0
    assert "note: m.pkl holds JSON text, not a pickle" in capsys.readouterr().err
    assert json.loads(Path("m.pkl").read_text())["n_features"] == 3


@pytest.mark.parametrize("command", ["train", "cv", "path"])
def test_data_without_pairs_are_named(folder, command, capsys):
    Path("alike.svm").write_text("1 qid:1 1:1\n1 qid:1 1:2\n2 qid:2 1:3\n")
    arguments = ["train", "alike.svm", "m.json"] if command == "train" else [command, "alike.svm"]
    said = refusal(capsys, *arguments, *(["--folds", "2"] if command == "cv" else []))
    assert "ranksvm: error: alike.svm: no " in said
    assert said.endswith("check its labels, queries and weights\n")


def test_one_standard_error_tells_of_the_best_and_the_chosen(folder, capsys):
    arguments = ["cv", "train.csv", "--Cs", "1e-6,1e-4,1e-2,1,100", "--one-standard-error"]
    assert main([*arguments, "--plot", "cv.svg"]) == 0
    out, err = capsys.readouterr()
    best = next(line for line in out.splitlines() if line.endswith(" best"))
    chosen = next(line for line in out.splitlines() if line.endswith(" *"))
    assert float(chosen.split()[0]) < float(best.split()[0])
    assert float(chosen.split()[1]) >= float(best.split()[1]) - float(best.split()[2])
    assert f"C={float(best.split()[0]):g} is best" in err
    assert f"C={float(chosen.split()[0]):g} is chosen" in err
    assert ("end of the grid" in err) == (float(best.split()[0]) in (1e-6, 100))
    assert "best C = " in Path("cv.svg").read_text()


def test_cv_takes_kernels(folder, capsys):
    arguments = ["--kernel", "rbf", "--gamma", "scale", "--scale", "standard", "--tol", "1e-8"]
    assert main(["cv", "train.csv", "m.json", *arguments, "--Cs", "0.01,1", "--folds", "3"]) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    C = next(row[0] for row in rows if row[-1] == "*")
    assert main(["train", "train.csv", "again.json", *arguments, "-C", C]) == 0
    assert (
        json.loads(Path("m.json").read_text())["dual_coef"]
        == json.loads(Path("again.json").read_text())["dual_coef"]
    )
    for more, message in [
        (["--auto"], "--auto is for linear rankers on the CPU"),
        (["--positive"], "--positive is for the linear ranker"),
        (["--features", "splines"], "--features splines is for the linear ranker"),
        (["--device", "cuda"], "kernels are computed on the CPU"),
    ]:
        assert message in refusal(capsys, "cv", "train.csv", "--kernel", "rbf", *more)


def test_cv_takes_devices(folder, capsys):
    pytest.importorskip("array_api_compat")
    arguments = ["--Cs", "0.01,1", "--tol", "1e-9", "--scale", "standard", "--table"]
    assert main(["cv", "train.csv", *arguments, "a.json"]) == 0
    assert main(["cv", "train.csv", "m.json", *arguments, "b.json", "--device", "numpy:cpu"]) == 0
    host, device = (json.loads(Path(name).read_text()) for name in ("a.json", "b.json"))
    for one, other in zip(host, device, strict=True):
        assert one["mean_test_score"] == pytest.approx(other["mean_test_score"], abs=1e-3)
    capsys.readouterr()
    said = refusal(capsys, "cv", "train.csv", "--auto", "--device", "numpy:cpu")
    assert "--auto is for linear rankers on the CPU" in said


def test_the_demo_ranks_measures_and_draws(folder, capfd, monkeypatch):
    shown, plain = (shlex.split(example)[1:] for example in EXAMPLES["ranksvm demo"])
    assert main(shown) == 0
    said = capfd.readouterr().out
    assert "rank,row,score\n1," in said
    assert "pairwise accuracy" in said
    (where,) = folder.glob("ranksvm-demo-*")
    assert (where / "convergence.png").stat().st_size > 1000
    monkeypatch.setattr("ranksvm.cli.demo.find_spec", lambda _: None)
    assert main(plain) == 0
    assert "than those of report.html need: pip install" in capfd.readouterr().out
    assert "<svg" in Path("folder/report.html").read_text()
    assert not Path("folder/convergence.png").exists()
    assert "is no folder" in refusal_of_folder(capfd)


def refusal_of_folder(capfd):
    assert main(["demo", "train.csv"]) == 2
    return capfd.readouterr().err


def test_folds_with_a_linear_kernel_measure_as_weights_do(folder, capsys):
    for given in ([], ["--kernel", "polynomial", "--degree", "1", "--gamma", "1", "--coef0", "0"]):
        grid = ["--Cs", "0.01,1", "--tol", "1e-9", "--table", f"{len(given)}.json"]
        assert main(["cv", "train.csv", *grid, *given]) == 0
    linear, kernel = (json.loads(Path(f"{n}.json").read_text()) for n in (0, 8))
    for one, other in zip(linear, kernel, strict=True):
        assert one["split0_test_score"] == pytest.approx(other["split0_test_score"], abs=0.02)


def test_pictures_look_as_asked_for(trained, capsys):
    drawn = ["plot", "ndcg", "test.csv", "model.json", "scores.txt"]
    look = ["--title", "A $ title", "--names", "ours,noise", "--size", "3x2"]
    assert main([*drawn, "a.svg", *look]) == 0
    text = Path("a.svg").read_text()
    assert all(f"<!-- {word} -->" in text for word in ("A $ title", "ours", "noise"))
    assert 'width="216pt" height="144pt"' in text
    sizes = []
    for dpi in ("50", "100"):
        assert main([*drawn, "a.png", "--size", "3x2", "--dpi", dpi]) == 0
        sizes.append(int.from_bytes(Path("a.png").read_bytes()[16:20], "big"))
    assert sizes == [150, 300]
    said = refusal(capsys, *drawn, "a.svg", "--names", "x")
    assert "--names gives 1 names, but 2 are drawn" in said
    assert "width x height in inches" in refusal(capsys, *drawn, "a.svg", "--size", "big")


def test_features_beyond_floating_point_are_no_fault_of_the_program(folder, capsys):
    Path("big.svm").write_text("1 1:1e308\n2 1:-1e308 2:1\n3 1:1e308 2:2\n1 2:5\n")
    said = refusal(capsys, "train", "big.svm", "m.json", "--loss", "hinge")
    assert "scores must be finite: values of X are too large" in said


def test_events_are_not_for_config_files(folder, capsys):
    Path("times.cfg").write_text("[Input]\ntrain_set=train.svm\nevent=e.txt\n[Output]\nmodel=m\n")
    assert "ranksvm train --event" in refusal(capsys, "run", "times.cfg")


@pytest.mark.parametrize("amount", ["", "4 bananas", "-1", "0", "4GG", "nan"])
def test_amounts_of_memory(folder, amount, capsys):
    said = refusal(capsys, "path", "train.svm", f"--max-memory={amount}")
    assert "number of bytes above 0" in said
    assert main(["path", "train.svm", "-q", "--max-memory", "10M"]) == 0


def test_a_fault_in_a_config_file_is_told_apart_from_a_fault_of_the_program(monkeypatch, capsys):
    def broken(_):
        raise KeyError("weights")

    monkeypatch.setattr("ranksvm.config.run.run_config", broken)
    assert main(["run", "any.cfg"]) == 1
    assert "internal error: KeyError: 'weights'" in capsys.readouterr().err
