"""How many threads to use."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def resolve_threads(n_threads: int | None) -> int:
    """Return the number of threads; None stands for all CPUs that this process may use.

    Raises
    ------
    ValueError
        If the number is not at least 1.
    """
    if n_threads is not None:
        if n_threads < 1:
            raise ValueError(f"n_threads must be at least 1 or None, not {n_threads}")
        return n_threads
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def one_blas_thread() -> AbstractContextManager[Any]:
    """Keep matrix products of this block on the calling thread.

    Threads of our own share the work instead, in a way that does not change the result.
    """
    context: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="blas")
    return context


@cache
def _controller() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
