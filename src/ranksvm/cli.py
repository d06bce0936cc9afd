"""The command line: ``ranksvm train | predict | evaluate``.

Only argparse is imported before the arguments are known, so that ``--help`` is instant.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from .names import COUNTINGS, LOSSES, NORMALIZATIONS, SOLVERS

if TYPE_CHECKING:
    from .design_matrix import DesignMatrix
    from .files.model import LinearModel
    from .files.svmlight import SvmlightFile


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in a sentence, without the whole usage in front of it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}\ntry: {self.prog} --help\n")

    def refuse(self, unknown: Sequence[str]) -> NoReturn:
        """Refuse arguments, with the option nearest to the first."""
        from difflib import get_close_matches

        nearest = get_close_matches(unknown[0].split("=")[0], self._option_string_actions, 1)
        hint = f" (did you mean {nearest[0]}?)" if nearest else ""
        self.error(f"unrecognized arguments: {' '.join(unknown)}{hint}")


def build_parser() -> _Parser:
    """Return the parser of the command line."""
    parser = _Parser(
        prog="ranksvm",
        description="Ranking support vector machines, trained exactly and with a certificate.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and exit")
    commands = parser.add_subparsers(metavar="COMMAND", parser_class=_Parser)
    _add_train(commands)
    _add_predict(commands)
    _add_evaluate(commands)
    return parser


def _add_train(commands: Any) -> None:
    train = commands.add_parser(
        "train",
        help="learn a model from labelled rows",
        description="Learn a linear RankSVM from an SVMlight file and write a model file.",
    )
    train.set_defaults(run=_train, parser=train)
    train.add_argument("data", metavar="DATA", help="SVMlight file, .gz .bz2 .xz, or - for stdin")
    train.add_argument("model", metavar="MODEL", help="model file to write, or - for stdout")
    train.add_argument("-C", type=float, default=1.0, help="weight of the loss (default: 1)")
    train.add_argument(
        "--normalize",
        default="documents",
        choices=[name or "none" for name in NORMALIZATIONS],
        help="a pair weighs C n/N, C/N, C/(R N_q) or C, for n rows, N pairs, R queries "
        "(default: documents)",
    )
    train.add_argument(
        "--loss", default="squared_hinge", choices=LOSSES, help="default: squared_hinge"
    )
    train.add_argument("--solver", default="auto", choices=SOLVERS, help="default: auto")
    train.add_argument(
        "--counting",
        default="auto",
        choices=COUNTINGS,
        help="how active pairs are counted (default: auto)",
    )
    train.add_argument(
        "--tol", type=float, default=1e-3, help="relative duality gap to reach (default: 0.001)"
    )
    train.add_argument(
        "--epsilon",
        type=float,
        default=0.0,
        metavar="E",
        help="also stop at an absolute gap of E, of the objective divided by C (default: 0)",
    )
    train.add_argument("--max-iter", type=int, default=1000, metavar="N", help="default: 1000")
    train.add_argument("--plot", metavar="FILE", help="draw the convergence to a PNG, PDF or SVG")
    _add_common(train)


def _add_predict(commands: Any) -> None:
    predict = commands.add_parser(
        "predict",
        help="score rows with a model",
        description="Write one score per row of an SVMlight file; higher is better.",
    )
    predict.set_defaults(run=_predict, parser=predict)
    predict.add_argument("model", metavar="MODEL")
    predict.add_argument("data", metavar="DATA", help="SVMlight file, or - for stdin")
    predict.add_argument(
        "scores", metavar="SCORES", nargs="?", default="-", help="file to write (default: stdout)"
    )
    _add_common(predict)


def _add_evaluate(commands: Any) -> None:
    evaluate = commands.add_parser(
        "evaluate",
        help="measure how well scores or a model order labelled rows",
        description="Print pairwise accuracy and ranking error; pairs of equal scores count half.",
    )
    evaluate.set_defaults(run=_evaluate, parser=evaluate)
    evaluate.add_argument("data", metavar="DATA", help="SVMlight file with labels, or - for stdin")
    evaluate.add_argument(
        "scores", metavar="SCORES|MODEL", help="one score per line, or a model file"
    )
    _add_common(evaluate)


def _add_common(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--threads", type=int, metavar="N", help="default: all CPUs; never changes the result"
    )
    parser.add_argument(
        "--zero-based", action="store_true", help="feature numbers in DATA count from zero"
    )
    parser.add_argument("-q", "--quiet", action="store_true", help="print errors only")


def _train(args: argparse.Namespace) -> None:
    from .files.atomic import check_output
    from .files.model import LinearModel, save_model
    from .parameters import Parameters
    from .plots import ConvergenceDisplay, check_picture, save_figure
    from .progress import IterationTable
    from .training import train

    parameters = Parameters(
        C=args.C,
        loss=args.loss,
        normalize=None if args.normalize == "none" else args.normalize,
        solver=args.solver,
        counting=args.counting,
        tol=args.tol,
        epsilon=args.epsilon,
        max_iter=args.max_iter,
        n_threads=args.threads,
    )
    check_output(args.model)
    if args.plot:
        check_picture(args.plot)
    rows, X = _read(args)
    table = IterationTable() if sys.stderr.isatty() and not args.quiet else None
    fit = train(
        X, rows.labels, rows.qid, parameters=parameters, sample_weight=rows.cost, callback=table
    )
    result = fit.result
    training = {
        "objective": result.value,
        "dual_gap": result.dual_gap,
        "status": str(result.status),
        "solver": result.solver,
        "n_iter": result.n_iter,
        "n_samples": X.shape[0],
        "n_queries": fit.n_queries,
        "n_pairs": fit.n_pairs,
        "data": rows.name,
        "zero_based": rows.zero_based,
    }
    model = LinearModel(result.weights, parameters=vars(parameters), training=training)
    save_model(model, args.model)
    _say(
        args,
        f"{result.status}: objective {result.value:.9g}, relative gap {result.dual_gap:.1e}, "
        f"{result.n_iter} iterations, {result.history[-1].seconds:.2f} s; "
        f"{X.shape[0]} rows, {X.shape[1]} features, {fit.n_queries} queries, {fit.n_pairs} pairs",
    )
    if args.plot:
        save_figure(ConvergenceDisplay(result.history).plot(tol=args.tol).figure_, args.plot)


def _predict(args: argparse.Namespace) -> None:
    from .files.atomic import check_output
    from .files.model import load_model
    from .files.scores import write_scores
    from .threads import resolve_threads

    check_output(args.scores)
    model = load_model(args.model)
    _, X = _read(args, model)
    write_scores(args.scores, model.predict(X, resolve_threads(args.threads)))


def _evaluate(args: argparse.Namespace) -> None:
    from .files.model import is_model_file, load_model
    from .files.scores import read_scores
    from .metrics import lost_pairs
    from .threads import resolve_threads

    threads = resolve_threads(args.threads)
    if is_model_file(args.scores):
        model = load_model(args.scores)
        rows, X = _read(args, model)
        scores = model.predict(X, threads)
    else:
        rows, _ = _read(args)
        scores = read_scores(args.scores, len(rows.labels), rows.name)

    lost, pairs = lost_pairs(
        rows.labels, scores, rows.qid, sample_weight=rows.cost, n_threads=threads
    )
    pooled, by_query = lost.sum() / pairs.sum(), (lost[pairs > 0] / pairs[pairs > 0]).mean()
    print_line = sys.stdout.write
    print_line(f"{'':20} {'all pairs':>12} {'query mean':>12}\n")
    print_line(f"{'pairwise accuracy':20} {1 - pooled:12.6f} {1 - by_query:12.6f}\n")
    print_line(f"{'ranking error':20} {pooled:12.6f} {by_query:12.6f}\n")


def _read(
    args: argparse.Namespace, model: LinearModel | None = None
) -> tuple[SvmlightFile, DesignMatrix]:
    """Read DATA; for a model, with its features."""
    from .design_matrix import DesignMatrix
    from .files.svmlight import read_svmlight
    from .threads import resolve_threads

    threads = resolve_threads(args.threads)
    from_zero = args.zero_based or (model is not None and model.training.get("zero_based") is True)
    rows = read_svmlight(args.data, zero_based=from_zero or "auto", n_threads=threads)
    width = rows.n_features if model is None else _fit_to_model(args, rows, model)
    if width == rows.n_features and rows.density > 0.5:
        return rows, DesignMatrix.from_array(rows.dense(n_threads=threads))
    return rows, DesignMatrix.from_csr(rows.indptr, rows.indices, rows.values, width)


def _fit_to_model(args: argparse.Namespace, rows: SvmlightFile, model: LinearModel) -> int:
    """Refuse data whose features cannot be those of the model; return how many the model has."""
    from .files.svmlight import DataError

    n_features = len(model.coef)
    if rows.zero_based and model.training.get("zero_based") is False:
        raise DataError(
            f"{rows.name} counts features from zero but the model was trained on a file that "
            "counts from one"
        )
    if rows.n_features > n_features:
        raise DataError(
            f"{rows.name} has {rows.n_features} features but the model was trained with "
            f"{n_features}"
        )
    if rows.n_features < n_features:
        _say(
            args,
            f"note: {rows.name} ends at feature {rows.n_features}; the other "
            f"{n_features - rows.n_features} of the model count as zero",
        )
    return n_features


def _say(args: argparse.Namespace, message: str) -> None:
    if not args.quiet:
        sys.stderr.write(message + "\n")


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; return the exit status.

    0 is success, 2 a mistake in the arguments or the files, told in a sentence on standard error,
    and 130 an interruption by Ctrl-C.
    """
    parser = build_parser()
    args, unknown = parser.parse_known_args(argv)
    if unknown:
        getattr(args, "parser", parser).refuse(unknown)
    if args.version:
        from . import __version__

        sys.stdout.write(f"ranksvm {__version__}\n")
        return 0
    if not hasattr(args, "run"):
        parser.print_help()
        return 0
    return _run(args)


def _run(args: argparse.Namespace) -> int:
    import warnings

    def show(message: Warning | str, *_: Any, **__: Any) -> None:
        sys.stderr.write(f"ranksvm: warning: {message}\n")

    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = show
        try:
            args.run(args)
            sys.stdout.flush()
            return 0
        except BrokenPipeError:
            # The reader has gone; nothing more can reach it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except KeyboardInterrupt:
            sys.stderr.write("ranksvm: interrupted\n")
            return 130
        except MemoryError as error:
            sys.stderr.write(f"ranksvm: error: not enough memory ({error})\n")
            return 2
        except (ValueError, OSError, ImportError) as error:
            sys.stderr.write(f"ranksvm: error: {error}\n")
            return 2


if __name__ == "__main__":
    sys.exit(main())
