"""Reading the data that a config file names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..files.rows import FileRows
from ..files.source import DataError
from ..files.svmlight import IndexBase, read_svmlight
from ..files.treeranksvm import read_features, read_labels, read_qids
from ..jobs.data import Reading, files_of, read_data
from ..jobs.given import read_given_pairs
from ..jobs.rows import counts_from_one
from ..models import Model
from ..pairs.given import GivenPreferences
from ..records import record
from .file import Config

Vector = NDArray[np.float64]


@record
class Scored:
    """Rows to be scored or measured, or both.

    Attributes
    ----------
    rows : FileRows or None
        The features to score; None where there is nothing to predict.
    labels : ndarray
        The right labels, if they are given; arbitrary ones or none otherwise.
    qid, cost : ndarray or None
    scores : ndarray or None
        The predictions that are read rather than made.
    name : str
        The file of the labels.
    pairs : GivenPreferences or None
        In place of labels.
    """

    rows: FileRows | None
    labels: Vector
    qid: NDArray[Any] | None
    cost: Vector | None
    scores: Vector | None
    name: str
    pairs: GivenPreferences | None = None


def read_training(config: Config) -> FileRows:
    """Read the training data.

    Raises
    ------
    DataError
        If a file cannot be read, or files differ in their numbers of rows.
    """
    source = "train_set" if "train_set" in config.inputs else "train_features"
    rows = _read_rows(config, source, True)
    lengths = {source: len(rows.labels)}
    if "train_labels" in config.inputs:
        rows = replace(rows, labels=_read_labels(config, "train_labels"))
        lengths["train_labels"] = len(rows.labels)
    if "train_qids" in config.inputs:
        rows = replace(rows, qid=_read_qids(config, "train_qids", rows.qid))
        lengths["train_qids"] = len(rows.qid) if rows.qid is not None else 0
    _require_same_length(config, lengths)
    return rows


def read_training_pairs(config: Config, rows: FileRows) -> GivenPreferences | None:
    """Read the pairs of the training data, if they are given.

    Raises
    ------
    DataError
        As `ranksvm.jobs.given.read_given_pairs`.
    """
    entry = config.inputs.get("train_pairs")
    if entry is None:
        return None
    if config.parameters.pair_weight is not None:
        raise config.error(entry, "pairs that are given have no gaps: leave out pair_weight")
    return read_given_pairs(entry.value, len(rows.labels), rows.name, rows.qid)


def read_scored(config: Config, model: Model | None, names: Sequence[str] | None) -> Scored:
    """Read the data to predict and to measure.

    The model is that which is read, if one is, and the names are those of its features, or of the
    training data.

    Raises
    ------
    DataError
        If a file cannot be read, or files differ in their numbers of rows.
    """
    rows = labels = scores = qid = None
    lengths: dict[str, int] = {}
    for variable in ("test_set", "prediction_features"):
        if variable in config.inputs:
            from_zero: IndexBase = "auto" if counts_from_one(model) else True
            rows = _read_rows(config, variable, from_zero, names)
            labels, qid, lengths[variable] = rows.labels, rows.qid, len(rows.labels)
    if "test_labels" in config.inputs:
        labels = _read_labels(config, "test_labels")
        lengths["test_labels"] = len(labels)
    if "predicted_labels" in config.inputs:
        scores = _read_labels(config, "predicted_labels")
        lengths["predicted_labels"] = len(scores)
    if "prediction_qids" in config.inputs:
        qid = _read_qids(config, "prediction_qids", qid)
        lengths["prediction_qids"] = len(qid)
    _require_same_length(config, lengths)
    pairs, given = None, config.inputs.get("test_pairs")
    if given is not None:
        first, n_rows = next(iter(lengths.items()))
        pairs = read_given_pairs(given.value, n_rows, config.inputs[first].value, qid)
    labelled = config.inputs.get("test_labels") or given or config.inputs.get("test_set")
    return Scored(
        rows=rows,
        labels=np.empty(0) if labels is None else labels,
        qid=qid,
        cost=None if rows is None else rows.cost,
        scores=scores,
        name="" if labelled is None else labelled.value,
        pairs=pairs,
    )


def _read_rows(
    config: Config, variable: str, zero_based: IndexBase, of_model: Sequence[str] | None = None
) -> FileRows:
    path, n_threads = config.inputs[variable].value, config.parameters.n_threads
    if config.readers[variable] == "features":
        return read_features(path, n_threads=n_threads)
    reading = Reading(zero_based=zero_based, of_model=of_model, n_threads=n_threads)
    rows = read_data(files_of([path]), reading)
    return rows if variable.endswith("_set") else replace(rows, qid=None, cost=None)


def _read_labels(config: Config, variable: str) -> Vector:
    path, n_threads = config.inputs[variable].value, config.parameters.n_threads
    if config.readers[variable] == "svmlight":
        return read_svmlight(path, n_threads=n_threads).labels
    return read_labels(path, n_threads=n_threads)


def _read_qids(config: Config, variable: str, in_set: NDArray[Any] | None) -> NDArray[Any]:
    entry, n_threads = config.inputs[variable], config.parameters.n_threads
    if in_set is not None:
        raise config.error(
            entry, f"{entry.attribute} is given, but the rows have qids of their own: remove one"
        )
    if config.readers[variable] == "qids":
        return read_qids(entry.value, n_threads=n_threads)
    qid = read_svmlight(entry.value, n_threads=n_threads).qid
    if qid is None:
        raise config.error(entry, f"{entry.value} has no qids for {entry.attribute}")
    return qid


def _require_same_length(config: Config, lengths: dict[str, int]) -> None:
    """Refuse files that differ in their numbers of rows from the first."""
    first, *others = lengths or [""]
    for other in others:
        if lengths[other] != lengths[first]:
            one, two = config.inputs[first], config.inputs[other]
            raise DataError(
                f"{one.value} has {lengths[first]} rows but {two.value} has {lengths[other]}: "
                f"{one.attribute} and {two.attribute} must have one each"
            )
