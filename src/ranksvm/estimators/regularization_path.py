"""The regularization path of the kernel RankSVM, as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from ..kernel.kernels import Kernel
from ..kernel.path.following import PathCallback, Stop
from ..kernel.path.regularization import RegularizationPath, solve_path
from ..linear.parameters import require_verbosity
from ..memory import bytes_of
from ..progress import PathTable, WorkNotes
from .convergence import warn_unless_converged
from .rows import labelled_rows


def regularization_path(
    X: Any,
    y: ArrayLike,
    qid: ArrayLike | None = None,
    *,
    kernel: str | Callable[[Any, Any], Any] = "linear",
    gamma: float | str | None = None,
    degree: float = 3,
    coef0: float = 1.0,
    graph: str = "full",
    lambda_min_ratio: float = 1e-3,
    lambda_min: float | None = None,
    max_events: int | None = None,
    max_support: int | None = None,
    max_memory: float | str = 4e9,
    callback: PathCallback | None = None,
    verbose: int = 0,
) -> RegularizationPath:
    """Find the solutions of the kernel RankSVM with hinge loss for all lambda at once.

    With pairs p of rows u and l of a query, of which u has the larger label, and ``f_p = f(x_u) -
    f(x_l)``, they minimise::

        sum over pairs p of  max(0, 1 - f_p)  +  lambda / 2 |f|^2

    which is the objective of `RankSVM` with ``loss="hinge"``, ``normalize=None`` and ``C = 1 /
    lambda``, divided by C. As lambda falls from infinity, where the multipliers of all pairs are 1,
    pairs reach the margin, where their multipliers turn, and leave it, event after event; between
    events ``lambda f`` is linear in lambda. An event takes ``O(n_free^2)``, and ``O(n_free)`` for
    each of a few dozen pairs that may be next; all pairs are looked through after many events only.

    Margins are larger than 1 by up to 1e-9, by pseudo-random numbers that are always the same, so
    that events that would tie happen one after the other, and no pairs on their margins depend on
    one another; the conditions of optimality hold up to as much.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Rows; for a precomputed kernel, its matrix.
    y : array-like of shape (n_samples,)
        Relevance labels, larger is better.
    qid : array-like of shape (n_samples,), optional
        Query ids, in any order; one query by default.
    kernel, gamma, degree, coef0
        The kernel: see `ranksvm.kernel.kernels.Kernel`.
    graph : {"full", "reduced"}, default="full"
        All pairs, or about as many as there are rows: see
        `ranksvm.kernel.path.graph.PreferenceGraph.from_labels`.
    lambda_min_ratio : float, default=1e-3
        Stop at this part of the lambda of the first event, below 1.
    lambda_min : float, optional
        Stop at this lambda instead.
    max_events : int, optional
        Stop after so many events, or one more where two happen at once.
    max_support : int, optional
        Stop when at most so many pairs have a multiplier above 0.
    max_memory : float or str, default=4e9
        Bytes, or a text such as "4G", that the kernel matrix, the pairs and the path may take,
        each: with n samples, 16 n^2, 40 for each pair, and 24 for each row that an event changes.
    callback : callable, optional
        Called with a `PathProgress` after each check; stops by returning True.
    verbose : int, default=0
        1 prints to standard error what the path takes before it begins, and a line per second.

    Returns
    -------
    RegularizationPath

    Raises
    ------
    ValueError
        If an argument is malformed, there is no preference pair to learn from, the kernel is not
        one for these rows, or `max_memory` would be exceeded.

    Warns
    -----
    ConvergenceWarning
        If the path had to end early, where rounding violates the conditions of optimality by 1e-8.

    References
    ----------
    Zapien, Gasso, Gaertner and Canu, "Model selection for ranking SVM using regularization path",
    in: Machine Learning, InTech (2009).

    Examples
    --------
    >>> from ranksvm import regularization_path
    >>> X = [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0], [0.0, 0.0], [3.0, 1.0]]
    >>> path = regularization_path(X, [0, 1, 2, 0, 1], kernel="rbf", gamma=0.5)
    >>> int(path.predict(X, 1.0).argmax())
    2
    """
    require_verbosity(verbose)
    stop = Stop(lambda_min_ratio, lambda_min, max_events, max_support, bytes_of(max_memory))
    of_rows = Kernel(kernel, gamma, degree, coef0)
    X, y = labelled_rows(X, y)
    of_rows = of_rows.fitted(X)
    callbacks: list[PathCallback] = [PathTable()] if verbose else []
    if callback is not None:
        callbacks.append(callback)
    note = WorkNotes() if verbose else None
    path = solve_path(X, y, qid, of_rows, stop, graph=graph, callbacks=callbacks, note=note)
    warn_unless_converged(path.shortfall)
    return path
