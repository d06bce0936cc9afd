"""Training on packed data is training on the same rows in memory, to the last bit."""

import mmap

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_array_equal

from ranksvm import RankSVM, RankSVMCV, open_data, pack
from ranksvm.disk.data import PackedData
from ranksvm.files.source import DataError
from ranksvm.linear.design_matrix import DesignMatrix
from ranksvm.linear.parameters import Parameters
from ranksvm.selection.cross_validation import cross_validate
from ranksvm.selection.rows import TrainingRows


def make_rows(kind, dtype, n=300, d=9, offset=0.0):
    rng = np.random.default_rng(7)
    X = rng.standard_normal((n, d)) * np.exp(rng.uniform(-3, 5, d))
    y = np.digitize(X @ rng.standard_normal(d) / np.exp(3) + rng.standard_normal(n), [-1, 0, 1])
    qid = np.sort(rng.integers(0, 25, n))
    if kind == "csr":
        X = scipy.sparse.csr_matrix(X * (rng.random((n, d)) < 0.3))
    else:
        X += offset
    return X.astype(dtype), y.astype(float), qid


def in_blocks(X, y, qid, n=70):
    return ((X[i : i + n], y[i : i + n], qid[i : i + n]) for i in range(0, len(y), n))


def assert_same(ours, theirs):
    assert_array_equal(ours.coef_, theirs.coef_)
    for name in ("objective_", "dual_gap_", "status_", "n_iter_", "n_pairs_", "n_queries_"):
        assert getattr(ours, name) == getattr(theirs, name)


@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("solver", ["auto", "newton", "trust_region", "bundle"])
@pytest.mark.parametrize("offset", [0.0, 1e7])
def test_bits_are_the_same_as_in_memory(tmp_path, kind, dtype, solver, offset):
    X, y, qid = make_rows(kind, dtype, offset=offset)
    data = pack(in_blocks(X, y, qid), tmp_path / "d.rsvm")
    model = RankSVM(
        loss="hinge" if solver == "bundle" else "squared_hinge", solver=solver, tol=1e-5
    )
    expected = model.fit(X, y, qid)
    scores, accuracy = expected.predict(X), expected.score(X, y, qid)
    packed = RankSVM(**model.get_params()).fit(data)
    assert_same(packed, expected)
    assert_array_equal(packed.predict(data), scores)
    assert packed.score(data) == accuracy
    assert packed.history_[-1].n_passes <= expected.history_[-1].n_passes


def test_what_is_known_saves_a_pass(tmp_path):
    X, y, qid = make_rows("dense", np.float64)
    model = RankSVM(solver="newton").fit(X, y, qid)
    n_passes = model.history_[-1].n_passes
    model.fit(pack(in_blocks(X, y, qid), tmp_path / "d"))
    assert model.history_[-1].n_passes == n_passes - 1


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_cross_validation(tmp_path, kind):
    X, y, qid = make_rows(kind, np.float64)
    data = pack(in_blocks(X, y, qid), tmp_path / "d.rsvm")
    ours, theirs = (RankSVMCV(Cs=[0.1, 1], cv=3) for _ in range(2))
    assert_same(ours.fit(data), theirs.fit(X, y, qid))
    assert_array_equal(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"])


def test_passes_serve_all_folds(tmp_path):
    X, y, qid = make_rows("dense", np.float64, n=2000)
    data = pack(in_blocks(X, y, qid), tmp_path / "d.rsvm")
    n_passes = RankSVM().fit(data).history_[-1].n_passes
    parameters = [Parameters(C=float(C)) for C in np.logspace(-3, 3, 10)]

    def validated(X):
        rows = TrainingRows(X, data.preferences())
        return cross_validate(rows, parameters, rows.folds(5), "pairwise_accuracy_pooled")

    mapped, held = validated(data.design_matrix()), validated(DesignMatrix.from_array(X))
    assert_array_equal(mapped.scores, held.scores)
    assert_array_equal(mapped.dual_gaps, held.dual_gaps)
    assert mapped.n_passes <= 8 * n_passes
    assert held.n_passes is None


def test_weights_are_those_that_were_packed(tmp_path):
    X, y, qid = make_rows("dense", np.float64)
    weight = np.random.default_rng(0).random(len(y))
    data = pack([(X, y, qid, weight)], tmp_path / "d")
    assert_same(RankSVM().fit(data), RankSVM().fit(X, y, qid, sample_weight=weight))
    other = np.ones(len(y))
    expected = RankSVM().fit(X, y, qid, sample_weight=other)
    assert_same(RankSVM().fit(data, sample_weight=other), expected)
    expected = RankSVM().fit(X, y, qid).score(X, y, qid, sample_weight=weight)
    assert RankSVM().fit(X, y, qid).score(data) == expected


def test_names_of_queries_and_features(tmp_path):
    X, y, qid = make_rows("dense", np.float64, d=2)
    blocks = [(X, y, [f"q{q}" for q in qid])]
    data = pack(blocks, tmp_path / "d", feature_names=["one", "two"])
    model = RankSVM().fit(data)
    assert_same(model, RankSVM().fit(X, y, qid))
    assert model.feature_names_in_.tolist() == ["one", "two"]
    assert model.to_model().feature_names == ["one", "two"]


def test_pairs_in_place_of_labels(tmp_path):
    X, y, qid = make_rows("dense", np.float64)
    data = pack(in_blocks(X, y, qid), tmp_path / "d")
    pairs = [[0, 1], [5, 2], [100, 101]]
    assert_same(RankSVM().fit(data, pairs=pairs), RankSVM().fit(X, qid=qid, pairs=pairs))
    assert RankSVM().fit(data, pairs=pairs).score(data, pairs=pairs) == 1.0


def test_what_the_data_have_is_not_given_again(tmp_path):
    X, y, qid = make_rows("dense", np.float64)
    data = pack(in_blocks(X, y, qid), tmp_path / "d")
    with pytest.raises(ValueError, match="has its own labels and query ids: leave out y"):
        RankSVM().fit(data, y)
    with pytest.raises(ValueError, match="leave out qid"):
        RankSVM().fit(data, qid=qid)
    with pytest.raises(ValueError, match="X has 9 features, but RankSVM is expecting 2"):
        RankSVM().fit(X[:, :2], y, qid).predict(data)


def test_arrays_are_mapped(tmp_path):
    X, y, qid = make_rows("dense", np.float64)
    data = pack(in_blocks(X, y, qid), tmp_path / "d")
    assert not data.X.flags.writeable
    assert not data.X.flags.owndata
    assert isinstance(data.X.base, mmap.mmap)
    assert repr(data).endswith("300 rows, 9 features, 25 queries; dense float64, 27.4 kB)")


def test_data_that_change_under_training_are_refused(tmp_path, monkeypatch):
    X, y, qid = make_rows("dense", np.float64)
    data = pack(in_blocks(X, y, qid), tmp_path / "d")
    known = PackedData.design_matrix

    def touched(self, *arguments):
        with open(tmp_path / "d" / "X.npy", "r+b") as file:
            file.seek(200)
            file.write(b"12345678")
        return known(self, *arguments)

    model = RankSVM().fit(data)
    monkeypatch.setattr(PackedData, "design_matrix", touched)
    with pytest.raises(DataError, match=r"X\.npy changed while it was in use"):
        RankSVM().fit(data)
    with pytest.raises(DataError, match="changed while it was in use"):
        model.predict(open_data(tmp_path / "d"))


def test_progress_says_how_fast_x_is_read(tmp_path, capsys):
    X, y, qid = make_rows("dense", np.float64)
    model = RankSVM(verbose=1).fit(pack(in_blocks(X, y, qid), tmp_path / "d"))
    header, *lines = capsys.readouterr().err.splitlines()
    assert header.split()[:2] == ["MB/s", "iteration"]
    last = model.history_[-1]
    assert [int(line.split()[1]) for line in lines if line.endswith("newton")][-1] == last.iteration
    RankSVM(verbose=1).fit(X, y, qid)
    assert capsys.readouterr().err.split()[0] == "iteration"
