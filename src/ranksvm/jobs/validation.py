"""Measuring a trained model on rows that it has not seen."""

from __future__ import annotations

from contextlib import suppress

from ..files.rows import FileRows
from ..files.source import DataError
from ..models import Model
from .scoring import predict


def require_measurable(rows: FileRows, survival: bool) -> None:
    """Refuse rows on which no model can be measured, before one is trained.

    Parameters
    ----------
    rows : FileRows
    survival : bool
        Whether labels are times, of events that are a column.

    Raises
    ------
    DataError
        If rows have no events, or none is preferred to another.
    """
    from ..metrics import lost_pairs

    if survival:
        if rows.event is None:
            raise DataError(f"{rows.name} needs a column of events to be measured: --event COL")
        return
    try:
        lost_pairs(rows.labels, rows.labels, rows.qid, sample_weight=rows.cost)
    except ValueError as error:
        raise DataError(f"{rows.name} cannot be measured: {error}") from None


def validated(model: Model, rows: FileRows, survival: bool, n_threads: int) -> dict[str, float]:
    """Return metrics of the scores of rows that are measurable, by name; those that are defined.

    Parameters
    ----------
    model : LinearModel or KernelModel
    rows : FileRows
        Such that they fit the model.
    survival : bool
        Whether labels are times.
    n_threads : int
    """
    from ..metrics import concordance_index, evaluate
    from ..metrics.evaluation import DEFAULT_METRICS

    scores = predict(model, rows, n_threads)
    if survival:
        from .survival import survival_of  # for times alone

        times = survival_of(rows, "")
        index = concordance_index(
            times.event, times.time, scores, qid=rows.qid, sample_weight=rows.cost
        )
        return {"concordance_index": index}
    found = {}
    for name in DEFAULT_METRICS:
        with suppress(ValueError):  # of labels that are no grades, say
            result = evaluate(
                rows.labels, scores, rows.qid, [name], sample_weight=rows.cost, n_threads=n_threads
            )
            found[name] = float(result.mean[name])
    return {name: value for name, value in found.items() if value == value}
