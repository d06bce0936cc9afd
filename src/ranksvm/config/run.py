"""Doing what a config file asks for: train, predict, measure."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from glob import glob, has_magic
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from ..files.atomic import OutputError, check_output
from ..files.model import NOT_A_PICKLE, is_named_as_pickle, load_model, save_model
from ..files.rows import FileRows
from ..files.scores import write_scores
from ..files.source import DataError, StrPath
from ..jobs.conditions import conditions_of_files
from ..jobs.rows import one_ranking, require_fit
from ..jobs.scoring import performance, performance_of_pairs, predict
from ..jobs.training import summary, train_on_rows
from ..linear.conditions import Conditions
from ..metrics import lost_pairs
from ..models import Model
from ..pairs.given import GivenPreferences
from ..progress import IterationTable
from ..threads import resolve_threads
from .data import Scored, read_scored, read_training, read_training_pairs
from .file import CONDITION_FILES, Config, read_config

Vector = NDArray[np.float64]


def run_config(path: StrPath) -> None:
    """Do what a config file asks for.

    Everything that is read is read, and everything that is written is known to have a place,
    before training begins. Status and measures go to the standard output.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    DataError
        If the config file or a file that it names cannot be read or do not go together.
    OutputError
        If an output cannot be written.
    ValueError
        If there is nothing to learn from.
    """
    config = read_config(path)
    _check_inputs(config)
    _check_outputs(config)
    model = load_model(config.inputs["model"].value) if "model" in config.inputs else None
    training = read_training(config) if config.trains else None
    given = None if training is None else read_training_pairs(config, training)
    trained = training or model
    test = read_scored(config, model, None if trained is None else trained.feature_names)
    if config.predicts and test.rows is not None and trained is not None:
        require_fit(test.rows, trained, lambda note: _say(config, note))
    measures = config.measures and _can_be_measured(config, test)
    _note_missing_qids(
        config,
        training if given is None else None,
        test if measures and test.pairs is None else None,
    )
    if training is not None:
        model = _train(config, training, given)
    scores = test.scores
    if config.predicts and model is not None and test.rows is not None:
        scores = _predict(config, model, test.rows)
    if measures and scores is not None:
        threads = resolve_threads(config.parameters.n_threads)
        table = (
            performance(test.labels, scores, test.qid, test.cost, threads)
            if test.pairs is None
            else performance_of_pairs(test.pairs, scores)
        )
        _stream(config).write(table)


def _check_inputs(config: Config) -> None:
    for entry in config.inputs.values():
        is_pattern = has_magic(entry.value) and glob(entry.value)
        if entry.value != "-" and not is_pattern and not os.path.exists(entry.value):
            hint = ""
            if not os.path.isabs(entry.value):
                hint = f"; relative paths begin at the working directory, {os.getcwd()}"
            raise config.error(entry, f"there is no file {entry.value}{hint}")


def _check_outputs(config: Config) -> None:
    for entry in config.outputs.values():
        try:
            check_output(entry.value)
        except OutputError as error:
            raise OutputError(f"{config.name}, line {entry.line}: {error}") from None


def _can_be_measured(config: Config, test: Scored) -> bool:
    """Whether some labels differ; a test set may have arbitrary ones if predictions are written."""
    if test.pairs is not None:
        return True
    try:
        lost_pairs(test.labels, test.labels, test.qid, sample_weight=test.cost)
    except ValueError as error:
        if "test_set" in config.inputs and "predicted_labels" in config.outputs:
            _say(config, f"note: {test.name} is not measured: {error}")
            return False
        raise DataError(f"{test.name} cannot be measured: {error}") from None
    return True


def _note_missing_qids(config: Config, training: FileRows | None, measured: Scored | None) -> None:
    for rows in (training, measured):
        if rows is not None and rows.qid is None and config.verbose:
            sys.stderr.write(one_ranking(rows.name) + "\n")


def _stream(config: Config) -> TextIO:
    """Return the standard output, or the standard error where the former takes an output file."""
    names = {entry.value for entry in config.outputs.values()}
    return sys.stderr if names & {"-", "/dev/stdout"} else sys.stdout


def _say(config: Config, message: str) -> None:
    if config.verbose:
        _stream(config).write(message + "\n")


def _train(config: Config, rows: FileRows, given: GivenPreferences | None) -> Model:
    fit, model = train_on_rows(
        rows,
        replace(config.parameters, conditions=_conditions(config, rows)),
        preferences=given,
        kernel=config.kernel,
        max_memory=config.max_memory,
        callback=IterationTable(_stream(config)) if config.verbose else None,
    )
    _say(config, summary(fit, rows))
    if "model" in config.outputs:
        file = config.outputs["model"].value
        save_model(model, file)
        _say(config, f"wrote the model to {file}")
        if is_named_as_pickle(file):
            _say(config, NOT_A_PICKLE.format(file))
    return model


def _conditions(config: Config, rows: FileRows) -> Conditions:
    """Return what is asked of the weights of the features of rows."""
    files = {name: config.inputs[name].value for name in CONDITION_FILES if name in config.inputs}
    return conditions_of_files(rows, config.conditions, **files)


def _predict(config: Config, model: Model, rows: FileRows) -> Vector:
    scores = predict(model, rows, resolve_threads(config.parameters.n_threads))
    if "predicted_labels" in config.outputs:
        file = config.outputs["predicted_labels"].value
        write_scores(file, scores)
        _say(config, f"wrote {len(scores)} predictions to {file}")
    return scores
