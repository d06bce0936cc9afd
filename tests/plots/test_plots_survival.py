"""Pictures of times of events."""

import numpy as np
import pytest

from ranksvm import SurvivalSVM
from ranksvm.plots import KaplanMeierDisplay, save_figure


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    time = np.ceil(9 * np.exp(-X[:, 0]) * rng.exponential(size=90))
    return X, rng.random(90) < 0.6, time


def test_a_curve_for_each_third(rows, tmp_path):
    X, event, time = rows
    model = SurvivalSVM().fit(X, event=event, time=time)
    display = KaplanMeierDisplay.from_estimator(model, X, event=event, time=time)
    order = np.argsort(-model.predict(X))
    names = ("highest", "middle", "lowest")
    for line, part, name in zip(display.lines_, np.split(order, 3), names, strict=True):
        n_events = event[part].sum()
        assert line.get_label() == f"{name} third of risk: 30 rows, {n_events} events"
        for t, left in zip(line.get_xdata(), line.get_ydata(), strict=True):
            expected = 1.0
            for k in np.unique(time[part][time[part] <= t]):
                leaving = np.sum(event[part] & (time[part] == k))
                expected *= 1 - leaving / np.sum(time[part] >= k)
            assert left == pytest.approx(expected, abs=1e-12)
        assert line.get_drawstyle() == "steps-post"
    save_figure(display.figure_, tmp_path / "curves.png")
    assert (tmp_path / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_equal_risks_stay_together(rows):
    _, event, time = rows
    display = KaplanMeierDisplay.from_predictions(event, time, np.repeat([0.0, 1.0], [60, 30]))
    labels = [line.get_label() for line in display.lines_]
    assert [label.split(" of risk: ")[1].split(",")[0] for label in labels] == [
        "30 rows",
        "60 rows",
    ]


def test_other_numbers_of_parts(rows):
    _, event, time = rows
    risk = np.arange(90.0)
    for n, first in [(2, "highest half"), (4, "highest quarter"), (7, "highest part")]:
        display = KaplanMeierDisplay.from_predictions(event, time, risk, n_parts=n)
        assert len(display.lines_) == n
        assert display.lines_[0].get_label().startswith(first)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_parts": 1}, "n_parts must be at least 2, not 1"),
        ({"risk": [1.0]}, "time has length 90 but risk has length 1"),
        ({"time": -np.ones(90)}, "time must not be negative"),
        ({"event": [], "time": [], "risk": []}, "there are no rows to draw"),
    ],
)
def test_what_cannot_be_drawn_is_refused(rows, change, message):
    _, event, time = rows
    arguments = {"event": event, "time": time, "risk": np.arange(90.0), **change}
    with pytest.raises(ValueError, match=message):
        KaplanMeierDisplay.from_predictions(**arguments)
