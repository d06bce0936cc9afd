"""The widths of a smoothing: where a step from one has to be cut short, or foresees the next."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ranksvm import RankSVM
from ranksvm.solvers.conjugate_gradients import ModelStep
from ranksvm.solvers.first_width import with_first_width
from ranksvm.solvers.smoothing import Continuation


@dataclass(frozen=True)
class Width:
    """An evaluation at the minimum of its smoothing, all of whose gap is that of the smoothing."""

    smoothing: float = 1.0
    distance: float = 0.0
    width: float = 1.0
    value: float = 10.0
    rounding: float = 1e-15
    has_kinks: bool = True

    @property
    def absolute_gap(self):
        return self.smoothing + self.distance

    def widened(self):
        return replace(self, width=100.0)

    def narrowed(self, ratio):
        return replace(self, smoothing=ratio**2 * self.smoothing, width=ratio * self.width)


@dataclass(frozen=True)
class Smooth(Width):
    """An evaluation of a loss without kinks, whose value at zero is known along the way there."""

    smoothing: float = 0.0
    has_kinks: bool = False
    at_zero: float = 2001.0
    weights: np.ndarray = field(default_factory=lambda: np.ones(2))

    def along(self, step):
        np.testing.assert_array_equal(step, -self.weights)
        there = replace(self, value=self.at_zero, weights=np.zeros(2))
        return SimpleNamespace(trial={1.0: SimpleNamespace(evaluation=there)}.__getitem__)


def steps_from(continuation, at, lengths):
    """Take steps of these lengths, each from where the last ended; return what was gone back to."""
    wider = []
    for length in lengths:
        at = continuation.refine(at, 1e-12)
        back = continuation.retreat(at, length)
        wider.append(back)
        at = back or at
    return wider, at


def test_a_first_step_that_is_cut_short_leads_half_the_way_back_once():
    continuation = Continuation()
    (wider, again), at = steps_from(continuation, Width(), (0.3, 1.0))
    assert wider.smoothing == pytest.approx(0.1)  # of 1 and 0.01
    assert again is None
    # The next width is no further than that; those after it may be, and stay where they are.
    assert at.smoothing == pytest.approx(0.01)
    others, at = steps_from(continuation, at, (0.3, 0.3))
    assert others == [None, None]
    assert at.smoothing == pytest.approx(1e-6)


def test_later_steps_at_a_width_lead_on():
    continuation = Continuation()
    far = continuation.refine(Width(), 1e-12)
    assert continuation.retreat(far, 1.0) is None
    busy = replace(far, distance=10 * far.smoothing)
    assert continuation.refine(busy, 1e-12) is busy
    assert continuation.retreat(busy, 0.1) is None


def test_nothing_is_gone_back_to_before_anything_was_narrowed():
    assert Continuation().retreat(Width(), 0.1) is None


@pytest.mark.parametrize("after", [Continuation().retreat, Continuation(True).begun_anew])
def test_a_start_that_is_too_narrow_becomes_wider(after):
    at, widths = replace(Width().narrowed(0.005), distance=1e4), []
    while at is not None:
        widths.append(at.width)
        at = after(at, 0.05, 0.01)
    assert widths == pytest.approx([0.005, 0.05, 0.5, 1.0])


@pytest.mark.parametrize("after", [Continuation().retreat, Continuation(True).begun_anew])
def test_a_start_that_leads_on_stays_as_wide_as_it_is(after):
    narrow = Width().narrowed(0.01)
    assert after(replace(narrow, distance=1e4), 0.2, 0.01) is None
    assert after(replace(narrow, distance=10 * narrow.smoothing), 0.05, 0.01) is None


def test_very_short_steps_that_are_exact_lead_half_the_way_back_twice():
    continuation = Continuation(True)
    far = replace(continuation.refine(Width(), 1e-12), distance=10.0)
    wider = continuation.begun_anew(far, 0.05, 0.01)
    assert wider.width == pytest.approx(0.1**0.5)
    again = continuation.begun_anew(replace(far, smoothing=1e-4), 0.05, 0.01)
    assert again.width == pytest.approx(0.1**0.75)
    assert continuation.begun_anew(far, 0.05, 0.01) is None


@pytest.mark.parametrize(("target", "width"), [(1e-9, 1e-3), (1e-3, 1e-2), (1.0, 0.3), (1e3, 1.0)])
def test_it_begins_no_narrower_than_the_gap_to_reach_needs(target, width):
    narrow = replace(Width().narrowed(1e-3), distance=1e4)
    start = with_first_width(narrow, -np.inf, target)
    assert start.width == pytest.approx(width, rel=0.1)


def test_it_stays_where_the_gap_is_reached():
    narrow = Width().narrowed(1e-3)
    assert with_first_width(narrow, -np.inf, 2 * narrow.smoothing) is narrow


def test_it_begins_as_narrow_as_what_has_been_reached():
    wide = Width()
    start = with_first_width(wide, wide.value - 2e-4, 1e-5)
    assert start.smoothing == pytest.approx(1e-4)


def test_a_width_that_leads_no_further_is_narrowed_once():
    continuation = Continuation()
    narrower = continuation.beyond(Width())
    assert narrower.smoothing == pytest.approx(0.01)
    assert continuation.ratio == pytest.approx(0.1)
    assert continuation.beyond(narrower) is None


def test_no_width_is_beyond_the_smoothing_of_a_smooth_loss():
    assert Continuation().beyond(Width(smoothing=0.0)) is None


def test_a_smooth_loss_goes_wide_once_a_step_is_cut_short():
    continuation, at = Continuation(), Smooth()
    assert continuation.retreat(at, 0.3) is None
    assert continuation.retreat(at, 0.2).width == 100.0
    assert continuation.accuracy < 1  # equations are to be solved well from now on
    assert continuation.retreat(at, 1.0) is None
    assert continuation.retreat(at, 0.2).width > at.width


def test_near_the_end_a_smooth_loss_goes_wide_once_two_steps_are_cut_short():
    continuation, at = Continuation(), Smooth()
    for step in (0.2, 0.3, 0.2):
        assert continuation.retreat(at, step, 0.1) is None
    assert continuation.retreat(at, 0.2, 0.1).width == 100.0
    assert Continuation().retreat(at, 0.2, 0.9).width == 100.0


def test_exact_steps_of_a_smooth_loss_go_wide_once_two_are_cut_short():
    continuation, at = Continuation(foresees=True), Smooth()
    for step in (0.05, 0.3, 0.05):
        assert continuation.begun_anew(at, step) is None
    assert continuation.begun_anew(at, 0.05).width == 100.0
    assert continuation.begun_anew(at, 0.05) is None  # once


@pytest.mark.parametrize("foresees", [False, True])
def test_a_smooth_loss_goes_wide_only_where_nearly_all_pairs_are_ranked(foresees):
    """Next to nothing of the value at zero is left then, 1/200 at most."""
    for at_zero, goes in ((2001.0, True), (1999.0, False)):
        continuation, at = Continuation(foresees=foresees), Smooth(at_zero=at_zero)
        wide = [continuation.retreat(at, 0.05) for _ in range(2)]
        assert any(there is not None for there in wide) == goes
        assert continuation.is_wide == goes
    lower = Smooth(value=1999.0 / 201, at_zero=1999.0)  # which it may be in the end
    assert continuation.retreat(lower, 0.05).width == 100.0


def test_exact_steps_with_kinks_go_wide_far_from_the_end_alone():
    continuation, at = Continuation(foresees=True), Width()
    assert all(continuation.begun_anew(at, 0.01, 0.1) is None for _ in range(5))
    assert [continuation.begun_anew(at, 0.01, 0.9) for _ in range(2)] == [None, None]
    assert continuation.begun_anew(at, 0.01, 0.9).width == 100.0


@pytest.mark.parametrize(("has_kinks", "most"), [(False, 1), (True, 2)])
def test_a_wide_way_that_leads_back_again_and_again_is_left(has_kinks, most):
    continuation, at = Continuation(), Width(has_kinks=has_kinks)
    wide = continuation.widened(at)
    for _ in range(most):
        assert continuation.retreat(wide, 0.1).width > wide.width
        assert continuation.retreat(wide, 0.1) is None  # the next step may be short as well
    narrow = continuation.retreat(wide, 0.1)
    assert narrow is (None if has_kinks else at)
    assert not continuation.is_wide
    assert continuation.widened(at) is at


@dataclass(frozen=True)
class Place(Width):
    """The same at some weights, with a lower bound."""

    weights: np.ndarray = field(default_factory=lambda: np.zeros(2))
    lower_bound: float = 9.0

    def along(self, step):
        there = replace(self, weights=self.weights + step)
        return SimpleNamespace(trial=lambda length: SimpleNamespace(evaluation=there))


def narrowed_from(continuation, weight, distance):
    """Narrow the smoothing at weights that have so much to gain; return what this leads to."""
    at = Place(weights=np.full(2, weight), smoothing=1e3, distance=distance, width=weight)
    return continuation.refine(at, 1e-9)


def test_the_way_goes_back_to_the_last_accurate_minimum():
    continuation = Continuation()
    continuation.widened(Place())
    for weight, distance in ((8.0, 0.1), (4.0, 0.5), (2.0, 3.0)):  # of a thousandth, or more
        narrow = narrowed_from(continuation, weight, distance)
    back = continuation.retreat(narrow, 0.1)
    np.testing.assert_array_equal(back.weights, [4.0, 4.0])
    assert back.width == pytest.approx(4.0 * continuation.ratio)
    assert 0.5 < continuation.ratio < 1
    # Nothing was accurate since: the next way back leads to a wider smoothing.
    assert continuation.retreat(back, 0.1) is None
    again = continuation.retreat(back, 0.1)
    assert again.weights is back.weights
    assert again.width == 64 * back.width


@pytest.mark.parametrize(("has_kinks", "foresees"), [(True, False), (False, False), (True, True)])
def test_the_way_goes_back_once_a_minimum_is_less_exact_than_its_width(has_kinks, foresees):
    continuation = Continuation(foresees)
    continuation.widened(Place())
    narrowed_from(continuation, 8.0, 0.1)
    lost = Place(weights=np.full(2, 2.0), distance=1.1, width=2.0, has_kinks=has_kinks)
    back = continuation.refine(lost, 1e-9)
    if has_kinks and not foresees:
        np.testing.assert_array_equal(back.weights, [8.0, 8.0])
        assert back.width == pytest.approx(8.0 * continuation.ratio)
        assert continuation.accuracy == 1e-3
        continuation = Continuation()
        continuation.widened(Place())
        narrowed_from(continuation, 8.0, 0.1)
        assert continuation.refine(lost, 0.02) is lost  # so near the end, steps may lead there
    else:
        assert back is lost


def test_steps_with_care_stay_at_a_width_that_they_miss_by_far_twice():
    continuation = Continuation()
    continuation.widened(Place())
    assert narrowed_from(continuation, 8.0, 0.8).width < 8
    continuation.retreat(Place(), 0.1)
    assert continuation.accuracy_for(0.3, 10.0, is_new=True) == 1e-3
    near, far = 0.5 * (10 * 0.01) ** 2, 0.6  # residuals of 0.01 are wanted
    assert narrowed_from(continuation, 8.0, near).width < 8
    for stays in (True, True, False, True):
        assert (narrowed_from(continuation, 8.0, far).width == 8) is stays
    assert continuation.accuracy_for(0.3, 1.0, is_new=False) == pytest.approx(0.01)
    assert continuation.accuracy_for(0.3, 1.0, is_new=True) == 1e-3
    assert continuation.accuracy_for(0.3, 1e-9, is_new=False) == 0.3


def test_a_smooth_loss_goes_on_from_the_better_end_of_a_wide_way():
    continuation = Continuation()
    wide = continuation.widened(Width(has_kinks=False))
    continuation.retreat(wide, 0.1)
    continuation.retreat(wide, 1.0)
    better = continuation.retreat(replace(wide, value=9.0), 0.1)
    assert (better.value, better.width) == (9.0, 1.0)


def test_a_smooth_loss_stays_as_it_is_where_regularisation_is_not_weak():
    class Regularised(Smooth):
        def widened(self):
            return None

    assert Continuation().retreat(Regularised(), 0.01) is None


@dataclass(frozen=True)
class Slope(Width):
    """The same, with a gradient, and what narrowing leads to."""

    gradient: np.ndarray | None = None

    def foreseen(self, ratio):
        return replace(self, gradient=np.array([1.0, 0.0]), width=ratio * self.width)


def test_narrowing_is_foreseen_where_that_leads_down():
    continuation = Continuation()
    before = Slope()
    narrowed = continuation.refine(before, 1e-12)
    model = continuation.foreseen(before, replace(narrowed, gradient=np.array([1.0, 5.0])))
    assert model.width == narrowed.width
    assert continuation.foreseen(before, replace(narrowed, gradient=np.array([-1.0, 5.0]))) is None


@dataclass(frozen=True)
class Rounded(Width):
    """All pairs lie deep inside: less is smoothed by a narrower width only from its minimum on."""

    rounding_of_ten: float = 1e-3

    def narrowed(self, ratio):
        rounded = 1 + self.rounding_of_ten * 0.1 / ratio
        return replace(self, smoothing=rounded * self.smoothing, width=ratio * self.width)


def test_rounding_of_what_is_smoothed_holds_no_width_back():
    at = Continuation().refine(Rounded(), 1e-6)
    assert at.width == pytest.approx(0.1)


def test_a_width_stays_where_rounding_is_all_that_is_smoothed():
    at = Continuation().refine(Rounded(rounding_of_ten=10.0), 1e-6)
    assert at.width == 1.0


def test_nothing_is_foreseen_on_the_way_from_wide_to_narrow():
    continuation = Continuation()
    continuation.widened(Slope())
    assert continuation.foreseen(Slope(), Slope(gradient=np.array([1.0, 0.0]))) is None


def products(tol=1e-6):
    """Return what products with the Hessian lead to, and how many they are."""
    X, y = load_breast_cancer(return_X_y=True)
    model = RankSVM(loss="hinge", solver="trust_region", tol=tol, n_threads=1).fit(X, y)
    assert model.status_ == "converged"
    return model.objective_, model.history_[-1].n_products


def test_products_are_fewer_where_narrowing_is_foreseen(monkeypatch):
    value, n_foreseen = products()
    monkeypatch.setattr(Continuation, "foreseen", lambda *args: None)
    without, n_products = products()
    assert value == pytest.approx(without, rel=2e-6)
    assert n_foreseen < 0.7 * n_products


def test_a_foreseen_step_that_does_not_lead_down_is_not_taken(monkeypatch):
    value, n_foreseen = products()
    monkeypatch.setattr(ModelStep, "leads_down", lambda *args: False)
    without, n_products = products()
    assert value == pytest.approx(without, rel=2e-6)
    assert n_foreseen < n_products
