"""
Training on a GPU: against published seconds, memory bandwidth and the compiled core.

    python -m benchmarks.gpu [--device cuda] [--scale 1.0] [--repeats 3]

X is on the device before the clock starts, in float32. The data are made up, in the shapes of those
of Jin and Lin (2014), table 1; their seconds are for the real ones, on a Tesla C2050 and on a CPU.
``--device torch:cpu --scale 0.002`` tries the script itself where there is no GPU.
"""

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import machine_line, print_table, time_once
from ranksvm import RankSVM
from ranksvm.arrays.device import ArrayDevice
from ranksvm.arrays.pairs import ArrayPairs
from ranksvm.arrays.placement import copied, named_device
from ranksvm.linear.objective import LinearObjective
from ranksvm.pairs.losses import SquaredHinge
from ranksvm.pairs.preferences import Preferences

TOL = 1e-6
BLOCK_ROWS = 1 << 16


@dataclass(frozen=True)
class Shape:
    """The size of a data set; `published` are seconds by GPU and CPU in Jin and Lin, table 3."""

    name: str
    rows: int
    features: int
    queries: int
    longest: int
    levels: int
    published: tuple[float, float] | None = None


SHAPES = (
    Shape("MSLR-WEB30K", 2_270_296, 136, 18_919, 1_251, 5, (939.38, 17_019.16)),
    Shape("MQ2007-list", 743_790, 46, 1_017, 1_268, 1_268, (22.46, 203.02)),
    Shape("MQ2008-list", 540_679, 46, 471, 1_831, 1_831, (37.17, 276.46)),
    Shape("one global ranking", 10_000_000, 100, 1, 10_000_000, 1_000),
)
CROSSOVER = (10_000, 30_000, 100_000, 300_000, 1_000_000)


def main() -> None:
    """Print a table for each question."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[1])
    parser.add_argument("--device", default="cuda", help="such as cuda:1 or torch:cpu")
    parser.add_argument("--scale", type=float, default=1.0, help="of the numbers of rows")
    parser.add_argument("--repeats", type=int, default=3)
    args = parser.parse_args()

    device = device_of(args.device)
    if device is None:
        return
    print(machine_line())
    print(f"device: {describe(device)}; rows times {args.scale:g}")
    report_fits(device, args.scale, args.repeats)
    largest = made(SHAPES[0], args.scale)
    report_bandwidth(device, largest, args.repeats)
    report_crossover(device, args.scale, args.repeats)
    report_profile(device, largest)


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
    if "cuda" not in str(device.device).lower():
        return f"CPU, {library}"
    if name == "torch":
        return f"{device.xp.cuda.get_device_name(device.device)}, {library}"
    return f"{device.xp.cuda.runtime.getDeviceProperties(device.device.id)['name']}, {library}"


def made(shape: Shape, scale: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
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
    return X, np.searchsorted(cuts, utility).astype(np.float64), qid


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


def best(call: Callable[[], Any], repeats: int) -> float:
    """Least seconds of several calls, after one that warms up."""
    call()
    return min(time_once(call) for _ in range(repeats))


def report_fits(device: ArrayDevice, scale: float, repeats: int) -> None:
    """Train to a gap of a millionth on every shape."""
    rows = [fit(device, shape, scale, repeats) for shape in SHAPES]
    columns = ("shape", "size", "seconds", "iterations", "gap", "C2050, 2014", "CPU, 2014")
    print_table(f"training to a gap of {TOL:g}", columns, rows)


def fit(device: ArrayDevice, shape: Shape, scale: float, repeats: int) -> tuple[Any, ...]:
    """Train on one shape."""
    X, y, qid = made(shape, scale)
    there = device.asarray(X)
    model = RankSVM(tol=TOL)
    seconds = best(lambda: model.fit(there, y, qid), repeats)
    size = f"{len(y):,} x {shape.features}"
    published = shape.published if shape.published and scale == 1 else ("", "")
    return shape.name, size, seconds, model.n_iter_, model.dual_gap_, *published


def report_bandwidth(device: ArrayDevice, data: Sequence[np.ndarray], repeats: int) -> None:
    """Time products of conjugate gradients, as a share of what a copy of X reaches."""
    rows = [
        row for dtype in ("float64", "float32") for row in products(device, data, dtype, repeats)
    ]
    columns = ("storage", "", "seconds", "GB per second", "of the copy")
    title = f"products of conjugate gradients, {data[0].shape[0]:,} x {data[0].shape[1]}"
    print_table(title, columns, rows)


def products(
    device: ArrayDevice, data: Sequence[np.ndarray], dtype: str, repeats: int
) -> list[tuple[str, str, float, float, float]]:
    """Time a copy of X, a product with the Hessian, and its parts."""
    X, y, qid = data[0].astype(dtype), *data[1:]
    loss = SquaredHinge(ArrayPairs(Preferences.from_labels(y, qid), device))
    matrix, there = copied(X, device), device.asarray(X)
    p = np.linspace(-1, 1, X.shape[1])
    here = LinearObjective(matrix, loss, 1.0).evaluate(0.1 * p)
    image = here.image(p)
    curvature = here.loss.hessian_product(image)
    calls = {
        "copy of X": (2, lambda: there + 0),
        "X p": (1, lambda: matrix.dot(p)),
        "sweep": (0, lambda: here.loss.hessian_product(image)),
        "X' u": (1, lambda: matrix.t_dot(curvature)),
        "product": (2, lambda: here.hessian_product(p)),
    }
    rows = []
    for name, (passes, call) in calls.items():
        seconds = best(synchronized(device, call), repeats)
        rate = passes * X.nbytes / seconds / 1e9
        rows.append((dtype, name, seconds, rate, rate / (rows[0][3] if rows else rate)))
    return rows


def report_crossover(device: ArrayDevice, scale: float, repeats: int) -> None:
    """Compare with the compiled core, from small data to large."""
    sizes = [max(round(scale * size), 100) for size in CROSSOVER]
    rows = [compare(device, n, repeats) for n in sizes]
    columns = ("size", "core", "X on the device", "X copied there", "core / X copied there")
    print_table("from which size on the device pays, seconds to a gap of 1e-3", columns, rows)


def compare(device: ArrayDevice, n: int, repeats: int) -> tuple[str, float, float, float, float]:
    """Train on n rows by the core and on the device."""
    X, y, qid = made(Shape("", n, 46, max(n // 100, 1), 100, 5), 1.0)
    there = device.asarray(X)
    model = RankSVM()
    core = best(lambda: model.fit(X, y, qid), repeats)
    held = best(lambda: model.fit(there, y, qid), repeats)
    moved = best(lambda: model.fit(device.asarray(X), y, qid), repeats)
    return f"{n:,} x 46", core, held, moved, core / moved


def report_profile(device: ArrayDevice, data: Sequence[np.ndarray]) -> None:
    """Say what takes the time of a fit; Torch only."""
    if "torch" not in device.xp.__name__:
        print("\nno profile: it is that of Torch")
        return
    from torch.profiler import ProfilerActivity, profile

    X, y, qid = data
    there = device.asarray(X)
    on_gpu = "cuda" in str(device.device)
    activities = [ProfilerActivity.CPU] + [ProfilerActivity.CUDA] * on_gpu
    with profile(activities=activities) as record:
        RankSVM(tol=TOL).fit(there, y, qid)
    order = "self_device_time_total" if on_gpu else "self_cpu_time_total"
    print(f"\n## profile of training, {len(y):,} x {X.shape[1]}\n")
    print(record.key_averages().table(sort_by=order, row_limit=15, max_name_column_width=40))


if __name__ == "__main__":
    main()
