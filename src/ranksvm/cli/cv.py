"""The command that chooses C: ``ranksvm cv``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .conditions import add_conditions, conditions_of, l1_ratios, require_no_conditions
from .data import add_data, read_rows
from .kernels import add_kernel, kernel_of, require_linear, require_on_cpu
from .options import (
    Output,
    add_common,
    add_device,
    add_force,
    add_pairs,
    add_progress,
    add_scale,
    add_survival,
    add_training,
    is_watched,
    parameters_of,
    preferences_of,
    prepared_rows,
    say,
    write_model,
)

if TYPE_CHECKING:
    import argparse

    from ..files.rows import FileRows
    from ..jobs.features import PreparedRows
    from ..kernel.kernels import Kernel
    from ..linear.conditions import Conditions
    from ..linear.matrix import Matrix
    from ..linear.parameters import Parameters
    from ..pairs.given import AnyPreferences
    from ..selection.contest import Contest, Entrant
    from ..selection.learners import Learner
    from ..selection.rows import FoldedRows


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    cv = commands.add_parser(
        "cv",
        description="Measure, for each C of a grid, the ranking of rows that training has not "
        "seen: folds of whole queries, or of rows if there are no qids. Print a table and the best "
        "C; with MODEL, train on all rows with that.",
    )
    cv.set_defaults(run=_cv, parser=cv, output_after_data="model")
    add_data(cv)
    cv.add_argument("model", type=Output, metavar="MODEL", nargs="?", help="model file to write")
    cv.add_argument(
        "--Cs",
        metavar="C,C,...|N",
        help="values of C, or how many to try around 1 (default: 20; with --auto, 3 and what "
        "the best of these leads to)",
    )
    cv.add_argument(
        "--auto",
        action="store_true",
        help="besides C, choose among features that are standardised or by quantiles, with and "
        "without --pair-weight ndcg and --features nystroem",
    )
    _add_choosing(cv)
    add_training(cv)
    add_conditions(cv, several=True)
    add_scale(cv)
    add_kernel(cv)
    add_device(cv)
    add_pairs(cv)
    add_survival(cv)
    add_force(cv)
    add_progress(cv)
    add_common(cv)


def _add_choosing(cv: argparse.ArgumentParser) -> None:
    """Add how candidates are judged, by which of them is chosen, and where that is told."""
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
        "--no-average",
        action="store_true",
        help="with --auto, choose the best alone, not the mean of all that the folds cannot tell "
        "from it",
    )
    cv.add_argument(
        "--table", type=Output, metavar="FILE", help="write the table, as .csv or .json"
    )
    cv.add_argument(
        "--plot", type=Output, metavar="FILE", help="draw metric against C to a PNG, PDF or SVG"
    )


def _cv(args: argparse.Namespace) -> None:
    from dataclasses import replace

    from ..jobs.averaging import train_mean
    from ..jobs.features import PreparedRows
    from ..jobs.rows import naming_lack_of_pairs
    from ..jobs.training import summary, warn_unless_converged
    from .contests import tell

    if args.no_average and not args.auto:
        raise InputError("--no-average is for --auto: leave out one, or give the other")
    measured = _measured(args)
    cv = _number_of_folds(args)
    kernel = _kernel(args)
    _check_outputs(args)
    data = read_rows(args)
    prepared = (
        PreparedRows(data, args.scale) if kernel else prepared_rows(args, data, args.max_memory)
    )
    ratios = l1_ratios(args)
    asked = conditions_of(args, data, ratios[0])
    X, factors = prepared.matrix()
    rows = _folded(args, data, X)
    seen = prepared.conditions(asked, factors, X.columns)
    entrants = _entrants(args, data, rows, seen, ratios if len(ratios) > 1 else None)
    with naming_lack_of_pairs(data):
        contest = _contest(args, entrants, rows.folds(cv), _learner(args, prepared, kernel))
    warn_unless_converged(contest.shortfall)
    places = _chosen(args, contest)
    tell(args, contest, places, measured)
    if args.model and len(places) > 1:
        fit, model = train_mean(data, contest, places)
        write_model(args, model)
        say(args, summary(fit, data))
    elif args.model:
        chosen, parameters = contest.chosen(places[0])
        if args.auto:
            prepared = _prepared_for(chosen, data)
        given = replace(parameters, conditions=asked)
        _refit(args, prepared, rows.preferences, chosen.variant.parameters(given), kernel)


def _chosen(args: argparse.Namespace, contest: Contest) -> list[int]:
    """Return the places of what was chosen, the best first."""
    if not args.auto or args.no_average or args.one_standard_error:
        return [contest.best(args.one_standard_error)]
    return contest.level()


def _contest(
    args: argparse.Namespace, entrants: list[Entrant], folds: list[Any], learner: Learner | None
) -> Contest:
    from ..progress import FitCounter
    from ..selection.contest import compete

    n_trainings = len(folds) * sum(len(one.of_each) for one in entrants)
    progress = FitCounter(n_trainings) if is_watched(args) else None
    return compete(entrants, folds, args.metric, progress=progress, learner=learner)


def _kernel(args: argparse.Namespace) -> Kernel | None:
    """Return the kernel, after refusing what there is for linear rankers in memory alone."""
    kernel = kernel_of(args)
    given = "--kernel" if kernel is not None else f"--device {args.device}"
    if kernel is not None:
        require_on_cpu(args)
        require_linear(args)
        require_no_conditions(args)
    elif args.device == "cpu":
        return None
    for name in ("auto", "folds"):
        if getattr(args, name) in (True, "pairs"):
            option = "--auto" if name == "auto" else "--folds pairs"
            raise InputError(f"{option} is for linear rankers on the CPU: leave out it, or {given}")
    return kernel


def _learner(
    args: argparse.Namespace, prepared: PreparedRows, kernel: Kernel | None
) -> Learner | None:
    """Return what learns where folds cannot share X; None where they can."""
    from ..selection.learners import DeviceLearner, KernelLearner

    if kernel is not None:
        return KernelLearner(prepared.seen, kernel, args.max_memory)
    return None if args.device == "cpu" else DeviceLearner(prepared.seen, args.device)


def _entrants(
    args: argparse.Namespace,
    data: FileRows,
    rows: FoldedRows,
    conditions: Conditions,
    ratios: list[float] | None,
) -> list[Entrant]:
    """Return what is to be compared, for many values of C each."""
    from dataclasses import replace

    from ..selection.contest import entrants_of
    from ..selection.variants import variants_of

    parameters = replace(parameters_of(args, 1.0), conditions=conditions)
    Cs = None if args.Cs is None else _grid(args.Cs)
    if not args.auto:
        return entrants_of(variants_of(None, Cs, ratios), rows, None, parameters)
    for option in ("scale", "features"):
        if getattr(args, option) is not None:
            raise InputError(f"--auto tries several of each: leave out --{option}")
    return entrants_of(variants_of("auto", Cs, ratios), rows, data.X, parameters)


def _prepared_for(entrant: Entrant, data: FileRows) -> PreparedRows:
    """Return the rows of a file with what has been done to them for an entrant."""
    from ..jobs.features import PreparedRows

    variant = entrant.variant
    return PreparedRows(data, variant.scale, variant.features, entrant.maps, entrant.mapped)


def _measured(args: argparse.Namespace) -> str:
    """Return the name of what the best C is best in."""
    from ..selection.scoring import DEFAULT_SCORING, check_scoring

    check_scoring(args.metric)
    others = {"event": "concordance_index", "pairs": "share of the pairs in order"}
    for option, name in others.items():
        if getattr(args, option) is not None:
            if args.metric != DEFAULT_SCORING:
                raise InputError(f"with --{option}, the {name} is measured: leave out --metric")
            return name
    return str(args.metric)


def _number_of_folds(args: argparse.Namespace) -> int | str:
    """Read --folds."""
    if args.folds == "pairs" and args.pairs is not None:
        return "pairs"
    if not args.folds.isdecimal():
        hint = "; folds of pairs need --pairs" if args.folds == "pairs" else ""
        raise InputError(f"--folds must be a whole number, or pairs, not {args.folds!r}{hint}")
    return int(args.folds)


def _folded(args: argparse.Namespace, data: FileRows, X: Matrix) -> FoldedRows:
    """Return the rows with the preferences that the options ask for, to be shared out to folds."""
    from ..jobs.rows import labelled_preferences
    from ..linear.design_matrix import DesignMatrix
    from ..pairs.given import GivenPreferences
    from ..pairs.preferences import Preferences
    from ..selection.given_rows import FoldedPairs, GivenRows
    from ..selection.rows import TrainingRows

    assert isinstance(X, DesignMatrix)
    preferences = preferences_of(args, data)
    if isinstance(preferences, GivenPreferences):
        return (FoldedPairs if args.folds == "pairs" else GivenRows)(X, preferences)
    if preferences is None:
        preferences = labelled_preferences(data)
    assert isinstance(preferences, Preferences)
    return TrainingRows(X, preferences)


def _refit(
    args: argparse.Namespace,
    prepared: PreparedRows,
    preferences: AnyPreferences,
    parameters: Parameters,
    kernel: Kernel | None,
) -> None:
    from ..jobs.training import summary, train_on_rows

    data = prepared.rows
    fit, model = train_on_rows(
        data,
        parameters,
        preferences=preferences,
        prepared=prepared,
        kernel=kernel,
        device=args.device,
        max_memory=args.max_memory,
    )
    write_model(args, model)
    say(args, summary(fit, data))


def _grid(text: str) -> int | list[float]:
    """Read --Cs: a whole number counts values, anything else lists them."""
    try:
        return int(text) if text.isdecimal() else [float(C) for C in text.split(",")]
    except ValueError:
        raise InputError(
            f"--Cs must be numbers with commas between, or how many values to try, not {text!r}"
        ) from None


def _check_outputs(args: argparse.Namespace) -> None:
    """Refuse files that can never be written, before work is put into their content."""
    from ..files.replacing import MODEL, check_replaceable
    from ..files.table import check_table
    from ..plots import check_picture

    if args.model:
        check_replaceable(args.model, MODEL, args.force)
    if args.table:
        check_table(args.table)
    if args.plot:
        check_picture(args.plot)
