"""The command that draws: ``ranksvm plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .data import add_columns, add_data, read_rows, read_runs
from .options import Input, add_common
from .pictures import add_picture, check_out, names_of, save

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence

    from ..models import Model

_SCORES = "SCORES|MODEL"


def add_command(commands: Any) -> None:
    """Add the command to what ``ArgumentParser.add_subparsers`` returned."""
    plot = commands.add_parser(
        "plot",
        description="Draw models and rankings to a PNG, SVG or PDF, as the name of OUT says. The "
        "convergence of a training is drawn by ranksvm train --plot, the choice of C by ranksvm "
        "cv --plot.",
    )
    kinds = plot.add_subparsers(metavar="KIND", dest="kind", required=True)
    _add_coefficients(kinds)
    _add_effects(kinds)
    _add_importance(kinds)
    _add_scores(kinds)
    _add_ndcg(kinds)
    _add_queries(kinds)


def _add_coefficients(kinds: Any) -> None:
    parser = _add(kinds, "coefficients", _coefficients, "the largest weights of a model")
    parser.add_argument("model", type=Input, metavar="MODEL")
    add_picture(parser)
    parser.add_argument(
        "-n", type=_count, default=20, metavar="N", help="how many to draw (default: 20)"
    )
    parser.add_argument(
        "--data",
        type=Input,
        metavar="DATA",
        help="multiply each by the standard deviation of its feature in these rows, so that they "
        "compare",
    )
    add_columns(parser)
    add_common(parser)


def _add_effects(kinds: Any) -> None:
    shows = "what each feature of a linear model adds to a score, by its value"
    parser = _add(kinds, "effects", _effects, shows)
    parser.add_argument("model", type=Input, metavar="MODEL")
    add_picture(parser)
    parser.add_argument(
        "-n", type=_count, default=6, metavar="N", help="how many to draw (default: 6)"
    )
    parser.add_argument(
        "--data",
        type=Input,
        metavar="DATA",
        help="rows whose values are marked; models of quantiles or splines can do without",
    )
    add_columns(parser)
    add_common(parser)


def _add_importance(kinds: Any) -> None:
    shows = "what a ranking loses without each feature of a linear model"
    parser = _add(kinds, "importance", _importance, shows)
    parser.add_argument("model", type=Input, metavar="MODEL")
    add_data(parser, several=False)
    add_picture(parser)
    parser.add_argument(
        "-n", type=_count, default=20, metavar="N", help="how many to draw (default: 20)"
    )
    parser.add_argument("--metric", default="ndcg@10", metavar="NAME", help="default: ndcg@10")
    parser.add_argument(
        "--permutation",
        action="store_true",
        help="shuffle the values of a feature within each query in place of leaving it out",
    )
    add_common(parser)


def _add_scores(kinds: Any) -> None:
    parser = _add(kinds, "scores", _scores, "the distribution of the scores of each label")
    add_data(parser, several=False)
    parser.add_argument(
        "scores", type=Input, metavar=_SCORES, help="one score per line, or a model file"
    )
    add_picture(parser)
    add_common(parser)


def _add_ndcg(kinds: Any) -> None:
    parser = _add(kinds, "ndcg", _ndcg, "nDCG@k against k")
    add_data(parser, several=False)
    parser.add_argument(
        "scores", type=Input, metavar=_SCORES, nargs="+", help="scores or models to draw together"
    )
    add_picture(parser, names=True)
    parser.add_argument(
        "--max-k", type=_count, default=20, metavar="K", help="depth to draw to (default: 20)"
    )
    _add_preset(parser)
    add_common(parser)


def _add_queries(kinds: Any) -> None:
    parser = _add(kinds, "queries", _queries, "on which queries one model is better than another")
    add_data(parser, several=False)
    parser.add_argument(
        "scores", type=Input, metavar=_SCORES, nargs=2, help="scores or models to compare"
    )
    add_picture(parser, names=True)
    parser.add_argument("--metric", default="ndcg@10", metavar="NAME", help="default: ndcg@10")
    _add_preset(parser)
    add_common(parser)


def _add(kinds: Any, kind: str, run: Callable[[Any], None], shows: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = kinds.add_parser(
        kind, help=f"draw {shows}", description=f"Draw {shows}."
    )
    parser.set_defaults(run=run, parser=parser)
    return parser


def _add_preset(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--preset",
        metavar="PROGRAM",
        help="measure by the conventions of a program: see ranksvm evaluate",
    )


def _count(text: str) -> int:
    from argparse import ArgumentTypeError

    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def _coefficients(args: argparse.Namespace) -> None:
    from ..files.model import load_model
    from ..models.from_estimators import linear_model_of
    from ..plots import CoefficientsDisplay
    from ..plots.coefficients import feature_deviations

    check_out(args.out)
    model = linear_model_of(load_model(args.model), args.model)
    deviation = None
    if args.data is not None:
        rows = read_rows(args, model, rank=False)
        deviation = feature_deviations(rows.X, model.n_features)
    display = CoefficientsDisplay(model.weights, _feature_names(model), deviation=deviation)
    save(display.plot(n_shown=args.n), args)


def _effects(args: argparse.Namespace) -> None:
    from ..files.model import load_model
    from ..jobs.features import require_queries
    from ..jobs.rows import widened
    from ..models import LinearModel
    from ..plots import FeatureEffectDisplay

    check_out(args.out)
    model = load_model(args.model)
    X = qid = None
    if args.data is not None:
        rows = read_rows(args, model, rank=False)
        if isinstance(model, LinearModel) and model.needs_queries:
            require_queries(rows)
        X, qid = widened(rows.X, model.n_features), rows.qid
    names = _feature_names(model)
    save(
        FeatureEffectDisplay.from_estimator(model, X, qid=qid, feature_names=names, n_shown=args.n),
        args,
    )


def _importance(args: argparse.Namespace) -> None:
    from ..files.model import load_model
    from ..jobs.rows import widened
    from ..plots import FeatureImportanceDisplay

    check_out(args.out)
    model = load_model(args.model)
    rows = read_rows(args, model)
    display = FeatureImportanceDisplay.from_estimator(
        model,
        widened(rows.X, model.n_features),
        rows.labels,
        rows.qid,
        metric=args.metric,
        kind="permutation" if args.permutation else "drop",
        n_shown=args.n,
    )
    save(display, args)


def _feature_names(model: Model) -> Sequence[str | int]:
    """Return the names of features, or their numbers as files count them."""
    first = 0 if model.training.get("zero_based") is True else 1
    return model.feature_names or range(first, first + model.n_features)


def _scores(args: argparse.Namespace) -> None:
    from ..plots import ScoreDistributionDisplay

    check_out(args.out)
    rows, (scores,) = read_runs(args, [args.scores])
    save(ScoreDistributionDisplay.from_predictions(rows.labels, scores, rows.qid), args)


def _ndcg(args: argparse.Namespace) -> None:
    from ..metrics.conventions import conventions_of
    from ..plots import MetricAtKDisplay

    check_out(args.out)
    names = names_of(args, args.scores)
    conventions = conventions_of(args.preset)
    rows, runs = read_runs(args, args.scores, comments=conventions.ties == "docid")
    ax = None
    for name, scores in zip(names, runs, strict=True):
        display = MetricAtKDisplay.from_predictions(
            rows.labels,
            scores,
            rows.qid,
            max_k=args.max_k,
            preset=conventions,
            docids=rows.docids,
            name=name,
            ax=ax,
        )
        ax = display.ax_
    save(display, args)


def _queries(args: argparse.Namespace) -> None:
    from ..metrics import parse_metric
    from ..metrics.conventions import conventions_of
    from ..plots import QueryComparisonDisplay

    check_out(args.out)
    names = names_of(args, args.scores)
    parse_metric(args.metric)
    conventions = conventions_of(args.preset)
    rows, (first, second) = read_runs(args, args.scores, comments=conventions.ties == "docid")
    display = QueryComparisonDisplay.from_predictions(
        rows.labels,
        first,
        second,
        rows.qid,
        metric=args.metric,
        preset=conventions,
        docids=rows.docids,
        sample_weight=rows.cost,
        names=names,
    )
    save(display, args)
