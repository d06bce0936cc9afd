"""What rounds on a cluster cost beside their work: measured, as a formula, and as a figure."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from dask.delayed import delayed
from distributed import Client

from benchmarks.cluster_workers import workers
from benchmarks.harness import print_table
from benchmarks.report import Page, draw_curve, new_figure, styles
from ranksvm.cluster import costs
from ranksvm.cluster.driver import Driver, driving
from ranksvm.cluster.graph import Graph
from ranksvm.cluster.sums import FAN, Part, depth_of
from ranksvm.linear.costs import HESSIAN, HESSIAN_ROW, HESSIAN_VALUE, PASS_AFAR, PASS_DENSE

FEATURES = 136
DELAYS = (0.02, 0.05)
BILLION, PARTITIONS_OF_BILLION, ROUNDS_OF_FIT = 10**9, 2560, 10


def brought(_: int, n_numbers: int) -> Part:
    """Bring so many numbers, without any work."""
    return Part([], {"numbers": np.ones(n_numbers)})


def seconds_of_round(client: Client, n_tasks: int, n_numbers: int, repeats: int = 15) -> float:
    """Return the least seconds of a round of so many tasks, that bring so many numbers."""
    with driving(client) as driver:
        hold = delayed(int, pure=False)
        driver.hold(lambda: [hold(k) for k in range(n_tasks)])
        seconds = [seconds_of_one(driver, n_numbers) for _ in range(repeats)]
    return min(seconds)


def seconds_of_one(driver: Driver, n_numbers: int) -> float:
    """Return the seconds of a round."""
    start = time.perf_counter()
    driver.total("none", lambda graph: graph.map("none", brought, driver.held, n_numbers=n_numbers))
    return time.perf_counter() - start


def of_round(n_tasks: int, n_numbers: float) -> float:
    """Return what the formula says of that, with the constants of `ranksvm.cluster.costs`."""
    return 1e-9 * costs.round_of(n_tasks, n_numbers)


def of_step(n: int, d: int, n_tasks: int, n_workers: int) -> float:
    """Return what it says of a round with a Hessian: work of partitions, and the round."""
    of_value = HESSIAN_VALUE + 2 * (PASS_DENSE + PASS_AFAR)  # from memory
    work = 1e-9 * n * (HESSIAN * d**2 + of_value * d + HESSIAN_ROW)
    return work / n_workers + of_round(n_tasks, d**2)


def of_fit(n: int, d: int, n_tasks: int, n_workers: int, n_rounds: int) -> float:
    """Return what it says of a fit, of whose rounds all have a Hessian but for the first and last.

    The first two say what there is; the last confirms the value.
    """
    few = 3 * of_round(n_tasks, d)
    return few + (n_rounds - 3) * of_step(n, d, n_tasks, n_workers)


def report_rounds(numbers: list[int]) -> None:
    """Measure rounds by number of partitions, small ones and large ones, and draw them."""
    rows = []
    with workers(2) as client:
        for n in numbers:
            alone, n_bundles = seconds_of_round(client, n, FEATURES**2), -(-n // FAN)
            bundled = seconds_of_round(client, n_bundles, FEATURES**2)
            rows.append((n, bundled, alone, of_round(n, FEATURES**2)))
    page = Page("cluster", "Rounds on a cluster")
    columns = ("partitions", "small", "a task each", "formula")
    page.table("Seconds of a round without work, by number of partitions", columns, rows, "rounds")
    draw(page, rows)
    page.write()


def draw(page: Page, rows: list[tuple[int, float, float, float]]) -> None:
    """Draw seconds against partitions."""
    n_partitions, *curves = zip(*rows, strict=True)
    names = ("small partitions, up to 8 in a task", "a task for each partition", "formula")
    figure, [[axes]] = new_figure(1, 1, (6, 3.8))
    for curve, style in zip(curves, styles(names).values(), strict=True):
        draw_curve(axes, n_partitions, curve, style)
    axes.set(xlabel="partitions", ylabel="seconds of a round", xscale="log", yscale="log")
    axes.set_xticks(n_partitions, n_partitions)
    axes.grid(True, alpha=0.3)
    axes.legend(fontsize="small")
    page.figure("rounds", figure, "Seconds of a round without work, by number of partitions")


def report_constants() -> None:
    """Print what the constants of `ranksvm.cluster.costs` should be: nanoseconds, measured here."""
    few, many = FEATURES, 1 << 19
    numbers = (1, 8, 16, 32, 64)
    with workers(2) as client:
        seconds = [seconds_of_round(client, n, few) for n in numbers]
        more = seconds_of_round(client, FAN, many) - seconds[numbers.index(FAN)]
    levels = [[1 + depth_of(n) // FAN, n] for n in numbers]
    latency, task = np.linalg.lstsq(np.array(levels, dtype=float), 1e9 * np.array(seconds))[0]
    byte = 1e9 * more / (8 * (many - few) * FAN)
    rows = [
        ("LATENCY", latency, costs.LATENCY),
        ("TASK", task, costs.TASK),
        ("BYTE", byte, costs.BYTE),
    ]
    print_table("Constants of ranksvm.cluster.costs", ("", "measured", "in the source"), rows)


class Slowly:
    """A step that takes longer."""

    def __init__(self, step: Callable[..., Any], delay: float) -> None:
        self.step, self.delay = step, delay

    def __call__(self, *arguments: Any, **more: Any) -> Any:
        """Wait, and take the step."""
        time.sleep(self.delay)
        return self.step(*arguments, **more)


@contextmanager
def slowed(delay: float) -> Iterator[None]:
    """Let every task of a round wait."""
    plain = Graph.map
    Graph.map = lambda self, name, step, *rest, **more: plain(
        self, name, Slowly(step, delay), *rest, **more
    )
    try:
        yield
    finally:
        Graph.map = plain


def n_in_turn(n_tasks: int, n_workers: int) -> int:
    """Return how many tasks of a round one worker has to take, one after the other."""
    n, in_turn = n_tasks, -(-n_tasks // n_workers)
    while n > 1:
        n = -(-n // FAN)
        in_turn += -(-n // n_workers)
    return in_turn


def report_delays(numbers: tuple[int, ...] = (4, 16, 64)) -> None:
    """Print rounds with delays, and what the formula says of them."""
    rows = []
    for n_workers in (1, 2):
        with workers(n_workers) as client:
            for n in numbers:
                for delay in DELAYS:
                    with slowed(delay):
                        found = seconds_of_round(client, n, FEATURES, repeats=3)
                    expected = of_round(n, FEATURES) + n_in_turn(n, n_workers) * delay
                    rows.append((n_workers, n, delay, f"{found:.3f}", f"{expected:.3f}"))
    columns = ("workers", "partitions", "delay", "seconds a round", "formula")
    print_table("A round with delays", columns, rows)


def report_billion() -> None:
    """Print what the formula says of a billion rows."""
    n_tasks, rows = PARTITIONS_OF_BILLION, []
    for n in (8, 64, 512, 4096):
        work = of_step(BILLION, FEATURES, n_tasks, n) - of_round(n_tasks, FEATURES**2)
        seconds = of_step(BILLION, FEATURES, n_tasks, n)
        gigabytes = 4e-9 * BILLION * FEATURES / n
        row = (n, f"{gigabytes:.1f}", f"{work:.1f}", f"{seconds - work:.1f}")
        fit = of_fit(BILLION, FEATURES, n_tasks, n, ROUNDS_OF_FIT)
        rows.append((*row, f"{fit / 60:.1f}"))
    columns = ("workers", "GB each", "work of a round, s", "the round, s", "ten rounds, minutes")
    print_table("10^9 rows of 136 features, on paper", columns, rows)
