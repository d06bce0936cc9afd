"""Signs, bounds, priors and zeros on the command line and in config files."""

import numpy as np
import pytest

from cases import make_problem
from ranksvm import RankSVM, RankSVMCV, dump_svmlight, load_model
from ranksvm.cli import main

X, Y, QID = make_problem(9, n=90, d=4, n_queries=9)
LOWER, UPPER = np.array([0.05, -np.inf, -np.inf, 0]), np.array([0.05, np.inf, 0.1, np.inf])
PENALTIES = np.array([1, 4, 1, 1.0])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The working directory, with data, bounds, penalties and a prior."""
    monkeypatch.chdir(tmp_path)
    dump_svmlight("data", X, Y, QID, zero_based=False)
    (tmp_path / "bounds").write_text("feature,lower,upper\n1,0.05,0.05\n3,,0.1\n4,0,\n")
    (tmp_path / "penalties").write_text("2 4\n")
    assert main(["train", "data", "prior.json", "-C", "0.01", "-q"]) == 0
    return tmp_path


def run(*args):
    return main([*map(str, args), "--threads", "1"])


@pytest.mark.parametrize("scale", [None, "standard", "maxabs"])
def test_training_is_that_of_the_estimator(folder, scale):
    options = ["--bounds", "bounds", "--l1-ratio", "0.5", "--penalty-weights", "penalties"]
    options += ["--prior", "prior.json", "--tol", "1e-8", "-q"]
    options += [] if scale is None else ["--scale", scale]
    assert run("train", "data", "m.json", *options) == 0
    model = RankSVMCV(
        param_grid={"C": [1.0], "scale": [scale]},
        lower_bounds=LOWER,
        upper_bounds=UPPER,
        penalty_weights=PENALTIES,
        prior="prior.json",
        l1_ratio=0.5,
        tol=1e-8,
        n_threads=1,
    ).fit(X, Y, QID)
    found = load_model("m.json")
    np.testing.assert_allclose(found.coef, model.coef_, rtol=1e-7)
    assert found.coef[0] == 0.05
    assert found.parameters["lower_bounds"] == {"1": 0.05, "4": 0.0}
    assert found.parameters["penalty_weights"] == {"2": 4.0}
    assert found.training["n_at_bounds"] == model.to_model().training["n_at_bounds"]


def test_signs(folder, capsys):
    for model in ("m.json", "m.safetensors"):
        assert run("train", "data", model, "--positive", "-q") == 0
        coef = RankSVM(positive=True, n_threads=1).fit(X, Y, QID).coef_
        np.testing.assert_allclose(load_model(model).coef, coef)
        capsys.readouterr()
        main(["info", model])
        shown = capsys.readouterr().out
        n_zero = int((coef == 0).sum())
        assert n_zero > 0
        assert f"4, of which {4 - n_zero} have a weight, and {n_zero} are at a bound" in shown
        assert "positive=True" in shown


def test_plain_models_are_as_they_were(folder, capsys):
    assert run("train", "data", "m.json", "-q") == 0
    assert "positive" not in (folder / "m.json").read_text()
    main(["info", "m.json"])
    assert "bound" not in capsys.readouterr().out


def test_a_prior_counts_features_as_its_own_data_did(folder):
    dump_svmlight("from_zero", X, Y, QID, zero_based=True)
    assert run("train", "from_zero", "m.json", "--prior", "prior.json", "-C", "1e-9", "-q") == 0
    prior, found = load_model("prior.json").coef, load_model("m.json").coef
    np.testing.assert_allclose(found, [0, *prior[:3]], atol=1e-6)


def test_features_that_the_data_lack_are_left_out_of_the_prior(folder, capsys):
    dump_svmlight("narrow", X[:, :2], Y, QID, zero_based=False)
    assert run("train", "narrow", "m.json", "--prior", "prior.json", "-q") == 0
    warning = "warning: narrow lacks features that prior.json has weights of, which are left out: "
    assert f"{warning}3, 4\n" in capsys.readouterr().err


def test_several_ratios_compete(folder, capsys):
    options = ["--Cs", "0.01,1", "--folds", "3", "--scale", "standard", "--bounds", "bounds"]
    options += ["--l1-ratio", "0,0.9", "--tol", "1e-6", "--table", "t.csv", "-q"]
    assert run("cv", "data", "m.json", *options) == 0
    shown = capsys.readouterr().out
    assert "l1_ratio=0.9" in shown
    assert len(shown.splitlines()) == 7
    found = load_model("m.json")
    model = RankSVMCV(
        [0.01, 1],
        cv=3,
        param_grid={"scale": ["standard"]},
        l1_ratio=[0, 0.9],
        lower_bounds=LOWER,
        upper_bounds=UPPER,
        tol=1e-6,
        n_threads=1,
    ).fit(X, Y, QID)
    assert found.parameters["C"] == model.C_
    assert found.parameters.get("l1_ratio", 0) == model.best_params_["l1_ratio"]
    np.testing.assert_allclose(found.coef, model.coef_, rtol=1e-6)
    assert found.coef[0] == 0.05
    assert "l1_ratio" in (folder / "t.csv").read_text().splitlines()[0]


def test_ratios_compete_beside_other_things(folder, capsys):
    options = ["--auto", "--Cs", "1", "--folds", "3", "--l1-ratio", "0.5,0.9", "-q"]
    assert run("cv", "data", "m.json", *options) == 0
    assert "l1_ratio=0.9, pair_weight=ndcg, scale=quantile" in capsys.readouterr().out
    assert load_model("m.json").parameters["l1_ratio"] in (0.5, 0.9)


def test_config_files(folder, capsys):
    (folder / "c").write_text(
        "[Parameters]\nC=1\nloss=squared_hinge\nnormalize=documents\ntol=1e-8\npositive=True\n"
        "l1_ratio=0.5\nverbose=False\nthreads=1\n[Input]\ntrain_set=data\nprior=prior.json\n"
        "bounds=shifted\npenalty_weights=penalties\n[Output]\nmodel=m\n"
    )
    (folder / "shifted").write_text("1,0.05,0.05\n3,,0.1\n4,0,\n")
    assert main(["run", "c"]) == 0
    options = {"penalty_weights": PENALTIES, "l1_ratio": 0.5, "prior": "prior.json"}
    model = RankSVM(
        positive=True, lower_bounds=LOWER, upper_bounds=UPPER, tol=1e-8, n_threads=1, **options
    ).fit(X, Y, QID)
    found = load_model("m")  # which counts from zero
    assert found.coef[0] == 0
    np.testing.assert_allclose(found.coef[1:], model.coef_, rtol=1e-7)
    assert found.parameters["positive"] is True


@pytest.mark.parametrize("command", ["train", "cv"])
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bounds", "nothing"], "cannot read nothing"),
        (["--bounds", "penalties"], "penalties, line 1: expected feature,lower,upper, found 2"),
        (["--bounds", "data"], "data, line 1: expected feature,lower,upper"),
        (["--penalty-weights", "bounds"], "bounds, line 2: expected feature,penalty, found 3"),
        (["--penalty-weights", "zero"], "penalty_weights of feature 2 may be 0 only between"),
        (["--prior", "data"], "data is not a model file"),
        (["--prior", "kernel"], "kernel has no weights of features: it ranks by the kernel 'rbf'"),
        (["--prior", "curves"], "curves has no weights of the features as they are"),
        (["--l1-ratio", "2"], "l1_ratio must be a number from 0 to 1, not 2"),
        (["--l1-ratio", "x"], "--l1-ratio must be a number from 0 to 1, not 'x'"),
        (["--l1-ratio", "nan"], "l1_ratio must be a number from 0 to 1, not nan"),
        (["--positive", "--bounds", "negative"], "positive contradicts upper_bounds: that of feat"),
        (["--scale", "quantile", "--bounds", "bounds"], "only the signs carry over"),
        (["--features", "splines", "--positive"], "makes others of the features"),
        (["--positive", "--solver", "bundle"], "solver='bundle' is for the penalty"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_no_file(folder, capsys, command, options, message):
    (folder / "zero").write_text("2,0\n")
    (folder / "negative").write_text("2,,-1\n")
    if "kernel" in options:
        assert main(["train", "data", "kernel", "--kernel", "rbf", "-q"]) == 0
    if "curves" in options:
        assert main(["train", "data", "curves", "--features", "splines", "-q"]) == 0
    capsys.readouterr()
    assert run(command, "data", "m.json", *options, "-q") == 2
    assert message in capsys.readouterr().err
    assert not (folder / "m.json").exists()


@pytest.mark.parametrize(
    "options",
    [
        ["--positive"],
        ["--bounds", "bounds"],
        ["--prior", "prior.json"],
        ["--l1-ratio", "0.5"],
        ["--penalty-weights", "penalties"],
    ],
)
def test_a_kernel_has_no_weights_to_ask_anything_of(folder, capsys, options):
    assert run("train", "data", "m.json", "--kernel", "rbf", *options) == 2
    assert f"{options[0]} is for the linear ranker" in capsys.readouterr().err


def test_one_training_takes_one_ratio(folder, capsys):
    assert run("train", "data", "m.json", "--l1-ratio", "0,1") == 2
    assert "--l1-ratio must be one number, not '0,1'; cv takes several" in capsys.readouterr().err


def test_inputs_are_not_overwritten(folder, capsys):
    assert run("train", "data", "bounds", "--bounds", "bounds") == 2
    assert "would overwrite" in capsys.readouterr().err
