"""The command line: ``ranksvm train | run``, and how all commands are run.

Only argparse is imported before the arguments are known, so that ``--help`` is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn

from .cluster import add_scheduler, train_on_cluster
from .conditions import add_conditions, conditions_of, l1_ratio_of, require_no_conditions
from .data import add_data, read_others, read_rows, settle_files
from .options import (
    Input,
    Output,
    add_common,
    add_force,
    add_kernel,
    add_pairs,
    add_scale,
    add_survival,
    add_training,
    kernel_of,
    parameters_of,
    preferences_of,
    prepared_rows,
    require_distinct_files,
    say,
)

if TYPE_CHECKING:
    from ..files.rows import FileRows
    from ..jobs.features import PreparedRows
    from ..kernel.kernels import Kernel
    from ..models import Model


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in a sentence, without the whole usage in front of it.

    Files may stand before, between and after options.
    """

    _intermixes = False

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        if self._subparsers is not None or self._intermixes:
            return super().parse_known_args(args, namespace)
        self._intermixes = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixes = False

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments, with the option nearest to the first."""
        from difflib import get_close_matches

        nearest = get_close_matches(unknown[0].split("=")[0], self._option_string_actions, 1)
        hint = f" (did you mean {nearest[0]}?)" if nearest else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def build_parser(command: str | None = None) -> _Parser:
    """Return the parser of the command line, with all commands or just this one."""
    parser = _Parser(
        prog="ranksvm",
        description="Ranking support vector machines, trained exactly and with a certificate.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    for name, add in _COMMANDS.items():
        if command in (None, name):
            add(commands)
    return parser


def _adder(module: str, function: str = "add_command") -> Callable[[Any], None]:
    """Return a function that adds a command of a module, imported no sooner."""
    return lambda commands: getattr(import_module(f".{module}", __package__), function)(commands)


def _add_train(commands: Any) -> None:
    train = commands.add_parser(
        "train",
        help="learn a model from labelled rows",
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
    train.add_argument(
        "--device",
        default="cpu",
        metavar="DEVICE",
        help="where to compute: cpu; cuda or, say, cuda:1, a GPU, by PyTorch or CuPy; torch:cuda "
        "or cupy:cuda, by that library (default: cpu)",
    )
    train.add_argument(
        "--plot", type=Output, metavar="FILE", help="draw the convergence to a PNG, PDF or SVG"
    )
    add_scheduler(train)
    add_force(train)
    add_common(train)


def _add_run(commands: Any) -> None:
    run = commands.add_parser("run", help="do what a config file of TreeRankSVM asks for")
    _complete_run(run)


def _complete_run(parser: argparse.ArgumentParser) -> None:
    parser.description = "Train, predict and measure as a config file of TreeRankSVM asks for."
    parser.set_defaults(run=_run_config, parser=parser)
    parser.add_argument("config", type=Input, metavar="CONFIG", help="config file, or - for stdin")


def _train(args: argparse.Namespace) -> None:
    if args.scheduler is not None:
        train_on_cluster(args)
        return
    from dataclasses import replace

    from ..files.model import save_model
    from ..files.replacing import MODEL, check_replaceable
    from ..jobs.rows import bytes_of_pass
    from ..jobs.training import summary, train_on_rows
    from ..jobs.validation import require_measurable
    from ..progress import IterationTable, WorkNotes

    parameters, kernel = parameters_of(args, args.C), kernel_of(args)
    if kernel is not None and args.device != "cpu":
        raise ValueError(f"kernels are computed on the CPU: leave out --device {args.device}")
    if kernel is not None:
        _require_linear(args)
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
        validation = read_others(args, args.validation, rows)
        require_measurable(validation, args.event is not None)
    shown = sys.stderr.isatty() and not args.quiet
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
    save_model(model, args.model)
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


def _require_linear(args: argparse.Namespace) -> None:
    """Refuse, for a kernel, what only a linear model does with features."""
    option = f"--features {args.features}" if args.features is not None else None
    if args.scale in ("quantile", "query"):
        option = f"--scale {args.scale}"
    if option is not None:
        raise ValueError(
            f"{option} is for the linear ranker: leave out --kernel; --features nystroem has a "
            "kernel at linear cost"
        )


def _run_config(args: argparse.Namespace) -> None:
    from ..config.run import run_config

    run_config(args.config)


_COMMANDS: dict[str, Callable[[Any], None]] = {
    "train": _add_train,
    "predict": _adder("predict"),
    "pack": _adder("pack"),
    "evaluate": _adder("evaluate"),
    "run": _add_run,
    "cv": _adder("cv"),
    "path": _adder("path"),
    "info": _adder("models", "add_info"),
    "convert": _adder("models", "add_convert"),
    "plot": _adder("plot"),
    "explain": _adder("explain"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    0 is success, 2 a mistake in the arguments or the files, told in a sentence on standard error,
    and 130 an interruption by Ctrl-C.
    """
    argv = sys.argv[1:] if argv is None else argv
    parser = build_parser(argv[0] if argv and argv[0] in _COMMANDS else None)
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
    return _run(args)


def rank_svm(argv: Sequence[str] | None = None) -> int:
    """Run a config file, as the program of TreeRankSVM does; return the exit status of `main`."""
    parser = _Parser(prog="rank_svm")
    _complete_run(parser)
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        parser.refuse(unknown)
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    import warnings

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sys.stderr.write(f"ranksvm: warning: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            settle_files(args)
            require_distinct_files(args)
            args.run(args)
            sys.stdout.flush()
            return 0
        except BrokenPipeError:
            # The reader has gone; nothing more can reach it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt:
            sys.stderr.write("ranksvm: interrupted\n")
            return 130
        except MemoryError as error:
            sys.stderr.write(f"ranksvm: error: not enough memory ({error})\n")
            return 2
        except (ValueError, OSError, ImportError) as error:
            sys.stderr.write(f"ranksvm: error: {error}\n")
            return 2


if __name__ == "__main__":
    sys.exit(main())
