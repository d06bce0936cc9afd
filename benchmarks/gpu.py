"""
Training on a GPU: against published seconds, memory bandwidth and the compiled core.

    python -m benchmarks.gpu [--device cuda ...] [--scale 1.0] [--repeats 3]

X is in float32. The data are made, in the shapes of those of Jin and Lin (2014), table 1, as for
`benchmarks.jin_lin_pswx`; their seconds are for the real ones, on a Tesla C2050 and on a CPU.
``--device torch:cpu --scale 0.002`` tries the script itself where there is no GPU.
"""

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks.datasets.letor_shapes import make_letor_like
from benchmarks.harness import machine_line, print_table, time_once
from benchmarks.task import Rows
from ranksvm import RankSVM
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.pairs import ArrayPairs
from ranksvm.arrays.placement import copied, named_device
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

Devices = dict[str, ArrayDevice]  # by what they are

TOL = 1e-6
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class Shape:
    """The size of a data set."""

    rows: int
    features: int
    queries: int
    longest: int
    levels: int


# Seconds of P-SWX and of OST, to their own stopping rule: Jin and Lin, table 2.
PUBLISHED = {
    "MSLR-WEB30K": (939.38, 17_019.16),
    "MQ2007-list": (22.46, 203.02),
    "MQ2008-list": (37.17, 276.46),
}
GLOBAL = Shape(10_000_000, 100, 1, 10_000_000, 1_000)
CROSSOVER = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def main() -> None:
    """Print a table for each question."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--device", nargs="+", default=["cuda"], help="cuda:1, torch:cpu, ...")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of rows")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    devices = {describe(device): device for device in filter(None, map(device_of, args.device))}
    if not devices:
        return
    print(machine_line())
    print(f"devices: {'; '.join(devices)}; rows times {args.scale:g}")
    largest = report_fits(devices, args.scale, args.repeats)
    report_bandwidth(devices, largest, args.repeats)
    report_crossover(devices, args.scale, args.repeats)
    for name, device in devices.items():
        report_profile(name, device, largest)


def device_of(name: str) -> ArrayDevice | None:
    """Return the device, or say why there is none."""
    try:
        device = named_device(name)
    except (ImportError, ValueError) as error:
        print(f"not measured: {error}")
        return None
    if device is None:
        print(f"not measured: {name} is the compiled core; name a library, as torch:cpu does")
    return device


def describe(device: ArrayDevice) -> str:
    """Name the device and the library."""
    name = device.xp.__name__.rpartition(".")[2]
    library = f"{name} {import_module(name).__version__}"
    if not device.is_gpu:
        return f"CPU, {library}"
    if name == "torch":
        return f"{device.xp.cuda.get_device_name(device.device)}, {library}"
    properties = device.xp.cuda.runtime.getDeviceProperties(device.device.id)
    return f"{properties['name'].decode()}, {library}"


def made(shape: Shape, scale: float) -> Rows:
    """Make up X in float32, labels and query ids of a shape."""
    rng = np.random.default_rng(0)
    queries = max(round(scale * shape.queries), 1)
    rows = max(round(scale * shape.rows), 100)
    longest = min(shape.longest, rows)
    sizes = [longest]
    if queries > 1:
        rest = rows - longest - (queries - 1)
        shares = rng.dirichlet(np.full(queries - 1, 4.0))
        sizes = [longest, *(1 + rng.multinomial(max(rest, 0), shares))]
    qid = np.repeat(np.arange(len(sizes)), sizes)
    X = np.empty((len(qid), shape.features), dtype=np.float32)
    weights = rng.standard_normal(shape.features) / np.sqrt(shape.features)
    utility = 1.3 * rng.standard_normal(len(qid))
    for start in range(0, len(qid), BLOCK_ROWS):
        block = slice(start, start + BLOCK_ROWS)
        rng.standard_normal(out=X[block], dtype=np.float32)
        utility[block] += X[block] @ weights
    # Many documents are irrelevant, few are perfect.
    cuts = np.quantile(utility, np.sqrt(np.linspace(0, 1, shape.levels + 1)[1:-1]))
    return Rows(X, np.searchsorted(cuts, utility).astype(np.float64), qid)


def synchronized(device: ArrayDevice, call: Callable[[], Any]) -> Callable[[], Any]:
    """Return a call that ends when its work on the device does."""
    name = str(device.device).lower()

    def run() -> Any:
        result = call()
        if name.startswith("cuda"):
            device.xp.cuda.synchronize(device.device)
        elif "cuda" in name:
            device.device.synchronize()
        return result

    return run


def best(call: Callable[[], Any], repeats: int, *, warm: bool = True) -> float:
    """Least seconds of several calls, after one that warms up."""
    if warm:
        call()
    return min(time_once(call) for _ in range(repeats))


def report_fits(devices: Devices, scale: float, repeats: int) -> Rows:
    """Train to a gap of a millionth on every shape; return the data of the first.

    Where seconds were published, each pair weighs 1, as there.
    """
    largest = None
    for name, (gpu, cpu) in PUBLISHED.items():
        data = make_letor_like(name, scale)[0]
        title = f"{name}; published: C2050 {scale * gpu:.3g} s, CPU {scale * cpu:.3g} s"
        report_shape(title, devices, data, RankSVM(tol=TOL, normalize=None), repeats)
        largest = largest or data
    ranking = made(GLOBAL, scale)
    report_shape("one global ranking", devices, ranking, RankSVM(tol=TOL), repeats)
    assert largest is not None
    return largest


def report_shape(title: str, devices: Devices, data: Rows, model: RankSVM, repeats: int) -> None:
    """Train by the core, and on each device."""
    X, y, qid = data
    model.fit(X, y, qid)
    core = best(lambda: model.fit(X, y, qid), 1, warm=False)
    rows = [("core", core, "", "", "", *ending(model))]
    rows += [(name, *fit(device, data, model, repeats)) for name, device in devices.items()]
    times = ("by trust_region", "X copied there", "GiB beside X")
    columns = ("where", "seconds", *times, "solver", "iterations", "gap")
    print_table(f"{title}: {len(y):,} x {X.shape[1]}, to a gap of {TOL:g}", columns, rows)


def fit(device: ArrayDevice, data: Rows, model: RankSVM, repeats: int) -> tuple[Any, ...]:
    """Train on data on the device, by products as P-SWX, too, and on data that are copied there."""
    X, y, qid = data
    there = device.asarray(X)
    memory = memory_of(device, lambda: model.fit(there, y, qid))
    held = best(lambda: model.fit(there, y, qid), repeats, warm=False)
    end = ending(model)
    products = clone(model).set_params(solver="trust_region")
    by_products = best(lambda: products.fit(there, y, qid), repeats)
    moved = best(lambda: fit_copied(model, device, *data), repeats, warm=False)
    return held, by_products, moved, memory, *end


def ending(model: RankSVM) -> tuple[str, int, float]:
    """Say which solver was the last, after how many iterations, and the gap."""
    return model.history_[-1].solver, model.n_iter_, model.dual_gap_


def memory_of(device: ArrayDevice, call: Callable[[], Any]) -> float:
    """Return the GiB that the library takes for a call at most; 0 on the CPU."""
    if not device.is_gpu:
        return 0.0
    if "torch" in device.xp.__name__:
        cuda = device.xp.cuda
        cuda.reset_peak_memory_stats(device.device)
        before = cuda.memory_allocated(device.device)
        call()
        return float(cuda.max_memory_allocated(device.device) - before) / 2**30
    pool = device.xp.get_default_memory_pool()
    pool.free_all_blocks()
    before = pool.used_bytes()
    call()
    return float(pool.total_bytes() - before) / 2**30


def report_bandwidth(devices: Devices, data: Rows, repeats: int) -> None:
    """Time products of conjugate gradients, as a share of what a copy of X reaches."""
    for name, device in devices.items():
        rows = [
            row
            for dtype in ("float64", "float32")
            for row in products(device, data, dtype, repeats)
        ]
        columns = ("storage", "", "seconds", "GB per second", "of the copy")
        print_table(f"parts, {data.X.shape[0]:,} x {data.X.shape[1]}, {name}", columns, rows)


def products(
    device: ArrayDevice, data: Rows, dtype: str, repeats: int
) -> list[tuple[str, str, float, float, float]]:
    """Time a copy of X, a product with the Hessian, and its parts."""
    X, y, qid = data.X.astype(dtype), data.y, data.qid
    loss = SquaredHinge(ArrayPairs(Preferences.from_labels(y, qid), device))
    matrix, there = copied(X, device), device.asarray(X)
    p = np.linspace(-1, 1, X.shape[1])
    objective = LinearObjective(matrix, loss, 1.0)
    here = objective.evaluate(0.1 * p)
    image = here.image(p)
    curvature = here.loss.hessian_product(image)
    calls = {
        "copy of X": (2, lambda: there + 0),
        "X p": (1, lambda: matrix.dot(p)),
        "sweep": (0, lambda: here.loss.hessian_product(image)),
        "X' u": (1, lambda: matrix.t_dot(curvature)),
        "product": (2, lambda: here.hessian_product(p)),
        "value and gradient": (2, lambda: objective.evaluate(0.1 * p).gradient),
        "explicit Hessian": (1, lambda: here.scaled_hessian(np.float32)),
    }
    rows = []
    for name, (passes, call) in calls.items():
        seconds = best(synchronized(device, call), repeats)
        rate = passes * X.nbytes / seconds / 1e9
        rows.append((dtype, name, seconds, rate, rate / (rows[0][3] if rows else rate)))
    return rows


def report_crossover(devices: Devices, scale: float, repeats: int) -> None:
    """Compare with the compiled core, from small data to large."""
    sizes = [max(round(scale * size), 100) for size in CROSSOVER]
    rows = [row for n in sizes for row in compare(devices, n, repeats)]
    columns = ("size", "where", "seconds", "X copied there", "core / X copied there")
    print_table("from which size on a device pays, seconds to a gap of 1e-3", columns, rows)


def compare(devices: Devices, n: int, repeats: int) -> Iterator[tuple[Any, ...]]:
    """Train on n rows by the core and on devices."""
    X, y, qid = made(Shape(n, 46, max(n // 100, 1), 100, 5), 1.0)
    size, model = f"{n:,} x 46", RankSVM()
    core = best(lambda: model.fit(X, y, qid), repeats)
    yield size, "core", core, "", ""
    for name, device in devices.items():
        there = device.asarray(X)
        held = best(partial(model.fit, there, y, qid), repeats)
        moved = best(partial(fit_copied, model, device, X, y, qid), repeats)
        yield size, name, held, moved, core / moved


def fit_copied(
    model: RankSVM, device: ArrayDevice, X: np.ndarray, y: np.ndarray, qid: np.ndarray
) -> None:
    """Copy X to the device and train there."""
    model.fit(device.asarray(X), y, qid)


def report_profile(name: str, device: ArrayDevice, data: Rows) -> None:
    """Say what takes the time of a fit; Torch only."""
    if "torch" not in device.xp.__name__:
        print(f"\nno profile of {name}: it is that of Torch")
        return
    from torch.profiler import ProfilerActivity, profile

    X, y, qid = data
    there = device.asarray(X)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * device.is_gpu
    with profile(activities=activities) as record:
        RankSVM(tol=TOL, normalize=None).fit(there, y, qid)
    order = "self_device_time_total" if device.is_gpu else "self_cpu_time_total"
    print(f"\n## profile of training, {len(y):,} x {X.shape[1]}\n")
    print(record.key_averages().table(sort_by=order, row_limit=15, max_name_column_width=40))


if __name__ == "__main__":
    main()
