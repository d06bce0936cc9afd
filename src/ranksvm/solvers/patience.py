"""How long a solver may go on where another could take its place."""

from __future__ import annotations

from dataclasses import dataclass
from math import log

from .result import Iteration, Progress

FREE, FEWEST = 0.15, 5  # work before anything has to show, as a share of the other's, and at least
LOOK_BACK = 1 / 3  # of the work so far


@dataclass(frozen=True)
class Patience:
    """Lets a solver go on while it promises to end before another one would.

    Planes and products with the Hessian are hard to beat on well-scaled data with enough
    regularisation, and hardly move on others; what an explicit Hessian costs is known beforehand,
    and it hardly matters which data they are. So a solver of the first kind begins, and has to
    show that it gets on. Its work counts iterations and products:

    - a small share of the work of the other is free,
    - beyond it, what the relative gap fell by over the last third of the work must lead, if it goes
      on so, to the end within as much work as the other takes, and before twice that in all.

    So the work of both is hardly more than that of the other alone where the first leads nowhere,
    and never more than about twice that of the better.

    Parameters
    ----------
    work : float
        What the other takes, in iterations and products of the first.
    """

    work: float

    def __call__(self, progress: Progress) -> bool:
        """Say whether the present solver is to go on."""
        lines = progress.history[progress.first :]
        done = _work(lines[-1]) - _work(lines[0])
        if done <= max(FREE * self.work, FEWEST):
            return True
        before = next(
            line
            for line in reversed(lines)
            if _work(line) - _work(lines[0]) <= (1 - LOOK_BACK) * done
        )
        last, wanted = lines[-1], progress.target
        gap = last.dual_gap * abs(last.value)
        if not (wanted > 0 and before.dual_gap > last.dual_gap > 0):
            return False
        gain = log(before.dual_gap / last.dual_gap) / (_work(last) - _work(before))
        left = log(max(gap / wanted, 1.0)) / gain
        return left <= min(self.work, 2 * self.work - done)


def _work(line: Iteration) -> int:
    return line.iteration + line.n_products
