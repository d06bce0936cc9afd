"""The command that writes a page on a model: ``ranksvm report``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from .data import add_data, read_rows, read_runs
from .options import Input, Output, add_common, say

if TYPE_CHECKING:
    from ..files.rows import FileRows
    from ..models import Model


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    report = commands.add_parser(
        "report",
        description="Write one HTML file on a model: its certificate, the data, metrics with "
        "intervals, the best and the worst queries, weights and what features are worth. DATA are "
        "labelled rows that it was not trained on.",
    )
    report.set_defaults(run=_report, parser=report)
    report.add_argument("model", type=Input, metavar="MODEL", help="model file of any form")
    add_data(report, several=False)
    report.add_argument("out", type=Output, metavar="OUT", help="HTML file to write, or -")
    report.add_argument(
        "--train", type=Input, metavar="FILE", help="the rows of the training, to be shown beside"
    )
    report.add_argument(
        "--compare",
        type=Input,
        metavar="SCORES|MODEL",
        help="another model, or scores, and whether the two differ by more than chance",
    )
    report.add_argument(
        "--metrics",
        metavar="NAMES",
        help="metrics of queries, separated by commas, by the first of which queries are told "
        "apart (default: ndcg@10,ndcg@1,map,mrr,pairwise_accuracy)",
    )
    report.add_argument("--title", metavar="TEXT", help="of the page")
    add_common(report)


def _report(args: argparse.Namespace) -> None:
    from ..files.atomic import check_output
    from ..files.model import load_model
    from ..jobs.rows import widened
    from ..metrics.names import parse_metrics
    from ..reports import report

    check_output(args.out)
    metrics = None if args.metrics is None else args.metrics.split(",")
    if metrics is not None:
        parse_metrics(metrics)
    model = load_model(args.model)
    other = [] if args.compare is None else [args.compare]
    rows, runs = read_runs(args, [args.model, *other], comments=True)
    names, train = {"test": rows.name, "compare": args.compare}, None
    if args.train is not None:
        trained = _training_rows(args, model)
        names["train"] = trained.name
        train = widened(trained.X, model.n_features), trained.labels, trained.qid
    page = report(
        model,
        widened(rows.X, model.n_features),
        rows.labels,
        rows.qid,
        sample_weight=rows.cost,
        docids=rows.docids,
        train=train,
        compare=runs[1] if other else None,
        metrics=metrics,
        title=args.title or f"Report of {args.model}",
        names=names,
        sources=_sources(args),
    )
    page.save(args.out)
    if args.out != "-":
        say(args, f"{args.out}: {len(page.html.encode()):,} bytes")


def _training_rows(args: argparse.Namespace, model: Model) -> FileRows:
    of_training = {**vars(args), "data": args.train, "group": None}
    return read_rows(argparse.Namespace(**of_training), model)


def _sources(args: argparse.Namespace) -> dict[str, str]:
    """Return what the page was made by and of."""
    import shlex
    from hashlib import blake2b

    from ..files.source import read_bytes

    sources = {"Command": shlex.join(["ranksvm", *args.argv])}
    for title, path in [("Model", args.model), ("Compared with", args.compare)]:
        if path is not None and path != "-":
            name, content = read_bytes(path)
            digest = blake2b(content.tobytes(), digest_size=16).hexdigest()
            sources[title] = f"{name}, {len(content):,} bytes, BLAKE2b-128 {digest}"
    return sources
