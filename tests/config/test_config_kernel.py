"""Kernels in config files."""

import numpy as np
import pytest

from config_files import TEST, TRAINING, assert_refused, output_of, run, write_data
from ranksvm import KernelModel, KernelRankSVM, LinearModel, load_model
from ranksvm.files.treeranksvm import read_features, read_labels, read_qids

OUTPUT = "[Output]\nmodel=m\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The working directory, with data."""
    monkeypatch.chdir(tmp_path)
    write_data()
    return tmp_path


@pytest.mark.parametrize(
    ("lines", "parameters"),
    [
        ("kernel=rbf", {"kernel": "rbf"}),
        ("kernel=GaussianKernel\ngamma=0.2 # wide", {"kernel": "rbf", "gamma": 0.2}),
        ("gamma=2\nkernel=laplacian\nC=3", {"kernel": "laplacian", "gamma": 2, "C": 3}),
        ("kernel=PolynomialKernel", {"kernel": "polynomial"}),
        (
            "kernel=polynomial\ngamma=1\ncoef0=-0\ndegree=2\nregparam=0.1",
            {"kernel": "polynomial", "gamma": 1, "coef0": 0, "degree": 2, "C": 10},
        ),
        ("kernel=cosine\nloss=squared_hinge", {"kernel": "cosine", "loss": "squared_hinge"}),
        ("kernel=rbf\nnormalize=documents\nregparam=2", {"normalize": "documents", "C": 0.5}),
    ],
)
def test_a_kernel_is_that_of_the_estimator(capsys, lines, parameters):
    """And tol is the relative gap."""
    outputs = f"{OUTPUT}predicted_labels=p\n"
    inputs = f"{TRAINING}prediction_features=tf\n"
    output_of(f"[Parameters]\ntol=1e-7\n{lines}\n{inputs}{outputs}", capsys)
    estimator = KernelRankSVM(**{"loss": "hinge", "normalize": "pairs", "tol": 1e-7, **parameters})
    estimator.fit(read_features("f").X, read_labels("l"), read_qids("q"))
    model = load_model("m")
    assert isinstance(model, KernelModel)
    assert model.dual_coef.tobytes() == estimator.dual_coef_.tobytes()
    assert model.parameters["C"] == parameters.get("C", 1)
    np.testing.assert_array_equal(read_labels("p"), estimator.predict(read_features("tf").X))


@pytest.mark.parametrize("lines", ["kernel=linear", "kernel=LinearKernel"])
def test_the_linear_kernel_is_the_linear_ranker(capsys, lines):
    output_of(f"{TRAINING}[Output]\nmodel=m\n", capsys)
    output_of(f"[Parameters]\n{lines}\n{TRAINING}[Output]\nmodel=k\n", capsys)
    assert isinstance(load_model("k"), LinearModel)
    np.testing.assert_array_equal(load_model("k").coef, load_model("m").coef)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("normalize", ["pairs", "documents", "none"])
@pytest.mark.parametrize("epsilon", [0.3, 1e-2, 1e-4])
def test_epsilon_is_a_gap_of_the_objective_divided_by_C(capsys, loss, normalize, epsilon):
    for kernel in ("rbf", "polynomial"):
        text = f"[Parameters]\nkernel={kernel}\nC=0.1\nloss={loss}\nnormalize={normalize}\n"
        output_of(f"{text}epsilon={epsilon}\n{TRAINING}{OUTPUT}", capsys)
        training = load_model("m").training
        assert training["status"] == "converged"
        assert training["dual_gap"] * training["objective"] / 0.1 <= epsilon


def test_a_looser_epsilon_takes_fewer_rows(capsys):
    sizes = []
    for epsilon in (1.0, 1e-2, 1e-6):
        text = f"[Parameters]\nkernel=rbf\ngamma=0.01\nepsilon={epsilon}\n{TRAINING}{OUTPUT}"
        output_of(text, capsys)
        sizes.append(len(load_model("m").dual_coef))
    assert sizes[0] < sizes[1] < sizes[2]


def test_training_is_measured_and_its_model_read(capsys):
    outputs = f"{OUTPUT}predicted_labels=p\n"
    out = output_of(f"[Parameters]\nkernel=rbf\ngamma=0.1\n{TRAINING}{TEST}{outputs}", capsys)
    assert out.startswith("iteration ")
    assert "converged: objective" in out
    predicted = read_labels("p")
    read = f"[Input]\nmodel=m\n{TEST}[Output]\npredicted_labels=p2\n"
    assert output_of(read, capsys).splitlines()[-3:] == out.splitlines()[-3:]
    np.testing.assert_array_equal(read_labels("p2"), predicted)


@pytest.mark.parametrize("training", ["f", "s"])
def test_features_that_only_training_or_test_has(folder, capsys, training):
    """More features than training has seen are refused; those that the test lacks are zero."""
    (folder / "s").write_text("\n".join(f"{k % 4}:{k + 1}" for k in range(60)) + "\n")
    inputs = TRAINING.replace("=f\n", f"={training}\n")
    output_of(f"[Parameters]\nkernel=rbf\n{inputs}{OUTPUT}", capsys)
    model = load_model("m")
    assert isinstance(model.support_vectors, np.ndarray) == (training == "f")
    predict = "[Input]\nmodel=m\nprediction_features={}\n[Output]\npredicted_labels=p\n"
    (folder / "wide").write_text("0:1 3:1 70:5\n2:1\n71:1\n")
    message = "wide has 72 features but the model was trained with 4"
    assert_refused(predict.format("wide"), message, capsys)
    (folder / "narrow").write_text("1:1\n0:0\n")
    output_of(predict.format("narrow"), capsys)
    expected = model.predict([[0, 1, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_allclose(read_labels("p"), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("kernel=rfb", r"line 2: kernel must be one of .*, not 'rfb' \(did you mean rbf\?\)"),
        ("kernel=Gaussian", r"line 2: kernel must .* \(did you mean GaussianKernel\?\)"),
        ("kernel=precomputed", "line 2: kernel must be one of .*, not 'precomputed'.*"),
        ("kernel=", "line 2: 'kernel' has no value: give one, or remove the line"),
        ("kernel=rbf\nkernel=linear", "line 3: kernel is given again, after line 2: .*"),
        ("Kernel=rbf", r"line 2: \[Parameters\] has no .* 'Kernel' \(did you mean kernel\?\)"),
        ("kernel=rbf\ngama=1", r"line 3: .* no attribute 'gama' \(did you mean gamma\?\)"),
        ("kernel=rbf\ngamma=x", "line 3: gamma must be a number, not 'x'"),
        ("kernel=rbf\ngamma=0", "line 3: gamma must be finite and greater than 0, not 0.0"),
        ("kernel=rbf\ngamma=1e999", "line 3: gamma must be finite and greater than 0, not inf"),
        ("kernel=polynomial\ndegree=-1", "line 3: degree must be finite and greater than 0.*"),
        ("kernel=polynomial\ncoef0=1e999", "line 3: coef0 must be finite, not inf"),
        (
            "kernel=rbf\nmax_memory=0",
            "line 3: max_memory must be a number of bytes .*",
        ),
        (
            "gamma=1",
            "line 2: the kernel linear has no use for gamma: remove it, or give as kernel one of "
            "rbf, polynomial, poly, sigmoid, laplacian, chi2",
        ),
        (
            "degree=2\nkernel=GaussianKernel",
            "line 2: the kernel rbf has no use for degree: .* one of polynomial, poly",
        ),
        ("kernel=sigmoid\ndegree=2", "line 3: the kernel sigmoid has no use for degree: .*"),
        ("kernel=cosine\ngamma=2", "line 3: the kernel cosine has no use for gamma: .*"),
        (
            "kernel=LinearKernel\nmax_memory=1e9",
            "line 3: the kernel linear has no use for max_memory: .* one of rbf, .*",
        ),
    ],
)
def test_what_is_wrong_or_leads_to_nothing_is_refused(capsys, lines, message):
    assert_refused(f"[Parameters]\n{lines}\n{TRAINING}{OUTPUT}", f"c.cfg, {message}", capsys)


@pytest.mark.parametrize("line", ["kernel=rbf", "kernel=linear", "kernel=rbf\ngamma=1"])
def test_a_kernel_for_a_model_that_is_read_is_refused(capsys, line):
    output_of(f"[Parameters]\nkernel=rbf\n{TRAINING}{OUTPUT}", capsys)
    assert_refused(
        f"[Parameters]\n{line}\n[Input]\nmodel=m\n{TEST}",
        r"c.cfg, line 2: kernel needs training data in \[Input\]: a model that is read has its own "
        "kernel",
        capsys,
    )


def test_too_little_memory_and_other_data_are_told(capsys):
    status, _, err = run(f"[Parameters]\nkernel=rbf\nmax_memory=1000\n{TRAINING}{OUTPUT}", capsys)
    assert status == 2
    assert "more than max_memory=1e-06 GB" in err
