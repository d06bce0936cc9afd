"""Results as short tables: in a terminal, in a notebook, and whole as a data frame."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

_MOST_ROWS = 12


class Tabular(ABC):
    """A result that shows itself as a table with a title."""

    @property
    @abstractmethod
    def _title(self) -> str:
        """What it is, in a line."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Sequence[Any]]:
        """Return the columns of the table, by name, all of one length."""

    def _frame_columns(self) -> Mapping[str, Sequence[Any]]:
        """Return those of the data frame, where that holds more."""
        return self._columns()

    def to_frame(self) -> Any:
        """Return the table as a data frame of pandas.

        Raises
        ------
        ImportError
            If pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("frames need pandas: pip install pandas") from error
        return pd.DataFrame(dict(self._frame_columns()))

    def __repr__(self) -> str:
        names, rows, n_more = self._short()
        width = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
        lines = [
            "  ".join(text.rjust(size) for text, size in zip(row, width, strict=True))
            for row in (names, *rows)
        ]
        more = [f"... and {n_more} more rows, in to_frame()"] if n_more else []
        return "\n".join([self._title, *lines, *more])

    def _repr_html_(self) -> str:
        from html import escape  # which plain programs never need

        names, rows, n_more = self._short()
        head = "".join(f"<th>{escape(name)}</th>" for name in names)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(text)}</td>' for text in row)}</tr>" for row in rows
        )
        more = f"<p>... and {n_more} more rows, in <code>to_frame()</code></p>" if n_more else ""
        return (
            f"<table><caption>{escape(self._title)}</caption><thead><tr>{head}</tr></thead>"
            f"<tbody>{body}</tbody></table>{more}"
        )

    def _short(self) -> tuple[list[str], list[list[str]], int]:
        """Return names, the first rows as texts, and how many more there are."""
        columns = self._columns()
        n_rows = len(next(iter(columns.values()), ()))
        n_shown = n_rows if n_rows <= _MOST_ROWS + 1 else _MOST_ROWS
        rows = [[_shown(column[k]) for column in columns.values()] for k in range(n_shown)]
        return list(columns), rows, n_rows - n_shown


def _shown(value: Any) -> str:
    if isinstance(value, str):
        return value
    return f"{value:.6g}" if isinstance(value, float) else str(value)
