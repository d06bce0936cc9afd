"""The options of what is asked of the weights: signs, bounds, a prior, and zeros."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import InputError
from .options import Input

if TYPE_CHECKING:
    import argparse

    from ..files.rows import FileRows
    from ..linear.conditions import Conditions

_OPTIONS = ("positive", "bounds", "prior", "l1_ratio", "penalty_weights")


def add_conditions(parser: argparse.ArgumentParser, *, several: bool = False) -> None:
    """Add the options; `several` ratios may be given where one is chosen."""
    parser.add_argument("--positive", action="store_true", help="weights may not be negative")
    parser.add_argument(
        "--bounds",
        type=Input,
        metavar="FILE",
        help="bounds of weights: a line of feature,lower,upper for each, -inf, inf or nothing for "
        "none",
    )
    parser.add_argument(
        "--prior", type=Input, metavar="MODEL", help="a model file whose weights to stay near to"
    )
    parser.add_argument(
        "--l1-ratio",
        metavar="R,R,..." if several else "R",
        help="share of absolute values in the penalty, from 0 to 1, by which weights become zero"
        f"{'; of several, the best is chosen' if several else ''} (default: 0)",
    )
    parser.add_argument(
        "--penalty-weights",
        type=Input,
        metavar="FILE",
        help="how much each weight is charged: a line of feature,penalty for each (default: 1)",
    )


def l1_ratios(args: argparse.Namespace) -> list[float]:
    """Read --l1-ratio."""
    text = "0" if args.l1_ratio is None else args.l1_ratio
    try:
        return [float(ratio) for ratio in text.split(",")]
    except ValueError:
        raise InputError(f"--l1-ratio must be a number from 0 to 1, not {text!r}") from None


def l1_ratio_of(args: argparse.Namespace) -> float:
    """Read --l1-ratio where there can be but one."""
    ratios = l1_ratios(args)
    if len(ratios) > 1:
        raise InputError(f"--l1-ratio must be one number, not {args.l1_ratio!r}; cv takes several")
    return ratios[0]


def conditions_of(args: argparse.Namespace, rows: FileRows, l1_ratio: float) -> Conditions:
    """Return what the options ask of the weights of the features of rows."""
    files = args.bounds, args.prior, args.penalty_weights
    if not args.positive and l1_ratio == 0 and all(file is None for file in files):
        from ..linear.conditions import NO_CONDITIONS

        return NO_CONDITIONS
    from ..jobs.conditions import conditions_of_files
    from ..linear.condition_arguments import ConditionArguments

    given = ConditionArguments(positive=args.positive, l1_ratio=l1_ratio)
    return conditions_of_files(rows, given, *files)


def require_no_conditions(args: argparse.Namespace) -> None:
    """Refuse the options for a kernel, which has no weights of features."""
    for name in _OPTIONS:
        if getattr(args, name) not in (None, False):
            raise InputError(
                f"--{name.replace('_', '-')} is for the linear ranker, a kernel has no weights of "
                "features: leave out one of the two"
            )
