"""Fits that end for lack of memory, or by an interruption: whoever catches that has no half fit."""

import contextlib
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ranksvm import KernelRankSVM, KernelRankSVMPathCV, RankSVM, RankSVMCV, dump_svmlight
from ranksvm.cli import main
from ranksvm.estimators import kernel_rank_svm, kernel_rank_svm_path_cv, rank_svm
from ranksvm.kernel.factor import KernelFactor
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.selection.paths import FoldPaths

FAULTS = [MemoryError, KeyboardInterrupt]


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 3))
    return X, (X[:, 0] > 0).astype(float), np.arange(60) // 20


# Where each fails: in its products, or when nearly all is done.
PLACES = [
    (RankSVM(), DesignMatrix, "t_dot"),
    (RankSVM(), rank_svm, "eval_scores"),
    (RankSVMCV(Cs=[0.1, 1.0], cv=2), DesignMatrix, "dot"),
    (RankSVMCV(Cs=[0.1, 1.0], cv=2), RankSVMCV, "_keep"),
    (KernelRankSVM(), KernelFactor, "dual_coef"),
    (KernelRankSVM(), kernel_rank_svm, "eval_scores"),
    (KernelRankSVMPathCV(gammas=[0.1], cv=2), FoldPaths, "validate"),
    (KernelRankSVMPathCV(gammas=[0.1], cv=2), kernel_rank_svm_path_cv, "solve_path"),
]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(("ranker", "where", "name"), PLACES)
@pytest.mark.parametrize("fitted", [False, True])
def test_a_fit_that_fails_leaves_nothing(ranker, where, name, fault, fitted, data, monkeypatch):
    ranker = type(ranker)(**ranker.get_params())
    untouched = set(vars(ranker))
    if fitted:
        before = dict(vars(ranker.fit(*data)))
        check_is_fitted(ranker)

    def fail(*args, **kwargs):
        raise fault

    with monkeypatch.context() as patch:
        patch.setattr(where, name, fail)
        with pytest.raises(fault):
            ranker.fit(*data)
    if fitted and fault is KeyboardInterrupt:  # as if nothing had happened
        assert vars(ranker).keys() == before.keys()
        assert all(vars(ranker)[name] is value for name, value in before.items())
    else:
        assert {name for name in vars(ranker) if name.endswith("_")} <= untouched
        with pytest.raises(NotFittedError):
            ranker.predict(data[0])
    again = ranker.fit(*data).predict(data[0])
    np.testing.assert_array_equal(
        again, type(ranker)(**ranker.get_params()).fit(*data).predict(data[0])
    )


STARVED = """
import resource, sys
import numpy as np
from pathlib import Path
from sklearn.exceptions import NotFittedError
from ranksvm import RankSVM

rng = np.random.default_rng(0)
X = rng.standard_normal((400_000, 4))
y = rng.standard_normal(400_000)
# OpenBLAS ends the process where it cannot have its buffers: it shall have them.
RankSVM(solver="newton", n_threads=2).fit(X[:9000], y[:9000])
ranker = RankSVM(loss=sys.argv[1], n_threads=2, tol=1e-9).fit(X[:9000], y[:9000])
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
died = 0
for room in range(0, 60 << 20, int(sys.argv[2]) << 20):
    resource.setrlimit(resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
    try:
        ranker.fit(X, y)
    except MemoryError:
        died += 1
        try:
            ranker.predict(X[:1])
        except NotFittedError:
            continue
        sys.exit("fitted by half")
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
ranker.fit(X[:9000], y[:9000]).predict(X[:1])
print(died)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="needs limits of address space")
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_memory_runs_out_anywhere(loss):
    """In the core, on any of its threads, and in Python: MemoryError is all that comes."""
    step = 6 if "EXPLORE" in os.environ else 12  # MB
    command = [sys.executable, "-c", STARVED, loss, str(step)]
    found = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    assert int(found.stdout) >= 30 // step


@pytest.mark.parametrize("fault", FAULTS)
def test_a_training_that_dies_leaves_the_old_model_file(fault, data, tmp_path, monkeypatch):
    def fail(*args, **kwargs):
        raise fault

    rows, model = tmp_path / "rows", tmp_path / "model.json"
    dump_svmlight(rows, *data)
    model.write_text("old")
    monkeypatch.setattr(DesignMatrix, "t_dot", fail)
    with contextlib.suppress(fault, SystemExit):
        main(["train", str(rows), str(model)])
    assert model.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.json", "rows"]
