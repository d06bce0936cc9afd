"""The native functions never convert an array silently: copies cost memory and lose results."""

import numpy as np
import pyarrow as pa
import pytest

from ranksvm import _core


@pytest.fixture
def pairs():
    return _core.PreferencePairs(np.arange(4.0), np.array([0, 4]), None, None, None)


@pytest.mark.parametrize(
    "scores",
    [
        np.zeros(4, dtype=np.float32),
        np.zeros(4, dtype=np.int64),
        np.zeros(8)[::2],
        np.zeros((4, 1)),
        [0.0, 0.0, 0.0, 0.0],
    ],
    ids=["float32", "int64", "strided", "2-D", "list"],
)
def test_sweep_takes_contiguous_float64_only(pairs, scores):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.Sweep(pairs, scores, "squared_hinge", 1.0, "auto")


def test_laplacian_takes_contiguous_float64_only(pairs):
    sweep = _core.Sweep(pairs, np.zeros(4), "squared_hinge", 1.0, "auto")
    for v in (np.zeros(4, np.float32), np.zeros((4, 2), order="F"), np.zeros((4, 4))[:, ::2]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            sweep.laplacian(v)


def test_matrices_take_contiguous_arrays_only():
    for X in (np.zeros((3, 2), order="F"), np.zeros((3, 4))[:, ::2], np.zeros((3, 2), int)):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.DenseMatrix64(X)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        _core.CsrMatrix64(np.array([0, 1], np.int32), np.array([0], np.int32), np.ones(1), 1)


def test_read_only_arrays_are_welcome(pairs):
    scores = np.zeros(4)
    scores.flags.writeable = False
    assert _core.Sweep(pairs, scores, "squared_hinge", 1.0, "auto").n_active == 6


def test_results_are_views_that_cannot_be_written(pairs):
    sweep = _core.Sweep(pairs, np.zeros(4), "squared_hinge", 1.0, "auto")
    assert not sweep.gradient.flags.writeable
    gradient = sweep.gradient
    del sweep  # the view keeps its owner
    assert gradient.tolist() == [6, 2, -2, -6]


def test_shapes_are_checked():
    with pytest.raises(ValueError, match="query_start must rise"):
        _core.PreferencePairs(np.arange(4.0), np.array([0, 3]), None, None, None)
    for order in ([0, 2], [1, 1]):
        rows = np.array(order, np.uint32)
        with pytest.raises(ValueError, match="must be a permutation"):
            _core.PreferencePairs(np.arange(2.0), np.array([0, 2]), rows, None, None)
    with pytest.raises(ValueError, match="outside the matrix"):
        _core.CsrMatrix64Long(np.array([0, 1]), np.array([5]), np.ones(1), 3)
    with pytest.raises(ValueError, match="unknown way of counting 'abacus'"):
        _core.Sweep(
            _core.PreferencePairs(np.arange(2.0), np.array([0, 2]), None, None, None),
            np.zeros(2),
            "squared_hinge",
            1.0,
            "abacus",
        )


def test_given_pairs_are_checked():
    winner, loser = np.array([0, 1], np.uint32), np.array([1, 2], np.uint32)
    with pytest.raises(ValueError, match="no such row"):
        _core.GivenPairs(2, winner, loser)
    with pytest.raises(ValueError, match="must be as many"):
        _core.GivenPairs(3, winner, loser[:1])
    with pytest.raises(ValueError, match="must be as many"):
        _core.GivenPairs(3, winner, loser, np.ones(3))
    given = _core.GivenPairs(3, winner, loser)
    with pytest.raises(ValueError, match="one score per row"):
        _core.GivenSweep(given, np.zeros(2), "hinge", 1.0)
    for loss, width in (("hinge", 1.0), ("smoothed_hinge", 0.0)):
        with pytest.raises(ValueError, match="a width above 0 is for the smoothed hinge"):
            _core.GivenSweep(given, np.zeros(3), loss, 1.0, width)
    sweep = _core.GivenSweep(given, np.zeros(3), "hinge", 1.0)
    with pytest.raises(ValueError, match="one number per row"):
        sweep.laplacian(np.zeros(2))
    gradient = sweep.gradient
    assert not gradient.flags.writeable
    del sweep, given  # views keep their owners
    assert gradient.tolist() == [-1, 0, 1]


def test_scores_must_be_finite(pairs):
    with pytest.raises(ValueError, match="scores must be finite"):
        _core.Sweep(pairs, np.array([0.0, np.nan, 1.0, 2.0]), "hinge", 1.0, "auto")


def batch_of(columns):
    """Return columns as they travel by Arrow's interface."""
    names = [f"f{k}" for k in range(len(columns))]
    return pa.RecordBatch.from_arrays(list(map(pa.array, columns)), names).__arrow_c_array__()


@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (7, 9), (63, 8), (65, 17), (600, 7), (257, 24)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_become_those_of_a_matrix(shape, dtype):
    expected = np.random.default_rng(0).normal(size=shape).astype(dtype)
    found = np.full(shape, np.nan, dtype)
    assert _core.fill_rows(found, *batch_of(expected.T.copy()), 1)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_columns_of_every_type_become_what_numpy_makes_of_them(dtype):
    rng = np.random.default_rng(1)
    kinds = ["f8", "f4", "i8", "u8", "i4", "u4", "i2", "u2", "i1", "u1"]
    columns = [
        rng.integers(np.iinfo(kind).min, np.iinfo(kind).max, 300, kind, endpoint=True)
        if kind[0] != "f"
        else rng.normal(size=300).astype(kind)
        for kind in np.resize(kinds, 25)
    ]
    found = np.empty((200, 25), dtype)
    names = list(map(str, range(25)))
    part = pa.RecordBatch.from_arrays(list(map(pa.array, columns)), names).slice(7, 200)
    assert _core.fill_rows(found, *part.__arrow_c_array__(), 1)
    expected = np.column_stack([column[7:207].astype(dtype) for column in columns])
    assert found.tobytes() == expected.tobytes()


def test_columns_on_threads():
    rng = np.random.default_rng(2)
    columns = list(rng.normal(size=(40, 30_000)))
    X = np.empty((30_000, 40))
    for n_threads in (1, 3):
        X.fill(np.nan)
        assert _core.fill_rows(X, *batch_of(columns), n_threads)
        assert (columns == X.T).all()
    columns[37][29_999] = np.inf
    assert not _core.fill_rows(X, *batch_of(columns), 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, None])
def test_columns_that_are_not_finite_are_told(dtype, value):
    largest = np.finfo(dtype).max
    columns = [np.full(300, sign * largest) for sign in (1, -1) for _ in range(5)]
    X = np.empty((300, 10), dtype)
    assert _core.fill_rows(X, *batch_of(columns), 1)  # whose sums overflow
    for row, column in [(0, 0), (299, 7), (299, 9), (257, 8), (3, 4), (298, 2)]:
        changed = [list(column) for column in columns]
        changed[column][row] = value
        assert not _core.fill_rows(X, *batch_of(changed), 1)


def test_numbers_that_single_precision_does_not_hold_are_told():
    X = np.empty((300, 9), np.float32)
    for column in (0, 8):
        columns = [np.zeros(300) for _ in range(9)]
        columns[column][17] = 1e300
        assert not _core.fill_rows(X, *batch_of(columns), 1)


def test_columns_must_fit_a_matrix():
    X, column = np.zeros((3, 2)), np.zeros(3)
    assert _core.fill_rows(X, *batch_of([column] * 3), 1)  # the first two of them
    for columns in ([column], [np.zeros(4)] * 2, [column, ["x", "y", "z"]]):
        with pytest.raises(ValueError, match="columns"):
            _core.fill_rows(X, *batch_of(columns), 1)
    schema, rows = batch_of([column, column])
    with pytest.raises(ValueError, match="capsule of a schema"):
        _core.fill_rows(X, rows, schema, 1)
    with pytest.raises(ValueError, match="capsule of an array"):
        _core.fill_rows(X, schema, schema, 1)
    for matrix in (np.zeros((3, 2), order="F"), np.zeros((3, 4))[:, ::2]):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            _core.fill_rows(matrix, schema, rows, 1)
