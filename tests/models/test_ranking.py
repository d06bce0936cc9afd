import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ranksvm import LinearModel, QueryScaler, RankSVM, rank
from ranksvm.models.ranking import ranked


@given(
    rows=st.lists(st.tuples(st.integers(0, 3), st.sampled_from([-1.0, 0.0, 2.0])), max_size=20),
    top=st.none() | st.integers(1, 5),
)
def test_the_best_of_each_query(rows, top):
    qid = np.array([query for query, _ in rows], dtype=int)
    scores = np.array([score for _, score in rows], dtype=float)
    found = ranked(scores, qid, top)
    expected = {}
    for query in set(qid.tolist()):
        own = [k for k in range(len(rows)) if qid[k] == query]
        expected[query] = sorted(own, key=lambda k: -scores[k])[:top]
    by_query = {query: found.rows[found.qid == query].tolist() for query in expected}
    assert by_query == expected
    assert found.scores.tolist() == scores[found.rows].tolist()
    assert sum(map(len, expected.values())) == len(found.rows)
    for query in expected:
        assert found.ranks[found.qid == query].tolist() == [*range(1, len(expected[query]) + 1)]


def test_without_queries_all_rows_are_one_ranking():
    model = LinearModel(np.array([1.0, 0.0]))
    found = rank(model, [[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]], top=2)
    assert found.rows.tolist() == [1, 2]
    assert found.qid is None


def test_query_ids_in_a_column():
    frame = pd.DataFrame({"q": list("aabb"), "x": [1.0, 2.0, 3.0, 4.0]})
    model = RankSVM(qid="q").fit(frame, [0, 1, 0, 1])
    found = rank(model, frame, "q", top=1)
    assert found.qid.tolist() == ["a", "b"]
    assert found.rows.tolist() == [1, 3]
    assert rank(model.to_model(), frame, "q").rows.tolist() == [1, 0, 3, 2]


def test_models_that_map_within_queries():
    from sklearn.pipeline import make_pipeline

    from ranksvm.models.from_estimators import model_of

    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(30, 2)), np.repeat([0, 1, 2], 10)
    scaled = QueryScaler().fit_transform(X, qid=qid)
    ranker = RankSVM().fit(scaled, X[:, 0], qid)
    model = model_of(make_pipeline(QueryScaler().fit(X), ranker))
    expected = ranked(ranker.predict(scaled), qid, 3)
    assert rank(model, X, qid, top=3).rows.tolist() == expected.rows.tolist()


@pytest.mark.parametrize("top", [0, -1, 1.5, "2"])
def test_top_is_a_whole_number(top):
    with pytest.raises(ValueError, match="top must be a whole number of at least 1"):
        rank(LinearModel(np.array([1.0])), [[1.0]], top=top)
