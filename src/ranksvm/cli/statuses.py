"""The exit statuses of the command line, and what is said of errors."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

from ..errors import InputError, ShortfallWarning

DONE, FAULT, MISTAKE, UNCONVERGED, INTERRUPTED = 0, 1, 2, 3, 130


def status_of(run: Callable[[argparse.Namespace], object], args: argparse.Namespace) -> int:
    """Do what arguments ask for, and return the exit status.

    0 is success; 1 a fault of this program; 2 a mistake in the arguments or the files, told in a
    sentence on standard error; 3 that what was asked for has been done and written, but a training
    has not reached its gap; and 130 an interruption by Ctrl-C. With ``--debug``, errors show where
    they were raised.
    """
    try:
        short = _count_shortfalls(run, args)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has gone; nothing more can reach it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return DONE
    except BaseException as error:
        if _comes_of_interruption(error):
            sys.stderr.write("ranksvm: interrupted\n")
            return INTERRUPTED
        if isinstance(error, Exception):
            return _tell(error, getattr(args, "debug", False))
        raise
    return UNCONVERGED if short and not getattr(args, "allow_unconverged", False) else DONE


def _comes_of_interruption(error: BaseException | None) -> bool:
    """Say whether it is one, or what failed while something was closed because of one."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _count_shortfalls(run: Callable[[Any], object], args: argparse.Namespace) -> int:
    """Run, with warnings on standard error; return how many were of trainings that fell short."""
    short = 0

    def show(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
        nonlocal short
        short += issubclass(category, ShortfallWarning)
        sys.stderr.write(f"ranksvm: warning: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        # What overflows tells nobody what to do; what comes of it, gaps and checks do tell.
        warnings.filterwarnings("ignore", ".* encountered in ", RuntimeWarning)
        warnings.showwarning = show
        run(args)
    return short


def _tell(error: Exception, debug: bool) -> int:
    """Say what is wrong and whose fault it is; return the exit status."""
    if debug:
        import traceback

        traceback.print_exception(error)
    if isinstance(error, MemoryError):
        sys.stderr.write(f"ranksvm: error: not enough memory ({error})\n")
        return MISTAKE
    if isinstance(error, (InputError, OSError, ImportError)):
        sys.stderr.write(f"ranksvm: error: {error}\n")
        return MISTAKE
    again = "with what stands above" if debug else "with what --debug shows"
    sys.stderr.write(
        f"ranksvm: internal error: {type(error).__name__}: {error}\n"
        f"this is a fault of ranksvm, not yours: please report it to its developers, {again}\n"
    )
    return FAULT
