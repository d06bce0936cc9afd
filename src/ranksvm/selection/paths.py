"""How well each point of a regularization path ranks rows that it was not made from.

Each fold has a path of its own, with breakpoints of its own. They are merged, and every fold is
measured at all of them with the solution that is exact there, so that each mean is one of scores at
the same lambda.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..kernel.kernels import Kernel
from ..kernel.path.following import Stop
from ..kernel.path.regularization import RegularizationPath, foresee_path, solve_path
from ..pairs.core_pairs import CorePairs
from ..pairs.preferences import Preferences
from ..records import record
from ..threads import resolve_threads
from .fold_scores import FoldScores
from .folds import Fold, Rows
from .rows import TrainingRows, of_rows
from .runner import FoldRunner
from .scoring import Scoring

Vector = NDArray[np.float64]

_MOST_PAIRS = 100_000  # of a full graph that is taken by default


@record
class PathScores(FoldScores):
    """The scores along the paths of the folds, for one kernel.

    Attributes
    ----------
    scores : ndarray of shape (n_lambdas, n_folds)
        NaN in folds that were left out.
    lambdas : ndarray of shape (n_lambdas,)
        Falling.
    shortfalls : tuple of str
        Why paths had to end early, if any had.
    """

    lambdas: Vector
    shortfalls: tuple[str, ...] = ()

    def best(self, one_standard_error: bool = False) -> int:
        """Return the place of the lambda with the best mean; of equal ones, the largest.

        With `one_standard_error`, that of the largest lambda whose mean lies at most one standard
        error of the best mean below it.
        """
        return self.simplest(-self.lambdas, one_standard_error)


def chosen_graph(y: Vector, qid: ArrayLike | None) -> str:
    """Return "full" where the paths of the full graph can be waited for, else "reduced".

    Warns
    -----
    UserWarning
        Where they cannot: the reduced graph ranks worse.
    """
    n_pairs = CorePairs(Preferences.from_labels(y, qid)).n_pairs
    if n_pairs <= _MOST_PAIRS:
        return "full"
    warnings.warn(
        f"the rows have {n_pairs:,.0f} preference pairs, more than {_MOST_PAIRS:,}: learning from "
        "the reduced graph, which is quick but ranks worse; choose graph='full' or 'reduced', or "
        "use KernelRankSVM",
        stacklevel=3,
    )
    return "reduced"


def merged_lambdas(paths: Iterable[RegularizationPath], n_lambdas: int) -> Vector:
    """Return the breakpoints of several paths, falling, as far down as all of them go.

    Of more than `n_lambdas` these are so many, evenly from the first to the last by their number:
    they lie close where much happens. If nothing happens on any path, it is a lambda of 1.
    """
    paths = list(paths)
    end = max(path.lambdas[-1] for path in paths)
    merged: Vector = np.unique(np.concatenate([path.lambdas for path in paths]))[::-1]
    merged = merged[(merged >= end) & (merged > 0)]
    if not len(merged):
        return np.ones(1)
    if len(merged) > n_lambdas:
        merged = merged[np.linspace(0, len(merged) - 1, n_lambdas).round().astype(np.int64)]
    return merged


class FoldPaths:
    """Rows whose paths can be followed fold by fold.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n_samples, n_features)
        For a precomputed kernel, its matrix.
    rows : TrainingRows
        The same rows, with labels and queries.
    folds : sequence of (train, validation)
        Row numbers.
    scoring : str or callable
        As for `ranksvm.selection.scoring.scorer`.
    stop : Stop
        When to end each path.
    graph : {"full", "reduced"}
    n_lambdas : int
        At how many lambdas, at most, a path is measured.
    n_jobs : int, optional
        Folds at a time; by default as many as there are CPUs.

    Raises
    ------
    ValueError
        If no fold has preference pairs both to train and to validate on.

    Warns
    -----
    UserWarning
        Of folds that are left out, since they lack pairs.
    """

    def __init__(
        self,
        X: Any,
        rows: TrainingRows,
        folds: Sequence[Fold],
        scoring: str | Scoring,
        stop: Stop,
        *,
        graph: str,
        n_lambdas: int,
        n_jobs: int | None = None,
    ) -> None:
        self._X, self._stop, self._graph, self._n_lambdas = X, stop, graph, n_lambdas
        self._rows = rows
        self._runner = FoldRunner(rows, folds, scoring, n_jobs, resolve_threads(None))

    def validate(self, kernel: Kernel, progress: Callable[[], object] | None = None) -> PathScores:
        """Follow the path of each fold, and measure all of them at the same lambdas.

        Parameters
        ----------
        kernel : Kernel
        progress : callable, optional
            Called after each path.

        Raises
        ------
        ValueError
            If the kernel is not one for these rows, or a score is not finite.
        """

        def follow(k: int) -> RegularizationPath:
            path = self._follow(kernel, k)
            if progress is not None:
                progress()
            return path

        with self._runner.threads() as each_fold:
            paths = each_fold(follow)
            lambdas = merged_lambdas(paths, self._n_lambdas)
            found = each_fold(partial(self._measure, kernel, lambdas), paths)
        shortfalls = tuple(path.shortfall for path in paths if path.shortfall is not None)
        return PathScores(self._runner.by_fold(found), lambdas, shortfalls)

    def cost(self, kernel: Kernel) -> str:
        """Say what the paths take: the first of them, after which the others are.

        Raises
        ------
        ValueError
            As by `validate` before it begins.
        """
        width = "" if kernel.gamma is None else f"gamma={kernel.gamma:.3g}: "
        kept = self._runner.kept
        text = foresee_path(*self._problem(kernel, kept[0]), kernel, self._stop, graph=self._graph)
        return f"{width}{len(kept)} times a {text}"

    def _follow(self, kernel: Kernel, k: int) -> RegularizationPath:
        return solve_path(
            *self._problem(kernel, k),
            kernel,
            self._stop,
            graph=self._graph,
            callbacks=[self._runner.stopped],
        )

    def _problem(self, kernel: Kernel, k: int) -> tuple[Any, Vector, Any]:
        """Return X, y and qid of the rows to train with."""
        rows, (train, _) = self._rows, self._runner.folds[k]
        return (
            self._between(kernel, train, train),
            rows.y[train],
            of_rows(rows.query, train),
        )

    def _measure(
        self, kernel: Kernel, lambdas: Vector, k: int, path: RegularizationPath
    ) -> list[float]:
        train, validation = self._runner.folds[k]
        scores = np.ascontiguousarray(
            path.predict(self._between(kernel, validation, train), lambdas).T
        )
        measure, values = self._runner.scorer(k), []
        for of_lambda in scores:
            if self._runner.stopped():
                break
            values.append(measure(of_lambda))
        return values

    def _between(self, kernel: Kernel, rows: Rows, train: Rows) -> Any:
        """Return rows as the kernel takes them: features, or values with the training rows."""
        return self._X[rows][:, train] if kernel.is_precomputed else self._X[rows]


def kernels_of_widths(
    kernel: str | Callable[[Any, Any], Any],
    gammas: ArrayLike | None,
    degree: float,
    coef0: float,
    n_features: int,
) -> list[Kernel]:
    """Return a kernel for each width of a grid; a single one where a kernel has no width.

    By default the grid has 1 / n_features times 1/16, 1/4, 1, 4 and 16.

    Raises
    ------
    ValueError
        If `gammas` has no value, is not one-dimensional, or is given to a kernel without a width.
    """
    plain = Kernel(kernel, degree=degree, coef0=coef0)
    if not _has_width(kernel):
        if gammas is not None:
            raise InputError(f"the kernel {plain} has no gamma: leave out gammas")
        return [plain]
    grid = 4.0 ** np.arange(-2, 3) / n_features if gammas is None else np.atleast_1d(gammas)
    if grid.ndim != 1 or not len(grid):
        raise InputError(f"gammas must be a width or several, not {gammas!r}")
    return [Kernel(kernel, gamma, degree, coef0) for gamma in grid.tolist()]


def _has_width(kernel: str | Callable[[Any, Any], Any]) -> bool:
    from sklearn.metrics.pairwise import KERNEL_PARAMS

    return isinstance(kernel, str) and "gamma" in KERNEL_PARAMS.get(kernel, ())
