"""The continuation in the width of a smoothing: from wide to narrow, no width solved too well."""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import NDArray

from .first_width import WIDEST
from .progress import Progress
from .protocols import Evaluation, P, Point, Trial

Vector = NDArray[np.float64]

EASY, HARD = 3, 6  # steps at a width
MANY, MANY_AT_FIRST = 5, 9  # beyond which the next widths are settled first
EMPTY, ROUNDED = 0.03, 1.5  # what narrowing leaves of what is smoothed: at least, and at most
NARROWED = 0.1  # ratio where a width was easy, or led no further
NARROWER, GENTLY, WIDER = 0.25, 0.6, 64.0  # ratios with weak regularisation: ahead, and back
SHORT, SHORTEST = 0.25, 0.1  # a step
SLIGHT, MOST_BACK = 0.01, 2  # what is smoothed, of the distance; how often it goes back
RANKED = 0.005  # of the value at zero, that is left where nearly all pairs can be ranked
BEFORE = 1 / 256  # of the way to the end
FAR, CLOSE = 0.3, 0.01  # relative gaps
NEARLY_NONE = 0.002  # of what is smoothed
RISING = 3.0  # of the gap to reach
LIKELY, OF_ALL = 60, 0.3  # products to tie what lies at the kink, and their share of all
MOST_RETREATS, MOST_RETREATS_WITH_KINKS = 1, 2
ACCURATE, SETTLED = 0.01, 0.1  # likewise: parts of the residual, and of the bound
CAREFUL = 0.001  # the former, with care
LONG_WAY = 100.0  # of the gap to reach
STRAY, MOST_MORE = 10.0, 2  # residuals by which a minimum is missed, and steps that put that right


class Continuation:
    """Decides when a smoothing is narrowed, and by how much.

    A width is done when more of the gap comes from smoothing than from the weights. The next is a
    tenth where Newton's method took few steps at this one; the more it took, the less narrow is the
    next, since its steps then come from a model that changes too fast to be trusted. Where that
    shows in the first step at a width, which has to be cut short, the way goes half as far back,
    once, and the next width is narrowed by no more than that (`retreat`); of exact steps twice, and
    by a step that is very short. A start that is too narrow, such as from a solution that is not
    the one sought, shows likewise, and becomes wider.

    Where few pairs decide, that is not enough: a width that is left early leaves pairs in the wrong
    place, and the next takes dozens of tiny steps to put them right. A solver that foresees what
    narrowing does (`Evaluation.foreseen`) gains nothing then unless it starts from the minimum. So
    once a width has taken many steps, each is settled, and the ratio follows how well steps were
    foreseen.

    Where regularisation is weak and weights can give rows nearly any scores, all pairs that matter
    may lie close to the kink at the optimum. A step that is too long leaves few of them active, and
    their Hessian says little of the others. So the smoothing of a loss with kinks begins wide
    (`widened`), and narrows steadily, from minimum to minimum: all pairs stay active, and their
    Hessian is well conditioned. Exact steps and a loss without kinks need that seldom; it shows in
    steps that have to be cut short, without kinks where nearly all pairs are ranked, and the way
    begins anew then. Where a step fails all the same, the way goes back to the last minimum that
    was found accurately, or to a wider smoothing, and on from there with more care: less steeply,
    with equations solved more accurately, and further steps where one misses the minimum by far
    more than these left. But if it fails again and again, the wide way is left for good
    (`retreat`). On it, minima move along a line nearly, and the last two tell where to (`limit`),
    and maybe how it ends (`ends`).

    Parameters
    ----------
    foresees : bool, default=False

    Attributes
    ----------
    ratio : float
        By how much the smoothing was narrowed last.
    accuracy : float
        How far a step has to reduce the residual of its equations at least.
    is_wide : bool
        Whether the way began wide.
    """

    def __init__(self, foresees: bool = False) -> None:
        self.ratio = 1.0
        self._foresees = foresees
        self._settles = False
        self._n_steps = 0
        self._is_first = True
        self.is_wide = self._is_resumed = False
        self._began: Evaluation | None = None  # where the way left for a wide smoothing
        # Of the last width, and that width; and the same of the last that was found accurately.
        self._minimum: tuple[Vector, float] | None = None
        self._accurate: tuple[Vector, float] | None = None
        self._residual, self._n_more = 0.0, 0  # what equations leave, and steps more at a width
        self._n_for_ties, self._bound = 0, -np.inf  # products; the last lower bound
        self._retreated, self._n_retreats = False, 0
        self._n_short = 0  # steps, one after another
        self._first_value: float | None = None  # at zero
        self._n_back, self._went_beyond = 0, False
        self._narrowest = 0.0  # ratio
        self.accuracy = 1.0

    def begun(self, start: Evaluation, lower_bound: float) -> Evaluation:
        """Return the start, or where to begin wide, but close to the end."""
        is_close = start.value - lower_bound <= CLOSE * start.value
        return self.widened(start) if start.begins_wide and not is_close else start

    def widened(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation, or where to begin wide, as where regularisation is weak."""
        wide = None if self._began is not None else evaluation.widened()
        if wide is None:
            return evaluation
        self._begin_wide(evaluation)
        return wide

    def resumed(self, left: P, began: Evaluation) -> P:
        """Return where another solver gave up on a wide way, which goes on from there.

        `began` is where it goes on if that leads nowhere.
        """
        self._begin_wide(began)
        self._is_resumed = self._foresees and left.has_kinks
        return left

    def _begin_wide(self, began: Evaluation) -> None:
        self._began, self.is_wide, self.accuracy = began, True, ACCURATE
        self.ratio = NARROWED if self._foresees else NARROWER

    def on_its_way(self, evaluation: P) -> P | None:
        """Return the evaluation if another solver may go on from there along the wide way."""
        return evaluation if self.is_wide and evaluation.smoothing > 0 else None

    def begun_anew(
        self, evaluation: Evaluation, step: float, dual_gap: float = 1.0
    ) -> Evaluation | None:
        """Return where the way begins wide after all, after a step; None to go on.

        Before that, the smoothing becomes wider where it is too narrow: ten times after a very
        short step at the first width, half the way back after one later. The way begins anew
        after a step of less than a quarter, or two of them where the relative gap says that it
        has led somewhere. Where steps are exact, it is after two of less than a tenth, one after
        another, since a single one may well lead on; with kinks after three, and not where the gap
        says so; but on a way that another solver had begun, whose minima were too inexact then,
        anywhere before it is close to the end, and from zero.

        A loss without kinks has to have fallen to nearly nothing of what it is at zero. Else pairs
        that cannot be ranked tell how it curves, and from a wide smoothing the way is long for
        nothing.
        """
        wider = self._wider(evaluation, step)
        if wider is not None:
            return wider
        is_far = not (evaluation.has_kinks and dual_gap < FAR)
        goes_on = dual_gap < CLOSE if self._is_resumed else self.is_wide or not is_far
        if goes_on:
            return None
        shortest, most = SHORT, int(dual_gap < FAR)
        if self._foresees:
            shortest, most = SHORTEST, 1 + evaluation.has_kinks
        self._n_short = self._n_short + 1 if step < shortest else 0
        if self._n_short <= most:
            return None
        if self._is_resumed:
            self._is_resumed = False
            return _at_zero(evaluation).widened()
        if not (evaluation.has_kinks or self._are_ranked(evaluation)):
            return None
        wide = self.widened(evaluation)
        return None if wide is evaluation else wide

    def _are_ranked(self, evaluation: Evaluation) -> bool:
        """Say whether nearly all pairs are, since next to nothing of the value at zero is left."""
        if self._first_value is None:
            self._first_value = _at_zero(evaluation).value
        return evaluation.value <= RANKED * self._first_value

    def retreat(
        self, evaluation: Evaluation, step: float, dual_gap: float = 1.0
    ) -> Evaluation | None:
        """Return the evaluation with a wider smoothing, after a step from there; None to go on.

        That is ten times as wide after a very short step at the first width; later half the way
        back, by its logarithm, where the first step at a width had to be cut short for the first
        time. Once the smoothing is wide, it is after any such step, unless the
        last one had been, too: to the last minimum that was accurate, or if there is none since the
        way went back before, to a wider smoothing. A loss without kinks becomes wide
        (`begun_anew`). Where the way has gone back as often as may be, it is wide no longer.
        """
        if not (self.is_wide or evaluation.has_kinks):
            return self.begun_anew(evaluation, step, dual_gap)
        if not self.is_wide:
            if self._is_first:
                return self._wider(evaluation, step)
            is_new = self._n_steps == 0 and self._n_back == 0
            is_too_narrow = is_new and step < 0.5 and self.ratio < 0.5
            return self._half_way_back(evaluation) if is_too_narrow else None
        self._retreated = step < 0.5 and not self._retreated
        if not self._retreated:
            return None
        most = MOST_RETREATS_WITH_KINKS if evaluation.has_kinks else MOST_RETREATS
        if self._n_retreats == most:
            return self._narrow_again(evaluation)
        self._n_retreats += 1
        if not evaluation.has_kinks:
            self.accuracy, self.ratio = self.accuracy / 3, min(self.ratio**0.5, GENTLY)
            return evaluation.narrowed(WIDER)
        return self._gone_back(evaluation)

    def _wider(self, evaluation: Evaluation, step: float) -> Evaluation | None:
        """Return the evaluation with a wider smoothing, if a step tells that it has to be.

        That is a very short one, where next to nothing is smoothed. None to go on.
        """
        if self.is_wide or step >= SHORTEST or not evaluation.has_kinks:
            return None
        if evaluation.smoothing >= SLIGHT * evaluation.distance:
            return None
        if not self._is_first:
            return self._half_way_back(evaluation) if self._n_back < MOST_BACK else None
        width = min(evaluation.width / NARROWED, WIDEST)
        return evaluation.narrowed(width / evaluation.width) if width > evaluation.width else None

    def _half_way_back(self, evaluation: Evaluation) -> Evaluation:
        """Return the evaluation with a smoothing between this one and the last."""
        self._n_back += 1
        self.ratio = self._narrowest = self.ratio**0.5
        return evaluation.narrowed(1 / self.ratio)

    def _gone_back(self, evaluation: Evaluation) -> Evaluation:
        """Return where the way goes on with care."""
        self.accuracy, self.ratio = CAREFUL, max(self.ratio**0.5, GENTLY)
        if self._accurate is None:
            return evaluation.narrowed(WIDER)
        (weights, width), self._accurate = self._accurate, None
        there = evaluation.along(weights - evaluation.weights).trial(1.0).evaluation
        return there.narrowed(self.ratio * width / there.width)

    def accuracy_for(self, accuracy: float, norm: float, is_new: bool) -> float:
        """Return how far equations are to be solved, which would do with this accuracy.

        `norm` is that of the gradient, at a new width or not: with care, a further step at a width
        is to leave no more than the first was to, as long as that would do.
        """
        if not self.is_wide:
            return min(accuracy, self.accuracy)
        if is_new or not self._is_careful or self._residual == 0:
            self._residual = self.accuracy * norm
        return min(max(self._residual / norm, self.accuracy), accuracy)

    @property
    def _is_careful(self) -> bool:
        return self.accuracy <= CAREFUL

    def _is_lost(self, evaluation: Point, target: float) -> bool:
        """Say whether minima have become less exact than widths are narrow, far from the end."""
        if self._foresees or self._is_careful or self._accurate is None:
            return False
        is_inexact = evaluation.distance > evaluation.smoothing > LONG_WAY * target
        return evaluation.has_kinks and is_inexact

    def _strays(self, to_gain: float) -> bool:
        """Say whether a step has missed the minimum by far more than its equations left."""
        misses = self._is_careful and 2 * to_gain > (STRAY * self._residual) ** 2 > 0
        self._n_more = self._n_more + 1 if misses and self._n_more < MOST_MORE else 0
        return self._n_more > 0

    def refine(self, evaluation: P, target: float, trial: Trial[P] | None = None) -> P:
        """Return the evaluation, or that of the same weights with a narrower smoothing.

        Or it is where the way goes back to, once minima have become too inexact for their widths.
        `target` is the gap to reach. No smoothing is narrower than that needs. `trial` is the exact
        Newton step that led here: where it had less to gain than the smoothing hides, the width is
        done, however steep the risk still is along features of large scale.
        """
        self._n_steps += 1
        many = MANY_AT_FIRST if self._is_first else MANY
        if self._foresees and self._n_steps > many and not self._settles and not self.is_wide:
            self._settles, self.ratio = True, 0.5
        smoothing = evaluation.smoothing
        to_gain = evaluation.distance
        if self.is_wide:
            is_done = to_gain <= min(smoothing, SETTLED * evaluation.lower_bound)
            if self._is_lost(evaluation, target):
                self._n_retreats, self._minimum = self._n_retreats + 1, None
                return cast("P", self._gone_back(cast("Evaluation", evaluation)))
            if self._strays(to_gain) or not (is_done and smoothing > 0.1 * target):
                return evaluation
            if to_gain <= NEARLY_NONE * smoothing:
                self._accurate = evaluation.weights, evaluation.width
            return evaluation.narrowed(self.ratio)
        if trial is not None and trial.step > 0.5 and not self._settles:
            to_gain = min(to_gain, trial.decrement)
        if smoothing <= 0.3 * target or to_gain > smoothing:
            return evaluation
        ratio = self._after_settling() if self._settles else self._after_steps()
        self._n_steps, self._is_first = 0, False
        # The gap from smoothing falls by up to the square of the ratio.
        ratio = min(max(ratio, (0.2 * target / smoothing) ** 0.5), 0.5)
        narrowed = evaluation.narrowed(ratio)
        # Where it falls by far more, hardly any pair is left to tell how the risk curves.
        while ratio < 0.5 and narrowed.smoothing < EMPTY * ratio**2 * smoothing:
            ratio = min(3 * ratio, 0.5)
            narrowed = evaluation.narrowed(ratio)
        self.ratio = ratio
        # At the same weights less is left, but for rounding, which counts more the narrower it is.
        return narrowed if narrowed.smoothing < ROUNDED * smoothing else evaluation

    def ends(self, minimum: Evaluation, progress: Progress) -> bool:
        """Say whether the gap is small enough where minima lead, which the progress keeps then.

        That is at their `limit`; or where all pairs at the kink lie exactly there, which shows
        where it leads, too. To find that takes dozens of products: it is tried where the minimum
        brings a bound that hardly rises any more, for a part of all products.
        """
        limit = self.limit(minimum)
        if limit is None or progress.ends_with(limit):
            return limit is not None
        bound, self._bound = self._bound, progress.lower_bound
        rise = progress.lower_bound - bound if minimum.lower_bound >= self._bound else np.inf
        is_settled = rise <= RISING * progress.allowed(limit.value)
        is_little = self._n_for_ties + LIKELY <= OF_ALL * progress.n_products
        if not (minimum.has_kinks and is_settled and is_little):
            return False
        tied, n_products = minimum.tied(limit)
        progress.n_products += n_products
        self._n_for_ties += n_products
        return tied is not None and progress.ends_with(tied)

    def limit(self, minimum: Evaluation) -> Evaluation | None:
        """Return where the minima of a wide way lead, as the last two tell; None if they do not.

        While all pairs that matter lie close to the kink, their slopes hardly change, so that their
        scores, and the weights, are linear in the width (:eq:`limit`). That is the better point,
        but no start of the next step, which needs pairs on the smoothed part. It is a little before
        the end, so that a problem nearby can go on from there.
        """
        last, self._minimum = self._minimum, (minimum.weights, minimum.width)
        if not self.is_wide or last is None or not last[1] > minimum.width:
            return None
        unsmoothed = 0.0 if minimum.has_kinks else 1.0
        share = (1 - BEFORE) * (minimum.width - unsmoothed) / (last[1] - minimum.width)
        return minimum.along(share * (minimum.weights - last[0])).trial(1.0).evaluation

    def foreseen(self, before: Evaluation, narrowed: Evaluation) -> Evaluation | None:
        """Return the model that foresees what narrowing did, if it leads down from there, too.

        It says how far the minimum moves if the pairs on the smoothed part stay the same. None
        where the way began wide: from minimum to minimum, pairs move little.
        """
        if self.is_wide:
            return None
        model = before.foreseen(self.ratio)
        return model if float(model.gradient @ narrowed.gradient) > 0 else None

    def beyond(self, evaluation: P) -> P | None:
        """Return the evaluation with a narrower smoothing, where steps at its width have stalled.

        The limits of floating point may be elsewhere there. It is None the second time.
        """
        narrowed = evaluation.narrowed(NARROWED)
        if self._went_beyond or not narrowed.smoothing < evaluation.smoothing:
            return None
        self._went_beyond, self.ratio = True, NARROWED
        return narrowed

    def _narrow_again(self, evaluation: Evaluation) -> Evaluation | None:
        """Leave the wide way, which leads nowhere; return where to go on, if not where it ended."""
        self.is_wide, self.accuracy, self._n_steps = False, 1.0, 0
        if evaluation.has_kinks or self._began is None:
            return None
        here = evaluation.narrowed(1 / evaluation.width)
        return here if here.value < self._began.value else self._began

    def _after_steps(self) -> float:
        # The first width starts anywhere, so that more steps say less about it.
        easy = HARD if self._is_first else EASY
        ratio = NARROWED if self._n_steps <= easy else 0.25 if self._n_steps <= HARD else 0.5
        narrowest, self._narrowest = self._narrowest, 0.0
        return max(ratio, narrowest)

    def _after_settling(self) -> float:
        if self._n_steps <= 2:
            return max(0.5 * self.ratio, 0.01)
        return min(1.5 * self.ratio, 0.5) if self._n_steps >= MANY else self.ratio


def _at_zero(evaluation: Evaluation) -> Evaluation:
    return evaluation.along(-evaluation.weights).trial(1.0).evaluation
