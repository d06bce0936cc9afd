"""What several commands of the command line share: options, and what they ask for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from ..errors import InputError
from ..names import (
    CENSORING_WEIGHTS,
    COUNTINGS,
    GAINS,
    LOSSES,
    NORMALIZATIONS,
    PAIR_WEIGHTS,
    SCALES,
    SOLVERS,
)

if TYPE_CHECKING:
    import argparse

    from ..files.rows import FileRows
    from ..jobs.features import PreparedRows
    from ..linear.parameters import Parameters
    from ..models import Model
    from ..pairs.given import GivenPreferences
    from ..pairs.preferences import Preferences


class Input(str):
    """The path of a file to read; as the type of an argument, it says that it is one."""


class Output(str):
    """The path of a file to write."""


def require_distinct_files(args: argparse.Namespace) -> None:
    """Refuse outputs that would overwrite an input of the command, or one another."""
    from ..files.distinct import overwritten

    files = [
        (_title(args.parser, name), path)
        for name, value in vars(args).items()
        for path in (value if isinstance(value, list) else [value])
    ]
    files.sort(key=lambda file: file[0].startswith("-"))  # options are named after arguments
    found = overwritten(
        [file for file in files if isinstance(file[1], Input)],
        [file for file in files if isinstance(file[1], Output)],
    )
    if found is not None:
        raise InputError(f"{found[0]} would overwrite {found[1]}: name another file")


def _title(parser: argparse.ArgumentParser, name: str) -> str:
    """Return how the help calls the argument of a name in the namespace."""
    for action in parser._actions:
        if action.dest == name:
            return action.option_strings[-1] if action.option_strings else str(action.metavar)
    return name


def add_training(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is minimised and how, but C."""
    parser.add_argument(
        "--normalize",
        default="documents",
        choices=[name or "none" for name in NORMALIZATIONS],
        help="a pair weighs C n/N, C/N, C/(R N_q) or C, for n rows, N pairs, R queries "
        "(default: documents)",
    )
    parser.add_argument(
        "--loss", default="squared_hinge", choices=LOSSES, help="default: squared_hinge"
    )
    parser.add_argument(
        "--pair-weight",
        default="none",
        choices=[name or "none" for name in PAIR_WEIGHTS],
        help="gap: a pair also weighs the difference of its labels; gain: that of its gains; ndcg: "
        "what an exchange would change of nDCG, in rounds (default: none)",
    )
    add_top(parser)
    parser.add_argument("--solver", default="auto", choices=SOLVERS, help="default: auto")
    parser.add_argument(
        "--counting",
        default="auto",
        choices=COUNTINGS,
        help="how active pairs are counted (default: auto)",
    )
    parser.add_argument(
        "--tol", type=float, default=1e-3, help="relative duality gap to reach (default: 0.001)"
    )
    parser.add_argument(
        "--epsilon",
        type=float,
        default=0.0,
        metavar="E",
        help="also stop at an absolute gap of E, of the objective divided by C (default: 0)",
    )
    parser.add_argument("--max-iter", type=int, default=1000, metavar="N", help="default: 1000")


def add_top(parser: argparse.ArgumentParser) -> None:
    """Add the options of the weights of pairs by gains."""
    parser.add_argument(
        "--gains",
        default="exponential",
        choices=GAINS,
        help="a label y is worth 2^y - 1, or y (default: exponential)",
    )
    parser.add_argument(
        "--top", type=int, default=30, metavar="K", help="ranks that count to nDCG (default: 30)"
    )
    parser.add_argument(
        "--rounds",
        type=int,
        default=3,
        metavar="N",
        help="rounds of --pair-weight ndcg, the first of which weighs all pairs alike (default: 3)",
    )


def add_scale(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what is done to features for training."""
    parser.add_argument(
        "--scale",
        choices=SCALES,
        help="train on features divided by their standard deviation, range or greatest absolute "
        "value in DATA, by their quantiles there, or from 0 to 1 within each query; MODEL is for "
        "the features as they are (default: no)",
    )
    parser.add_argument(
        "--features",
        metavar="KIND[:N]",
        help="train on others made of the scaled features: nystroem, N components of the kernel "
        "rbf (default: 300, and --scale standard), or splines, a curve of N knots for each "
        "feature (default: 5)",
    )


def prepared_rows(
    args: argparse.Namespace, rows: FileRows, max_memory: float = 4e9
) -> PreparedRows:
    """Do to rows what the options of `add_scale` ask for."""
    from ..jobs.features import prepared
    from ..models.preparing import Features

    features = None if args.features is None else Features.parse(args.features)
    found = prepared(rows, args.scale, features, max_memory)
    if found.note is not None:
        say(args, found.note)
    return found


def add_device(parser: argparse.ArgumentParser) -> None:
    """Add the option that says where to compute."""
    parser.add_argument(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="where to compute: cpu; cuda or, say, cuda:1, a GPU, by PyTorch or CuPy; torch:cuda "
        "or cupy:cuda, by that library (default: cpu)",
    )


def add_pairs(parser: argparse.ArgumentParser) -> None:
    """Add the option that gives preferences as pairs."""
    parser.add_argument(
        "--pairs",
        type=Input,
        metavar="FILE",
        help="in place of labels, pairs of rows of DATA, counted from zero: a line of "
        "winner<TAB>loser[<TAB>weight[<TAB>margin]] for each",
    )


def add_event(parser: argparse.ArgumentParser) -> None:
    """Add the option that makes times of labels."""
    parser.add_argument(
        "--event",
        type=Input,
        metavar="FILE|COL",
        help="the labels in DATA are times, and FILE has a line for each row, or a table the "
        "column COL: 1 if its event was then, 0 if it is censored; scores are risks, higher for "
        "earlier events",
    )


def add_survival(parser: argparse.ArgumentParser) -> None:
    """Add that option, and those that say what the pairs of such rows weigh."""
    add_event(parser)
    parser.add_argument(
        "--ipcw",
        default="none",
        choices=[name or "none" for name in CENSORING_WEIGHTS],
        help="with --event, weigh pairs by the inverse probability of censoring, estimated from "
        "all rows or, uno_strata, for each qid (default: none)",
    )
    parser.add_argument(
        "--tau",
        type=float,
        metavar="T",
        help="with --event, compare no events that are not before this time",
    )


def preferences_of(
    args: argparse.Namespace, rows: FileRows
) -> GivenPreferences | Preferences | None:
    """Return what `add_pairs` and `add_survival` ask for; None for the preferences of labels."""
    if args.pairs is not None:
        return given_pairs_of(args, rows)
    if args.event is None:
        for option, value in [("--ipcw", args.ipcw != "none"), ("--tau", args.tau is not None)]:
            if value:
                raise InputError(f"{option} is for times of events: give --event, too")
        return None
    if args.pair_weight != "none":
        raise InputError("times of events have no gaps to weigh pairs by: leave out --pair-weight")
    from ..jobs.survival import survival_of

    ipcw = None if args.ipcw == "none" else args.ipcw
    survival = survival_of(rows, args.event)
    return survival.preferences(rows.qid, rows.cost, ipcw=ipcw, tau=args.tau)


def given_pairs_of(args: argparse.Namespace, rows: FileRows) -> GivenPreferences:
    """Return the pairs of the file that `add_pairs` asks for."""
    for option in ("event", "pair_weight"):
        if getattr(args, option, None) not in (None, "none"):
            name = option.replace("_", "-")
            raise InputError(f"pairs that are given have no labels: leave out --{name} or --pairs")
    if rows.cost is not None:
        raise InputError(
            f"{rows.name} has weights of rows (cost:), but pairs that are given have weights of "
            "their own, in the third column: leave out one of the two"
        )
    from ..jobs.given import read_given_pairs

    return read_given_pairs(args.pairs, len(rows.labels), rows.name, rows.qid)


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of all commands that read data."""
    parser.add_argument(
        "--threads",
        type=int,
        metavar="N",
        help="-1: all CPUs; default: as OMP_NUM_THREADS says, or all; never changes the result",
    )
    parser.add_argument(
        "--zero-based", action="store_true", help="feature numbers in DATA count from zero"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def add_force(parser: argparse.ArgumentParser) -> None:
    """Add the option to overwrite whatever has the name of the output."""
    parser.add_argument(
        "--force",
        action="store_true",
        help="overwrite the output even if it is something that this command never writes",
    )


def add_progress(parser: argparse.ArgumentParser) -> None:
    """Add the options of commands that train: what they tell, and what their end says."""
    parser.add_argument(
        "-v",
        "--verbose",
        action="store_true",
        help="tell what the work takes and how far it is, which a terminal is told in any case",
    )
    add_unconverged(parser)


def add_unconverged(parser: argparse.ArgumentParser) -> None:
    """Add the option of what the exit status says."""
    parser.add_argument(
        "--allow-unconverged",
        action="store_true",
        help="exit with status 0 even if a gap was not reached, in place of 3",
    )


def is_watched(args: argparse.Namespace) -> bool:
    """Whether somebody wants to be told how far the work is."""
    if args.verbose and args.quiet:
        raise InputError("--verbose and --quiet exclude each other: leave out one of them")
    return bool(args.verbose or (sys.stderr.isatty() and not args.quiet))


def parameters_of(args: argparse.Namespace, C: float) -> Parameters:
    """Return the parameters that the options of `add_training` and `add_common` ask for."""
    from ..linear.parameters import Parameters

    return Parameters(
        C=C,
        loss=args.loss,
        pair_weight=None if args.pair_weight == "none" else args.pair_weight,
        gains=args.gains,
        top=args.top,
        n_rounds=args.rounds,
        normalize=None if args.normalize == "none" else args.normalize,
        solver=args.solver,
        counting=args.counting,
        tol=args.tol,
        epsilon=args.epsilon,
        max_iter=args.max_iter,
        n_threads=args.threads,
    )


def write_model(args: argparse.Namespace, model: Model) -> None:
    """Write a model to MODEL, and say so if the name promises another form."""
    from ..files.model import NOT_A_PICKLE, is_named_as_pickle, save_model

    save_model(model, args.model)
    if is_named_as_pickle(args.model):
        say(args, NOT_A_PICKLE.format(args.model))


def say(args: argparse.Namespace, message: str) -> None:
    """Write a line to standard error, unless that is to be quiet."""
    if not args.quiet:
        sys.stderr.write(message + "\n")
