import numpy as np
import pytest

from ranksvm import (
    LinearModel,
    evaluate,
    explain,
    feature_importance,
    ranksvm_grid,
    regularization_path,
)

X = np.random.default_rng(0).normal(size=(30, 20))
y = np.arange(30) % 3
QID = np.repeat([0, 1, 2], 10)
MODEL = LinearModel(np.r_[2.5, -3.0, 0.0, np.arange(17.0) / 100], [f"<f{k}>" for k in range(20)])
RESULTS = {
    "evaluation": lambda: evaluate(y, MODEL.predict(X), QID),
    "model": lambda: MODEL,
    "grid": lambda: ranksvm_grid(X, y, QID, Cs=[1, 10]),
    "path": lambda: regularization_path(X[:8], y[:8]),
    "contributions": lambda: explain(MODEL, X, QID),
    "importance": lambda: feature_importance(MODEL, X, y, QID),
}


@pytest.mark.parametrize("kind", RESULTS)
def test_results_are_short_tables(kind):
    result = RESULTS[kind]()
    text, markup = repr(result), result._repr_html_()
    assert len(text.splitlines()) <= 16
    assert max(map(len, text.splitlines())) < 100
    assert "<table>" in markup
    assert "<f1>" not in markup
    pd = pytest.importorskip("pandas")
    assert isinstance(result.to_frame(), pd.DataFrame)


def test_what_an_evaluation_shows():
    found = evaluate([2, 0, 1, 1], [0.3, 0.1, 0.2, 0.9], ["a", "a", "b", "b"], ["map", "ndcg@1"])
    assert repr(found).splitlines() == [
        "Evaluation of 2 queries",
        "metric  mean  queries",
        "   map     1        2",
        "ndcg@1     1        2",
    ]
    pytest.importorskip("pandas")
    assert list(found.to_frame().columns) == ["query", "map", "ndcg@1"]


def test_a_model_shows_its_largest_weights_first():
    lines = repr(MODEL).splitlines()
    assert lines[0] == "Linear ranker of 20 features, 18 of them with a weight"
    assert lines[2].split() == ["<f1>", "-3"]
    assert lines[3].split() == ["<f0>", "2.5"]
    assert lines[-1] == "... and 6 more rows, in to_frame()"
    assert "&lt;f1&gt;" in MODEL._repr_html_()
