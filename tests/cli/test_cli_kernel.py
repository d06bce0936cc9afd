"""Kernel rankers on the command line: trained, applied, looked at, and refused."""

import json
import re

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.preprocessing import StandardScaler

from cases import make_problem
from ranksvm import KernelRankSVM, dump_svmlight, load_model, load_svmlight
from ranksvm.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two files of rows, and what training on the first by the command line wrote."""
    folder = tmp_path_factory.mktemp("kernel")
    for seed, name in enumerate(["train", "test"]):
        X, y, qid = make_problem(seed, n=60)
        dump_svmlight(folder / f"{name}.svm", X, y, qid)
    arguments = [folder / "train.svm", folder / "m.json", "--kernel", "rbf", "--gamma", 0.3, "-q"]
    assert main(["train", *map(str, arguments)]) == 0
    return folder


@pytest.fixture
def run(files, monkeypatch):
    monkeypatch.chdir(files)
    return lambda *arguments: main([str(argument) for argument in arguments])


def scores_of(path):
    return np.array([float(line) for line in path.read_text().split()])


@pytest.mark.parametrize(
    ("options", "parameters"),
    [
        (["--kernel", "rbf"], {}),
        (["--kernel", "rbf", "--gamma", "2", "-C", "3"], {"gamma": 2.0, "C": 3.0}),
        (
            ["--kernel", "polynomial", "--degree", "2", "--coef0", "0.5", "--gamma", "0.1"],
            {"kernel": "polynomial", "degree": 2.0, "coef0": 0.5, "gamma": 0.1},
        ),
        (["--kernel", "laplacian", "--loss", "hinge"], {"kernel": "laplacian", "loss": "hinge"}),
        (
            ["--kernel", "cosine", "--normalize", "none", "--tol", "1e-6"],
            {"kernel": "cosine", "normalize": None, "tol": 1e-6},
        ),
    ],
)
@pytest.mark.parametrize("model", ["m.json", "m.safetensors"])
@pytest.mark.parametrize("sparse", [False, True])
def test_train_and_predict_are_the_estimator(tmp_path, capsys, options, parameters, model, sparse):
    X, y, qid = make_problem(3, n=50, d=6)
    X = np.where(X > 0.8, X, 0.0) if sparse else X
    data = [str(tmp_path / name) for name in ("train.svm", model, "scores")]
    dump_svmlight(data[0], X, y, qid)
    assert main(["train", *data[:2], *options]) == 0
    assert re.match(r"converged: objective \d", capsys.readouterr().err)
    rows = load_svmlight(data[0])
    assert isinstance(rows[0], np.ndarray) != sparse
    estimator = KernelRankSVM(**{"kernel": "rbf", **parameters}).fit(*rows)
    loaded = load_model(data[1])
    assert loaded.dual_coef.tobytes() == estimator.dual_coef_.tobytes()
    assert loaded.training["objective"] == estimator.objective_
    assert loaded.training["data"] == data[0]
    assert loaded.parameters["C"] == parameters.get("C", 1.0)
    assert main(["predict", data[1], data[0], data[2]]) == 0
    np.testing.assert_array_equal(scores_of(tmp_path / "scores"), estimator.predict(rows[0]))


def test_a_scale_is_part_of_the_model(tmp_path, run):
    X, y, qid = load_svmlight("train.svm")
    units = np.array([1e3, 1.0, 1e-4, 10.0])
    for name, kind in (("d", np.asarray), ("s", csr_matrix)):
        rows = np.where(X > 1, X, 0.0) * units if name == "s" else X * units
        dump_svmlight(tmp_path / name, rows, y, qid)
        options = ["--kernel", "rbf", "--scale", "standard", "-q"]
        assert run("train", tmp_path / name, tmp_path / "m", *options) == 0
        assert run("predict", tmp_path / "m", tmp_path / name, tmp_path / "p", "-q") == 0
        factors = 1 / StandardScaler(with_mean=False).fit(kind(rows)).scale_
        scaled = kind(rows * factors)
        expected = KernelRankSVM().fit(scaled, y, qid).predict(scaled)
        np.testing.assert_array_equal(scores_of(tmp_path / "p"), expected)
        assert load_model(tmp_path / "m").parameters["scale"] == "standard"


def test_cost_is_the_sample_weight(tmp_path, run):
    X, y, qid = load_svmlight("train.svm")
    cost = np.arange(len(y)) % 3
    dump_svmlight(tmp_path / "d", X, y, qid, cost=cost)
    assert run("train", tmp_path / "d", tmp_path / "m", "--kernel", "rbf", "-q") == 0
    model = KernelRankSVM().fit(X, y, qid, sample_weight=cost)
    assert load_model(tmp_path / "m").training["objective"] == model.objective_


def test_the_number_of_threads_does_not_change_a_bit(tmp_path, run):
    for n in (1, 3):
        options = ["--kernel", "rbf", "-q", "--threads", n]
        assert run("train", "train.svm", tmp_path / f"{n}", *options) == 0
        assert run("predict", tmp_path / "1", "test.svm", tmp_path / f"p{n}", *options[2:]) == 0
    one, three = (json.loads((tmp_path / f"{n}").read_text()) for n in (1, 3))
    assert one["dual_coef"] == three["dual_coef"]
    assert (tmp_path / "p1").read_bytes() == (tmp_path / "p3").read_bytes()


def test_the_linear_kernel_is_the_linear_ranker(tmp_path, run):
    assert run("train", "train.svm", tmp_path / "a", "-q") == 0
    assert run("train", "train.svm", tmp_path / "b", "-q", "--kernel", "linear") == 0
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


@pytest.mark.parametrize("sparse", [False, True])
def test_data_of_another_width(tmp_path, sparse, capsys):
    X, y, qid = make_problem(4, d=5)
    X = np.where(X > 0.8, X, 0.0) if sparse else X
    dump_svmlight(tmp_path / "d", X, y, qid)
    (tmp_path / "narrow").write_text("1 1:0.5 2:-1\n0 1:1 2:0.25\n")
    (tmp_path / "wide").write_text("1 1:0.5 7:1\n")
    model, scores = str(tmp_path / "m"), str(tmp_path / "s")
    assert main(["train", str(tmp_path / "d"), model, "--kernel", "rbf", "-q"]) == 0
    assert main(["predict", model, str(tmp_path / "narrow"), scores]) == 0
    assert "the other 3 of the model count as zero" in capsys.readouterr().err
    rows = [[0.5, -1, 0, 0, 0], [1, 0.25, 0, 0, 0]]
    np.testing.assert_allclose(scores_of(tmp_path / "s"), load_model(model).predict(rows))
    assert main(["predict", model, str(tmp_path / "wide"), scores]) == 2
    assert "has 7 features but the model was trained with 5" in capsys.readouterr().err


def test_evaluate_and_plot_take_a_model_for_scores(run, tmp_path, capsys):
    assert run("predict", "m.json", "test.svm", tmp_path / "s") == 0
    assert run("evaluate", "test.svm", tmp_path / "s") == 0
    expected = capsys.readouterr().out
    assert run("evaluate", "test.svm", "m.json") == 0
    assert capsys.readouterr().out == expected
    assert run("plot", "scores", "test.svm", "m.json", tmp_path / "p.png") == 0
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")


def test_the_convergence_is_drawn(run, tmp_path):
    options = ["--kernel", "rbf", "--plot", tmp_path / "p.svg", "-q"]
    assert run("train", "train.svm", tmp_path / "m", *options) == 0
    assert b"<svg" in (tmp_path / "p.svg").read_bytes()


def test_info(run, tmp_path, capsys):
    for model in (tmp_path / "m.json", tmp_path / "m.safetensors"):
        assert run("convert", "m.json", model, "-q") == 0
        assert run("info", model) == 0
        text = capsys.readouterr().out
        assert f"kernel, {str(model).rpartition('.')[2]}\n" in text
        assert re.search(r"^kernel +rbf gamma=0.3$", text, re.MULTILINE)
        assert re.search(r"^features +4$", text, re.MULTILINE)
        assert re.search(rf"^support +{len(load_model(model).dual_coef)} vectors$", text, re.M)
        assert re.search(r"^relative gap +\d", text, re.MULTILINE)
        assert "loss=squared_hinge" in text
        assert "n_samples=60" in text
    options = ["--kernel", "cosine", "--scale", "maxabs", "-q"]
    assert run("train", "train.svm", tmp_path / "c", *options) == 0
    assert run("info", tmp_path / "c") == 0
    text = capsys.readouterr().out
    assert re.search(r"^kernel +cosine$", text, re.MULTILINE)
    assert "4, each multiplied by its scale first" in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["info", "m.json", "--weights", "w"], "m.json has no weights of features: it ranks by"),
        (["convert", "m.json", "w", "--to", "liblinear"], "liblinear files hold weights of feat"),
        (["convert", "m.json", "w", "--to", "svmrank"], "but m.json ranks by the kernel 'rbf': wr"),
        (
            ["plot", "coefficients", "m.json", "w.png"],
            "m.json has no weights of features: it ranks",
        ),
        (["train", "train.svm", "w", "--gamma", "1"], "the kernel linear has no gamma: leave out"),
        (
            ["train", "train.svm", "w", "--kernel", "rbf", "--coef0", "1"],
            "the kernel rbf has no coef0: leave out --coef0, or take one of the kernels polynomial",
        ),
        (
            ["train", "train.svm", "w", "--kernel", "rfb"],
            r"--kernel must be one of linear, rbf, .*, not 'rfb' \(did you mean rbf\?\)",
        ),
        (
            ["train", "train.svm", "w", "--kernel", "rbf", "--gamma", "0"],
            "gamma must be finite and",
        ),
        (["train", "train.svm", "w", "--kernel", "rbf", "-C", "0"], "C must be finite and greater"),
        (
            ["train", "train.svm", "w", "--kernel", "rbf", "--max-memory", "1000"],
            "more than max_memory=1e-06 GB",
        ),
        (
            ["train", "train.svm", "w", "--kernel", "sigmoid", "--gamma", "5", "--coef0", "-1"],
            "the kernel 'sigmoid' is not positive semidefinite for these rows",
        ),
        (["train", "train.svm", "w", "--kernel", "chi2"], "chi2|[Nn]egative"),
    ],
)
def test_what_cannot_be_is_refused(files, run, capsys, arguments, message):
    before = sorted(files.iterdir())
    assert run(*arguments) == 2
    captured = capsys.readouterr()
    assert re.search(message, captured.err), captured.err
    assert captured.out == ""
    assert sorted(files.iterdir()) == before
