"""Work for each fold, on threads, whose results do not depend on how many there are."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError, NoPairsError
from ..threads import one_blas_thread, resolve_threads
from .folds import Fold
from .rows import FoldedRows
from .scoring import Scoring

Vector = NDArray[np.float64]


class FoldRunner:
    """Runs work for each fold that has pairs; an error or Ctrl-C ends the work of all.

    Parameters
    ----------
    rows : FoldedRows
    folds : sequence of (train, validation)
        Parts of the rows.
    scoring : str or callable
        As for `ranksvm.selection.scoring.scorer`.
    n_jobs : int or None
        Folds at a time; None is as many as there are threads.
    n_threads : int
    stacklevel : int, default=5
        Whom warnings point to.

    Attributes
    ----------
    kept : list of int
        The numbers of the folds that have pairs, both to train and to validate on.
    n_workers : int
        How many folds run at a time.

    Raises
    ------
    ValueError
        If there is no such fold.

    Warns
    -----
    UserWarning
        Of folds that are left out.
    """

    def __init__(
        self,
        rows: FoldedRows,
        folds: Sequence[Fold],
        scoring: str | Scoring,
        n_jobs: int | None,
        n_threads: int,
        stacklevel: int = 5,
    ) -> None:
        self.rows, self.folds = rows, folds
        self.kept = folds_with_pairs(rows, folds, stacklevel)
        self.n_workers = min(
            len(self.kept), n_threads if n_jobs is None else resolve_threads(n_jobs, "n_jobs")
        )
        self._scoring = scoring
        self._stop = threading.Event()

    @contextmanager
    def threads(self) -> Iterator[Callable[..., list[Any]]]:
        """Start threads; give a function that maps ``work(k, ...)`` over the folds kept."""
        self._stop.clear()
        with one_blas_thread(), ThreadPoolExecutor(self.n_workers) as pool:
            try:
                yield lambda work, *of_each: list(pool.map(work, self.kept, *of_each))
            except BaseException:
                self._stop.set()
                raise

    def stopped(self, *_: object) -> bool:
        """Whether the work is to end; a callback of solvers."""
        return self._stop.is_set()

    def scorer(self, k: int) -> Callable[[Vector], float]:
        """Return the function from the scores of the validation rows of a fold to what they score.

        It raises ValueError if that is not finite.
        """
        measure = self.rows.scorer(self._scoring, self.folds[k][1])

        def finite(scores: Vector) -> float:
            score = measure(scores)
            if not np.isfinite(score):
                raise InputError(f"scoring must give a finite number for each fold, not {score}")
            return score

        return finite

    def by_fold(self, of_kept: Sequence[Sequence[float]]) -> NDArray[np.float64]:
        """Return a column for each fold from a row for each that is kept; NaN for the others."""
        values = np.full((len(of_kept[0]), len(self.folds)), np.nan)
        values[:, self.kept] = np.transpose(of_kept)
        return values


def folds_with_pairs(rows: FoldedRows, folds: Sequence[Fold], stacklevel: int) -> list[int]:
    """Return the numbers of the folds that have pairs in both parts; warn of the others."""
    kept = []
    for k, parts in enumerate(folds):
        lacking = [
            name
            for name, part in zip(("training", "validation"), parts, strict=True)
            if not rows.have_pairs(part)
        ]
        if not lacking:
            kept.append(k)
        else:
            warnings.warn(
                f"fold {k} is left out: its {' and '.join(lacking)} rows have no preference pairs; "
                "use fewer folds",
                UserWarning,
                stacklevel=stacklevel,
            )
    if not kept:
        raise NoPairsError(
            "no fold has preference pairs both to train and to validate on: use fewer folds"
        )
    return kept
