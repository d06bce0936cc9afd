"""One system on one task, in a process of its own, under a time limit."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, replace
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from benchmarks.harness import peak_memory
from benchmarks.systems import System
from benchmarks.task import CACHE, Judge, Rows, Task

SPACING = 1.03  # of the times at which weights are kept, once there are many
START_LIMIT = 300.0  # seconds in which a process must have loaded its libraries
GRACE = 5.0
FINISHED, OUT_OF_TIME, UNABLE, FAILED = "finished", "out of time", "unable", "failed"


class Point(NamedTuple):
    """Weights after so many iterations and seconds; scores of test rows if there are none."""

    seconds: float
    iteration: int
    weights: np.ndarray


class End(NamedTuple):
    """The last message of a run."""

    status: str
    why: str
    seconds: float
    memory: int


@dataclass(frozen=True, eq=False)
class Outcome:
    """
    How a run went.

    Attributes
    ----------
    system, task : str
        Their names.
    status : {"finished", "out of time", "unable", "failed"}
    why : str
        In a word, unless it finished.
    seconds : float
        How long it ran, without the time of reports.
    memory : int
        Peak memory of its process in bytes, its share of the data included; 0 where not known.
    trace : list of Point
        What it had found by and by, also if it was stopped.
    linear : bool
        Whether its model has weights.
    """

    system: str
    task: str
    status: str
    why: str
    seconds: float
    memory: int
    trace: list[Point]
    linear: bool = True

    def judged(self, judge: Judge) -> Curve:
        """Let the judge say what the weights are worth."""
        verdict = judge.verdict if self.linear else judge.verdict_of_scores
        verdicts = [verdict(point.weights) for point in self.trace]
        columns = np.array(verdicts, dtype=np.float64).reshape(-1, 3).T
        seconds = np.array([point.seconds for point in self.trace])
        iterations = np.array([point.iteration for point in self.trace])
        return Curve(self, seconds, iterations, *columns)


@dataclass(frozen=True, eq=False)
class Curve:
    """What a run had reached by and by: arrays of one value for each point of its trace."""

    outcome: Outcome
    seconds: np.ndarray
    iterations: np.ndarray
    distance: np.ndarray
    pairwise_accuracy: np.ndarray
    ndcg: np.ndarray

    def seconds_to(self, distance: float) -> float:
        """Tell the seconds until the relative distance was this small; NaN if it never was."""
        return self._first(self.seconds, distance)

    def iterations_to(self, distance: float) -> float:
        """Count the iterations until then; NaN if never."""
        return self._first(self.iterations, distance)

    def _first(self, of_points: np.ndarray, distance: float) -> float:
        reached = np.flatnonzero(self.distance <= distance)
        return float(of_points[reached[0]]) if len(reached) else float("nan")


def race(system: System, task: Task, limit: float, cache: Path = CACHE) -> Outcome:
    """Run a system on a task, for `limit` seconds at most."""
    why = system.unable(task)
    if why:
        return Outcome(system.name, task.name, UNABLE, why, 0.0, 0, [])
    context = get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    bare = replace(task, X=None, y=np.empty(0), qid=None, test=None)
    needs_test = task.test is not None and not system.linear
    test_folder = task.test.store(cache) if needs_test else None
    arguments = (sender, system, bare, task.rows.store(cache), test_folder)
    process = context.Process(target=_run, args=arguments, daemon=True)
    process.start()
    sender.close()  # so that the end of the process is the end of the pipe
    trace: list[Point] = []
    try:
        end = _follow(receiver, trace, limit)
    finally:
        _end(process)
        receiver.close()
    return Outcome(system.name, task.name, *end, trace, system.linear)


def _end(process: BaseProcess) -> None:
    """End a run; if it runs a program, it has a moment to end that first."""
    process.terminate()
    process.join(GRACE)
    process.kill()
    process.join()


def _follow(receiver: Connection, trace: list[Point], limit: float) -> End:
    """Gather the trace until the run ends, or its time is over."""
    deadline = time.perf_counter() + START_LIMIT
    while receiver.poll(max(deadline - time.perf_counter(), 0.0)):
        try:
            message = receiver.recv()
        except EOFError:
            return End(FAILED, "its process died", trace[-1].seconds if trace else 0.0, 0)
        if message is None:
            deadline = time.perf_counter() + limit
        elif isinstance(message, End):
            return message
        else:
            trace.append(message)
    return End(OUT_OF_TIME, f"stopped after {limit:g} s", limit, 0)


def _run(
    sender: Connection, system: System, bare: Task, folder: Path, test_folder: Path | None
) -> None:
    """Do the task, in the new process."""
    X, y, qid = Rows.load(folder)
    bare = replace(bare, test=Rows.load(test_folder) if test_folder else None)
    task = replace(bare, X=X, y=y, qid=qid)
    task.objective().evaluate(task.start + 1.0)  # the data are in memory when the clock starts
    task = replace(bare, X=X, y=y, qid=qid)
    system.prepare()
    with threadpool_limits(task.n_threads):
        sender.send(None)
        report = Recorder(sender.send)
        try:
            system.run(task, report)
        except Exception as error:
            why = traceback.format_exception_only(error)[-1].strip()
            sender.send(End(FAILED, why, report.elapsed(), peak_memory()))
        else:
            seconds = report.elapsed()
            report.flush()
            sender.send(End(FINISHED, "", seconds, peak_memory()))


class Recorder:
    """
    The clock of a run, which stands still while it hands weights on.

    When iterations are many, weights are kept at times that grow by a few per cent, and at last.
    """

    def __init__(self, send: Callable[[Any], None]) -> None:
        self._send = send
        self._sent = 0.0
        self._held: Point | None = None
        self._paused = 0.0
        self._started = time.perf_counter()

    def elapsed(self) -> float:
        """Seconds of the run so far, without those of reports."""
        return time.perf_counter() - self._started - self._paused

    def __call__(
        self, iteration: int, weights: np.ndarray, *, seconds: float | None = None
    ) -> None:
        """Take note of weights."""
        now = time.perf_counter()
        elapsed = self.elapsed() if seconds is None else seconds
        self._held = Point(elapsed, int(iteration), np.array(weights, dtype=np.float64))
        if elapsed >= SPACING * self._sent:
            self.flush()
        self._paused += time.perf_counter() - now

    def flush(self) -> None:
        """Hand on what is held back."""
        if self._held is not None:
            self._sent = self._held.seconds
            self._send(self._held)
            self._held = None
