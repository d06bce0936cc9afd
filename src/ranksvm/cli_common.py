"""What the commands share."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse

    from .files.model import LinearModel
    from .files.svmlight import SvmlightFile


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add the options of every command that reads data."""
    parser.add_argument(
        "--threads", type=int, metavar="N", help="default: all CPUs; never changes the result"
    )
    parser.add_argument(
        "--zero-based", action="store_true", help="feature numbers in DATA count from zero"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def read_data(
    args: argparse.Namespace, model: LinearModel | None = None, *, comments: bool = False
) -> SvmlightFile:
    """Read DATA; for a model, with features that can be its own."""
    from .files.svmlight import read_svmlight
    from .jobs import require_fit
    from .threads import resolve_threads

    from_zero = args.zero_based or (model is not None and model.training.get("zero_based") is True)
    rows = read_svmlight(
        args.data,
        zero_based=from_zero or "auto",
        comments=comments,
        n_threads=resolve_threads(args.threads),
    )
    if model is not None:
        require_fit(rows, model, lambda note: say(args, note))
    return rows


def say(args: argparse.Namespace, message: str) -> None:
    """Write a line to the standard error, unless errors only are wanted."""
    if not args.quiet:
        sys.stderr.write(message + "\n")
