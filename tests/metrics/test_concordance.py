"""The concordance index, against every comparable pair, and against scikit-survival."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from ranksvm import concordance_index, pairwise_accuracy
from strategies import integers, times


@given(times(), st.data())
def test_agrees_with_every_pair(case, data):
    risk = data.draw(integers(len(case.time), -8, 8)) / 8
    tied_tol = data.draw(st.sampled_from([0.0, 1e-8, 0.125, 0.3]))
    arguments = {"qid": case.qid, "tied_tol": tied_tol}
    if not reference.comparable_pairs(case.event, case.time, case.qid):
        with pytest.raises(ValueError, match="no comparable pairs"):
            concordance_index(case.event, case.time, risk, **arguments)
        return
    expected = reference.concordance_index(case.event, case.time, risk, **arguments)
    found = concordance_index(case.event, case.time, risk, **arguments)
    assert found == pytest.approx(expected, abs=1e-14)


@given(times(), times(), st.data())
def test_uno_agrees_with_every_pair(case, train, data):
    assume(reference.comparable_pairs(case.event, case.time))
    assume(case.time.max() < 1e100 and 1e-100 < train.time.max() < 1e100)
    risk = data.draw(integers(len(case.time), -8, 8)) / 8
    tau = data.draw(st.sampled_from([None, 1.0, 3.0, 20.0]))
    counted = case.event & (case.time < (np.inf if tau is None else tau))
    left = np.array(
        [reference.uncensored(train.event, train.time, t, also_then=True) for t in case.time]
    )
    arguments = {"ipcw": "uno", "tau": tau, "train": (train.event, train.time)}
    weight = np.divide(counted, left**2, out=np.zeros(len(left)), where=counted & (left > 1e-12))
    known = not np.any(counted & ((left < 1e-12) | (case.time > train.time.max())))
    pairs = reference.comparable_pairs(case.event, case.time)
    if not known or sum(weight[i] for i, _ in pairs) == 0:
        with pytest.raises(ValueError, match=r"give tau|no comparable pairs"):
            concordance_index(case.event, case.time, risk, **arguments)
        return
    expected = reference.concordance_index(case.event, case.time, risk, weight=weight)
    found = concordance_index(case.event, case.time, risk, **arguments)
    assert found == pytest.approx(expected, rel=1e-12, abs=1e-14)
    arguments["train"] = train.y
    assert concordance_index(case.event, case.time, risk, **arguments) == found


def test_is_pairwise_accuracy_where_all_events_are_seen():
    rng = np.random.default_rng(0)
    time, risk = rng.integers(0, 20, 100), rng.normal(size=100)
    found = concordance_index(np.ones(100), time, risk)
    assert found == pytest.approx(pairwise_accuracy(-time, risk), rel=1e-14)


def test_sample_weight_is_the_same_as_repeated_rows():
    rng = np.random.default_rng(1)
    n = 40
    event, time, risk = rng.integers(0, 2, n), rng.integers(0, 9, n), rng.integers(0, 9, n)
    weight = rng.integers(0, 3, n)
    rows = np.repeat(np.arange(n), weight)
    expected = concordance_index(event[rows], time[rows], risk[rows])
    assert concordance_index(event, time, risk, sample_weight=weight) == pytest.approx(expected)


@pytest.mark.parametrize("n_distinct", [15, 10**6])
@pytest.mark.parametrize("tau", [None, 0.7])
def test_agrees_with_scikit_survival(n_distinct, tau):
    metrics = pytest.importorskip("sksurv.metrics", reason="scikit-survival is not installed")
    rng = np.random.default_rng(2)
    fields = [("event", bool), ("time", float)]

    def rows(n):
        event, time = rng.random(n) < 0.6, np.ceil(n_distinct * rng.random(n)) / n_distinct
        event[np.argmax(time)] = False
        return np.array(list(zip(event, time, strict=True)), dtype=fields)

    train, y = rows(400), rows(200)
    train["event"][np.argmax(train["time"])] = True
    risk = np.round(rng.normal(size=200) - y["time"], 1)
    expected = metrics.concordance_index_censored(y["event"], y["time"], risk)[0]
    assert concordance_index(y["event"], y["time"], risk) == pytest.approx(expected, rel=1e-13)
    if tau is None:
        y["event"] &= y["time"] < train["time"].max()
    expected = metrics.concordance_index_ipcw(train, y, risk, tau=tau)[0]
    found = concordance_index(y["event"], y["time"], risk, ipcw="uno", tau=tau, train=train)
    assert found == pytest.approx(expected, rel=1e-13)


def test_values_by_hand():
    event, time = [1, 0, 1, 1], [2, 2, 3, 5]
    # (0, 1), (0, 2), (0, 3) and (2, 3) are comparable.
    assert concordance_index(event, time, [4, 3, 2, 1]) == 1
    assert concordance_index(event, time, [3, 3, 1, 2]) == 2.5 / 4
    # G is 2/3 from time 2 on: of four rows, one has had its event, and one of three is censored.
    found = concordance_index(event, time, [3, 3, 1, 2], ipcw="uno", tau=3)
    assert found == pytest.approx(2.5 / 3)
    # Of those that are known, half are censored at time 3: pairs of row 2 weigh 4.
    train = ([1, 0, 1], [1, 3, 9])
    found = concordance_index(event, time, [3, 3, 1, 2], ipcw="uno", train=train)
    assert found == pytest.approx(2.5 / 7)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"risk": [1, 2]}, "time has length 4 but risk has length 2"),
        ({"risk": [1, np.nan, 1, 1]}, "risk must be finite; row 1 holds nan"),
        ({"event": [0, 0, 0, 0]}, "no comparable pairs: every row is censored"),
        ({"event": [0, 0, 0, 1]}, "no comparable pairs: within every stratum, no event"),
        ({"tied_tol": -1}, "tied_tol must be finite and not negative, not -1"),
        ({"ipcw": "uno_strata"}, "ipcw must be 'uno' or None for the concordance index"),
        ({"ipcw": "uno", "train": ([0, 0], [1, 2])}, "row 0 has an event at 2, by when no row"),
        ({"ipcw": "uno", "train": ([1, 1], [1, 2.5])}, "row 2 has an event at 3, by when no row"),
    ],
)
def test_what_is_wrong_is_refused(change, message):
    arguments = {"event": [1, 0, 1, 1], "time": [2, 2, 3, 5], "risk": [4, 3, 2, 1]}
    with pytest.raises(ValueError, match=message):
        concordance_index(**{**arguments, **change})
