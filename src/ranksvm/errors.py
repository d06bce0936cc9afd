"""The errors of users, told from those of the program by their type.

Whatever somebody gave that cannot be used raises `InputError` or one of its kinds. A bare ValueError
comes from below, from NumPy, say, and was not foreseen.
"""

from __future__ import annotations


class InputError(ValueError):
    """A value that cannot be used, or not with another; the message says what is wanted."""
