"""Models find their features in data frames by name."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cases import make_problem
from ranksvm import KernelRankSVM, LinearModel, RankSVM, load_model, save_model

NAMES = list("abcde")


@pytest.fixture(params=[RankSVM(), KernelRankSVM()], ids=["linear", "kernel"])
def loaded(request, tmp_path):
    """A model that was saved and loaded, rows, and their scores."""
    X, y, qid = make_problem(3, d=5)
    ranker = request.param.fit(pd.DataFrame(X, columns=NAMES), y, qid)
    save_model(ranker, tmp_path / "model.json")
    model = load_model(tmp_path / "model.json")
    return model, X, model.predict(X)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_columns_are_found_in_any_order_and_among_others(loaded, frame):
    model, X, scores = loaded
    columns = dict(zip(NAMES, X.T, strict=True))
    others = {"id": ["x"] * len(X), **{name: columns[name] for name in "edcba"}}
    for named in (columns, others):
        np.testing.assert_array_equal(model.predict(frame(named)), scores)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_columns_are_named(loaded, frame):
    model, X, _ = loaded
    columns = dict(zip("aBcD", X.T, strict=False))
    with pytest.raises(ValueError, match="X lacks the column 'b' and 2 more, which the model was"):
        model.predict(frame(columns))


def test_frames_without_names_are_taken_by_position(loaded):
    model, X, scores = loaded
    np.testing.assert_array_equal(model.predict(pd.DataFrame(X)), scores)
    with pytest.raises(ValueError, match="X has 4 features but the model has 5"):
        model.predict(pd.DataFrame(X[:, :4]))


def test_a_column_that_comes_twice_is_refused(loaded):
    model, X, _ = loaded
    with pytest.raises(ValueError, match="X has the column 'b' twice: leave out one of them"):
        model.predict(pd.DataFrame(X[:, [0, 1, 1, 2, 3, 4]], columns=list("abbcde")))


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e308])
def test_rows_without_a_finite_score_are_named(bad):
    model = LinearModel(np.array([0.0, 4.0]))
    message = "X must be finite, and not too large; the score of row 1 is"
    with pytest.raises(ValueError, match=message):
        model.predict([[1, 2], [3, bad]])
    if not bad < np.inf:
        with pytest.raises(ValueError, match=message):
            model.predict([[1, 2], [bad, 3]])
