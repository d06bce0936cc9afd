"""The errors of users, told from those of the program by their type.

Whatever somebody gave that cannot be used raises `InputError` or one of its kinds. A bare
ValueError comes from below, from NumPy, say, and was not foreseen.
"""

from __future__ import annotations


class InputError(ValueError):
    """A value that cannot be used, or not with another; the message says what is wanted."""


class NoPairsError(InputError):
    """Rows of which none is preferred to another.

    Parameters
    ----------
    why : str
    check : str
        What has to be looked at.
    """

    def __init__(self, why: str, check: str = "y and qid") -> None:
        super().__init__(why, check)
        self.why, self.check = why, check

    def __str__(self) -> str:
        return f"{self.why}; check {self.check}"


class ShortfallWarning(UserWarning):
    """A training that ended before its certificate was as good as was asked for."""
