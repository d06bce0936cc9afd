"""Measuring a trained model on rows that it has not seen."""

from __future__ import annotations

from contextlib import suppress

from ..files.source import DataError
from ..files.svmlight import SvmlightFile
from ..models import Model
from .scoring import predict
from .survival import survival_of


def validated(model: Model, rows: SvmlightFile, survival: bool, n_threads: int) -> dict[str, float]:
    """Return metrics of the scores of rows, by name; those that are defined there.

    Parameters
    ----------
    model : LinearModel or KernelModel
    rows : SvmlightFile
        Such that they fit the model.
    survival : bool
        Whether labels are times, of events that are a column.
    n_threads : int

    Raises
    ------
    DataError
        If rows have no events, or there is nothing to measure.
    """
    from ..metrics import concordance_index, evaluate
    from ..metrics.evaluation import DEFAULT_METRICS

    scores = predict(model, rows, n_threads)
    found = {}
    if survival:
        if rows.event is None:
            raise DataError(f"{rows.name} needs a column of events to be measured: --event COL")
        times = survival_of(rows, "")
        found["concordance_index"] = concordance_index(
            times.event, times.time, scores, qid=rows.qid, sample_weight=rows.cost
        )
    for name in () if survival else DEFAULT_METRICS:
        with suppress(ValueError):  # of labels that are no grades, say
            result = evaluate(
                rows.labels, scores, rows.qid, [name], sample_weight=rows.cost, n_threads=n_threads
            )
            found[name] = float(result.mean[name])
    found = {name: value for name, value in found.items() if value == value}
    if not found:
        raise DataError(f"{rows.name} cannot be measured: no two rows of a query differ in label")
    return found
