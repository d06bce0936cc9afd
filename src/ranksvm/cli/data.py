"""What the commands that read rows share: which files, which of their columns, and reading them."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .options import Input, Output, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from ..files.rows import FileRows
    from ..jobs.data import Reading
    from ..models import Model

_FORMATS = "SVMlight, CSV, TSV, Parquet, Feather"


def add_data(parser: argparse.ArgumentParser, *, several: bool = True) -> None:
    """Add the argument of the files of rows, and the options that say what their columns are."""
    add_columns(parser)
    parser.add_argument(
        "data",
        type=Input,
        metavar="DATA",
        nargs="+" if several else None,
        help=f"rows: {_FORMATS}; also compressed (.gz .bz2 .xz .zst), patterns such as '*.csv', or "
        "- for stdin",
    )


def add_columns(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what the columns of tables are, and how queries are told apart."""
    group = parser.add_argument_group("tables")
    group.add_argument(
        "--label", metavar="COL", help="column of labels (default: label, relevance or y)"
    )
    group.add_argument(
        "--qid", metavar="COL", help="column of query ids (default: qid, query_id or query)"
    )
    group.add_argument("--weight", metavar="COL", help="column of weights of rows (default: none)")
    group.add_argument(
        "--docid", metavar="COL", help="column of document ids (default: docid or doc_id)"
    )
    group.add_argument(
        "--columns",
        metavar="COL,...",
        help="columns of features, or patterns such as 'f*' (default: all others)",
    )
    group.add_argument("--drop", metavar="COL,...", help="columns that are no features")
    group.add_argument(
        "--group",
        type=Input,
        metavar="FILE",
        help="how many rows each query has, a line for each, in place of query ids (default: "
        "DATA.query or DATA.group, where there is one)",
    )


def settle_files(args: argparse.Namespace) -> None:
    """Tell models and outputs among the files of rows from these, and look up patterns."""
    if getattr(args, "data", None) is None:
        return
    from ..jobs.data import files_of

    files = args.data if isinstance(args.data, list) else [args.data]
    for name in ("model", "scores"):
        if isinstance(getattr(args, name, None), Input):
            setattr(args, name, _model_among(files, getattr(args, name)))
    last = getattr(args, "output_after_data", None)
    if last is not None and len(files) > 1:
        setattr(args, last, Output(files.pop()))
    args.data = files_of(files)


def _model_among(files: list[Any], model: Input) -> Input:
    """Return the one model file where it and rows were given in the other order, which is mended.

    Files alone are looked into, since what is read from a stream is gone.
    """
    if not os.path.isfile(model):
        return model
    from ..files.model import is_model_file

    if is_model_file(model):
        return model
    found = [k for k, file in enumerate(files) if os.path.isfile(file) and is_model_file(file)]
    if len(found) != 1:
        return model
    chosen = Input(files.pop(found[0]))
    files.insert(0, model)
    return chosen


def reading_of(args: argparse.Namespace, model: Model | None = None, **given: Any) -> Reading:
    """Return how the options of `add_columns` and of all commands ask rows to be read."""
    from ..files.tables.columns import TableColumns
    from ..jobs.data import Reading
    from ..threads import resolve_threads

    if args.columns is not None and args.drop is not None:
        raise InputError("--columns and --drop exclude each other: leave out one of them")
    columns = TableColumns(
        args.label,
        args.qid,
        args.weight,
        event_column(args),
        args.docid,
        None if args.columns is None else args.columns.split(","),
        () if args.drop is None else args.drop.split(","),
    )
    from_zero = args.zero_based or (model is not None and model.training.get("zero_based") is True)
    return Reading(
        columns,
        of_model=None if model is None else model.feature_names,
        group=args.group,
        zero_based=from_zero or "auto",
        n_threads=resolve_threads(args.threads),
        note=lambda note: say(args, note),
        **given,
    )


def event_column(args: argparse.Namespace) -> str | None:
    """Return the column that --event names, where there is no file of this name."""
    event: str | None = getattr(args, "event", None)
    return None if event is None or os.path.exists(event) else event


def read_rows(
    args: argparse.Namespace,
    model: Model | None = None,
    *,
    comments: bool = False,
    rank: bool = True,
) -> FileRows:
    """Read DATA; for a model, with features that can be its own; note if no queries are ranked."""
    from ..jobs.data import read_data
    from ..jobs.rows import one_ranking, require_fit

    _explain_bus_errors(args.data)
    labelled = rank and getattr(args, "pairs", None) is None
    rows = read_data(args.data, reading_of(args, model, comments=comments, labelled=labelled))
    if model is not None:
        require_fit(rows, model, lambda note: say(args, note))
    if rows.qid is None and labelled:
        say(args, one_ranking(rows.name))
    return rows


def _explain_bus_errors(paths: Sequence[str]) -> None:
    """Let a sentence be the end of reading packed data, of which a file has been cut off."""
    from ..disk.folder import is_packed

    packed = [path for path in paths if is_packed(path)]
    if packed:
        from .. import _core

        _core.end_bus_errors_with(
            f"ranksvm: error: a file of {' or '.join(packed)} was cut off while it was in use; "
            "start again when nobody writes there\n"
        )


def read_others(args: argparse.Namespace, path: str, trained: FileRows) -> FileRows:
    """Read labelled rows of another file, with features that can be those of training."""
    from dataclasses import replace

    from ..jobs.data import read_data
    from ..jobs.rows import one_ranking, require_fit

    _explain_bus_errors([*args.data, path])
    reading = replace(
        reading_of(args), of_model=trained.feature_names, group=None, zero_based=trained.zero_based
    )
    rows = read_data(path, reading)
    require_fit(rows, trained, lambda note: say(args, note))
    if rows.qid is None:
        say(args, one_ranking(rows.name))
    return rows


def stream_rows(
    args: argparse.Namespace, model: Model, *, comments: bool = False
) -> Iterator[FileRows]:
    """Yield the rows of DATA some at a time, with features that can be those of a model."""
    from ..jobs.data import stream_data
    from ..jobs.rows import all_fit

    _explain_bus_errors(args.data)
    reading = reading_of(args, model, comments=comments, labelled=False)
    return all_fit(stream_data(args.data, reading), model, lambda note: say(args, note))


def read_runs(
    args: argparse.Namespace, files: Sequence[str], *, comments: bool = False
) -> tuple[FileRows, list[NDArray[Any]]]:
    """Read DATA, and the scores in each file or of the model there."""
    from ..files.model import is_model_file, load_model
    from ..files.scores import read_scores
    from ..jobs.rows import require_fit
    from ..jobs.scoring import predict
    from ..threads import resolve_threads

    threads = resolve_threads(args.threads)
    models = {name: load_model(name) for name in files if is_model_file(name)}
    first = next(iter(models.values()), None)
    rows = of_first = read_rows(args, first, comments=comments)
    runs = []
    for name in files:
        if name not in models:
            runs.append(read_scores(name, len(rows.labels), rows.name))
            continue
        model = models[name]
        if model is not first:
            if rows.feature_names is not None and model.feature_names != rows.feature_names:
                rows = read_rows(args, model, comments=comments)
            require_fit(rows, model, lambda note: say(args, note))
        runs.append(predict(model, rows, threads))
    return of_first, runs
