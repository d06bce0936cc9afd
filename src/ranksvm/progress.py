"""Telling people how a solver gets on."""

from __future__ import annotations

import sys
from typing import TextIO

from .solvers.result import Iteration

HEADER = f"{'iteration':>9} {'objective':>16} {'gap':>9} {'step':>7} {'products':>8} {'seconds':>8}"


class IterationTable:
    """Prints a line per iteration.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream

    def __call__(self, line: Iteration) -> None:
        """Print one iteration, after a header if it is the first."""
        stream = self._stream or sys.stderr
        if line.iteration == 0:
            stream.write(HEADER + "\n")
        stream.write(
            f"{line.iteration:9d} {line.value:16.9g} {line.dual_gap:9.2e} {line.step:7.3g} "
            f"{line.n_products:8d} {line.seconds:8.3f}\n"
        )
        stream.flush()
