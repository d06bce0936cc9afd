"""The model files of other programs: LIBLINEAR's ranksvm, SVM^rank and SVM^light, plain numbers.

LIBLINEAR-ranksvm (a weight for the bias follows where ``bias`` is not negative)::

    solver_type L2R_L2LOSS_RANKSVM
    nr_class 2
    nr_feature 3
    bias -1
    w
    0.25
    0
    -1.5

SVM^rank and SVM^light, with a linear kernel: ten lines ``value # what it is`` after the version,
then lines ``alpha index:value ... #``, whose sum is the weights::

    SVM-light Version V6.20
    0 # kernel type
    ...
    3 # highest feature index
    ...
    2 # number of support vectors plus 1
    0 # threshold b, each following line is a SV (starting with alpha*y)
    1 1:0.25 3:-1.5 #

Both count features from one and know weights only: no names, no parameters, no certificate. A bias
or threshold changes no order and is left out.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from ..linear.occurring import FeatureWeights
from ..models.linear import LinearModel
from .atomic import open_output
from .engine_models import read_ranklib
from .quoting import shown
from .scores import is_finite_number, parse_numbers
from .source import DataError

# Of LIBLINEAR-ranksvm, and of the program that came with the paper on it, by its ways of counting.
_RANKING_SOLVERS = {
    b"L2R_L2LOSS_RANKSVM",
    b"DIRECT_COUNT",
    b"Y_RBTREE",
    b"WX_RBTREE",
    b"SELECTION_TREE",
    b"AVLTREE",
    b"AATREE",
    b"PRSVMP",
}
_SVMRANK_HEADER = (
    "kernel type",
    "kernel parameter -d",
    "kernel parameter -g",
    "kernel parameter -s",
    "kernel parameter -r",
    "kernel parameter -u",
    "highest feature index",
    "number of training documents",
    "number of support vectors plus 1",
    "threshold b, each following line is a SV (starting with alpha*y)",
)
_SVMRANK_VALUES = ("0", "3", "1", "1", "1", "empty", "{d}", "0", "2", "0")
_MAX_DIGITS = 10
_ZEROS = 1 << 16  # at a time
_WEIGHT = "one finite weight per line"


def save_liblinear(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a model file of LIBLINEAR-ranksvm."""
    header = (
        f"solver_type L2R_L2LOSS_RANKSVM\nnr_class 2\nnr_feature {model.n_features}\nbias -1\nw\n"
    )
    with open_output(path) as file:
        file.write(header.encode())
        file.writelines(_lines(model.weights))


def save_svmrank(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write a model file of SVM^rank 1.00, which SVM^light 6.20 reads as well.

    These hold weights in single precision, so their scores differ from ours in the eighth digit.
    """
    lines = ["SVM-light Version V6.20"]
    for value, meaning in zip(_SVMRANK_VALUES, _SVMRANK_HEADER, strict=True):
        blank = "" if value == "empty" else " "
        lines.append(f"{value.format(d=model.n_features)}{blank}# {meaning}")
    nonzero = zip(*(part.tolist() for part in model.weights.nonzero()), strict=True)
    features = [f"{k + 1}:{weight:.17g} " for k, weight in nonzero]
    lines.append(f"1 {''.join(features)}#\n")
    with open_output(path) as file:
        file.write("\n".join(lines).encode())


def save_weights(model: LinearModel, path: str | os.PathLike[str]) -> None:
    """Write one weight per line, as ``numpy.savetxt(path, model.coef, "%.17g")`` does."""
    with open_output(path) as file:
        file.writelines(_lines(model.weights))


def _lines(weights: FeatureWeights) -> Iterator[bytes]:
    """Yield the lines of all weights, with many zeros at a time where features have none."""
    texts = (f"{weight:.17g}\n".encode() for weight in weights.values.tolist())
    features = weights.columns.features
    if features is None:
        yield from texts
        return
    gaps = np.diff(features, prepend=-1, append=weights.n_features) - 1
    for n_zeros, text in zip(gaps.tolist(), (*texts, b""), strict=True):
        yield from _zeros(n_zeros)
        yield text


def _zeros(n: int) -> Iterator[bytes]:
    for _ in range(n // _ZEROS):
        yield _ZEROS * b"0\n"
    yield n % _ZEROS * b"0\n"


def read_foreign(name: str, text: bytes, form: str) -> LinearModel:
    """Read the text of a model of the form "liblinear", "svmrank" or "ranklib".

    Raises
    ------
    DataError
        If it is not, saying in which line.
    """
    lines = text.split(b"\n")
    while lines and not lines[-1].strip():
        lines.pop()
    read: Callable[[str, list[bytes]], FeatureWeights | NDArray[np.float64]]
    if form == "ranklib":
        read = read_ranklib
    else:
        read = _read_liblinear if form == "liblinear" else _read_svmrank
    return LinearModel(read(name, lines), training={"converted_from": form, "zero_based": False})


def read_weights(name: str, text: bytes) -> LinearModel:
    """Read weights, one per line.

    Raises
    ------
    DataError
        Naming the line that is none.
    """
    weights = parse_numbers(name, text, 1, _WEIGHT)
    return LinearModel(weights, training={"converted_from": "weights"})


def _read_liblinear(name: str, lines: list[bytes]) -> NDArray[np.float64]:
    header: dict[bytes, bytes] = {}
    for k, line in enumerate(lines):
        key, _, value = line.strip().partition(b" ")
        if key == b"w":
            begin = k + 1
            break
        if key not in (b"solver_type", b"nr_class", b"label", b"nr_feature", b"bias"):
            raise _bad(name, k + 1, "solver_type, nr_class, nr_feature, bias or w", line)
        header[key] = value.strip()
        _check_liblinear(name, k + 1, key, header[key])
    else:
        raise DataError(f"{name} ends at line {len(lines)}, before the line w and the weights")
    if b"nr_feature" not in header:
        raise DataError(f"{name}: the line nr_feature is missing")
    n_features = int(header[b"nr_feature"])
    n_weights = n_features + (float(header.get(b"bias", b"-1")) >= 0)
    if len(lines) - begin != n_weights:
        raise DataError(
            f"{name} has {len(lines) - begin} weights after line {begin}, but nr_feature and bias "
            f"ask for {n_weights}"
        )
    return parse_numbers(name, b"\n".join(lines[begin:]), begin + 1, _WEIGHT)[:n_features]


def _check_liblinear(name: str, number: int, key: bytes, value: bytes) -> None:
    if key == b"solver_type" and value not in _RANKING_SOLVERS:
        raise _bad(name, number, "a ranking solver (L2R_L2LOSS_RANKSVM)", value)
    if key == b"nr_class" and value != b"2":
        raise _bad(name, number, "nr_class 2, as a ranking model has", value)
    if key == b"nr_feature":
        _positive(name, number, value)
    if key == b"bias" and not is_finite_number(value):
        raise _bad(name, number, "a number", value)


def _read_svmrank(name: str, lines: list[bytes]) -> FeatureWeights:
    begin = 1 + len(_SVMRANK_HEADER)
    if len(lines) < begin:
        raise DataError(f"{name} ends at line {len(lines)}: the header has {begin} lines")
    values = []
    for k, meaning in enumerate(_SVMRANK_HEADER):
        value, _, found = lines[k + 1].partition(b"#")
        if not found.strip().startswith(meaning.split(",")[0].encode()):
            raise _bad(name, k + 2, f"a value and # {meaning.split(',')[0]}", lines[k + 1])
        values.append(value.strip())
    if values[0] != b"0":
        raise _bad(name, 2, "0, the linear kernel: other kernels have no weights", values[0])
    n_features = _positive(name, 8, values[6])
    n_vectors = _positive(name, 10, values[8]) - 1
    if not is_finite_number(values[9]):
        raise _bad(name, 11, "a number", values[9])
    if len(lines) - begin != n_vectors:
        raise DataError(
            f"{name} has {len(lines) - begin} support vectors after line {begin}, but line 10 "
            f"says {n_vectors}"
        )
    weights: dict[int, float] = {}
    for number, line in enumerate(lines[begin:], begin + 1):
        _add_vector(name, number, line, weights, n_features)
    return FeatureWeights.of_some(weights, n_features)


def _add_vector(
    name: str, number: int, line: bytes, weights: dict[int, float], n_features: int
) -> None:
    words = line.partition(b"#")[0].split()
    if not words or not is_finite_number(words[0]):
        raise _bad(name, number, "a number and features", line)
    alpha = float(words[0])
    for word in words[1:]:
        index, _, value = word.partition(b":")
        if index == b"qid":
            continue
        k = int(index) if index.isdigit() and len(index) <= _MAX_DIGITS else 0
        if not 1 <= k <= n_features or not is_finite_number(value):
            raise _bad(name, number, f"index:value with an index from 1 to {n_features}", word)
        weights[k - 1] = weights.get(k - 1, 0.0) + alpha * float(value)
        if not math.isfinite(weights[k - 1]):
            raise _bad(name, number, "finite weights", word)


def _positive(name: str, number: int, value: bytes) -> int:
    fits = value.isdigit() and len(value) <= _MAX_DIGITS
    if not fits or not 0 < int(value) < 1 << 31:
        raise _bad(name, number, "a positive whole number", value)
    return int(value)


def _bad(name: str, number: int, expected: str, found: bytes) -> DataError:
    return DataError(f"{name}, line {number}: expected {expected}, found {shown(found.strip())}")
