"""Times of events from files: the labels of the rows are the times."""

from __future__ import annotations

from ..files.events import read_events
from ..files.rows import FileRows
from ..files.source import DataError
from ..pairs.survival import Survival


def survival_of(rows: FileRows, events: str) -> Survival:
    """Return the times of rows, with their events, or those of a file.

    Raises
    ------
    DataError
        If the file is none of events, one for each row, or times are negative.
    """
    event = rows.event
    if event is None:
        event = read_events(events, len(rows.labels), rows.name)
    try:
        return Survival.of(event=event, time=rows.labels)
    except ValueError as error:
        raise DataError(f"{rows.name}: with --event, labels are times: {error}") from None
