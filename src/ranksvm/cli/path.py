"""The command that follows a regularization path: ``ranksvm path``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..names import SCALES
from .data import add_data, read_others, read_rows
from .kernels import add_kernel, kernel_of
from .options import (
    Input,
    Output,
    add_common,
    add_force,
    add_progress,
    is_watched,
    say,
)

if TYPE_CHECKING:
    import argparse

    import numpy as np
    from numpy.typing import NDArray

    from ..files.rows import FileRows
    from ..kernel.path.regularization import RegularizationPath

    Vector = NDArray[np.float64]


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    path = commands.add_parser(
        "path",
        description="Find the kernel RankSVM with hinge loss for all lambda at once, as lambda "
        "falls. Print where the path begins and ends and, with --validation, where it is best. "
        "With OUT, write a table of its breakpoints.",
    )
    path.set_defaults(run=_path, parser=path, output_after_data="out")
    add_data(path)
    path.add_argument(
        "out", type=Output, metavar="OUT", nargs="?", help="table to write, .csv or .json"
    )
    add_kernel(path)
    path.add_argument(
        "--graph",
        default="full",
        choices=["full", "reduced"],
        help="all pairs, or about as many as rows (default: full)",
    )
    path.add_argument(
        "--lambda-min-ratio",
        type=float,
        default=1e-3,
        metavar="R",
        help="stop at this part of the first lambda (default: 0.001)",
    )
    path.add_argument("--max-events", type=int, metavar="N", help="stop after so many events")
    path.add_argument(
        "--scale",
        choices=SCALES,
        help="use features divided by their standard deviation, range or greatest absolute value "
        "in DATA, by their quantiles there, or from 0 to 1 within each query (default: no)",
    )
    path.add_argument("--validation", type=Input, metavar="FILE", help="rows to choose lambda by")
    path.add_argument(
        "--metric",
        default="pairwise_accuracy_pooled",
        metavar="NAME",
        help="what the best lambda is best in on FILE, as for ranksvm evaluate, such as ndcg@10 "
        "(default: pairwise_accuracy_pooled)",
    )
    path.add_argument(
        "--plot", type=Output, metavar="FILE", help="draw the path to a PNG, PDF or SVG"
    )
    add_force(path)
    add_progress(path)
    add_common(path)


def _path(args: argparse.Namespace) -> None:
    import numpy as np

    from ..estimators.regularization_path import regularization_path
    from ..files.replacing import PATH, check_replaceable
    from ..files.table import check_table, save_table
    from ..jobs.features import scaling_of
    from ..jobs.rows import naming_lack_of_pairs, widened
    from ..kernel.kernels import Kernel
    from ..models.maps.chains import applied
    from ..plots import check_picture
    from ..selection.scoring import check_scoring

    check_scoring(args.metric)
    kernel = kernel_of(args) or Kernel("linear")
    if args.out:
        check_table(args.out)
        check_replaceable(args.out, PATH, args.force)
    if args.plot:
        check_picture(args.plot)
    rows = read_rows(args)
    validation = read_others(args, args.validation, rows) if args.validation else None
    if rows.cost is not None:
        raise InputError(f"{rows.name} has weights of rows, cost:, which a path cannot regard")
    if rows.packed is not None and rows.packed.query_weight is not None:
        raise InputError(f"{rows.name} has weights of queries, which a path cannot regard")
    maps = scaling_of(rows, args.scale, args.max_memory)
    X = applied(maps, rows.X, rows.qid, args.max_memory)
    with naming_lack_of_pairs(rows):
        path = regularization_path(
            X,
            rows.labels,
            rows.qid,
            **vars(kernel),
            graph=args.graph,
            lambda_min_ratio=args.lambda_min_ratio,
            max_events=args.max_events,
            max_memory=args.max_memory,
            verbose=int(is_watched(args)),
        )
    scores = None
    if validation is not None:
        is_sparse = not isinstance(rows.X, np.ndarray)
        features = widened(validation.X, rows.n_features, is_sparse)
        features = applied(maps, features, validation.qid, args.max_memory)
        scores = _scores(path, features, validation, args.metric)
    sys.stdout.write(_shown(path, scores, args.metric))
    say(
        args,
        f"{path.status}: {len(path.event_pairs)} events, {len(path.graph)} pairs of "
        f"{len(rows.labels)} rows; the conditions of optimality hold up to {path.violation:.1e}",
    )
    if args.out:
        save_table(_table(path, scores, args.metric), args.out)
    if args.plot:
        _draw(path, scores, args)


def _scores(path: RegularizationPath, X: Any, rows: FileRows, metric: str) -> Vector:
    """Measure the path on other rows, of features X."""
    from ..selection.scoring import scorer

    measure = scorer(metric, rows.labels, rows.qid)
    return path.validation_errors(
        X, rows.labels, rows.qid, metric=lambda _, scores, __: measure(scores)
    )


def _shown(path: RegularizationPath, scores: Vector | None, metric: str) -> str:
    """Return a table for people: the first breakpoint, the best and the last."""
    places = {"first": 0, "last": len(path.lambdas) - 1}
    if scores is not None:
        places = {"first": 0, "best": int(scores.argmax()), "last": places["last"]}
    header = f"{'':6} {'lambda':>12} {'alpha = 0':>10} {'between':>10} {'alpha = 1':>10}"
    lines = [header if scores is None else f"{header} {metric:>25}"]
    for name, k in places.items():
        sizes = f"{path.n_zero[k]:10} {path.n_free[k]:10} {path.n_one[k]:10}"
        line = f"{name:6} {path.lambdas[k]:12.6g} {sizes}"
        lines.append(line if scores is None else f"{line} {scores[k]:25.6f}")
    return "\n".join(lines) + "\n"


def _table(path: RegularizationPath, scores: Vector | None, metric: str) -> dict[str, NDArray[Any]]:
    """Return a row for each breakpoint; the last, where the path ends, has no event."""
    import numpy as np

    def of_events(values: NDArray[Any]) -> NDArray[Any]:
        return np.array([*values.tolist(), None], dtype=object)

    pairs, sets = path.event_pairs, np.array(["zero", "one", "between"])[path.event_sets]
    table = {
        "lambda": path.lambdas,
        "n_zero": path.n_zero,
        "n_between": path.n_free,
        "n_one": path.n_one,
        "upper_row": of_events(path.graph.upper[pairs]),
        "lower_row": of_events(path.graph.lower[pairs]),
        "multiplier": of_events(sets),
    }
    return table if scores is None else {**table, metric: scores}


def _draw(path: RegularizationPath, scores: Vector | None, args: argparse.Namespace) -> None:
    from ..plots import PathScoreDisplay, RegularizationPathDisplay, save_figure
    from ..plots.figures import new_column

    if scores is None:
        save_figure(RegularizationPathDisplay.from_path(path).figure_, args.plot)
        return
    best = float(path.lambdas[scores.argmax()])
    *above, below = new_column([3, 2, 2], 8.0)
    display = RegularizationPathDisplay.from_path(path, ax=above, lam=best)
    above[-1].set_xlabel("")
    PathScoreDisplay(path.lambdas, scores, chosen=best, metric=args.metric).plot(below)
    save_figure(display.figure_, args.plot)
