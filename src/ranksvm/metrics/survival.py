"""The concordance index: pairwise accuracy for times of events, some of which are censored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError
from ..pairs.columns import finite_column
from ..pairs.core_pairs import CorePairs
from ..pairs.kaplan_meier import KaplanMeier
from ..pairs.preferences import Preferences
from ..pairs.queries import QueryGroups
from ..pairs.survival import NONE_COMPARABLE, Survival, check_censoring
from ..pairs.weights import row_weights
from .pairs import error_of_pairs

Vector = NDArray[np.float64]

TIED = 1e-8  # as in scikit-survival


def concordance_index(
    event: ArrayLike,
    time: ArrayLike,
    risk: ArrayLike,
    *,
    ipcw: str | None = None,
    tau: float | None = None,
    train: Any = None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    tied_tol: float = TIED,
    n_threads: int = 1,
) -> float:
    """Share of the comparable pairs in which who has the event earlier has the greater risk.

    A pair is comparable if the row with the earlier time has an event; of two rows with one time,
    if one has an event and the other is censored, which counts as later (:eq:`comparable`). Two
    sorted sweeps: O(m log m).

    Parameters
    ----------
    event : array-like of shape (n_samples,)
        True, or 1, if the event has been seen; false, or 0, if the row is censored.
    time : array-like of shape (n_samples,)
        When the event was, or until when there has been none.
    risk : array-like of shape (n_samples,)
        Predicted risk, higher for earlier events. Predicted times are minus that.
    ipcw : {"uno"} or None, default=None
        None is Harrell's C, as ``concordance_index_censored`` of scikit-survival; "uno" is Uno's,
        as its ``concordance_index_ipcw``: a pair weighs ``1 / G(t)^2``, with the time t of its
        event, and the probability G(t) not to be censored by then, as Kaplan and Meier estimate it.
    tau : float, optional
        Pairs whose event is not before this time are left out.
    train : structured array or (event, time), optional
        The rows that G is estimated from, such as those that a model was trained on; by default
        those that are measured.
    qid : array-like of shape (n_samples,), optional
        Strata: rows of different ones are not compared.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights; a pair weighs the product of those of its rows.
    tied_tol : float, default=1e-8
        Risks that differ by no more are equal; such a pair counts half.
    n_threads : int, default=1

    Returns
    -------
    float
        Between 0 and 1.

    Raises
    ------
    ValueError
        If an argument is malformed, there is no comparable pair, or G is zero at an event.

    References
    ----------
    Harrell, Lee and Mark, "Multivariable prognostic models", Statistics in Medicine 15 (1996).

    Uno, Cai, Pencina, D'Agostino and Wei, "On the C-statistics for evaluating overall adequacy of
    risk prediction procedures with censored survival data", Statistics in Medicine 30 (2011).

    Examples
    --------
    >>> from ranksvm import concordance_index
    >>> concordance_index(event=[1, 0, 1, 1], time=[2, 2, 3, 5], risk=[4, 3, 1, 2])
    0.75
    """
    survival = Survival.of(event=event, time=time)
    risks = finite_column(risk, "risk")
    if len(risks) != len(survival):
        raise InputError(f"time has length {len(survival)} but risk has length {len(risks)}")
    if not 0 <= tied_tol < np.inf:
        raise InputError(f"tied_tol must be finite and not negative, not {tied_tol!r}")
    preferences = Preferences(
        survival.labels(),
        QueryGroups.from_qid(qid, len(survival)),
        row_weights("sample_weight", sample_weight, len(survival)),
        better_weight=_better_weight(survival, ipcw, tau, train),
    )
    return concordance(preferences, tied_tol, n_threads)(risks)


def concordance(
    preferences: Preferences, tied_tol: float = TIED, n_threads: int = 1
) -> Callable[[Vector], float]:
    """Return the function from risks to the share of pairs, as weighed, in the right order.

    What all risks of the same rows share is prepared once.

    Raises
    ------
    ValueError
        If there is no pair.
    """
    pairs = CorePairs(preferences, n_threads=n_threads)
    if not pairs.n_pairs > 0:
        raise InputError(NONE_COMPARABLE)
    return lambda risk: 1 - error_of_pairs(pairs, risk, tied_tol)


def _better_weight(survival: Survival, ipcw: str | None, tau: float | None, train: Any) -> Vector:
    check_censoring(ipcw, tau)
    if ipcw is None:
        return survival.better_weight(None, tau)
    if ipcw != "uno":
        raise InputError(f"ipcw must be 'uno' or None for the concordance index, not {ipcw!r}")
    counted = survival.better_weight(None, tau) > 0
    known = survival if train is None else _known(train)
    left = _uncensored(KaplanMeier.of_censoring(known.event, known.time), survival.time, counted)
    return np.divide(1.0, left**2, out=np.zeros(len(survival)), where=counted)


def _known(train: Any) -> Survival:
    if isinstance(train, tuple | list) and len(train) == 2:
        return Survival.of(event=train[0], time=train[1])
    return Survival.of(train)


def _uncensored(G: KaplanMeier, time: Vector, counted: NDArray[np.bool_]) -> Vector:
    """Return G at the times of the events that count; refuse those at which it is not known."""
    left = G.at(time)
    unknown = counted & ((left <= 0) | (time > G.times[-1]))
    if unknown.any():
        row = int(np.flatnonzero(unknown)[np.argmin(time[unknown])])
        raise InputError(
            f"row {row} has an event at {time[row]:g}, by when no row that G is estimated from is "
            f"left: give tau={time[row]:g} or less, to leave out such events"
        )
    return left
