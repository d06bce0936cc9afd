"""Times of events as preferences, against every comparable pair."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reference
from ranksvm.pairs.core_pairs import CorePairs
from ranksvm.pairs.explicit import ExplicitPairs
from ranksvm.pairs.kaplan_meier import KaplanMeier
from ranksvm.pairs.survival import Survival
from strategies import times, weights


def weight_of_each(preferences):
    """The weight of each pair that has one, by its rows."""
    pairs = ExplicitPairs.of(preferences)
    keys = zip(pairs.better.tolist(), pairs.worse.tolist(), strict=True)
    return dict(zip(keys, pairs.weight.tolist(), strict=True))


@given(times())
def test_pairs_are_the_comparable_ones(case):
    survival = Survival.of(case.y)
    expected = reference.comparable_pairs(case.event, case.time, case.qid)
    if not case.event.any():
        assert expected == []
        with pytest.raises(ValueError, match="no comparable pairs: every row is censored"):
            survival.preferences(case.qid)
        return
    if not expected:
        with pytest.raises(ValueError, match="no comparable pairs: within every stratum"):
            survival.preferences(case.qid)
        return
    preferences = survival.preferences(case.qid)
    assert weight_of_each(preferences) == dict.fromkeys(expected, 1.0)
    assert CorePairs(preferences).n_pairs == len(expected)


@given(times(), st.data())
def test_weights_by_censoring(case, data):
    assume(case.event.any())
    weight = data.draw(weights(len(case.time)))
    assume(weight is None or weight.any())
    tau = data.draw(st.sampled_from([None, np.inf, float(np.median(case.time))]))
    ipcw = data.draw(st.sampled_from(["uno", "uno_strata"]))
    assume(tau is None or (tau > 0 and (case.event & (case.time < tau)).any()))
    of_rows = reference.row_weights(weight, len(case.time))
    query = reference.query_index(case.qid if ipcw == "uno_strata" else None, len(case.time))
    expected = {}
    for i, j in reference.comparable_pairs(case.event, case.time, case.qid):
        known = query == query[i]
        if of_rows[i] * of_rows[j] > 0 and (tau is None or case.time[i] < tau):
            left = reference.uncensored(
                case.event[known],
                case.time[known],
                case.time[i],
                also_then=False,
                weight=of_rows[known],
            )
            expected[i, j] = of_rows[i] * of_rows[j] / left**2
    survival = Survival.of(event=case.event, time=case.time)
    if not expected:
        with pytest.raises(ValueError, match="no comparable pairs: within every stratum"):
            survival.preferences(case.qid, weight, ipcw=ipcw, tau=tau)
        return
    found = weight_of_each(survival.preferences(case.qid, weight, ipcw=ipcw, tau=tau))
    assert found == pytest.approx(expected, rel=1e-9)


@given(times(), st.data())
def test_kaplan_and_meier(case, data):
    weight = data.draw(weights(len(case.time)))
    of_rows = reference.row_weights(weight, len(case.time))
    assume(of_rows.all())
    G = KaplanMeier.of_censoring(case.event, case.time, weight)
    S = KaplanMeier.of_events(case.event, case.time, weight)
    asked = np.r_[case.time, case.time * 1.5, 0.0]
    for also_then, values in [(True, G.at(asked)), (False, G.before(asked))]:
        expected = [
            reference.uncensored(case.event, case.time, t, also_then=also_then, weight=of_rows)
            for t in asked
        ]
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-14)
    for t, left in zip(asked, S.at(asked), strict=True):
        expected = 1.0
        for k in np.unique(case.time[case.time <= t]):
            leaving = of_rows[case.event & (case.time == k)].sum()
            expected *= 1 - leaving / of_rows[case.time >= k].sum()
        assert left == pytest.approx(expected, rel=1e-10, abs=1e-14)


def test_a_curve_by_hand():
    event = np.array([True, False, True, False, True])
    time = np.array([1.0, 1.0, 2.0, 2.0, 3.0])
    S = KaplanMeier.of_events(event, time)
    np.testing.assert_allclose(S.left, [4 / 5, 4 / 5 * 2 / 3, 0])
    G = KaplanMeier.of_censoring(event, time)
    np.testing.assert_allclose(G.left, [3 / 4, 3 / 8, 3 / 8])
    np.testing.assert_allclose(G.before(time), [1, 1, 3 / 4, 3 / 4, 3 / 8])


def structured(event, time, event_type=bool, time_type=float):
    return np.array(
        list(zip(event, time, strict=True)), dtype=[("seen", event_type), ("days", time_type)]
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "survival times lack event and time: give a structured array of"),
        ({"event": [1, 0]}, "survival times lack time"),
        ({"time": [1, 0]}, "survival times lack event"),
        ({"y": structured([1], [1]), "time": [1]}, "given twice, by y and by name"),
        ({"y": np.ones(3)}, "two fields event and time, not one without fields"),
        ({"y": [1.0, 2.0]}, "two fields event and time, not one without fields"),
        (
            {"y": np.ones(2, dtype=[("a", bool), ("b", float), ("c", float)])},
            "two fields event and time, not one of 3 fields",
        ),
        (
            {"y": structured([5.5, 1.0], [1, 0], float, bool)},
            r"the first field of y, 'seen', must be true or false, or 1 or 0; row 0 holds 5\.5",
        ),
        (
            {"y": structured([1, 0], ["a", "b"], bool, "U1")},
            "the second field of y, 'days', must hold finite numbers; row 0 holds 'a'",
        ),
        (
            {"event": [0, 2], "time": [1, 1]},
            "event must be true or false, or 1 or 0; row 1 holds 2",
        ),
        ({"event": ["yes", "no"], "time": [1, 1]}, "event must hold finite numbers; row 0"),
        ({"event": [1, np.nan], "time": [1, 1]}, "event must be finite; row 1 holds nan"),
        ({"event": [1, 0], "time": [1, -1]}, "time must not be negative; row 1 holds -1"),
        ({"event": [1, 0], "time": [np.inf, 1]}, "time must be finite; row 0 holds inf"),
        ({"event": [1, 0], "time": [1, np.nan]}, "time must be finite; row 1 holds nan"),
        ({"event": [1, 0, 1], "time": [1, 1]}, "event has length 3 but time has length 2"),
    ],
)
def test_what_is_no_survival_data_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Survival.of(**given)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ipcw": "km"}, "ipcw must be one of None, 'uno', 'uno_strata', not 'km'"),
        ({"tau": -1}, "tau must be a time greater than 0, or None, not -1"),
        ({"tau": "5"}, "tau must be a time greater than 0, or None, not '5'"),
        ({"tau": np.nan}, "tau must be a time greater than 0, or None, not nan"),
        ({"tau": 2}, "no comparable pairs: no event is before tau=2; increase tau"),
    ],
)
def test_what_is_no_way_to_weigh_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        Survival.of(event=[1, 0, 1], time=[2, 1, 3]).preferences(**given)


def test_kinds_of_columns_agree():
    y = structured([1, 0, 1], [3, 2, 2])
    expected = Survival.of(y)
    for event in ([True, False, True], [1, 0, 1], np.array([1.0, 0.0, 1.0])):
        survival = Survival.of(event=event, time=[3, 2, 2])
        np.testing.assert_array_equal(survival.event, expected.event)
        np.testing.assert_array_equal(survival.time, expected.time)
    np.testing.assert_array_equal(Survival.of(y.view(np.recarray)).time, expected.time)
    assert np.argsort(expected.labels()).tolist() == [0, 1, 2]
