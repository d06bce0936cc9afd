"""What is told of a cross-validation: a table, notes, a file and a picture."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .options import say

if TYPE_CHECKING:
    import argparse

    from ..selection.contest import Contest


def tell(args: argparse.Namespace, contest: Contest, places: Sequence[int], measured: str) -> None:
    """Tell of a contest what the options ask for.

    Parameters
    ----------
    args : argparse.Namespace
        Of ``ranksvm cv``.
    contest : Contest
    places : sequence of int
        Of what was chosen, the best first.
    measured : str
        What the best C is best in.
    """
    from ..files.table import save_table
    from ..plots import save_figure

    top, best = contest.best(), places[0]
    sys.stdout.write(_shown(contest, places, top, measured))
    if args.table:
        save_table(contest.table(), args.table)
    if args.plot:
        of_band = top if args.one_standard_error else None
        save_figure(_drawn(contest, best, of_band, measured), args.plot)
    for note in _notes(args, contest, best, top):
        say(args, f"note: {note}")
    if len(places) > 1:
        say(
            args,
            f"note: the folds cannot tell {len(places) - 1} more from the best: what is chosen is "
            f"the mean of {len(places)}; see --no-average",
        )


def _notes(args: argparse.Namespace, contest: Contest, best: int, top: int) -> list[str]:
    notes = []
    at_best = contest.Cs[top]
    if args.one_standard_error:
        notes.append(
            f"C={at_best:g} is best, at {contest.mean[top]:.6f}; C={contest.Cs[best]:g} is chosen, "
            f"at {contest.mean[best]:.6f}, within one standard error, "
            f"{contest.standard_error[top]:.6f}"
        )
    Cs = contest.Cs[contest.number == contest.number[top]]
    if at_best in (Cs.min(), Cs.max()) and len(Cs) > 1:
        notes.append(f"C={at_best:g} is at an end of the grid; see --Cs")
    n_passes = sum(result.n_passes or 0 for result in contest.results)
    if n_passes:
        notes.append(f"the folds took {n_passes} passes over X together")
    if contest.advice is not None and not args.model:
        notes.append(contest.advice)
    return notes


def _drawn(contest: Contest, best: int, top: int | None, measured: str) -> Any:
    """Return a figure with a curve for each entrant."""
    from ..plots import RegularizationCurveDisplay

    axes = None
    for number, result in enumerate(contest.results):
        places = (contest.number == number).nonzero()[0]
        display = RegularizationCurveDisplay(
            result.Cs,
            result.mean,
            result.standard_error,
            chosen=int(best - places[0]) if best in places else None,
            metric=measured,
            name=contest.entrants[number].variant.title if len(contest.results) > 1 else None,
            best=int(top - places[0]) if top in places else None,
        )
        axes = display.plot(axes).ax_
    return display.figure_


def _shown(contest: Contest, places: Sequence[int], top: int, metric: str) -> str:
    """Return the table for people; stars mark the chosen, a word the best if that differs.

    Of several entrants, each has a line above its own.
    """
    lines = [f"{'C':>12} {metric:>25} {'standard error':>16}\n"]
    last = None
    rows = zip(contest.number, contest.Cs, contest.mean, contest.standard_error, strict=True)
    for k, (number, C, mean, error) in enumerate(rows):
        if number != last and len(contest.entrants) > 1:
            lines.append(f"{contest.entrants[number].variant.title or 'as it is'}:\n")
        last = number
        mark = " *" if k in places else " best" if k == top else ""
        lines.append(f"{C:12.6g} {mean:25.6f} {error:16.6f}{mark}\n")
    return "".join(lines)
