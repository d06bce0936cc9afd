"""The command that tells why: ``ranksvm explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .data import add_data, read_rows
from .options import Input, Output, add_common

if TYPE_CHECKING:
    import argparse

    from ..explaining import Contributions
    from ..files.rows import FileRows


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    explain = commands.add_parser(
        "explain",
        description="Tell what each feature adds to the scores of the rows of a query, against "
        "their mean; or why one row is above another.",
    )
    explain.set_defaults(run=_explain, parser=explain)
    explain.add_argument("model", type=Input, metavar="MODEL", help="model file of any form")
    add_data(explain, several=False)
    explain.add_argument(
        "--query", metavar="Q", help="which query; the first by default, or all rows without qids"
    )
    explain.add_argument(
        "--top", type=int, default=10, metavar="N", help="features of each row (default: 10)"
    )
    explain.add_argument(
        "--rows", type=int, default=5, metavar="N", help="rows, from the best on (default: 5)"
    )
    explain.add_argument(
        "--pair",
        type=int,
        nargs=2,
        metavar=("I", "J"),
        help="why row I of the query is above its row J, counted from 1 as they stand in DATA",
    )
    explain.add_argument("--plot", type=Output, metavar="FILE", help="draw it: PNG, SVG or PDF")
    add_common(explain)


def _explain(args: argparse.Namespace) -> None:
    import numpy as np

    from ..explaining import explain
    from ..files.model import load_model
    from ..jobs.rows import widened
    from ..plots.figures import check_picture

    if args.plot is not None:
        check_picture(args.plot)
    for option in ("top", "rows"):
        if getattr(args, option) < 1:
            raise InputError(f"--{option} must be at least 1, not {getattr(args, option)}")
    model = load_model(args.model)
    rows = read_rows(args, model, comments=True, rank=False)
    chosen = _query(rows, args.query)
    X = widened(rows.X, model.n_features)[chosen]
    found = explain(model, X, np.zeros(len(chosen), dtype=np.int64))
    names = _row_names(rows, chosen)
    if args.pair is not None:
        i, j = _pair(args.pair, len(chosen))
        found, names = found.pair(i, j), [f"{names[i]} above {names[j]}"]
    order = np.argsort(-found.differences, kind="stable")[: args.rows].tolist()
    for row in order:
        sys.stdout.write(f"{names[row]}: {found.differences[row]:+.6g}\n")
        _write_row(found, row, args.top)
    if args.plot is not None:
        _draw(found, names, args)


def _write_row(found: Contributions, row: int, top: int) -> None:
    parts = found.largest(row, top)
    width = max((len(name) for name, _ in parts), default=0)
    for name, value in parts:
        sys.stdout.write(f"  {name:{width}}  {value:+.6g}\n")
    rest = float(found.differences[row]) - sum(value for _, value in parts)
    n_others = int((found.values[row] != 0).sum()) - len(parts)
    if n_others > 0:
        sys.stdout.write(f"  {'others':{width}}  {rest:+.6g}\n")


def _query(rows: FileRows, query: str | None) -> Any:
    """Return the rows of a query."""
    import numpy as np

    from ..files.source import DataError

    if rows.qid is None:
        if query is not None:
            raise DataError(f"{rows.name} has no qids: leave out --query")
        return np.arange(len(rows.labels))
    ids = rows.qid
    wanted = str(ids[0]) if query is None else query
    chosen = np.flatnonzero(ids.astype(str) == wanted)
    if not len(chosen):
        raise DataError(f"{rows.name} has no query {wanted}; the first is {ids[0]}")
    return chosen


def _row_names(rows: FileRows, chosen: Any) -> list[str]:
    """Return what the rows are called: by their ids where these are known, else by number."""
    docids = rows.docids
    if docids is None:
        return [f"row {number}" for number in range(1, len(chosen) + 1)]
    return [
        str(docids[place]) or f"row {number}" for number, place in enumerate(chosen.tolist(), 1)
    ]


def _pair(pair: list[int], n_rows: int) -> tuple[int, int]:
    for number in pair:
        if not 1 <= number <= n_rows:
            raise InputError(
                f"--pair counts the rows of the query from 1 to {n_rows}, not {number}"
            )
    return pair[0] - 1, pair[1] - 1


def _draw(found: Contributions, names: list[str], args: argparse.Namespace) -> None:
    from ..plots import ContributionsDisplay, PairContributionsDisplay, save_figure

    if args.pair is not None:
        display: Any = PairContributionsDisplay(found).plot(top=args.top)
        display.ax_.set_title(names[0], parse_math=False)
    else:
        display = ContributionsDisplay(found, names).plot(top=args.top)
    save_figure(display.figure_, args.plot)
