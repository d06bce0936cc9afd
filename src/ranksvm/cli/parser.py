"""Reading the command line: help with examples, and sentences for what is wrong."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, NoReturn

from .examples import EXAMPLES

# What SVM^rank and LIBLINEAR call otherwise.
_ELSEWHERE = {
    "-c": "SVM^rank's -c is -C here, with --loss hinge --normalize queries for its -l 2; for n "
    "queries and its -l 1, -C is c/n with --loss hinge --normalize none",
    "-e": "the accuracy is --tol, relative to the objective, or --epsilon",
    "-t": "kernels have names: --kernel linear, polynomial, rbf or sigmoid",
    "-g": "it is --gamma",
    "-d": "it is --degree",
    "-r": "it is --coef0",
    "-s": "RankSVM is all there is: leave it out; --loss chooses the loss",
    "-l": "it is --loss, and --normalize for what a query weighs",
    "-w": "it is --solver",
    "-p": "the loss is --loss hinge or --loss squared_hinge",
}
_NARROW = 80  # where there is no terminal
_NO_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")


class Parser(argparse.ArgumentParser):
    """Says what is wrong in a sentence, without the whole usage in front of it.

    Files may stand before, between and after options.
    """

    _intermixes = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        # Each argument is formatted once to see that it can be, which would ask for the width, too.
        formatter = partial(argparse.HelpFormatter, width=_terminal_width() - 2)
        super().__init__(*args, **{"formatter_class": formatter, **kwargs})
        self.add_argument(
            "--debug",
            action="store_true",
            default=argparse.SUPPRESS,
            help="show where an error was raised",
        )

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Read arguments, wherever among options files stand."""
        if self._subparsers is not None or self._intermixes:
            return super().parse_known_args(args, namespace)
        self._intermixes = True
        try:
            return self.parse_known_intermixed_args(args, namespace)
        finally:
            self._intermixes = False

    def format_help(self) -> str:
        """Return the help, with examples at its end."""
        examples = EXAMPLES.get(self.prog, ())
        if not examples:
            return super().format_help()
        return "\n  ".join([super().format_help() + "\nexamples:", *examples]) + "\n"

    def error(self, message: str) -> NoReturn:
        """Say what is wrong, with the choice that may be meant, and exit."""
        if found := _NO_CHOICE.search(message):
            message += _nearest(found[1], re.findall(r"[\w-]+", found[2]))
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments, with what other programs mean by the first, or the option nearest."""
        option = unknown[0].split("=")[0]
        hint = ""
        if option in _ELSEWHERE:
            hint = f": {_ELSEWHERE[option]}"
        elif option.startswith("-"):
            hint = _nearest(option, self._option_string_actions)
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def _terminal_width() -> int:
    """Return what `shutil.get_terminal_size` does, which would bring compression with it."""
    try:
        return int(os.environ["COLUMNS"]) or _NARROW
    except (KeyError, ValueError):
        pass
    try:
        return os.get_terminal_size(sys.stdout.fileno()).columns or _NARROW
    except (AttributeError, ValueError, OSError):
        return _NARROW


def _nearest(word: str, choices: Iterable[str]) -> str:
    """Return a question whether another word was meant, if one is near."""
    from difflib import get_close_matches

    nearest = get_close_matches(word, list(choices), 1)
    return f" (did you mean {nearest[0]}?)" if nearest else ""
