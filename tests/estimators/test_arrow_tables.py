"""Tables of pyarrow in place of data frames, and frames without rows."""

import numpy as np
import polars as pl
import pyarrow as pa
import pytest

from ranksvm import KernelRankSVM, RankSVM, rank


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    table = pa.table({"query": np.repeat(["a", "b"], 20), "x": X[:, 0], "y": X[:, 1], "z": X[:, 2]})
    return X, table, rng.integers(0, 3, 40)


@pytest.mark.parametrize("estimator", [RankSVM(qid="query"), KernelRankSVM(qid="query")])
def test_tables_are_data_frames(problem, estimator):
    _, table, y = problem
    of_frame = estimator.fit(table.to_pandas(), y)
    expected, score = of_frame.predict(table.to_pandas()), of_frame.score(table.to_pandas(), y)
    found = estimator.fit(table, y)
    assert found.feature_names_in_.tolist() == ["x", "y", "z"]
    assert (found.predict(table) == expected).all()
    assert found.score(table, y) == score
    assert (found.predict(table.drop_columns(["query"])) == expected).all()


def test_models_take_columns_by_name(problem):
    X, table, y = problem
    model = RankSVM().fit(table.drop_columns(["query"]), y).to_model()
    assert (model.predict(table.select(["z", "query", "x", "y"])) == model.predict(X)).all()
    best = rank(model, table, "query", top=1)
    assert best.qid.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="X lacks the column 'x'"):
        model.predict(table.select(["z", "y"]))


def test_the_usual_names_of_query_ids_are_warned_of(problem):
    X, _, y = problem
    with pytest.warns(UserWarning, match="the column 'qid' for a feature"):
        RankSVM().fit(pa.table({"qid": [1.0] * 40, "x": X[:, 0]}), y)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array(["u", "v"]), "row 0 of column 'x' is 'u'"),
        (pa.array(["u", "v"]).dictionary_encode(), "row 0 of column 'x' is 'u'"),
        (pa.array([0, 1], pa.timestamp("s")), "column 'x' holds dates or times"),
        (pa.array([1.0, None]), "contains NaN"),
    ],
)
def test_what_is_no_number_is_refused(column, message):
    with pytest.raises(ValueError, match=message):
        RankSVM().fit(pa.table({"x": column}), [0, 1])


def test_frames_without_rows_are_refused(problem):
    X, _, y = problem
    frame = pl.DataFrame(X, schema=["x", "y", "z"])
    fitted = RankSVM().fit(frame, y)
    for use in (lambda X: RankSVM().fit(X, y), fitted.predict, fitted.to_model().predict):
        with pytest.raises(TypeError, match=r"X is a LazyFrame, .* give X.collect\(\)"):
            use(frame.lazy())
    assert (fitted.predict(frame.lazy().collect()) == fitted.predict(frame)).all()
