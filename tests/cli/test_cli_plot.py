"""The command that draws."""

import re
import subprocess
import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from ranksvm import LinearModel, RankSVM, dump_svmlight, save_model
from ranksvm.cli import main
from ranksvm.plots import (
    CoefficientsDisplay,
    MetricAtKDisplay,
    QueryComparisonDisplay,
    ScoreDistributionDisplay,
)


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    """A folder with data, two models and scores; and the same as arrays."""
    folder = tmp_path_factory.mktemp("plot")
    X, y = load_wine(return_X_y=True)
    qid = np.arange(len(y)) % 7
    dump_svmlight(folder / "data.svm", X, y, qid)
    models = [RankSVM(C=C).fit(X, y, qid) for C in (1e-4, 1)]
    save_model(models[0], folder / "weak.json")
    save_model(models[1], folder / "strong.json")
    np.savetxt(folder / "scores", X[:, 0], "%.17g")
    return folder, X, y, qid, models


@pytest.fixture
def drawn(monkeypatch):
    """The displays that the command has drawn."""
    displays = []
    for kind in (
        CoefficientsDisplay,
        MetricAtKDisplay,
        QueryComparisonDisplay,
        ScoreDistributionDisplay,
    ):

        def plot(self, *args, _plot=kind.plot, **kwargs):
            displays.append(self)
            return _plot(self, *args, **kwargs)

        monkeypatch.setattr(kind, "plot", plot)
    return displays


def run(*arguments):
    return main(["plot", *map(str, arguments)])


def test_coefficients(wine, tmp_path, drawn):
    folder, _, _, _, (_, model) = wine
    assert run("coefficients", folder / "strong.json", tmp_path / "c.png", "-n", 4) == 0
    (display,) = drawn
    largest = np.argsort(-np.abs(model.coef_))[:4]
    np.testing.assert_array_equal(display.shown_, largest)
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert names == [str(k + 1) for k in largest]  # as in the data and the model file
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_coefficients_of_standardized_features(wine, tmp_path, drawn):
    folder, X, _, _, (_, model) = wine
    out = tmp_path / "c.svg"
    arguments = ["coefficients", folder / "strong.json", out, "--data", folder / "data.svm"]
    assert run(*arguments) == 0
    (display,) = drawn
    np.testing.assert_allclose(
        [bar.get_width() for bar in display.bars_], (model.coef_ * X.std(axis=0))[display.shown_]
    )


def test_coefficients_that_the_data_lack(tmp_path, drawn, capsys):
    (tmp_path / "d").write_text("1 1:1\n2 1:3\n")
    save_model(LinearModel(np.array([1.0, 1.0])), tmp_path / "m.json")
    run("coefficients", tmp_path / "m.json", tmp_path / "c.png", "--data", tmp_path / "d")
    assert [bar.get_width() for bar in drawn[0].bars_] == [1.0]
    assert "ends at feature 1" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (LinearModel(np.array([1.0, 2.0]), ["a", "b"]), ["b", "a"]),
        (LinearModel(np.array([1.0, 2.0]), training={"zero_based": True}), ["1", "0"]),
    ],
)
def test_coefficients_are_named_as_in_the_data(model, names, tmp_path, drawn):
    save_model(model, tmp_path / "m.json")
    run("coefficients", tmp_path / "m.json", tmp_path / "c.png")
    assert [text.get_text() for text in drawn[0].ax_.get_yticklabels()] == names


@pytest.mark.parametrize("ranker", ["strong.json", "scores"])
def test_scores(wine, tmp_path, drawn, ranker):
    folder, X, y, qid, (_, model) = wine
    assert run("scores", folder / "data.svm", folder / ranker, tmp_path / "s.pdf") == 0
    scores = X[:, 0] if ranker == "scores" else model.predict(X)
    expected = ScoreDistributionDisplay.from_predictions(y, scores, qid)
    np.testing.assert_array_equal(drawn[0].scores, expected.scores)
    assert (tmp_path / "s.pdf").read_bytes().startswith(b"%PDF")


def test_ndcg(wine, tmp_path, drawn):
    folder, X, y, qid, models = wine
    rankers = [folder / name for name in ("weak.json", "strong.json", "scores")]
    options = ["--max-k", 7, "--preset", "letor"]
    assert run("ndcg", folder / "data.svm", *rankers, tmp_path / "n.png", *options) == 0
    assert [display.name for display in drawn] == ["weak.json", "strong.json", "scores"]
    of_each = [*(model.predict(X) for model in models), X[:, 0]]
    for display, scores in zip(drawn[:], of_each, strict=True):
        expected = MetricAtKDisplay.from_predictions(y, scores, qid, max_k=7, preset="letor")
        np.testing.assert_array_equal(display.mean, expected.mean)


def test_files_of_one_name_are_called_by_their_paths(wine, tmp_path, drawn):
    folder = wine[0]
    other = tmp_path / "weak.json"
    other.write_bytes((folder / "strong.json").read_bytes())
    run("ndcg", folder / "data.svm", folder / "weak.json", other, tmp_path / "n.png")
    assert [display.name for display in drawn] == [str(folder / "weak.json"), str(other)]


def test_queries(wine, tmp_path, drawn):
    folder, X, y, qid, (weak, _) = wine
    rankers = [folder / "weak.json", folder / "scores"]
    out = tmp_path / "q.png"
    assert run("queries", folder / "data.svm", *rankers, out, "--metric", "map") == 0
    expected = QueryComparisonDisplay.from_predictions(
        y, weak.predict(X), X[:, 0], qid, metric="map"
    )
    display = drawn[0]
    np.testing.assert_array_equal(display.differences, expected.differences)
    assert display.p_value == expected.p_value
    assert list(display.names) == ["weak.json", "scores"]


def test_row_weights_and_documents_of_the_file_count(tmp_path, drawn):
    lines = [
        f"{y} qid:{q} cost:{c} 1:{x} # docid = d{9 - x}\n"
        for q in (1, 2)
        for y, c, x in [(0, 1, 1), (1, 5, 3), (2, 2, 2), (0, 3, 4)]
    ]
    data = tmp_path / "d"
    data.write_text("".join(lines))
    (tmp_path / "a").write_text("1\n3\n2\n4\n" * 2)
    (tmp_path / "b").write_text("0\n" * 8)
    arguments = ["queries", data, tmp_path / "a", tmp_path / "b", tmp_path / "q.png"]
    run(*arguments, "--metric", "pairwise_accuracy")
    # The weights of pairs: 5 2 | 2 (1 + 3) | 5 (1 + 3); a has (2, 0), (3, 0) and (3, 2) in order.
    y, c = np.array([0, 1, 2, 0]), np.array([1, 5, 2, 3])
    s = np.array([1, 3, 2, 4])
    pairs = [(i, j) for i in range(4) for j in range(4) if y[i] > y[j]]
    weight = np.array([c[i] * c[j] for i, j in pairs])
    right = np.array([s[i] > s[j] for i, j in pairs])
    accuracy = (weight * right).sum() / weight.sum()
    np.testing.assert_allclose(drawn[-1].differences, accuracy - 0.5)
    assert run(*arguments, "--preset", "trec_eval") == 0  # breaks ties by the documents
    assert len(drawn) == 2


def test_the_picture_on_the_standard_output(wine):
    folder = wine[0]
    command = [sys.executable, "-m", "ranksvm", "plot", "scores", "-", str(folder / "scores"), "-"]
    process = subprocess.run(
        command, input=(folder / "data.svm").read_bytes(), capture_output=True, timeout=120
    )
    assert process.stdout.startswith(b"\x89PNG"), process.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ndcg", "{data}", "{scores}"], "the following arguments are required: OUT"),
        (["ndcg", "{data}", "{weak}", "{strong}"], "strong.json: the suffix must be one of"),
        (["ndcg", "{data}", "{weak}", "{scores}"], "scores: the name of the picture must end in"),
        (["ndcg", "{data}", "{weak}", "n.png", "--max-k", "0"], "a whole number of at least 1"),
        (["ndcg", "{data}", "{weak}", "n.png", "--preset", "no"], "there is no preset 'no'"),
        (["queries", "{data}", "{weak}", "q.png"], "the following arguments are required: OUT"),
        (["queries", "{data}", "{weak}", "{weak}", "q.png", "--metric", "x"], "no metric 'x'"),
        (["scores", "{data}", "{weak}", "none/s.png"], "the directory .* does not exist"),
        (["scores", "{data}", "missing", "s.png"], "cannot read missing"),
        (["coefficients", "{scores}", "c.png"], "not a model file"),
        (["coefficients", "{weak}", "c.png", "-n", "some"], "a whole number of at least 1"),
        (["convergence", "{weak}", "c.png"], "invalid choice: 'convergence'"),
        ([], "the following arguments are required: KIND"),
    ],
)
def test_mistakes_are_told_and_nothing_is_written(
    wine, tmp_path, capsys, monkeypatch, arguments, message
):
    folder = wine[0]
    files = {"data": "data.svm", "scores": "scores", "weak": "weak.json", "strong": "strong.json"}
    before = {path: path.read_bytes() for path in folder.iterdir()}
    paths = {key: folder / name for key, name in files.items()}
    monkeypatch.chdir(tmp_path)
    try:
        status = run(*(argument.format(**paths) for argument in arguments))
    except SystemExit as exit_:
        status = exit_.code
    assert status == 2
    assert re.search(message, capsys.readouterr().err)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_it_says_what_to_install(wine, tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run("scores", wine[0] / "data.svm", wine[0] / "scores", tmp_path / "s.png") == 2
    assert "pip install 'ranksvm[plot]'" in capsys.readouterr().err
