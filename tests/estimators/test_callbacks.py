"""Callbacks of scikit-learn, from 1.9 on."""

import subprocess
import sys

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from ranksvm import KernelRankSVM, KernelSurvivalSVM, RankSVM, SurvivalSVM

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn is older than 1.9")

RNG = np.random.default_rng(1)
X = RNG.normal(size=(60, 3))
QID = np.repeat([0, 1, 2], 20)
Y = np.digitize(X[:, 0] + RNG.normal(size=60), [0, 1])
TIMES = np.array([(True, 1.0 + t) for t in range(60)], dtype=[("event", "?"), ("time", "f8")])


class Record:
    """Writes down what it is told, and stops after some iterations."""

    max_propagation_depth = None

    def __init__(self, most=None):
        self.most, self.told = most, []

    def setup(self, estimator, context):
        self.told.append("setup")

    def teardown(self, estimator, context):
        self.told.append("teardown")

    def on_fit_task_begin(self, estimator, context, *, X=None, y=None, metadata=None):
        pass

    def on_fit_task_end(self, estimator, context, *, X=None, metadata=None, fitted_estimator=None):
        self.told.append(context.task_name)
        if context.task_name == "fit":
            self.fitted, self.X, self.metadata = fitted_estimator, X, metadata
        return self.told.count("iteration") == self.most


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (RankSVM(), Y),
        (KernelRankSVM(), Y),
        (SurvivalSVM(), TIMES),
        (KernelSurvivalSVM(), TIMES),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_fit_and_its_iterations_are_tasks(model, y):
    record = Record()
    model.set_callbacks(record).fit(X, y, QID)
    n = len(model.history_)
    assert record.told == ["setup", *["iteration"] * n, "fit", "teardown"]
    np.testing.assert_array_equal(record.fitted.predict(X), model.predict(X))
    assert record.X is X
    assert record.metadata["qid"] is QID
    assert not hasattr(model, "_callback_fit_ctx")


def test_results_are_the_same_with_callbacks():
    plain, told = RankSVM().fit(X, Y, QID), RankSVM().set_callbacks(Record()).fit(X, Y, QID)
    assert plain.coef_.tobytes() == told.coef_.tobytes()
    assert plain.objective_ == told.objective_


def test_a_callback_stops_the_solver_with_a_certificate():
    model = RankSVM(tol=1e-9, solver="trust_region").set_callbacks(Record(most=3))
    model.fit(X, Y, QID)
    assert model.status_ == "stopped"
    assert len(model.history_) == 3
    best = RankSVM(tol=1e-9).fit(X, Y, QID).objective_
    assert model.objective_ * (1 - model.dual_gap_) <= best <= model.objective_


def test_callbacks_end_with_a_fit_that_fails():
    record = Record()
    model = RankSVM().set_callbacks(record)
    with pytest.raises(ValueError, match="no preference pairs"):
        model.fit(X, np.zeros(60))
    assert record.told == ["setup", "teardown"]
    assert not hasattr(model, "_callback_fit_ctx")


def test_searches_pass_callbacks_on():
    record = Record()
    search = GridSearchCV(RankSVM(), {"C": [0.1, 1.0]}, cv=2).set_callbacks(record)
    search.fit(X, Y)
    assert record.told.count("fit") >= 5
    assert record.told.count("setup") == record.told.count("teardown") == 1


def test_monitors_of_scores():
    accuracy = lambda model, X, y, qid: model.score(X, y, qid)  # noqa: E731
    monitor = callback.ScoringMonitor(scoring={"accuracy": accuracy})
    model = RankSVM().set_callbacks(monitor).fit(X, Y, QID)
    (logged,) = monitor.get_logs().data
    assert logged["accuracy"] == model.score(X, Y, QID)


def test_older_versions_of_scikit_learn_have_none():
    program = (
        "import sys, sklearn.base; sys.modules['sklearn.callback'] = None\n"
        "from ranksvm import RankSVM\n"
        "model = RankSVM().fit([[0.0], [1.0]], [0, 1])\n"
        "assert not hasattr(model, 'set_callbacks')\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
