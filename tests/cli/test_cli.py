"""The command line, as its users meet it: processes, files, streams and exit statuses."""

import json
import os
import re
import resource
import signal
import subprocess
import sys

import numpy as np
import pytest
from in_process import completed
from sklearn.datasets import load_wine

from ranksvm import RankSVM, dump_svmlight, pairwise_accuracy

COMMAND = [sys.executable, "-m", "ranksvm"]


def ranksvm(*arguments, cwd=None, **options):
    """Run a command: in a process of its own where streams or limits of it are asked for."""
    if not options:
        return completed(*arguments, cwd=cwd)
    command = [*COMMAND, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, cwd=cwd, **options)


def assert_refused(process, message):
    """A sentence on standard error, exit status 2, and no traceback."""
    assert process.returncode == 2, process.stderr
    assert re.search(message, process.stderr), process.stderr
    assert "Traceback" not in process.stderr
    assert len(process.stderr.strip().splitlines()) <= 2
    assert process.stdout == ""


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """A folder with data.svm and a model trained on it by the command line."""
    folder = tmp_path_factory.mktemp("wine")
    X, y = load_wine(return_X_y=True)
    qid = np.arange(len(y)) % 7
    dump_svmlight(folder / "data.svm", X, y, qid)
    process = ranksvm("train", folder / "data.svm", folder / "model.json", "--tol", "1e-10")
    assert process.returncode == 0, process.stderr
    assert process.stdout == ""
    assert "converged: objective" in process.stderr
    return folder, X, y, qid


def test_train_predict_evaluate_agree_with_the_estimator(wine, tmp_path):
    folder, X, y, qid = wine
    model = RankSVM(tol=1e-10).fit(X, y, qid)
    assert (
        ranksvm("predict", folder / "model.json", folder / "data.svm", tmp_path / "s").stderr == ""
    )
    scores = np.loadtxt(tmp_path / "s")
    np.testing.assert_array_equal(scores, model.predict(X))
    from_scores = ranksvm("evaluate", folder / "data.svm", tmp_path / "s").stdout
    from_model = ranksvm("evaluate", folder / "data.svm", folder / "model.json").stdout
    assert from_scores == from_model
    accuracy = re.search(r"pairwise accuracy +([\d.]+) +([\d.]+)", from_scores)
    assert float(accuracy[1]) == pytest.approx(model.score(X, y, qid), abs=1e-6)
    by_query = pairwise_accuracy(y, scores, qid, average="query")
    assert float(accuracy[2]) == pytest.approx(by_query, abs=1e-6)


def test_model_file_tells_parameters_and_certificate(wine):
    content = json.loads((wine[0] / "model.json").read_text())
    assert content["parameters"]["tol"] == 1e-10
    assert content["training"]["status"] == "converged"
    assert content["training"]["dual_gap"] <= 1e-10
    assert content["n_features"] == 13


def test_standard_streams(wine):
    folder, X, _, _ = wine
    data = (folder / "data.svm").read_text()
    trained = ranksvm("train", "-", "-", "--tol", "1e-10", "--quiet", input=data)
    assert trained.stderr == ""
    assert (
        json.loads(trained.stdout)["weights"]
        == (json.loads((folder / "model.json").read_text())["weights"])
    )
    predicted = ranksvm("predict", folder / "model.json", "-", input=data)
    assert len(predicted.stdout.split()) == len(X)
    assert "pairwise accuracy" in ranksvm("evaluate", "-", folder / "model.json", input=data).stdout


def test_the_number_of_threads_does_not_change_a_bit(wine, tmp_path):
    for n in (1, 2, 5):
        ranksvm("train", wine[0] / "data.svm", tmp_path / f"{n}", "--threads", n)
    weights = [json.loads((tmp_path / f"{n}").read_text())["weights"] for n in (1, 2, 5)]
    assert weights[0] == weights[1] == weights[2]


@pytest.mark.parametrize("solver", ["newton", "trust_region"])
@pytest.mark.parametrize("normalize", ["documents", "pairs", "queries", "none"])
def test_options_reach_the_solver(wine, tmp_path, solver, normalize):
    _, X, y, qid = wine
    arguments = ["-C", "0.5", "--solver", solver, "--normalize", normalize, "--tol", "1e-6"]
    process = ranksvm("train", wine[0] / "data.svm", tmp_path / "m", *arguments)
    assert process.returncode == 0, process.stderr
    model = RankSVM(
        0.5, solver=solver, tol=1e-6, normalize=None if normalize == "none" else normalize
    ).fit(X, y, qid)
    training = json.loads((tmp_path / "m").read_text())["training"]
    assert training["solver"] == solver
    assert training["objective"] == model.objective_


def test_no_table_when_output_is_a_pipe(wine, tmp_path):
    process = ranksvm("train", wine[0] / "data.svm", tmp_path / "m")
    assert "iteration " not in process.stderr
    assert len(process.stderr.splitlines()) == 1


def on_terminal(command, cwd, interrupt_at=None):
    """Run with standard error on a terminal; interrupt once it shows a word. Status and output."""
    pty = pytest.importorskip("pty")
    master, slave = pty.openpty()
    process = subprocess.Popen(command, cwd=cwd, stderr=slave)
    os.close(slave)
    shown = b""
    while True:
        try:
            part = os.read(master, 4096)
        except OSError:  # the other end is closed
            break
        shown += part
        if interrupt_at is not None and interrupt_at in shown:
            process.send_signal(signal.SIGINT)
            interrupt_at = None
        if not part:
            break
    os.close(master)
    return process.wait(timeout=20), shown.decode()


def test_a_table_on_a_terminal(wine, tmp_path):
    command = [*COMMAND, "train", str(wine[0] / "data.svm"), "m"]
    status, shown = on_terminal(command, tmp_path)
    assert status == 0
    assert re.search(r"iteration +objective +gap +step +products +passes +seconds", shown)
    assert re.search(r"converged: objective", shown)


def test_plot(wine, tmp_path):
    process = ranksvm("train", wine[0] / "data.svm", tmp_path / "m", "--plot", tmp_path / "gap.png")
    assert process.returncode == 0, process.stderr
    assert (tmp_path / "gap.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("picture", "message"),
    [
        ("gap.xyz", r"cannot draw gap.xyz: the suffix must be one of .*png"),
        ("none/gap.png", "cannot write none/gap.png: the directory .* does not exist"),
    ],
)
def test_a_picture_that_cannot_be_is_refused_before_training(wine, tmp_path, picture, message):
    process = ranksvm("train", wine[0] / "data.svm", "m", "--plot", picture, cwd=tmp_path)
    assert_refused(process, message)
    assert os.listdir(tmp_path) == []


def test_stopping_early_is_said(wine, tmp_path):
    process = ranksvm(
        "train", wine[0] / "data.svm", tmp_path / "m", "--max-iter", 1, "--tol", "1e-9"
    )
    assert process.returncode == 3
    assert "warning: not converged: the relative duality gap is" in process.stderr
    assert json.loads((tmp_path / "m").read_text())["training"]["status"] == "max_iter"


def test_overflow_is_said(tmp_path):
    (tmp_path / "d").write_text("1 1:1e200\n2 1:-1e200\n3 1:2e200\n")
    process = ranksvm("train", tmp_path / "d", tmp_path / "m")
    assert process.returncode == 3
    assert "warning: not converged" in process.stderr
    assert "X times C is too large for floating point; scale X, say" in process.stderr
    training = json.loads((tmp_path / "m").read_text())["training"]
    assert (training["status"], training["dual_gap"]) == ("stalled", 1.0)


def test_cost_is_the_sample_weight(tmp_path):
    X, y = load_wine(return_X_y=True)
    weight = np.arange(len(y)) % 3
    dump_svmlight(tmp_path / "d", X, y, cost=weight)
    ranksvm("train", tmp_path / "d", tmp_path / "m", "--tol", "1e-8")
    model = RankSVM(tol=1e-8).fit(X, y, sample_weight=weight)
    training = json.loads((tmp_path / "m").read_text())["training"]
    assert training["objective"] == model.objective_


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "data is empty"),
        ("1 1:1\n2 1:nan\n", r"data, line 2, column 3: .*'1:nan'"),
        ("1 1:1\n2 1:inf\n", r"data, line 2, column 3: .*'1:inf'"),
        ("nan 1:1\n2 1:1\n", r"data, line 1, column 1: .*'nan'"),
        ("1 1:1\n-inf 1:1\n", r"data, line 2, column 1: .*'-inf'"),
        ("1 1:1\n2 1:x\n", r"data, line 2, column 3: .*'1:x'"),
        ("1 qid:1 1:1\n2 1:2\n", r"data, line 2.*qid"),
        ("1 1:1\n1 1:2\n", "no preference pairs to learn from"),
        ("1 qid:1 1:1\n2 qid:2 1:2\n", "no preference pairs to learn from"),
        ("1 1:1\n", "no preference pairs to learn from"),
    ],
)
def test_bad_data_is_refused(tmp_path, text, message):
    (tmp_path / "data").write_text(text)
    assert_refused(ranksvm("train", "data", "model", cwd=tmp_path), message)
    assert sorted(os.listdir(tmp_path)) == ["data"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["train", "none", "m"], "cannot read none: No such file or directory"),
        (["train", ".", "m"], r"\. is a directory: name the files"),
        (["train", "data.svm", "."], r"cannot write \.: .*directory"),
        (["train", "data.svm", "none/m"], "cannot write none/m: the directory .* does not exist"),
        (["train", "data.svm", "m", "-C", "0"], "C must be finite and greater than 0"),
        (["train", "data.svm", "m", "-C", "-1"], "C must be finite and greater than 0"),
        (["train", "data.svm", "m", "-C", "x"], "argument -C: invalid float value: 'x'"),
        (["train", "data.svm", "m", "--threads", "0"], "n_threads must be"),
        (
            ["train", "data.svm", "m", "--sover", "newton"],
            r"--sover newton \(did you mean --solver\?\)",
        ),
        (["train", "data.svm", "m", "--solver", "x"], "invalid choice: 'x'"),
        (["train", "data.svm"], "the following arguments are required: MODEL"),
        (["trian", "data.svm", "m"], "invalid choice: 'trian'"),
        (["predict", "data.svm", "data.svm"], "not a model file"),
        (["predict", "none", "data.svm"], "cannot read none: No such file"),
        (["predict", "model.json", "wide.svm"], "wide.svm has 15 features but the model was .* 13"),
        (["evaluate", "data.svm", "short.scores"], "has 1 scores but data.svm has 178 rows"),
        (["evaluate", "data.svm", "data.svm"], "line 1: expected one finite score per line"),
    ],
)
def test_bad_arguments_are_refused(wine, arguments, message):
    folder = wine[0]
    (folder / "wide.svm").write_text("1 15:2\n2 1:1\n")
    (folder / "short.scores").write_text("1.5\n")
    before = sorted(os.listdir(folder))
    assert_refused(ranksvm(*arguments, cwd=folder), message)
    assert sorted(os.listdir(folder)) == before


def test_features_are_counted_as_in_training(tmp_path):
    """A test file without feature 0 does not tell that it counts from zero: the model does."""
    (tmp_path / "train").write_text("1 0:1 2:1\n2 0:2 1:1\n3 0:3\n")
    (tmp_path / "test").write_text("1 2:1\n2 1:1\n")
    assert ranksvm("train", "train", "m", "--tol", "1e-9", cwd=tmp_path).returncode == 0
    weights = json.loads((tmp_path / "m").read_text())["weights"]
    scores = ranksvm("predict", "m", "test", cwd=tmp_path).stdout.split()
    assert [float(score) for score in scores] == [weights["3"], weights["2"]]


def test_features_counted_otherwise_are_refused(wine):
    (wine[0] / "zero.svm").write_text("1 0:2\n2 1:1\n")
    process = ranksvm("predict", "model.json", "zero.svm", cwd=wine[0])
    assert_refused(
        process, "zero.svm counts features from zero but the model was trained on a file"
    )


def test_narrower_data_is_noted(wine, tmp_path):
    (tmp_path / "d").write_text("1 2:2\n2 1:1\n")
    process = ranksvm("predict", wine[0] / "model.json", tmp_path / "d")
    assert process.returncode == 0
    assert "ends at feature 2; the other 11 of the model count as zero" in process.stderr
    assert len(process.stdout.split()) == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
def test_a_full_device_is_an_error(wine):
    assert_refused(
        ranksvm("train", wine[0] / "data.svm", "/dev/full", "-q"),
        "cannot write /dev/full: No space",
    )


def test_a_full_disk_leaves_the_old_model(wine, tmp_path):
    """A limit on the size of files stands for a disk that fills up while the model is written."""
    (tmp_path / "m").write_text('{"old": 1}')

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))

    process = ranksvm("train", wine[0] / "data.svm", tmp_path / "m", "-q", preexec_fn=limit)
    assert_refused(process, "cannot write")
    assert os.listdir(tmp_path) == ["m"]
    assert (tmp_path / "m").read_text() == '{"old": 1}'


def test_a_reader_that_leaves_is_no_error(wine):
    folder = wine[0]
    command = f"{sys.executable} -m ranksvm predict {folder}/model.json {folder}/data.svm | head -1"
    process = subprocess.run(["sh", "-c", command], capture_output=True, text=True, timeout=60)
    assert process.stderr == ""


def test_interruption_is_quick_and_leaves_nothing(tmp_path):
    rng = np.random.default_rng(0)
    dump_svmlight(tmp_path / "d", rng.standard_normal((15_000, 2)), rng.standard_normal(15_000))
    command = [*COMMAND, "train", "d", "m", "--counting", "pairs", "--tol", "0"]
    status, shown = on_terminal(command, tmp_path, interrupt_at=b"iteration")
    assert status == 130
    assert "interrupted" in shown
    assert "Traceback" not in shown
    assert os.listdir(tmp_path) == ["d"]


def test_help_and_version():
    assert "train" in ranksvm("--help").stdout
    assert "--normalize" in ranksvm("train", "--help").stdout
    assert re.fullmatch(r"ranksvm \d+\.\d+\.\d+\n", ranksvm("--version").stdout)
    assert "usage: ranksvm" in ranksvm().stdout


@pytest.mark.parametrize("columns", [50, 80, 132])
def test_help_is_as_wide_as_the_terminal(columns, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(columns))
    usage = ranksvm("train", "--help").stdout.splitlines()[0]
    assert columns - 20 < len(usage) < columns


def modules_of(*arguments, cwd):
    code = (
        "import sys; from ranksvm.cli import main; sys.argv[0] = 'ranksvm'\n"
        "try: main(sys.argv[1:])\nexcept SystemExit: pass\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    command = [sys.executable, "-c", code, *map(str, arguments)]
    process = subprocess.run(command, capture_output=True, text=True, cwd=cwd, timeout=60)
    return set(process.stderr.split())


def test_only_what_is_needed_is_imported(wine, tmp_path):
    folder = wine[0]
    (tmp_path / "c.cfg").write_text(f"[Input]\ntrain_set={folder}/data.svm\n[Output]\nmodel=m\n")
    assert not modules_of("--help", cwd=tmp_path) & {"numpy", "scipy", "sklearn", "matplotlib"}
    for arguments in (
        ["train", folder / "data.svm", "m"],
        ["predict", folder / "model.json", folder / "data.svm"],
        ["evaluate", folder / "data.svm", folder / "model.json"],
        ["run", tmp_path / "c.cfg"],
    ):
        loaded = modules_of(*arguments, cwd=tmp_path)
        assert "numpy" in loaded
        assert not loaded & {"scipy", "sklearn", "matplotlib", "pandas"}


def test_small_runs_import_nothing_slow(wine, tmp_path):
    data, model = wine[0] / "data.svm", wine[0] / "model.json"
    slow = {"numpy.ma", "concurrent.futures", "logging", "pathlib", "urllib.parse", "pickletools"}
    slow |= {"html", "difflib", "shutil", "bz2", "lzma", "glob"}
    unused = {"ranksvm.cli.cv", "ranksvm.cli.plot", "ranksvm.files.foreign_models"}
    unused |= {"ranksvm.disk.data", "ranksvm.pairs.explicit", "ranksvm.solvers.proximal_newton"}
    unused |= {"ranksvm.linear.grid", "ranksvm.pairs.top", "ranksvm.models.maps.splines"}
    for arguments in (["train", data, "m", "--threads", 1], ["predict", model, data]):
        loaded = modules_of(*arguments, cwd=tmp_path)
        assert "ranksvm.files.model" in loaded
        assert not loaded & (slow | unused)


def test_trec_run(tmp_path):
    data, model = tmp_path / "data.svm", tmp_path / "model.json"
    data.write_text("1 qid:a 1:1 # docid = d1\n0 qid:a 1:2 #docid=d2 x\n1 qid:b 1:3 # docid = d1\n")
    assert ranksvm("train", data, model).returncode == 0
    process = ranksvm("predict", model, data, "-", "--trec")
    words = [line.split() for line in process.stdout.splitlines()]
    found = [(word[0], word[2], word[3]) for word in words]
    assert found == [("a", "d1", "1"), ("a", "d2", "2"), ("b", "d1", "1")]
    data.write_text("1 qid:1 1:1\n0 qid:1 1:2\n")
    assert_refused(ranksvm("predict", model, data, "-", "--trec"), "lacks a '#docid = ...'")
    data.write_text("1 1:1 # docid = a\n0 1:2 # docid = b\n")
    assert_refused(ranksvm("predict", model, data, "-", "--trec"), "lacks qids")
