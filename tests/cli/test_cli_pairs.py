"""Given pairs on the command line and in config files."""

import numpy as np
import pytest

from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, dump_svmlight, load_model
from ranksvm.cli import main


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """DATA, a file of pairs, and what is in them: 12 components of 5 rows, no queries."""
    folder = tmp_path_factory.mktemp("pairs")
    rng = np.random.default_rng(7)
    X = rng.normal(size=(60, 3))
    first = 5 * rng.integers(0, 12, 150)
    pairs = first[:, None] + np.argsort(rng.random((150, 5)))[:, :2]
    ahead = (X[pairs[:, 0]] - X[pairs[:, 1]]) @ [1, 0.5, 0] + rng.normal(size=150)
    pairs[ahead < 0] = pairs[ahead < 0, ::-1]
    weights, margins = rng.integers(1, 5, 150) / 2, np.where(np.abs(ahead) > 1, 2.0, 1.0)
    dump_svmlight(folder / "data.svm", X, np.zeros(60))
    columns = zip(*pairs.T.tolist(), weights.tolist(), margins.tolist(), strict=True)
    lines = ["\t".join(map(str, line)) + "\n" for line in columns]
    (folder / "pairs.tsv").write_text("# winner loser weight margin\n" + "".join(lines))
    return folder, X, {"pairs": pairs, "pair_weights": weights, "margins": margins}


def run(*arguments):
    return main(list(map(str, arguments)))


@pytest.mark.parametrize(
    ("options", "model"),
    [
        ([], RankSVM()),
        (["--loss", "hinge", "--normalize", "pairs", "-C", 100], RankSVM(100, loss="hinge")),
        (["--kernel", "rbf", "--gamma", 0.5], KernelRankSVM(kernel="rbf", gamma=0.5)),
    ],
)
def test_trains_and_measures_as_the_estimator_does(files, tmp_path, capsys, options, model):
    folder, X, given = files
    if "pairs" in options:
        model.set_params(normalize="pairs")
    data, pairs = folder / "data.svm", ["--pairs", folder / "pairs.tsv"]
    stored, scores = tmp_path / "model.json", tmp_path / "scores.txt"
    assert run("train", data, stored, *pairs, *options) == 0
    said = capsys.readouterr().err
    model.fit(X, **given)
    assert f"pair weight {model.n_pairs_:.1f}" in said
    assert "one ranking" not in said
    assert run("predict", stored, data, scores) == 0
    np.testing.assert_allclose(np.loadtxt(scores), model.predict(X), rtol=1e-9, atol=1e-12)
    share = model.score(X, pairs=given["pairs"], pair_weights=given["pair_weights"])
    for scored in (stored, scores):
        assert run("evaluate", data, scored, *pairs) == 0
        output = capsys.readouterr()
        assert f"pairwise accuracy    {share:12.6f}\n" in output.out
        assert output.err == ""


@pytest.mark.parametrize("folds", [3, "pairs"])
def test_chooses_as_the_estimator_does(files, tmp_path, capsys, folds):
    folder, X, given = files
    stored, pairs = tmp_path / "model.json", ["--pairs", folder / "pairs.tsv"]
    options = ["--Cs", "0.01,1", "--folds", folds]
    assert run("cv", folder / "data.svm", stored, *pairs, *options) == 0
    model = RankSVMCV([0.01, 1], cv=folds).fit(X, **given)
    np.testing.assert_array_equal(load_model(stored).coef, model.coef_)
    assert f"{model.best_score_:.6f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["train", "d", "m", "--event", "p"], "no labels: leave out --event or --pairs"),
        (["train", "d", "m", "--pair-weight", "gap"], "leave out --pair-weight or --pairs"),
        (["cv", "d", "--metric", "ndcg"], "the share of the pairs in order is measured"),
        (["cv", "d", "--folds", "13"], "need at least 13 connected components of the pairs"),
        (["evaluate", "d", "m", "--metrics", "map"], "of which there is no --metrics"),
        (["train", "costs", "m"], "has weights of rows"),
        (["train", "queries", "m"], "line 2: the pair is of the rows"),
        (["train", "few", "m"], "there is no row "),
    ],
)
def test_what_does_not_go_together_is_refused(files, tmp_path, capsys, command, message):
    folder, X, _ = files
    paths = {"d": folder / "data.svm", "p": folder / "pairs.tsv", "m": tmp_path / "model.json"}
    for name in ("costs", "queries", "few"):
        paths[name] = tmp_path / f"{name}.svm"
    dump_svmlight(paths["costs"], X, np.zeros(60), cost=np.ones(60))
    dump_svmlight(paths["queries"], X, np.zeros(60), np.arange(60))
    dump_svmlight(paths["few"], X[:9], np.zeros(9))
    if command[0] == "evaluate":
        assert run("train", paths["d"], paths["m"], "--pairs", paths["p"]) == 0
    assert run(*(paths.get(word, word) for word in command), "--pairs", paths["p"]) == 2
    assert message in capsys.readouterr().err


def test_folds_of_pairs_need_pairs(files, capsys):
    assert run("cv", files[0] / "data.svm", "--folds", "pairs") == 2
    assert "--folds must be a whole number, or pairs, not 'pairs'; folds of pairs need --pairs" in (
        capsys.readouterr().err
    )


CONFIG = """\
[Parameters]
C=1
tol=1e-3
normalize=documents
loss=squared_hinge
[Input]
train_set={folder}/data.svm
train_pairs={folder}/pairs.tsv
test_set={folder}/data.svm
test_pairs={folder}/pairs.tsv
{more}
[Output]
model={output}
"""


def run_config(tmp_path, text):
    (tmp_path / "c.cfg").write_text(text)
    return run("run", tmp_path / "c.cfg")


def test_config_files_take_pairs_in_place_of_labels(files, tmp_path, capsys):
    folder, X, given = files
    text = CONFIG.format(folder=folder, more="", output=tmp_path / "model.json")
    assert run_config(tmp_path, text) == 0
    model = RankSVM().fit(X, **given)
    np.testing.assert_allclose(load_model(tmp_path / "model.json").coef[1:], model.coef_, rtol=1e-9)
    share = model.score(X, pairs=given["pairs"], pair_weights=given["pair_weights"])
    assert f"pairwise accuracy    {share:12.6f}\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("train_labels=x", "line 11: train_labels is what train_pairs take the place of"),
        ("test_labels=x", "line 11: test_labels is what test_pairs take the place of"),
    ],
)
def test_config_files_that_say_two_things(files, tmp_path, capsys, line, message):
    text = CONFIG.format(folder=files[0], more=line, output=tmp_path / "m.json")
    text = text.replace("train_set", "train_features").replace("test_set", "prediction_features")
    assert run_config(tmp_path, text) == 2
    assert message in capsys.readouterr().err


def test_a_config_file_that_weighs_given_pairs_by_gaps(files, tmp_path, capsys):
    text = CONFIG.format(folder=files[0], more="", output=tmp_path / "m.json")
    assert run_config(tmp_path, text.replace("C=1\n", "C=1\npair_weight=gap\n")) == 2
    assert "line 9: pairs that are given have no gaps: leave out pair_weight" in (
        capsys.readouterr().err
    )
