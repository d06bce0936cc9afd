"""How long a solver may go on where another could take its place."""

from __future__ import annotations

from bisect import bisect_right
from itertools import pairwise
from math import inf, log

from ..records import record
from .progress import Progress
from .result import Iteration

FREE, FEWEST = 0.2, 5  # work before anything has to show, as a share of the other's, and at least
LOOK_BACK = 1 / 2  # of the work so far
AT_MOST, WHILE_STEEP = 1.25, 0.5  # of the other's work, in all
LITTLE_MORE, LATEST = 0.25, 1.75  # of it, what is left to do; and in all, where that is no more
SOON, NOTHING = 3, 0.999  # work, and what is left where no bound tells anything yet
LITTLE = 3.5  # work that is free, to which that ends sooner
# Powers of the work by which the logarithm of what is left falls: of smooth functions, and others.
PACE, PACE_WITH_KINKS, LINEAR = 0.75, 0.5, 1.0
MUCH, NEAR = 0.9, 0.1  # gaps of planes: where their value may fall on at a rate, and to where
SETTLED = 0.98  # of a bound, that it was before
AT_ONCE = 1e-3  # a gap below which planes that end at once do so in the same work
RISE = 4.0  # of a width
FALLING = 0.6  # of the value of a smoothed loss, that a step on a long way leaves


@record
class Patience:
    """Lets a solver go on while it promises to end before another one would.

    Planes and products with the Hessian are hard to beat on well-scaled data with enough
    regularisation, and hardly move on others; what an explicit Hessian costs is known beforehand,
    and it hardly matters which data they are. So a solver of the first kind begins, and has to
    show that it gets on. Its work counts iterations and products:

    - a small share of the work of the other is free; but where that is next to nothing, work that
      has not even led to a bound ends sooner,
    - beyond it, what is left (the gap, of planes as a part of the bound; where that is larger, the
      smoothing; and without kinks, the distance that the gradient tells of, which falls long before
      a bound is any good) has to lead to the end before 1.25 times the work of the other in all, if
      its logarithm goes on to fall with the square root of the work as it did over the last half,
      or without kinks with a greater power; or before 1.75 times that, once no more than a quarter
      of it is left to do, since the other one has all its work before it,
    - a model of a smooth loss that takes `most_products` ends it, since those that follow take as
      many again, and the other one solves them for less,
    - for half the work of the other, a step that leaves 0.15 of the distance at most shows that the
      next few will lead to a bound, or to a narrower smoothing; and one that leaves 0.6 of the
      value of a smoothed loss of which a bound tells, that it is on its way, however long that is,
      which the other one would have to go from its beginning,
    - where a smoothing was widened again, since that had to be, the best point stays what it is for
      long, and the end comes at once: all the work of the other one is free.

    What planes have left falls ever more slowly: by the root, the end is foreseen about where it
    comes, while a rate that lasted would promise it half as far away for as long as they go on. But
    near the minimum of a smooth function, steps get the quicker; and where few rows of a query are
    better than all others, the value of planes falls by about the same part with each, until all at
    once it has come down to their bound, which settles long before; and the end comes at once with
    a gap of a thousandth, whatever is asked for.

    So the work of both is hardly more than that of the other alone where the first leads nowhere,
    and where it promises too much, at most that and 1.75 times as much again.

    Parameters
    ----------
    work : float
        What the other takes, in iterations and products of the first.
    of_bounds : bool, default=False
        Whether what is left of a smoothed loss is a part of the bound as well, which promises more:
        where there is no other solver to turn to whose work is known.
    most_products : float, default=inf
        In one step, of a smooth loss; where there is a limit, the other one takes such steps.
    ends_at_once : bool, default=False
        Whether planes are likely to end all at once.
    free : float, default=0.2
        The share of the other's work before anything has to show.
    pace : float, optional
        The power of the work by which the logarithm of what is left falls, and it alone tells; by
        default the square root, and 0.75 without kinks.
    """

    work: float
    of_bounds: bool = False
    most_products: float = inf
    ends_at_once: bool = False
    free: float = FREE
    pace: float | None = None

    def __call__(self, progress: Progress) -> bool:
        """Say whether the present solver is to go on."""
        lines, left = progress.own(progress.history), progress.own(progress.left)
        work = [k + line.n_products for k, line in enumerate(lines)]
        done = work[-1] - work[0]
        of_step = lines[-1].n_products - lines[-2:][0].n_products
        if progress.is_smooth and of_step >= self.most_products:
            return False
        free = max(self.free * self.work, FEWEST)
        if done <= free:
            is_little = self.free * self.work < LITTLE
            is_hopeless = is_little and done >= SOON and left[-1] > NOTHING
            return not is_hopeless
        if done <= self.work and _was_widened(progress.own(progress.widths)):
            return True
        is_steep = progress.is_steep and self.pace is None
        if (is_steep or self._falls(progress)) and done <= WHILE_STEEP * self.work:
            return True
        before = bisect_right(work, work[0] + (1 - LOOK_BACK) * done) - 1
        late = work[-1] - work[before]
        wanted = progress.target
        if not (wanted > 0 and left[before] > left[-1] > 0):
            return False
        if self.ends_at_once:
            if lines[-1].dual_gap > AT_ONCE:
                wanted = max(wanted, AT_ONCE * abs(lines[-1].value))
            to_near = _to_fall(lines[before], lines[-1], late)
            if done + to_near <= AT_MOST * self.work:
                return True
        pace = self.pace or (PACE if progress.is_smooth else PACE_WITH_KINKS)
        then, now = left[before], left[-1]
        if progress.is_at_kinks or (self.of_bounds and not progress.is_smooth):
            then, now = _of_bound(then), _of_bound(now)
        to_fall = now * abs(lines[-1].value) / wanted
        end = _end(done - late, done, then / now, to_fall, pace)
        is_near = end - done <= LITTLE_MORE * self.work
        return end <= (LATEST if is_near else AT_MOST) * self.work

    def _falls(self, progress: Progress) -> bool:
        """Say whether the value of a smoothed loss falls by far, unless the other goes on there."""
        if self.most_products < inf or progress.is_smooth or progress.is_at_kinks:
            return False
        before, here = progress.own(progress.history)[-2:]
        return here.value <= FALLING * before.value and here.dual_gap <= NOTHING


def more_planes(progress: Progress) -> float:
    """Return how many more planes there will be, if what is left falls on as it did; inf if not."""
    lines, left = progress.own(progress.history), progress.own(progress.left)
    done = len(lines) - 1
    before = int((1 - LOOK_BACK) * done)
    then, now = _of_bound(left[before]), _of_bound(left[-1])
    if now >= then or min(now, progress.target) <= 0:
        return inf
    to_fall = now * abs(lines[-1].value) / progress.target
    return _end(before, done, then / now, to_fall, PACE_WITH_KINKS) - done


def _end(before: float, here: float, fallen: float, to_fall: float, pace: float) -> float:
    """Return the work at the end, if logarithms fall with such a power of it.

    What is left has fallen by a factor between two amounts of work, and is to fall by another.
    """
    rate = log(fallen) / (here**pace - before**pace)
    end: float = (here**pace + log(max(to_fall, 1.0)) / rate) ** (1 / pace)
    return end


def _to_fall(before: Iteration, here: Iteration, work: float) -> float:
    """Return the work until the value of planes is near its bound, if it falls on as it did.

    From there on, planes that are exact end soon, whatever gap is asked for. Nearer than ten times
    the bound, that has to have settled.
    """
    bound = here.value * (1 - here.dual_gap)
    is_settled = before.value * (1 - before.dual_gap) >= SETTLED * bound
    if not 0 < bound < here.value < before.value or here.dual_gap <= NEAR:
        return inf
    if not (is_settled or here.dual_gap > MUCH):
        return inf
    rate = log(before.value / here.value) / work
    return log((here.value - bound) / (NEAR * bound)) / rate


def _was_widened(widths: list[float]) -> bool:
    """Say whether a smoothing was widened again by so much, after it had begun."""
    return any(there > RISE * here for here, there in pairwise(widths[1:]))


def _of_bound(gap: float) -> float:
    """Return the gap as a part of the lower bound; which says more than of the value, if large."""
    return gap / (1 - min(gap, NOTHING))
