"""The command that scores rows: ``ranksvm predict``."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .data import add_data, read_rows, stream_rows
from .options import Input, Output, add_common, add_force

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..files.best_rows import Scored
    from ..files.rows import FileRows
    from ..models import Model


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    predict = commands.add_parser(
        "predict",
        description="Write one score per row; higher is better. Rows are read and scored some at "
        "a time, so that they need not fit into memory.",
    )
    predict.set_defaults(run=_predict, parser=predict, output_after_data="scores")
    predict.add_argument("model", type=Input, metavar="MODEL")
    add_data(predict)
    predict.add_argument(
        "scores",
        type=Output,
        metavar="SCORES",
        nargs="?",
        default="-",
        help="file to write (default: stdout)",
    )
    predict.add_argument(
        "--trec",
        action="store_true",
        help="write a TREC run, for trec_eval; DATA must have qids and '#docid = ...' in every "
        "row, or a column of document ids",
    )
    predict.add_argument(
        "--top",
        type=int,
        metavar="K",
        help="write the best K rows of each query alone, as CSV: query, rank, document or number "
        "of the row, counted from zero, and score",
    )
    add_force(predict)
    add_common(predict)


def _predict(args: argparse.Namespace) -> None:
    from ..files.model import load_model
    from ..files.parts import QueryAgainError
    from ..files.replacing import SCORES, check_replaceable

    if args.top is not None and args.top < 1:
        raise InputError(f"--top must be at least 1, not {args.top}")
    check_replaceable(args.scores, SCORES, args.force)
    model = load_model(args.model)
    try:
        _write(args, model, stream_rows(args, model, comments=_needs_documents(args)))
    except QueryAgainError:
        if not _can_repeat(args):
            raise
        rows = read_rows(args, model, comments=_needs_documents(args), rank=False)
        _write(args, model, iter([rows]))


def _needs_documents(args: argparse.Namespace) -> bool:
    return args.trec or args.top is not None


def _can_repeat(args: argparse.Namespace) -> bool:
    """Whether nothing has been written yet, nor read for good."""
    return args.scores != "-" and all(os.path.isfile(path) for path in args.data)


def _write(args: argparse.Namespace, model: Model, parts: Iterator[FileRows]) -> None:
    from ..files.best_rows import write_best
    from ..files.parts import of_whole_queries
    from ..files.scores import write_score_parts
    from ..files.trec import write_trec_parts

    if _needs_documents(args) or getattr(model, "needs_queries", False):
        parts = of_whole_queries(parts)
    scored = _scored(args, model, parts)
    if args.trec:
        write_trec_parts(args.scores, scored, top=args.top)
    elif args.top is not None:
        write_best(args.scores, scored, args.top)
    else:
        write_score_parts(args.scores, (part.scores for part in scored))


def _scored(args: argparse.Namespace, model: Model, parts: Iterator[FileRows]) -> Iterator[Scored]:
    from ..files.best_rows import Scored
    from ..jobs.scoring import predict
    from ..threads import resolve_threads

    threads = resolve_threads(args.threads)
    for rows in parts:
        docids = rows.docids
        if args.trec and (rows.qid is None or docids is None):
            missing = "qids" if rows.qid is None else "a '#docid = ...' in every row"
            raise InputError(
                f"{rows.name} lacks {missing}, which a TREC run needs; leave out --trec"
            )
        yield Scored(rows.qid, docids, predict(model, rows, threads))
