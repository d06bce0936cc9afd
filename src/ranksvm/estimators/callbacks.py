"""scikit-learn's callbacks, which it has from 1.9 on; nothing where it is older.

A fit is a task, and each iteration of the solver one within it, of which there is no saying how
many there will be. A callback that returns True at the end of an iteration stops the solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..solvers.result import Iteration

if TYPE_CHECKING:

    class CallbackSupportMixin:
        """What takes callbacks."""

    def with_callbacks(method: Callable[[Any], None]) -> Callable[[Any], None]:
        """Tear callbacks down after a method."""

    SUPPORTED: bool
else:
    try:
        from sklearn.callback import CallbackSupportMixin, with_callbacks

        SUPPORTED = True
    except ImportError:
        SUPPORTED = False

        class CallbackSupportMixin:
            """What would take callbacks, of a newer scikit-learn."""


@contextmanager
def fit_task(estimator: Any, X: Any, y: Any, qid: Any) -> Iterator[None]:
    """Make the block the task of a fit, to the callbacks of an estimator."""
    if not SUPPORTED:
        yield
        return
    metadata = {} if qid is None else {"qid": qid}
    try:
        task = estimator._init_callback_context(max_subtasks=None)
        task.call_on_fit_task_begin(estimator=estimator, X=X, y=y, metadata=metadata)
        yield
        task.call_on_fit_task_end(
            estimator=estimator, X=X, y=y, metadata=metadata, reconstruction_attributes=dict
        )
    finally:
        _tear_down(estimator)


if SUPPORTED:

    @with_callbacks
    def _tear_down(estimator: Any) -> None:
        """Do nothing, after which callbacks are told that the fit has ended."""


def iteration_callback(
    estimator: Any, show: Callable[[Iteration], None] | None
) -> Callable[[Iteration], bool | None] | None:
    """Return what tells of iterations: what shows them, if anything does, and the callbacks."""
    if not getattr(estimator, "_skl_callbacks", None):
        return show
    fit = estimator._callback_fit_ctx

    def tell(line: Iteration) -> bool:
        if show is not None:
            show(line)
        task = fit.subcontext(task_name="iteration")
        task.call_on_fit_task_begin(estimator=estimator)
        return bool(task.call_on_fit_task_end(estimator=estimator))

    return tell
