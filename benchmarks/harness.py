"""What the benchmarks share: timing, memory, tables, and the line that says where they ran."""

import datetime
import importlib.metadata
import os
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

# threadpoolctl limits the BLAS libraries that are loaded already, and SciPy brings its own.
import scipy.linalg  # noqa: F401
from threadpoolctl import threadpool_info

THREADS = (2, 1)


def medians(calls: Mapping[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    """
    Median seconds of each call.

    The calls take turns, so that a slow moment of the machine spoils no ratio between them.
    """
    seconds = {name: np.empty(repeats) for name in calls}
    for repeat in range(repeats):
        for name, call in calls.items():
            seconds[name][repeat] = time_once(call)
    return {name: float(np.median(values)) for name, values in seconds.items()}


def time_once(call: Callable[[], Any]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def process(*command: str | Path) -> Callable[[], Any]:
    """Call that runs a command to its end, silently."""
    return lambda: subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def in_fresh_process(function: Callable[..., Any], *args: Any) -> Any:
    """Call `function(*args)` in a new process, whose peak memory is its own."""
    with get_context("spawn").Pool(1) as pool:
        return pool.apply(function, args)


def peak_memory() -> int:
    """Largest resident size of this process so far, in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # rusage would begin with the size of the parent
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return 1024 * int(lines["VmHWM"].split()[0])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print a Markdown section with one table, aligned for the eye."""
    print(f"\n## {title}\n")
    print("\n".join(table_lines(columns, rows)), flush=True)


def table_lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> list[str]:
    """Lay a Markdown table out, aligned for the eye."""
    cells = [list(columns), *([_cell(value) for value in row] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = [cells[0], ["-" * width for width in widths], *cells[1:]]
    padded = (
        [cell.ljust(width) for cell, width in zip(line, widths, strict=True)] for line in lines
    )
    return [f"| {' | '.join(line)} |" for line in padded]


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:,.0f}" if 999.5 <= abs(value) < 1e6 else f"{value:.3g}"


def machine_line() -> str:
    """Date, machine, how busy it is with other work, and the versions that matter."""
    loaded = [lib for lib in threadpool_info() if lib["user_api"] == "blas"]
    blas = sorted({f"{lib['internal_api']} {lib['version']}" for lib in loaded})
    names = ("ranksvm", "numpy", "scipy")
    packages = [f"{name} {importlib.metadata.version(name)}" for name in names]
    return (
        f"{datetime.date.today()}; {_cpu_model()}, {os.cpu_count()} cores, "
        f"load {os.getloadavg()[0]:.1f} at the start; "
        f"Python {platform.python_version()}, {', '.join(packages + blas)}"
    )


def _cpu_model() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    models = (line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())
