"""The command that measures a ranking: ``ranksvm evaluate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from .data import add_data, read_runs
from .options import Input, Output, add_common, add_event, add_pairs, given_pairs_of

if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence

    from ..metrics import Evaluation

    Row = dict[str, str | float | int | None]


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    evaluate = commands.add_parser(
        "evaluate",
        description="Print pairwise accuracy and ranking error, where pairs of equal scores count "
        "half, or the metrics that are asked for.",
    )
    evaluate.set_defaults(run=_evaluate, parser=evaluate)
    add_data(evaluate)
    evaluate.add_argument(
        "scores", type=Input, metavar="SCORES|MODEL", help="one score per line, or a model file"
    )
    evaluate.add_argument(
        "--metrics",
        metavar="NAMES",
        help="metrics, separated by commas, such as ndcg@10,map,err,mrr,p@5,auc,kendall_tau",
    )
    evaluate.add_argument(
        "--preset",
        metavar="PROGRAM",
        help="measure by the conventions of letor, mslr, sklearn, xgboost, lightgbm, trec_eval, "
        "svmrank or liblinear",
    )
    evaluate.add_argument(
        "--compare",
        type=Input,
        metavar="SCORES|MODEL",
        help="also measure these, and test by randomisation whether the two differ",
    )
    evaluate.add_argument(
        "--per-query",
        type=Output,
        metavar="FILE",
        help="write the values of every query to a CSV file",
    )
    evaluate.add_argument(
        "--format", choices=["table", "csv", "json"], help="how to print metrics (default: table)"
    )
    add_pairs(evaluate)
    add_event(evaluate)
    add_common(evaluate)


def _evaluate(args: argparse.Namespace) -> None:
    names = ("metrics", "preset", "compare", "per_query", "format")
    given = [name for name in names if getattr(args, name) is not None]
    if args.event is not None:
        _refuse(given, "--event asks for the concordance index")
        _evaluate_survival(args)
    elif args.pairs is not None:
        _refuse(given, "--pairs asks for the share of these in the right order")
        _evaluate_given_pairs(args)
    elif not given:
        _evaluate_pairs(args)
    else:
        _evaluate_metrics(args)


def _refuse(given: list[str], what: str) -> None:
    """Refuse options of metrics, which are for labels."""
    if given:
        option = given[0].replace("_", "-")
        raise InputError(f"{what}, of which there is no --{option}: leave out one of the two")


def _evaluate_pairs(args: argparse.Namespace) -> None:
    from ..jobs.scoring import performance
    from ..threads import resolve_threads

    threads = resolve_threads(args.threads)
    rows, (scores,) = read_runs(args, [args.scores])
    sys.stdout.write(performance(rows.labels, scores, rows.qid, rows.cost, threads))


def _evaluate_given_pairs(args: argparse.Namespace) -> None:
    from ..jobs.scoring import performance_of_pairs

    rows, (scores,) = read_runs(args, [args.scores])
    sys.stdout.write(performance_of_pairs(given_pairs_of(args, rows), scores))


def _evaluate_survival(args: argparse.Namespace) -> None:
    from ..jobs.survival import survival_of
    from ..metrics import concordance_index
    from ..threads import resolve_threads

    rows, (risk,) = read_runs(args, [args.scores])
    survival = survival_of(rows, args.event)
    index = concordance_index(
        survival.event,
        survival.time,
        risk,
        qid=rows.qid,
        sample_weight=rows.cost,
        n_threads=resolve_threads(args.threads),
    )
    sys.stdout.write(f"concordance index {index:.6f}\n")


def _evaluate_metrics(args: argparse.Namespace) -> None:
    from ..files.atomic import check_output
    from ..metrics import evaluate
    from ..metrics.conventions import conventions_of
    from ..metrics.evaluation import DEFAULT_METRICS
    from ..metrics.names import parse_metrics
    from ..threads import resolve_threads

    asked = DEFAULT_METRICS if args.metrics is None else args.metrics.split(",")
    names = [name.strip() for name in asked]
    parse_metrics(names)
    conventions = conventions_of(args.preset)
    if args.per_query is not None:
        check_output(args.per_query)
    files = [args.scores] if args.compare is None else [args.scores, args.compare]
    rows, runs = read_runs(args, files, comments=conventions.ties == "docid")
    evaluations = [
        evaluate(
            rows.labels,
            scores,
            rows.qid,
            names,
            preset=conventions,
            docids=rows.docids,
            sample_weight=rows.cost,
            n_threads=resolve_threads(args.threads),
        )
        for scores in runs
    ]
    if args.per_query is not None:
        _write_per_query(args.per_query, evaluations)
    _print_rows([_row(name, evaluations) for name in evaluations[0].mean], args.format)


def _row(name: str, evaluations: Sequence[Evaluation]) -> Row:
    """Return what there is to print of a metric."""
    import numpy as np

    from ..metrics import paired_randomization_test

    values = [evaluation.per_query[name] for evaluation in evaluations]
    n_queries = int(np.count_nonzero(~np.isnan(values[0])))
    means = [evaluation.mean[name] if n_queries else None for evaluation in evaluations]
    row: Row = {"metric": name, "queries": n_queries, "mean": means[0]}
    if len(means) > 1:
        row["other"] = means[1]
        row["difference"] = row["p_value"] = None
        if means[0] is not None and means[1] is not None:
            row["difference"] = means[0] - means[1]
            row["p_value"] = paired_randomization_test(*values, random_state=0)
    return row


def _print_rows(rows: list[Row], form: str | None) -> None:
    if form == "json":
        import json

        sys.stdout.write(json.dumps(rows, indent=1) + "\n")
    elif form == "csv":
        import csv

        writer = csv.DictWriter(sys.stdout, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    else:
        width = max(len(str(row["metric"])) for row in rows)
        lines: list[list[Any]] = [list(rows[0]), *(list(row.values()) for row in rows)]
        for cells in lines:
            first, *others = map(_cell, cells)
            sys.stdout.write(" ".join([first.ljust(width), *(f"{c:>11}" for c in others)]) + "\n")


def _cell(value: str | float | int | None) -> str:
    if value is None:
        return "-"
    return f"{value:.6f}" if isinstance(value, float) else str(value)


def _write_per_query(path: str, evaluations: Sequence[Evaluation]) -> None:
    """Write a row for every query; a metric that is not defined there is left empty."""
    import csv
    import io

    import numpy as np

    from ..files.atomic import open_output

    columns = {"query": evaluations[0].queries.tolist()}
    for prefix, evaluation in zip(("", "other "), evaluations, strict=False):
        for name, values in evaluation.per_query.items():
            columns[prefix + name] = ["" if np.isnan(v) else v for v in values.tolist()]
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    with open_output(path) as file:
        file.write(table.getvalue().encode("utf-8", "surrogateescape"))
