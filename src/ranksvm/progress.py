"""Telling people how a solver gets on."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, TextIO

from .solvers.result import Iteration

if TYPE_CHECKING:
    from .kernel.path.following import PathProgress

LINE = "{:>9} {:>16} {:>9} {:>9} {:>8} {:>6} {:>8}  {}\n"
HEADER = LINE.format(
    "iteration", "objective", "gap", "step", "products", "passes", "seconds", "solver"
)
PATH_LINE = "{:>9} {:>12} {:>12} {:>9} {:>12} {:>8}\n"
PATH_HEADER = PATH_LINE.format("events", "lambda", "I_0", "I_alpha", "I_1", "seconds")


class IterationTable:
    """Prints a line per iteration; of many only every tenth, of very many every hundredth.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    n_bytes : int, optional
        What a pass over X reads, of packed data: then the rate so far is printed, too.
    """

    def __init__(self, stream: TextIO | None = None, n_bytes: int | None = None) -> None:
        self._stream, self._n_bytes = stream, n_bytes

    def __call__(self, line: Iteration) -> None:
        """Print one iteration, after a header if it is the first."""
        if line.iteration % (1 if line.iteration <= 20 else 10 if line.iteration <= 200 else 100):
            return
        stream = self._stream or sys.stderr
        if line.iteration == 0:
            stream.write(HEADER if self._n_bytes is None else f"{'MB/s':>7} {HEADER}")
        if self._n_bytes is not None:
            stream.write(f"{rate(line, self._n_bytes):7.0f} ")
        stream.write(
            LINE.format(
                line.iteration,
                f"{line.value:.9g}",
                f"{line.dual_gap:.2e}",
                f"{line.step:.3g}",
                line.n_products,
                line.n_passes,
                f"{line.seconds:.3f}",
                line.solver,
            )
        )
        stream.flush()


def rate(line: Iteration, n_bytes: int) -> float:
    """Return how many MB of X have been read a second, of `n_bytes` a pass."""
    return line.n_passes * n_bytes / 1e6 / max(line.seconds, 1e-9)


class WorkNotes:
    """Prints sentences on how far some work is: the first at once, then one a second at most.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._start = time.perf_counter()
        self._next = 0.0

    def __call__(self, text: str) -> None:
        """Print a sentence, unless it comes too soon after another."""
        seconds = time.perf_counter() - self._start
        if seconds < self._next:
            return
        stream = self._stream or sys.stderr
        self._next = seconds + 1.0
        stream.write(f"{seconds:8.1f} s  {text}\n")
        stream.flush()


class FitCounter:
    """Counts trainings in a line that it writes over and over; threads may share it.

    Where the stream is no terminal, each count is a line of its own.

    Parameters
    ----------
    total : int
        How many there will be; as many as there are, if these turn out to be more.
    stream : file, optional
        Where to; standard error by default.
    """

    def __init__(self, total: int, stream: TextIO | None = None) -> None:
        self._total = total
        self._stream = stream
        self._done = 0
        self._start = time.perf_counter()
        self._lock = threading.Lock()

    def __call__(self) -> None:
        """Count one; the last ends the line."""
        stream = self._stream or sys.stderr
        with self._lock:
            self._done += 1
            self._total = max(self._total, self._done)
            seconds = time.perf_counter() - self._start
            over = "\r" if stream.isatty() else ""
            end = "\n" if not over or self._done == self._total else ""
            stream.write(f"{over}{self._done} of {self._total} trainings, {seconds:.1f} s{end}")
            stream.flush()


class PathTable:
    """Prints a line per second of a regularization path.

    Parameters
    ----------
    stream : file, optional
        Where to; standard error by default.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._stream = stream
        self._next = 0.0

    def __call__(self, line: PathProgress) -> None:
        """Print how far the path is, after a header at first."""
        if line.seconds < self._next:
            return
        stream = self._stream or sys.stderr
        if not self._next:
            stream.write(PATH_HEADER)
        self._next = line.seconds + 1.0
        sets = line.n_zero, line.n_free, line.n_one
        stream.write(
            PATH_LINE.format(line.n_events, f"{line.lam:.6g}", *sets, f"{line.seconds:.2f}")
        )
        stream.flush()
