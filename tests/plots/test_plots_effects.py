"""The curves of additive rankers."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_matrix
from sklearn.kernel_approximation import Nystroem
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, SplineTransformer, StandardScaler

from cases import make_problem
from ranksvm import KernelRankSVM, LinearModel, RankSVM, dump_svmlight
from ranksvm.cli import main
from ranksvm.models.effects import contributions, effect_curves, split_at_queries
from ranksvm.models.from_estimators import model_of
from ranksvm.models.maps import QueryMap
from ranksvm.plots import FeatureEffectDisplay, save_figure

STEPS = [
    [],
    [StandardScaler()],
    [QuantileTransformer(n_quantiles=10)],
    [SplineTransformer(4)],
    [StandardScaler(), QuantileTransformer(n_quantiles=10), SplineTransformer(3, degree=2)],
]


def problem():
    """Return rows of which the first feature matters most, and by its square."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    return X, np.digitize(X[:, 0] ** 2 + 0.3 * X[:, 2], [0.3, 1.0, 2.0])


def fitted(steps, X, y):
    return make_pipeline(*steps, RankSVM()).fit(X, y)


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_contributions_add_up_to_scores(steps):
    X, y = problem()
    model = model_of(fitted(steps, X, y))
    _, rest = split_at_queries(model)
    for rows in (X, csr_matrix(X)):
        added = contributions(rest, rows)
        np.testing.assert_allclose(added.sum(axis=1), model.predict(X), atol=1e-12)
    other = X.copy()
    other[:, 1] = 0.5
    np.testing.assert_array_equal(contributions(rest, other)[:, [0, 2]], added[:, [0, 2]])


@pytest.mark.parametrize("steps", STEPS, ids=str)
def test_curves_are_what_a_feature_changes(steps):
    X, y = problem()
    model = model_of(fitted(steps, X, y))
    display = FeatureEffectDisplay.from_estimator(model, X, n_shown=2)
    assert len(display.axes_) == len(display.lines_) == 2
    for k, line in zip(display.shown_, display.lines_, strict=True):
        values, effect = line.get_data()
        assert values[[0, -1]] == pytest.approx(np.quantile(X[:, k], [0.01, 0.99]))
        rows = np.tile(X[0], (len(values), 1))
        rows[:, k] = values
        scores = model.predict(rows)
        np.testing.assert_allclose(effect - effect[0], scores - scores[0], atol=1e-11)


def test_the_largest_effects_come_first_and_show_their_shape(tmp_path):
    X, y = problem()
    pipeline = fitted([SplineTransformer()], pd.DataFrame(X, columns=["a", "_b", "$c$"]), y)
    display = FeatureEffectDisplay.from_estimator(pipeline, X)
    assert list(display.shown_) == [0, 2, 1]
    assert [ax.get_xlabel() for ax in display.axes_] == ["a", "$c$", "_b"]
    values, effect = display.lines_[0].get_data()
    assert abs(values[effect.argmin()]) < 0.3
    assert min(effect[0], effect[-1]) > effect.min() + 1
    assert len({ax.get_ylim() for ax in display.axes_}) == 1
    save_figure(display.figure_, tmp_path / "e.png")


def test_maps_know_the_values_of_features():
    X, y = problem()
    for steps in STEPS[2:]:
        display = FeatureEffectDisplay.from_estimator(fitted(steps, X, y))
        k = display.shown_[0]
        ends = display.lines_[0].get_xdata()[[0, -1]]
        np.testing.assert_allclose(ends, [X[:, k].min(), X[:, k].max()], rtol=1e-9)
    with pytest.raises(ValueError, match="the model does not know what values its features have"):
        FeatureEffectDisplay.from_estimator(fitted([], X, y))


def test_within_queries_curves_are_over_what_is_scaled():
    X, _, qid = make_problem(3, d=2)
    model = LinearModel(np.array([1.0, -2.0]), maps=[QueryMap(2)])
    values, effects = effect_curves(model)
    np.testing.assert_array_equal(values[[0, -1]], [[0, 0], [1, 1]])
    np.testing.assert_allclose(effects, values * [1, -2])
    display = FeatureEffectDisplay.from_estimator(model, X, qid=qid)
    assert list(display.shown_) == [1, 0]
    with pytest.raises(ValueError, match="maps features within queries: give qid with X"):
        FeatureEffectDisplay.from_estimator(model, X)


def test_what_is_no_sum_is_refused():
    X, y = problem()
    for ranker in (fitted([Nystroem(n_components=5)], X, y), KernelRankSVM().fit(X, y)):
        with pytest.raises(ValueError, match="the scores are no sum of what each feature adds"):
            FeatureEffectDisplay.from_estimator(ranker, X)


@pytest.mark.parametrize(
    ("arguments", "n_shown", "message"),
    [
        (([[0, 0]], [[1]]), 1, r"values of shape \(1, 2\) but effects of shape \(1, 1\)"),
        (([[0, 0]], [[1, 1]], ["a"]), 1, "curves of 2 features but names of 1"),
        (([[0, 0]], [[1, 1]]), 0, "n_shown must be at least 1, not 0"),
    ],
)
def test_mistakes_are_named(arguments, n_shown, message):
    with pytest.raises(ValueError, match=message):
        FeatureEffectDisplay(*arguments).plot(n_shown=n_shown)


def test_the_command_draws(tmp_path, capsys):
    X, y = problem()
    train, model, out = (tmp_path / name for name in ("train", "m.json", "e.svg"))
    dump_svmlight(train, X, y, np.arange(300) // 10)
    for options in (["--scale", "quantile"], ["--scale", "query"], ["--features", "splines"]):
        assert main(["train", str(train), str(model), "-q", *options]) == 0
        for data in ([], ["--data", str(train)]):
            out.unlink(missing_ok=True)
            assert main(["plot", "effects", str(model), str(out), "-n", "2", *data]) == 0
            assert out.read_bytes().startswith(b"<?xml")
    assert main(["train", str(train), str(model), "-q"]) == 0
    assert main(["plot", "effects", str(model), str(out)]) == 2
    assert "does not know what values its features have: give the rows" in capsys.readouterr().err
    assert main(["plot", "effects", str(model), str(out), "--data", str(train)]) == 0
