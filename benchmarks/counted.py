"""A design matrix that counts the passes over it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ranksvm.linear.matrix import Matrix


class CountedMatrix:
    """
    A matrix that counts products with it, as "pass", and explicit Hessians, as "hessian".

    Attributes
    ----------
    counts : Counter
        Shared with views of the matrix.
    """

    def __init__(self, matrix: Matrix, counts: Counter[str] | None = None) -> None:
        self._matrix = matrix
        self.counts: Counter[str] = Counter() if counts is None else counts

    def __getattr__(self, name: str) -> Any:
        """Return what is not counted."""
        return getattr(self._matrix, name)

    def dot(self, *args: Any) -> Any:
        """Count one pass."""
        return self._counted("pass", self._matrix.dot, args)

    def dot_within(self, *args: Any) -> Any:
        """Count one pass."""
        return self._counted("pass", self._matrix.dot_within, args)

    def t_dot(self, *args: Any) -> Any:
        """Count one pass."""
        return self._counted("pass", self._matrix.t_dot, args)

    def t_dot_squares(self, *args: Any) -> Any:
        """Count one pass."""
        return self._counted("pass", self._matrix.t_dot_squares, args)

    def hessian(self, *args: Any) -> Any:
        """Count one Hessian."""
        return self._counted("hessian", self._matrix.hessian, args)

    def centered(self) -> CountedMatrix:
        """Let the view count, too."""
        return CountedMatrix(self._matrix.centered(), self.counts)

    def _counted(self, what: str, call: Any, args: tuple[Any, ...]) -> Any:
        self.counts[what] += 1
        return call(*args)
