"""What is said of gaps that were not reached, and to whom."""

import subprocess
import sys
import warnings

import numpy as np
import pytest
import sklearn.exceptions

import ranksvm
from cases import make_problem
from ranksvm import (
    KernelRankSVM,
    KernelRankSVMPathCV,
    RankSVM,
    RankSVMCV,
    dump_svmlight,
    ranksvm_grid,
    regularization_path,
)

NARROW = {"lambda_min_ratio": 1e-18}
HOPELESS = {
    "RankSVM": lambda *rows: RankSVM(tol=1e-12, max_iter=1).fit(*rows),
    "RankSVMCV": lambda *rows: RankSVMCV([1.0], cv=2, tol=1e-12, max_iter=1).fit(*rows),
    "KernelRankSVM": lambda *rows: KernelRankSVM(tol=1e-12, max_iter=1).fit(*rows),
    "KernelRankSVMPathCV": lambda *rows: KernelRankSVMPathCV(gammas=1e-3, cv=2, **NARROW).fit(
        *rows
    ),
    "ranksvm_grid": lambda *rows: ranksvm_grid(*rows, [1.0], tol=1e-12, max_iter=1),
    "regularization_path": lambda *rows: regularization_path(
        *rows, kernel="rbf", gamma=1e-3, **NARROW
    ),
}


@pytest.fixture(scope="module")
def problem():
    X, y, qid = make_problem(1, n=60, n_queries=4)
    return X, np.digitize(y, np.quantile(y, [0.3, 0.6])), qid


@pytest.mark.parametrize("train", HOPELESS.values(), ids=HOPELESS)
def test_the_warning_points_at_the_call(problem, train):
    with pytest.warns(ranksvm.ConvergenceWarning) as caught:
        train(*problem)
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("train", HOPELESS.values(), ids=HOPELESS)
def test_filters_for_scikit_learn_are_obeyed(problem, train):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sklearn.exceptions.ConvergenceWarning)
        train(*problem)


def test_the_command_line_tells_it_without_scikit_learn(problem, tmp_path):
    order = np.argsort(problem[2], kind="stable")
    dump_svmlight(tmp_path / "data", *(values[order] for values in problem))
    program = (
        "import sys\n"
        "from ranksvm.cli import main\n"
        "main(['train', *sys.argv[1:], '--max-iter', '1', '--tol', '1e-12', '-q'])\n"
        "assert 'sklearn' not in sys.modules\n"
    )
    files = str(tmp_path / "data"), str(tmp_path / "model")
    done = subprocess.run([sys.executable, "-c", program, *files], capture_output=True, text=True)
    assert done.returncode == 0
    assert done.stderr.startswith("ranksvm: warning: not converged: the relative duality gap is ")


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize(
    ("C", "scale", "remedy"),
    [
        (1e308, 1.0, r"\(C=1e\+308 is too large for floating point, its square overflows; decreas"),
        (1e150, 1.0, r"\(C=1e\+150 is too large for floating point"),
        (1.0, 1e200, r"\(X times C is too large for floating point; scale X, say to stand"),
        (1.0, 1e100, r"\(X times C is too large for floating point; scale X, say to stand"),
    ],
)
def test_overflow_is_told_with_what_to_scale(problem, loss, C, scale, remedy):
    X, y, qid = problem
    with pytest.warns(ranksvm.ConvergenceWarning, match=remedy) as caught:
        RankSVM(C, loss=loss).fit(scale * X, y, qid)
    assert "increase tol" not in str(caught[0].message)
