"""The data of the benchmarks: shapes that are exactly those of the papers, and folders of LETOR."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from benchmarks.datasets.letor_folders import letor_folder, load_letor
from benchmarks.datasets.letor_shapes import SHAPES, make_letor_like, places, query_sizes
from benchmarks.datasets.random_shapes import make_random_shape
from benchmarks.datasets.small import make_small
from benchmarks.datasets.unlike_shapes import make_unlike_shape
from benchmarks.datasets.web_like import LABEL_SHARES, grades, make_web_like, web_like_blocks
from cases import make_loss
from ranksvm import dump_svmlight
from ranksvm.files.svmlight import DataError
from ranksvm.pairs.losses import Hinge
from ranksvm.pairs.queries import QueryGroups

CHEAP = ("MQ2007", "MQ2008")


def n_pairs(rows):
    return make_loss(Hinge, rows.y, QueryGroups.from_qid(rows.qid, len(rows.y))).pairs.n_pairs


@given(
    queries=st.integers(1, 60),
    mean=st.floats(1, 20),
    largest=st.integers(20, 60),
    spread=st.floats(0, 2),
    seed=st.integers(0, 99),
)
def test_query_sizes_have_their_sum_and_largest(queries, mean, largest, spread, seed):
    rows = round(queries * mean)
    sizes = query_sizes(np.random.default_rng(seed), rows, queries, largest, spread)
    assert len(sizes) == queries
    assert sizes.sum() == rows
    assert sizes.min() >= 1
    assert sizes.max() == min(largest, rows - queries + 1)


@pytest.mark.parametrize("name", SHAPES)
def test_full_sizes_are_those_of_the_table(name):
    shape = SHAPES[name]
    rng = np.random.default_rng(0)
    sizes = query_sizes(rng, shape.rows, shape.queries, shape.largest, shape.spread)
    assert (sizes.sum(), len(sizes), sizes.max()) == (shape.rows, shape.queries, shape.largest)
    if shape.shares:
        assert len(shape.shares) == shape.levels
        assert sum(shape.shares) == pytest.approx(1)
    else:
        assert shape.levels == shape.largest
        assert (sizes * (sizes - 1) // 2).sum() == pytest.approx(shape.pairs, rel=0.05)


@pytest.mark.parametrize("name", CHEAP)
def test_made_data_have_the_numbers_of_the_table(name):
    shape = SHAPES[name]
    train, test = make_letor_like(name)
    assert train.X.shape == (shape.rows, shape.features)
    assert (train.X.dtype, train.y.dtype) == (np.float32, np.float64)
    assert train.X.flags.c_contiguous
    np.testing.assert_array_equal(np.unique(train.y), np.arange(shape.levels))
    counts = np.bincount(train.qid)
    assert (len(counts), counts.min() > 0, counts.max()) == (shape.queries, True, shape.largest)
    assert n_pairs(train) == pytest.approx(shape.pairs, rel=0.05)
    assert test.X.shape[1] == shape.features
    assert len(np.unique(test.qid)) == round(shape.queries / 3)
    assert not np.intersect1d(train.qid, test.qid).size


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_shrink_by_queries(name):
    shape = SHAPES[name]
    train, _ = make_letor_like(name, scale=5 / shape.queries)
    counts = np.bincount(train.qid)
    assert len(counts) == 5
    assert len(train.y) == round(shape.rows * 5 / shape.queries)
    assert counts.max() == min(shape.largest, len(train.y) - 4)
    again, _ = make_letor_like(name, scale=5 / shape.queries)
    other, _ = make_letor_like(name, scale=5 / shape.queries, seed=1)
    np.testing.assert_array_equal(train.X, again.X)
    assert (train.X != other.X).any()
    if shape.scaled:
        for query in range(5):
            X = train.X[train.qid == query]
            assert (X.min(axis=0) == 0).all()
            assert set(np.unique(X.max(axis=0))) <= {0.0, 1.0}
    single, _ = make_letor_like(name, scale=0)
    assert np.unique(single.qid).tolist() == [0]


@pytest.mark.parametrize("name", ["MQ2007-list", "MQ2008-list"])
def test_lists_are_ordered_completely(name):
    train, _ = make_letor_like(name, scale=3 / SHAPES[name].queries)
    for query in range(3):
        y = np.sort(train.y[train.qid == query])
        np.testing.assert_array_equal(y, np.arange(len(y)))


def test_places_number_each_query_from_the_worst():
    qid = np.array([0, 0, 0, 1, 1])
    np.testing.assert_array_equal(places(np.array([3.0, 1, 2, 9, 8]), qid), [2, 0, 1, 1, 0])


def test_grades_have_their_shares_among_the_first():
    utility = np.concatenate([np.random.default_rng(0).permutation(1000), np.full(50, 1e6)])
    y = grades(utility, (0.7, 0.2, 0.1), n_train=1000)
    np.testing.assert_allclose(np.bincount(y[:1000].astype(int)), [700, 200, 100], atol=1)
    assert (y[1000:] == 2).all()


def test_web_like_data_have_the_shares_of_their_labels():
    X, y, qid = make_web_like(rows=9_000, queries=50, features=6)
    assert X.shape == (9_000, 6)
    assert len(np.unique(qid)) == 50
    np.testing.assert_allclose(np.bincount(y.astype(int)) / 9_000, LABEL_SHARES, atol=1e-3)


def test_small_data_span_the_unit_interval():
    X, y, qid = make_small(rows=300, queries=10, features=4)
    assert set(np.unique(y)) <= {0, 1, 2, 3}
    for query in range(10):
        assert X[qid == query].min() == 0
        assert X[qid == query].max() == 1


@pytest.fixture
def collection(tmp_path):
    rng = np.random.default_rng(0)
    parts = {}
    for part, n in (("train", 12), ("vali", 5), ("test", 7)):
        X = rng.standard_normal((n, 4))
        X[:, 3] *= part == "train"  # so that the other parts leave the last feature out
        parts[part] = X, rng.integers(0, 3, n).astype(float), np.sort(rng.integers(10, 13, n))
        (tmp_path / "Fold2").mkdir(exist_ok=True)
        X, y, qid = parts[part]
        dump_svmlight(tmp_path / "Fold2" / f"{part}.txt", X, y, qid)
    return tmp_path, parts


@pytest.mark.parametrize("within", [".", "Fold2"])
def test_letor_folders_are_read(collection, within):
    folder, parts = collection
    fold = load_letor(folder / within, fold=2, dtype=np.float64)
    for name, (X, y, qid) in parts.items():
        rows = getattr(fold, name)
        np.testing.assert_array_equal(rows.X, X)
        np.testing.assert_array_equal(rows.y, y)
        np.testing.assert_array_equal(rows.qid, qid)
    assert load_letor(folder, fold=2).train.X.dtype == np.float32


def test_sparse_letor_folders_are_read(collection):
    folder, _ = collection
    for part in ("train", "vali", "test"):
        last = 40 if part == "train" else 30
        (folder / "Fold2" / f"{part}.txt").write_text(f"1 qid:1 {last}:2\n0 qid:1 3:1\n")
    fold = load_letor(folder, fold=2)
    assert [rows.X.shape for rows in fold] == [(2, 40)] * 3
    assert [rows.X[0, 29] for rows in fold] == [0, 2, 2]


def test_what_is_no_letor_folder_is_refused_in_words(collection):
    folder, _ = collection
    with pytest.raises(FileNotFoundError, match=r"train\.txt is not there: RANKSVM_LETOR must"):
        load_letor(folder, fold=1)
    vali = folder / "Fold2" / "vali.txt"
    vali.write_text("1 1:1\n0 1:2\n")
    with pytest.raises(ValueError, match=r"vali\.txt has no query ids"):
        load_letor(folder, fold=2)
    vali.write_text("1 qid:1 1:one\n")
    with pytest.raises(DataError, match=r"vali\.txt, line 1"):
        load_letor(folder, fold=2)


def test_the_environment_names_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("RANKSVM_LETOR", str(tmp_path))
    assert letor_folder() == tmp_path
    monkeypatch.setenv("RANKSVM_LETOR", "")
    assert letor_folder() is None


def test_blocks_are_of_one_kind_and_have_queries_of_their_own():
    blocks = list(web_like_blocks(3, 4000, 40, 12))
    assert [X.shape for X, _, _ in blocks] == [(4000, 12)] * 3
    assert not (blocks[0][0] == blocks[1][0]).all(axis=1).any()
    qid = np.concatenate([ids for _, _, ids in blocks])
    assert (np.unique(qid) == np.arange(120)).all()
    assert (np.diff(qid) >= 0).all()
    for _, y, _ in blocks:
        assert np.bincount(y.astype(int)) / 4000 == pytest.approx(LABEL_SHARES, abs=0.05)
    again = next(web_like_blocks(1, 4000, 40, 12))
    assert (again[0] == blocks[0][0]).all()


@pytest.mark.parametrize(
    ("make", "seed"),
    [(make_random_shape, seed) for seed in (35, 46, 56, 79, 83)]
    + [(make_unlike_shape, seed) for seed in (6, 8, 10, 14, 17, 40, 46)],
)
def test_random_shapes_depend_on_their_number_alone(make, seed):
    first, again = make(seed), make(seed)
    assert sparse.issparse(first.X) == sparse.issparse(again.X)
    different = first.X != again.X
    assert (different.nnz if sparse.issparse(first.X) else different.sum()) == 0
    np.testing.assert_array_equal(first.y, again.y)
    assert np.isfinite(first.X.sum())
    assert n_pairs(first._replace(qid=np.repeat(0, len(first.y)))) > 0
    assert len(first.qid) == len(first.y) == first.X.shape[0]
