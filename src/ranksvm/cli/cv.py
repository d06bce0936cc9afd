"""The command that chooses C: ``ranksvm cv``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .options import (
    Input,
    Output,
    add_common,
    add_pairs,
    add_scale,
    add_survival,
    add_training,
    parameters_of,
    preferences_of,
    read_rows,
    say,
)

if TYPE_CHECKING:
    import argparse

    from ..files.svmlight import SvmlightFile
    from ..linear.design_matrix import DesignMatrix
    from ..linear.parameters import Parameters
    from ..pairs.given import AnyPreferences
    from ..selection.cross_validation import CrossValidation
    from ..selection.rows import FoldedRows


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    cv = commands.add_parser(
        "cv",
        help="choose C by cross-validation",
        description="Measure, for each C of a grid, the ranking of rows that training has not "
        "seen: folds of whole queries, or of rows if there are no qids. Print a table and the best "
        "C; with MODEL, train on all rows with that.",
    )
    cv.set_defaults(run=_cv, parser=cv)
    cv.add_argument(
        "data", type=Input, metavar="DATA", help="SVMlight file, .gz .bz2 .xz, or - for stdin"
    )
    cv.add_argument("model", type=Output, metavar="MODEL", nargs="?", help="model file to write")
    cv.add_argument(
        "--Cs",
        default="20",
        metavar="C,C,...|N",
        help="values of C, or how many to try around 1 (default: 20)",
    )
    cv.add_argument(
        "--folds",
        default="5",
        metavar="K|pairs",
        help="how many, of whole queries or, with --pairs, of rows that pairs connect; or pairs, "
        "for folds of single pairs (default: 5)",
    )
    cv.add_argument(
        "--metric",
        default="pairwise_accuracy_pooled",
        metavar="NAME",
        help="what the best C is best in, as for ranksvm evaluate, such as ndcg@10 (default: "
        "pairwise_accuracy_pooled)",
    )
    cv.add_argument(
        "--one-standard-error",
        action="store_true",
        help="choose the smallest C within one standard error of the best",
    )
    cv.add_argument(
        "--table", type=Output, metavar="FILE", help="write the table, as .csv or .json"
    )
    cv.add_argument(
        "--plot", type=Output, metavar="FILE", help="draw metric against C to a PNG, PDF or SVG"
    )
    add_training(cv)
    add_scale(cv)
    add_pairs(cv)
    add_survival(cv)
    add_common(cv)


def _cv(args: argparse.Namespace) -> None:
    from ..files.table import save_table
    from ..jobs.rows import design_matrix, factors_of
    from ..jobs.training import warn_unless_converged
    from ..plots import RegularizationCurveDisplay, save_figure
    from ..progress import FitCounter
    from ..selection.cross_validation import cross_validate

    measured = _measured(args)
    parameters = parameters_of(args, 1.0)
    Cs, cv = _grid(args.Cs), _number_of_folds(args)
    _check_outputs(args)
    data = read_rows(args)
    X = design_matrix(data)
    factors = factors_of(data, args.scale, X.columns)
    X = X if factors is None else X.scaled(factors)
    rows = _folded(args, data, X)
    of_each = rows.grid(Cs, parameters)
    folds = rows.folds(cv)
    watched = sys.stderr.isatty() and not args.quiet
    progress = FitCounter(len(folds) * len(of_each)) if watched else None
    result = cross_validate(rows, of_each, folds, args.metric, progress=progress)
    warn_unless_converged(result.shortfall)
    best = result.best(args.one_standard_error)
    sys.stdout.write(_shown(result, best, measured))
    if args.table:
        save_table(result.table(), args.table)
    if args.plot:
        display = RegularizationCurveDisplay(
            result.Cs, result.mean, result.standard_error, chosen=best, metric=measured
        )
        save_figure(display.plot().figure_, args.plot)
    if best in (result.Cs.argmin(), result.Cs.argmax()) and len(result.Cs) > 1:
        say(args, f"note: C={result.Cs[best]:g} is at an end of the grid; see --Cs")
    if result.advice is not None and not args.model:
        say(args, f"note: {result.advice}")
    if args.model:
        _refit(args, data, rows.preferences, of_each[best])


def _measured(args: argparse.Namespace) -> str:
    """Return the name of what the best C is best in."""
    from ..selection.scoring import DEFAULT_SCORING, check_scoring

    check_scoring(args.metric)
    others = {"event": "concordance_index", "pairs": "share of the pairs in order"}
    for option, name in others.items():
        if getattr(args, option) is not None:
            if args.metric != DEFAULT_SCORING:
                raise ValueError(f"with --{option}, the {name} is measured: leave out --metric")
            return name
    return str(args.metric)


def _number_of_folds(args: argparse.Namespace) -> int | str:
    """Read --folds."""
    if args.folds == "pairs" and args.pairs is not None:
        return "pairs"
    if not args.folds.isdecimal():
        hint = "; folds of pairs need --pairs" if args.folds == "pairs" else ""
        raise ValueError(f"--folds must be a whole number, or pairs, not {args.folds!r}{hint}")
    return int(args.folds)


def _folded(args: argparse.Namespace, data: SvmlightFile, X: DesignMatrix) -> FoldedRows:
    """Return the rows with the preferences that the options ask for, to be shared out to folds."""
    from ..pairs.given import GivenPreferences
    from ..pairs.preferences import Preferences
    from ..selection.given_rows import FoldedPairs, GivenRows
    from ..selection.rows import TrainingRows

    preferences = preferences_of(args, data)
    if isinstance(preferences, GivenPreferences):
        return (FoldedPairs if args.folds == "pairs" else GivenRows)(X, preferences)
    if preferences is None:
        preferences = Preferences.from_labels(data.labels, data.qid, data.cost)
    return TrainingRows(X, preferences)


def _refit(
    args: argparse.Namespace,
    data: SvmlightFile,
    preferences: AnyPreferences,
    parameters: Parameters,
) -> None:
    from ..files.model import save_model
    from ..jobs.training import summary, train_on_rows

    fit, model = train_on_rows(data, parameters, preferences=preferences, scale=args.scale)
    save_model(model, args.model)
    say(args, summary(fit, data))


def _grid(text: str) -> int | list[float]:
    """Read --Cs: a whole number counts values, anything else lists them."""
    try:
        return int(text) if text.isdecimal() else [float(C) for C in text.split(",")]
    except ValueError:
        raise ValueError(
            f"--Cs must be numbers with commas between, or how many values to try, not {text!r}"
        ) from None


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse files that can never be written, before work is put into their content."""
    from ..files.atomic import check_output
    from ..files.table import check_table
    from ..plots import check_picture

    if args.model:
        check_output(args.model)
    if args.table:
        check_table(args.table)
    if args.plot:
        check_picture(args.plot)


def _shown(result: CrossValidation, best: int, metric: str) -> str:
    """Return the table for people; a star marks the C chosen."""
    lines = [f"{'C':>12} {metric:>25} {'standard error':>16}\n"]
    for k, (C, mean, error) in enumerate(
        zip(result.Cs, result.mean, result.standard_error, strict=True)
    ):
        mark = " *" if k == best else ""
        lines.append(f"{C:12.6g} {mean:25.6f} {error:16.6f}{mark}\n")
    return "".join(lines)
