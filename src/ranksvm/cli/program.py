"""The command line: ``ranksvm train | run``, and how all commands are run.

Only argparse is imported before the arguments are known, so that ``--help`` is instant.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .cluster import add_scheduler, train_on_cluster
from .conditions import add_conditions, conditions_of, l1_ratio_of, require_no_conditions
from .data import add_data, read_others, read_rows, settle_files
from .kernels import add_kernel, kernel_of, require_linear, require_on_cpu
from .options import (
    Input,
    Output,
    add_common,
    add_device,
    add_force,
    add_pairs,
    add_progress,
    add_scale,
    add_survival,
    add_training,
    add_unconverged,
    is_watched,
    parameters_of,
    preferences_of,
    prepared_rows,
    require_distinct_files,
    say,
    write_model,
)
from .parser import Parser
from .statuses import status_of

if TYPE_CHECKING:
    from ..files.rows import FileRows
    from ..jobs.features import PreparedRows
    from ..kernel.kernels import Kernel
    from ..models import Model


def build_parser(command: str | None = None) -> Parser:
    """Return the parser of the command line, with this command, or the names of all of them."""
    parser = Parser(
        prog="ranksvm",
        description="Ranking support vector machines, trained exactly and with a certificate.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=Parser)
    for name, (summary, add) in COMMANDS.items():
        if command is None:
            commands.add_parser(name, help=summary)
        elif command == name:
            add(commands)
    return parser


def _adder(module: str, function: str = "add_command") -> Callable[[Any], None]:
    """Return a function that adds a command of a module, imported no sooner."""
    return lambda commands: getattr(import_module(f".{module}", __package__), function)(commands)


def _add_train(commands: Any) -> None:
    train = commands.add_parser(
        "train",
        description="Learn a RankSVM, linear or with a kernel, from labelled rows and write a "
        "model file.",
    )
    train.set_defaults(run=_train, parser=train)
    add_data(train)
    train.add_argument(
        "model", type=Output, metavar="MODEL", help="model file to write, or - for stdout"
    )
    train.add_argument(
        "--validation",
        type=Input,
        metavar="FILE",
        help="rows to measure the trained model on; MODEL tells the metrics, too",
    )
    train.add_argument("-C", type=float, default=1.0, help="weight of the loss (default: 1)")
    add_kernel(train)
    add_training(train)
    add_conditions(train)
    add_scale(train)
    add_pairs(train)
    add_survival(train)
    add_device(train)
    train.add_argument(
        "--plot", type=Output, metavar="FILE", help="draw the convergence to a PNG, PDF or SVG"
    )
    add_scheduler(train)
    add_force(train)
    add_progress(train)
    add_common(train)


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run")
    _complete_run(run)


def _complete_run(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train, predict and measure as a config file of TreeRankSVM asks for."
    parser.set_defaults(run=_run_config, parser=parser)
    parser.add_argument("config", type=Input, metavar="CONFIG", help="config file, or - for stdin")
    add_unconverged(parser)


def _train(args: argparse.Namespace) -> None:
    if args.scheduler is not None:
        train_on_cluster(args)
        return
    from dataclasses import replace

    from ..files.replacing import MODEL, check_replaceable
    from ..jobs.rows import bytes_of_pass
    from ..jobs.training import summary, train_on_rows
    from ..progress import IterationTable, WorkNotes

    parameters, kernel = parameters_of(args, args.C), kernel_of(args)
    if kernel is not None:
        require_on_cpu(args)
        require_linear(args)
        require_no_conditions(args)
    l1_ratio = l1_ratio_of(args)
    check_replaceable(args.model, MODEL, args.force)
    if args.plot:
        from ..plots import check_picture

        check_picture(args.plot)
    rows = read_rows(args)
    parameters = replace(parameters, conditions=conditions_of(args, rows, l1_ratio))
    validation = None
    if args.validation:
        from ..jobs.validation import require_measurable

        validation = read_others(args, args.validation, rows)
        require_measurable(validation, args.event is not None)
    shown = is_watched(args)
    fit, model = train_on_rows(
        rows,
        parameters,
        preferences=preferences_of(args, rows),
        kernel=kernel,
        prepared=_prepared(args, rows, kernel),
        device=args.device,
        max_memory=args.max_memory,
        callback=IterationTable(n_bytes=bytes_of_pass(rows)) if shown else None,
        note=WorkNotes() if shown else None,
    )
    measured: dict[str, float] = {}
    if validation is not None:
        model, measured = _measured(args, model, validation)
    write_model(args, model)
    say(args, summary(fit, rows))
    if measured:
        listed = ", ".join(f"{name} {value:.6f}" for name, value in measured.items())
        say(args, f"{args.validation}: {listed}")
    if args.plot:
        from ..plots import ConvergenceDisplay, save_figure

        save_figure(ConvergenceDisplay(fit.result.history).plot(tol=args.tol).figure_, args.plot)


def _measured(
    args: argparse.Namespace, model: Model, rows: FileRows
) -> tuple[Model, dict[str, float]]:
    """Return a model that tells how it measures on rows, and the metrics."""
    from dataclasses import replace

    from ..jobs.validation import validated
    from ..threads import resolve_threads

    found = validated(model, rows, args.event is not None, resolve_threads(args.threads))
    record = {"data": rows.name, **found}
    return replace(model, training={**model.training, "validation": record}), found


def _prepared(args: argparse.Namespace, rows: FileRows, kernel: Kernel | None) -> PreparedRows:
    from ..jobs.features import PreparedRows

    if kernel is None:
        return prepared_rows(args, rows, args.max_memory)
    return PreparedRows(rows, args.scale)


def _run_config(args: argparse.Namespace) -> None:
    from ..config.run import run_config

    run_config(args.config)


# What each is for, and who adds it; `ranksvm --help` needs no more than the former.
COMMANDS: dict[str, tuple[str, Callable[[Any], None]]] = {
    "train": ("learn a model from labelled rows", _add_train),
    "predict": ("score rows with a model", _adder("predict")),
    "pack": (
        "write data as a folder that is mapped, for what is larger than memory",
        _adder("pack"),
    ),
    "evaluate": ("measure how well scores or a model order labelled rows", _adder("evaluate")),
    "run": ("do what a config file of TreeRankSVM asks for", _add_run),
    "cv": ("choose C by cross-validation", _adder("cv")),
    "path": ("follow the regularization path of the kernel RankSVM", _adder("path")),
    "info": ("tell what a model is, or packed data are", _adder("models", "add_info")),
    "convert": ("write a model in another form", _adder("models", "add_convert")),
    "plot": ("draw models and rankings", _adder("plot")),
    "explain": ("tell why rows rank as they do", _adder("explain")),
    "report": ("write a page on a model and how it ranks", _adder("report")),
    "demo": ("train, predict, evaluate and draw on real data", _adder("demo")),
}


def _status(args: argparse.Namespace) -> int:
    def run(args: argparse.Namespace) -> None:
        settle_files(args)
        require_distinct_files(args)
        args.run(args)

    return status_of(run, args)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status (`ranksvm.cli.statuses`)."""
    atexit.register(gc.freeze)  # a process that ends need not look for cycles in all that it had
    argv = sys.argv[1:] if argv is None else argv
    command = next((word for word in argv if not word.startswith("-")), None)
    parser = build_parser(command if command in COMMANDS else None)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        getattr(args, "parser", parser).refuse(unknown)
    if args.version:
        from .. import __version__

        sys.stdout.write(f"ranksvm {__version__}\n")
        return 0
    if not hasattr(args, "run"):
        parser.print_help()
        return 0
    args.argv = list(argv)
    return _status(args)


def rank_svm(argv: Sequence[str] | None = None) -> int:
    """Run a config file, as the program of TreeRankSVM does; return the exit status of `main`."""
    parser = Parser(prog="rank_svm")
    _complete_run(parser)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.refuse(unknown)
    return _status(args)


if __name__ == "__main__":
    sys.exit(main())
