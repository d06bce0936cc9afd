"""Features whose scales lie far apart: when it is said, and when not."""

import warnings

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.preprocessing import PolynomialFeatures

from ranksvm import ConvergenceWarning, RankSVM, RankSVMCV, dump_svmlight, ranksvm_grid
from ranksvm.cli import main
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.scales import advice_on_scales

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
X = (X - X.mean(axis=0)) / X.std(axis=0)
y = np.digitize(X @ [1.0, 1.0, 0.2], [-1, 1])
APART = X * [1.0, 1e8, 1.0]


@pytest.mark.parametrize("layout", [np.ascontiguousarray, csr_matrix])
@pytest.mark.parametrize(
    ("factors", "said"), [([1, 1e7, 1], True), ([1, 1e-7, 1], True), ([1, 1e5, 1], False)]
)
def test_deviations_a_million_times_apart(layout, factors, said):
    matrix = DesignMatrix.from_array(layout(X * factors))
    advice = advice_on_scales(matrix.centered())
    assert (advice is not None) == said
    assert advice_on_scales(matrix.scaled(1 / np.array(factors)).centered()) is None
    if said:
        assert "differ by a factor of 1e+07" in advice
        assert "StandardScaler" in advice
        assert "--scale" in advice


@pytest.mark.parametrize("constant", [0.0, 1.0, 1e9, -1e-9])
def test_constants_do_not_count(constant):
    for small in (1.0, 1e-8):
        rows = np.c_[small * X, np.full(60, constant)]
        for layout in (np.ascontiguousarray, csr_matrix):
            assert advice_on_scales(DesignMatrix.from_array(layout(rows)).centered()) is None
            assert advice_on_scales(DesignMatrix.from_array(layout(rows))) is None


def test_rare_features_of_sparse_rows_are_no_small_ones():
    n = 40_000
    rows = csr_matrix((np.ones(n + 1), (np.r_[0:n, 7], np.r_[np.zeros(n), 1])), shape=(n, 2))
    often = rows.indices == 0
    rows.data[often] = 1e5 * np.where(np.arange(n) % 2, 1, -1)
    assert abs(rows.data[0]) / np.sqrt(1 / n) > 1e6  # the ratio of the deviations
    assert advice_on_scales(DesignMatrix.from_array(rows)) is None
    rows.data[often] *= 1e5
    assert advice_on_scales(DesignMatrix.from_array(rows)) is not None


def test_numbers_that_are_too_large_or_none():
    for factors in ([1.0, 1e200, 1.0], [0.0, 0.0, 0.0], [1e-200, 1.0, 1.0]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            advice_on_scales(DesignMatrix.from_array(X * factors))


def test_nothing_is_said_unless_asked_for(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RankSVM().fit(APART, y)
    assert capsys.readouterr().err == ""
    RankSVM(verbose=1).fit(APART, y)
    assert capsys.readouterr().err.count("note: the standard deviations of features differ") == 1
    RankSVM(verbose=1).fit(X, y)
    assert "note" not in capsys.readouterr().err


def test_a_fit_that_falls_short_is_told():
    with pytest.warns(ConvergenceWarning, match=r"increase it, or tol\); the standard deviations"):
        RankSVM(max_iter=1, tol=1e-12).fit(APART, y)
    with pytest.warns(ConvergenceWarning, match=r"increase it, or tol\)$"):
        RankSVM(max_iter=1, tol=1e-12).fit(X, y)


def texts(caught):
    return [str(warning.message) for warning in caught]


def test_a_grid_that_falls_short_is_told_once():
    for rows, n in ((APART, 1), (X, 0)):
        with pytest.warns(ConvergenceWarning) as caught:
            ranksvm_grid(rows, y, Cs=[0.1, 1.0, 10.0], max_iter=1, tol=1e-12)
        assert len(caught) == 3
        assert ["deviations" in text for text in texts(caught)] == [n > 0, False, False]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ranksvm_grid(APART, y, Cs=[0.1, 1.0])


@pytest.mark.parametrize("refit", [False, True])
def test_cross_validation_says_so_once(refit, capsys):
    options = {"Cs": [0.1, 1.0], "cv": 2, "refit": refit}
    for rows, n in ((APART, 1), (X, 0)):
        with pytest.warns(ConvergenceWarning) as caught:
            RankSVMCV(max_iter=1, tol=1e-12, **options).fit(rows, y)
        assert sum("deviations" in text for text in texts(caught)) == n
        assert capsys.readouterr().err == ""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            RankSVMCV(**options, verbose=1).fit(rows, y)
        assert capsys.readouterr().err.count("note: the standard deviations") == n


@pytest.mark.parametrize("model", [[], ["m"]])
def test_ranksvm_cv_says_so_once(model, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    dump_svmlight("d", APART, y)
    command = ["cv", "d", *model, "--folds", "2", "--Cs", "0.1,1,10"]
    assert main(command) == 0
    assert capsys.readouterr().err.count("note: the standard deviations") == 1
    for option in (["--scale", "standard"], ["--quiet"]):
        assert main([*command, *option]) == 0
        assert "deviations" not in capsys.readouterr().err


def test_the_command_line_says_so(tmp_path, capsys):
    dump_svmlight(tmp_path / "d", APART, y)
    assert main(["train", str(tmp_path / "d"), str(tmp_path / "m")]) == 0
    assert "\nnote: the standard deviations of features differ by" in capsys.readouterr().err
    for option in (["--scale", "standard"], ["--quiet"]):
        assert main(["train", str(tmp_path / "d"), str(tmp_path / "m"), *option]) == 0
        assert "deviations" not in capsys.readouterr().err


def test_passes_over_X(monkeypatch):
    matrix = DesignMatrix.from_array(np.ascontiguousarray(X))
    matrix.t_dot(np.ones(60))
    monkeypatch.setattr(DesignMatrix, "t_dot_squares", None)
    monkeypatch.setattr(matrix._products, "t_dot", None)
    assert advice_on_scales(matrix) is None


@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("C", [1.0, 30.0, 1e3, 1e4])
def test_planes_go_on_where_equations_of_raw_squares_lead_nowhere(C, solver):
    X, y = load_wine(return_X_y=True)
    squares = PolynomialFeatures(2, include_bias=False).fit_transform(X)
    model = RankSVM(C=C, solver=solver, n_threads=1).fit(squares, y)
    assert model.status_ == "converged"
    # All pairs can be ranked, so that C hardly matters.
    assert model.objective_ == pytest.approx(1.702e-4, rel=2e-3)


@pytest.mark.parametrize(("scale", "C"), [(1e4, 1e3), (1e6, 1.0)])
def test_planes_go_on_where_steps_have_led_into_a_valley(scale, C):
    X, y = load_breast_cancer(return_X_y=True)
    model = RankSVM(C=C, max_iter=3000, n_threads=1).fit(scale * X, y)
    assert model.status_ == "converged"
    # The margin is hard, so that neither C nor the scale, but for its square, matters.
    assert model.objective_ * scale**2 == pytest.approx(7.3e7, rel=2e-3)
