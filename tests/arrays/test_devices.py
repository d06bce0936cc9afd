"""RankSVM on arrays of Torch, and on the devices that it is told."""

import pickle
import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from ranksvm import KernelRankSVM, RankSVM, RankSVMCV, cli, dump_svmlight, load_model
from ranksvm.arrays import gpus, placement
from ranksvm.linear.design_matrix import DesignMatrix

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
no_gpu = pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU")


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = np.round(64 * rng.normal(size=(400, 6)) * [1, 3, 0.5, 1, 9, 2]) / 64
    y = np.floor(X @ rng.normal(size=6) / 4 + rng.normal(size=400))
    return X, y, rng.integers(0, 7, 400)


def sparse_tensor(X, layout=torch.sparse_csr):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that sparse tensors are young
        return torch.asarray(X).to_sparse(layout=layout)


KINDS = {
    "float64": torch.asarray,
    "float32": lambda X: torch.asarray(X, dtype=torch.float32),
    "by columns": lambda X: torch.asarray(X.T.copy()).T,
    "csr": sparse_tensor,
    "float32 csr": lambda X: sparse_tensor(X.astype(np.float32)),
    "coo": lambda X: sparse_tensor(X, torch.sparse_coo),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
def test_tensors_give_the_same_model(problem, kind, loss):
    X, y, qid = problem
    model = RankSVM(loss=loss, tol=1e-12 if loss == "squared_hinge" else 1e-9)
    expected = clone(model).fit(X, y, qid)
    tensors = KINDS[kind](X), torch.asarray(y), torch.asarray(qid)
    model.fit(*tensors)
    assert type(model.coef_) is np.ndarray
    assert model.coef_.dtype == np.float64
    assert model.status_ == "converged"
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    scores = model.predict(tensors[0])
    assert isinstance(scores, torch.Tensor)
    assert scores.dtype == torch.float64
    np.testing.assert_allclose(scores.numpy(), expected.predict(X), rtol=1e-9, atol=1e-12)
    assert type(model.predict(X)) is np.ndarray
    assert model.score(*tensors) == pytest.approx(expected.score(X, y, qid), abs=1e-12)


def test_float32_storage_reaches_the_same_gap(problem):
    X, y, qid = problem
    X = X / 3  # not exact in single precision
    single = torch.asarray(X.astype(np.float32))
    for solver in ("newton", "trust_region"):
        model = RankSVM(solver=solver, tol=1e-12).fit(single, y, qid)
        assert model.dual_gap_ <= 1e-12
        # What it certifies is the optimum of the rows as they are stored.
        stored = RankSVM(solver=solver, tol=1e-12).fit(single.numpy().astype(np.float64), y, qid)
        assert model.objective_ == pytest.approx(stored.objective_, rel=1e-12)
        np.testing.assert_allclose(model.coef_, stored.coef_, rtol=1e-5)


def test_weights_and_groups_may_be_tensors(problem):
    X, y, qid = problem
    weight, of_query = np.linspace(0, 2, len(y)), np.linspace(1, 2, 7)[qid]
    expected = RankSVM(tol=1e-12).fit(X, y, qid, weight, of_query)
    given = map(torch.asarray, (X, y, qid, weight, of_query))
    held_out = {"eval_set": [tuple(map(torch.asarray, (X, y)))], "eval_qid": [torch.asarray(qid)]}
    model = RankSVM(tol=1e-12).fit(*given, **held_out)
    np.testing.assert_allclose(model.coef_, expected.coef_, rtol=1e-9)
    assert model.evals_result_["valid_0"]["pairwise_accuracy_pooled"][0] > 0.5
    groups = torch.asarray([100, 300])
    in_two = RankSVM(tol=1e-12).fit(torch.asarray(X), torch.asarray(y), group=groups)
    np.testing.assert_allclose(
        in_two.coef_, RankSVM(tol=1e-12).fit(X, y, group=[100, 300]).coef_, rtol=1e-9
    )


def test_a_tensor_that_needs_a_gradient_is_taken_as_it_is(problem):
    X, y, qid = problem
    model = RankSVM().fit(torch.asarray(X).requires_grad_(), y, qid)
    assert not model.predict(torch.asarray(X).requires_grad_()).requires_grad


def test_a_model_of_tensors_is_a_model_like_any_other(problem):
    X, y, qid = problem
    model = RankSVM(device=None, warm_start=True).fit(torch.asarray(X), y, qid)
    assert model.get_params()["device"] is None
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    model.fit(torch.asarray(X), y, qid)
    assert model.n_iter_ == 0
    assert model.n_features_in_ == 6


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X[:, 0], "Expected 2D array"),
        (lambda X: X[:0], r"0 sample\(s\)"),
        (lambda X: X[:, :0], r"0 feature\(s\)"),
        (lambda X: torch.where(X > 9, torch.nan, X), "NaN"),
        (lambda X: X + 1j, "[Cc]omplex"),
        (lambda X: X[:50], "inconsistent numbers of samples"),
    ],
)
def test_bad_tensors_are_refused(problem, change, message):
    X, y, qid = problem
    with pytest.raises(ValueError, match=message):
        RankSVM().fit(change(torch.asarray(X)), y, qid)


def test_rows_of_other_features_are_refused(problem):
    X, y, qid = problem
    model = RankSVM().fit(torch.asarray(X), y, qid)
    with pytest.raises(ValueError, match="4 features"):
        model.predict(torch.asarray(X[:, :4]))


def test_whole_numbers_are_converted(problem):
    X, y, qid = problem
    whole = torch.asarray(np.round(X)).to(torch.int32)
    expected = RankSVM(tol=1e-12).fit(np.round(X), y, qid)
    np.testing.assert_allclose(
        RankSVM(tol=1e-12).fit(whole, y, qid).coef_, expected.coef_, rtol=1e-9
    )


# --- devices by name ------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [RankSVMCV(Cs=[0.1, 1], cv=3), KernelRankSVM(kernel="rbf")])
@pytest.mark.parametrize("kind", ["needs a gradient", "csr"])
def test_estimators_of_the_processor_take_tensors(problem, estimator, kind):
    X, y, qid = problem
    tensor = sparse_tensor(X) if kind == "csr" else torch.asarray(X.copy()).requires_grad_()
    here = sparse.csr_matrix(X) if kind == "csr" else X
    expected = clone(estimator).fit(here, y, qid)
    model = clone(estimator).fit(tensor, torch.asarray(y), torch.asarray(qid))
    scores = np.asarray(model.predict(tensor))
    np.testing.assert_allclose(scores, expected.predict(here), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "device", ["gpu", "cuda:", "cuda:x", "CUDA", 0, "torch", "auto", "cupy:cpu"]
)
def test_unknown_devices_are_named(problem, device):
    X, y, qid = problem
    with pytest.raises(ValueError, match="device must be None"):
        RankSVM(device=device).fit(X, y, qid)


@pytest.mark.parametrize("kind", ["float64", "by columns", "csr"])
def test_the_processor_takes_the_core(problem, kind):
    X, y, qid = problem
    assert isinstance(placement.design_matrix(KINDS[kind](X), "cpu"), DesignMatrix)
    model = RankSVM(device="cpu", tol=1e-12).fit(KINDS[kind](X), y, qid)
    np.testing.assert_allclose(model.coef_, RankSVM(tol=1e-12).fit(X, y, qid).coef_, rtol=1e-9)


@no_gpu
def test_no_gpu_is_told_in_a_sentence(problem, tmp_path, capsys):
    X, y, qid = problem
    for device in ("cuda", "cuda:1", "torch:cuda", "torch:cuda:1"):
        with pytest.raises(ValueError, match=r"no CUDA device: .*device=\"cpu\""):
            RankSVM(device=device).fit(X, y, qid)
    data = tmp_path / "data.svm"
    order = np.argsort(qid, kind="stable")
    dump_svmlight(data, X[order], y[order], qid[order])
    assert cli.main(["train", str(data), str(tmp_path / "model"), "--device", "cuda"]) == 2
    assert "error: no CUDA device" in capsys.readouterr().err
    assert cli.main(["train", str(data), str(tmp_path / "model"), "--device", "torch:cpu"]) == 0
    assert load_model(tmp_path / "model").coef.shape == (6,)


def test_no_library_for_a_gpu_is_told_in_a_sentence(problem, monkeypatch):
    X, y, qid = problem

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(gpus.ArrayDevice, "named", missing)
    with pytest.raises(ImportError, match=r"ranksvm\[torch\].*ranksvm\[cuda12\]"):
        RankSVM(device="cuda").fit(X, y, qid)


@pytest.mark.parametrize("device", ["numpy:cpu", "torch:cpu"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_library_computes_where_it_is_named(problem, kind, device):
    X, y, qid = problem
    matrix = placement.design_matrix(KINDS[kind](X), device)
    assert matrix.device == gpus.ArrayDevice.named(device)
    model = RankSVM(device=device, tol=1e-12).fit(KINDS[kind](X), y, qid)
    np.testing.assert_allclose(model.coef_, RankSVM(tol=1e-12).fit(X, y, qid).coef_, rtol=1e-9)


def test_what_the_names_of_devices_ask_for(problem, monkeypatch):
    """The GPU of X before others, and its library, unless another is named."""
    asked, processor = [], placement.device_of(torch.ones(2, 2))
    monkeypatch.setattr(gpus, "find_gpu", lambda *of: asked.append(of) or processor)
    on_host, tensor = np.eye(2), torch.eye(2)
    for device in ("cuda", "cuda:1", "torch:cuda", "cupy:cuda:2"):
        placement.design_matrix(on_host, device)
    assert asked == [
        (0, ("torch", "cupy")),
        (1, ("torch", "cupy")),
        (0, ("torch",)),
        (2, ("cupy",)),
    ]
    asked.clear()
    monkeypatch.setattr(placement, "on_gpu", lambda X: X is tensor)
    for device in ("cuda", "torch:cuda"):
        assert placement.design_matrix(tensor, device).device == processor
    assert asked == []
    placement.design_matrix(tensor, "cuda:3")
    placement.design_matrix(tensor, "cupy:cuda")
    assert asked == [(3, ("torch", "cupy")), (0, ("cupy",))]


def test_no_memory_left_is_told_in_a_sentence(problem, monkeypatch):
    X, y, qid = problem

    def take(self, values, places):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 32.00 MiB.")

    monkeypatch.setattr("ranksvm.arrays.device.ArrayDevice.take", take)
    with pytest.raises(MemoryError, match=r"ran out of memory in training; free some.*\"cpu\""):
        RankSVM().fit(torch.asarray(X), y, qid)


def test_double_precision_is_needed():
    class Phone:
        xp, device = np, "mps:0"

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ranksvm.arrays.device.ArrayDevice.of", lambda X: Phone)
        with pytest.raises(ValueError, match="mps:0, which has no double precision"):
            placement.device_of(torch.ones(2, 2))


def test_no_array_library_is_imported_unless_asked():
    program = (
        "import sys, numpy as np, ranksvm\n"
        "X = np.arange(6.0).reshape(3, 2)\n"
        "for device in (None, 'cpu'):\n"
        "    ranksvm.RankSVM(device=device).fit(X, [0, 1, 2]).score(X, [0, 1, 2])\n"
        "print([name for name in ('torch', 'cupy', 'array_api_compat') if name in sys.modules])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
