"""Whether an output may take the place of a file: of one that the program wrote, say.

A shell makes the last file of ``ranksvm train *.svm`` an output.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import NamedTuple

from .atomic import OutputError, check_output
from .model import is_model_file
from .source import StrPath, open_decompressed

_START_BYTES = 4096
_NUMBER = rb"[-+]?[\d.]+(?:[eE][-+]?\d+)?"
_SCORES = re.compile(rb"(?:" + _NUMBER + rb"\n)+(?:[-+\d.eE]*)\Z|" + _NUMBER + rb"\Z")
_TREC = re.compile(rb"\S+ Q0 \S+ \d+ \S+ \S+\n")
_BEST = re.compile(rb"(?:qid,)?rank,(?:docid|row),score\n")
_PATH = re.compile(rb'lambda,n_zero,|\[\s*\{\s*"lambda"')


class Replaceable(NamedTuple):
    """What an output may take the place of.

    Attributes
    ----------
    title : str
        What messages call it.
    holds : callable
        Tells whether the file at a path is one.
    """

    title: str
    holds: Callable[[StrPath], bool]


def _beginning(*patterns: re.Pattern[bytes]) -> Callable[[StrPath], bool]:
    def holds(path: StrPath) -> bool:
        try:
            with open_decompressed(os.fsdecode(path)) as file:
                start = file.read(_START_BYTES)
        except Exception:  # damaged compression has many
            return False
        return any(pattern.match(start) for pattern in patterns)

    return holds


MODEL = Replaceable("model", is_model_file)
SCORES = Replaceable("file of scores", _beginning(_SCORES, _TREC, _BEST))
PATH = Replaceable("table of a path", _beginning(_PATH))


def check_replaceable(path: StrPath, kind: Replaceable, force: bool) -> None:
    """Refuse an output that can never be written, or would take the place of something else.

    Parameters
    ----------
    path : str or path-like
        ``-``, devices and empty files may always be written.
    kind : Replaceable
    force : bool
        Whether any file may be replaced.

    Raises
    ------
    OutputError
        Saying how to do it all the same.
    """
    check_output(path)
    name = os.fsdecode(path)
    if force or name == "-" or not os.path.isfile(name) or os.path.getsize(name) == 0:
        return
    if not kind.holds(name):
        raise OutputError(
            f"{name} exists and is no {kind.title}: name another file to write, or say --force"
        )
