"""Config files, as TreeRankSVM 0.1 reads them: what to train on, to predict, and to measure.

::

    [Parameters]
    regparam=0.1
    [Input]
    train_features=./data/train.features  # comments begin with a hash, anywhere in a line
    train_labels=./data/train.labels
    [Output]
    model=./data/model.pckl

What to do follows from what is given; here, what is given is checked, without opening a data file.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..files.distinct import overwritten
from ..files.quoting import shown
from ..files.sections import Entry, did_you_mean, read_sections
from ..files.source import DataError, StrPath
from ..linear.condition_arguments import ConditionArguments
from ..linear.parameters import Parameters
from .parameters import CONDITIONS, KERNEL_PARAMETERS, PARAMETERS, read_settings

if TYPE_CHECKING:
    from ..kernel.kernels import Kernel

INPUTS = (
    "train_set",
    "train_features",
    "train_labels",
    "train_qids",
    "train_pairs",
    "model",
    "bounds",
    "prior",
    "penalty_weights",
    "test_set",
    "prediction_features",
    "test_labels",
    "test_pairs",
    "predicted_labels",
    "prediction_qids",
    "test_qids",
)
CONDITION_FILES = ("bounds", "prior", "penalty_weights")
OUTPUTS = ("model", "predicted_labels")
READERS = ("svmlight", "features", "labels", "qids", "pairs")

_ALIASES = {"test_qids": "prediction_qids"}


@dataclass(frozen=True)
class Config:
    """What a config file asks for.

    Attributes
    ----------
    name : str
        What messages call the config file.
    parameters : Parameters
    kernel : Kernel or None
        None for the linear one.
    conditions : ConditionArguments
        What is asked of the weights, but for what `inputs` name.
    max_memory : float
        Bytes that the values of a kernel may take.
    verbose : bool
        Whether to tell how the work goes.
    inputs, outputs : dict
        The entry of each variable that is read or written; ``test_qids`` is found as
        ``prediction_qids``.
    readers : dict
        For each variable that is read, the name of the format: one of `READERS`.
    """

    name: str
    parameters: Parameters
    kernel: Kernel | None
    conditions: ConditionArguments
    max_memory: float
    verbose: bool
    inputs: Mapping[str, Entry]
    outputs: Mapping[str, Entry]
    readers: Mapping[str, str]

    @property
    def trains(self) -> bool:
        """Whether a model is trained."""
        return "train_set" in self.inputs or "train_features" in self.inputs

    @property
    def predicts(self) -> bool:
        """Whether a model, trained or read, scores rows."""
        rows = "test_set" in self.inputs or "prediction_features" in self.inputs
        return rows and (self.trains or "model" in self.inputs)

    @property
    def measures(self) -> bool:
        """Whether predictions, made or read, are compared with labels or pairs."""
        labels = {"test_set", "test_labels", "test_pairs"} & set(self.inputs)
        return bool(labels) and (self.predicts or "predicted_labels" in self.inputs)

    def error(self, entry: Entry, message: str) -> DataError:
        """Return an error that begins with the place of an entry."""
        return DataError(f"{self.name}, line {entry.line}: {message}")


def read_config(path: StrPath) -> Config:
    """Read and check a config file.

    Parameters
    ----------
    path : str or path-like
        ``-`` is the standard input.

    Raises
    ------
    DataError
        If the file cannot be read, names something unknown, has a value out of range, or gives
        things that lead to nothing.
    """
    name, sections = read_sections(path, _ATTRIBUTES)
    inputs = _by_variable(sections["Input"], name)
    settings = read_settings(sections["Parameters"], name)
    readers = _readers(sections["Readers"], inputs, name)
    config = Config(
        name, **vars(settings), inputs=inputs, outputs=sections["Output"], readers=readers
    )
    _require_purpose(config)
    _require_training(config, sections["Parameters"])
    _require_distinct_files(config)
    return config


_UNREAD = ("model", *CONDITION_FILES)  # by no reader that could be another
_ATTRIBUTES: dict[str, tuple[str, ...]] = {
    "Parameters": tuple(PARAMETERS),
    "Input": INPUTS,
    "Output": OUTPUTS,
    "Readers": tuple(variable for variable in INPUTS if variable not in _UNREAD),
}


def _by_variable(entries: Mapping[str, Entry], name: str) -> dict[str, Entry]:
    """Return entries by variable, of which one has two names."""
    variables: dict[str, Entry] = {}
    for attribute, entry in entries.items():
        variable = _ALIASES.get(attribute, attribute)
        if variable in variables:
            raise DataError(
                f"{name}, line {entry.line}: test_qids and prediction_qids are the same thing: "
                "give one of them"
            )
        variables[variable] = entry
    return variables


def _format_of(variable: str) -> str:
    """Return the format in which a variable is read by default."""
    return "svmlight" if variable.endswith("_set") else variable.rpartition("_")[2]


def _readers(
    entries: Mapping[str, Entry], inputs: Mapping[str, Entry], name: str
) -> dict[str, str]:
    readers = {variable: _format_of(variable) for variable in inputs if variable not in _UNREAD}
    for variable, entry in _by_variable(entries, name).items():
        place, reader = f"{name}, line {entry.line}", entry.value
        if variable not in inputs:
            raise DataError(
                f"{place}: a reader is given for {entry.attribute}, which [Input] does not give"
            )
        if reader not in READERS:
            raise DataError(
                f"{place}: a reader must be one of {', '.join(READERS)}, not "
                f"{shown(reader)}{did_you_mean(reader, READERS)}"
            )
        possible = dict.fromkeys([_format_of(variable), "svmlight"])
        if _format_of(variable) == "pairs":
            del possible["svmlight"]
        if reader not in possible:
            raise DataError(
                f"{place}: the reader of {entry.attribute} must be {' or '.join(possible)}: a file "
                f"of {reader} does not hold it"
            )
        readers[variable] = reader
    return readers


def _require_purpose(config: Config) -> None:
    """Refuse what lacks a companion, contradicts something else, or leads to nothing."""
    if not config.inputs and not config.outputs:
        raise DataError(f"{config.name} asks for nothing: it has neither [Input] nor [Output]")
    for entry, message in (*_contradictions(config), *_missing(config), *_leading_nowhere(config)):
        if entry is not None:
            raise config.error(entry, f"{entry.attribute} {message}")


def _require_training(config: Config, parameters: Mapping[str, Entry]) -> None:
    """Refuse kernels and conditions for a model that is read or for none, and both together."""
    for attribute in KERNEL_PARAMETERS:
        if attribute in parameters and not config.trains:
            raise config.error(
                parameters[attribute],
                f"{attribute} needs training data in [Input]: a model that is read has its own "
                "kernel",
            )
    asked = [parameters.get(name) for name in CONDITIONS]
    asked += [config.inputs.get(name) for name in CONDITION_FILES]
    for entry in asked:
        if entry is not None and not config.trains:
            raise config.error(
                entry, f"{entry.attribute} needs training data in [Input]: train_features"
            )
        if entry is not None and config.kernel is not None:
            raise config.error(
                entry,
                f"{entry.attribute} is for the linear ranker: a kernel has no weights of features",
            )


_Complaints = Iterator[tuple[Entry | None, str]]


def _contradictions(config: Config) -> _Complaints:
    """Yield the entries that are there and should not, beside others."""
    get = config.inputs.get
    if get("train_set"):
        yield get("train_features"), "is part of train_set: give one of them"
        yield get("train_labels"), "is part of train_set: give one of them"
    if get("test_set"):
        yield get("prediction_features"), "is part of test_set: give one of them"
        yield get("test_labels"), "is part of test_set: give one of them"
    if get("train_pairs"):
        yield get("train_labels"), "is what train_pairs take the place of: give one of them"
    if get("test_pairs"):
        yield get("test_labels"), "is what test_pairs take the place of: give one of them"
    if config.trains:
        yield get("model"), "in [Input] is read, but training data make one: give one of them"
    if config.predicts:
        yield get("predicted_labels"), "in [Input] is read, but a model predicts: give one of them"


def _missing(config: Config) -> _Complaints:
    """Yield the entries that need another, which is not there."""
    get, out = config.inputs.get, config.outputs.get
    if not config.trains:
        yield get("train_labels"), "needs train_features in [Input]"
        yield get("train_qids"), "needs train_features and train_labels in [Input]"
        yield get("train_pairs"), "needs train_features or train_set in [Input]"
        yield (
            out("model"),
            "in [Output] needs training data in [Input]: train_features or train_set",
        )
    elif not (get("train_set") or get("train_labels") or get("train_pairs")):
        yield get("train_features"), "needs train_labels or train_pairs in [Input]"
    if not config.predicts:
        yield get("prediction_features"), "needs a model: give one or training data in [Input]"
        yield (
            out("predicted_labels"),
            "in [Output] needs a model, or training data, and prediction_features or test_set in "
            "[Input]",
        )
    if not config.measures:
        predictions = "predicted_labels, or a model and prediction_features, in [Input]"
        yield get("test_set"), "needs a model, training data or predicted_labels in [Input]"
        for labels in ("test_labels", "test_pairs"):
            yield get(labels), f"needs predictions to compare with: {predictions}"
        yield (
            get("predicted_labels"),
            "in [Input] needs test_labels, test_pairs or test_set to compare with",
        )
        if not config.predicts:
            needed = "needs test_labels, as the queries of a measured performance"
            yield get("prediction_qids"), needed


def _leading_nowhere(config: Config) -> _Complaints:
    """Yield the entries of which nothing would come."""
    get = config.inputs.get
    if not config.predicts:
        yield get("model"), "in [Input] needs rows to predict: prediction_features or test_set"
        if "model" not in config.outputs:
            trained = get("train_set") or get("train_features")
            yield trained, "leads to nothing: give model in [Output], or prediction_features"
    elif not config.measures and "predicted_labels" not in config.outputs:
        message = "leads to nothing: give predicted_labels in [Output], or test_labels"
        yield get("prediction_features"), message


def _require_distinct_files(config: Config) -> None:
    """Refuse outputs that would overwrite an input or each other."""
    inputs = [("the config file", config.name)]
    inputs += [(entry.attribute, entry.value) for entry in config.inputs.values()]
    outputs = [(name, entry.value) for name, entry in config.outputs.items()]
    found = overwritten(inputs, outputs)
    if found is not None:
        raise config.error(
            config.outputs[found[0]],
            f"{found[0]} would overwrite {found[1]}: name another file",
        )
