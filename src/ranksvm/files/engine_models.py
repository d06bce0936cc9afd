"""The linear models of search engines and RankLib, read back.

Solr's ``LinearModel``, the linear models of the plugins of Elasticsearch and OpenSearch, and
RankLib's coordinate ascent (`ranksvm.export` writes them). Normalisers that divide go into the
weights; what they take off changes no order.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..linear.occurring import FeatureWeights
from ..models.linear import LinearModel
from .json_text import from_json
from .quoting import shown
from .scores import is_finite_number
from .source import DataError

_SOLR = "org.apache.solr.ltr."
_MAX_DIGITS = 10


def engine_of(content: Any) -> str | None:
    """Tell whose linear model a JSON object is: "solr", "elasticsearch" or None."""
    if not isinstance(content, dict):
        return None
    if str(content.get("class", "")).startswith(_SOLR):
        return "solr"
    return "elasticsearch" if isinstance(content.get("model"), dict) else None


def of_engine(name: str, content: dict[str, Any], engine: str) -> LinearModel:
    """Return the model that a JSON object is.

    Raises
    ------
    DataError
        If it is not linear, or lacks something.
    """
    weights = (_of_solr if engine == "solr" else _of_elasticsearch)(name, content)
    if not weights:
        raise DataError(f"{name} has no weights")
    values = np.array(list(weights.values()))
    return LinearModel(values, list(weights), training={"converted_from": engine})


def _of_solr(name: str, content: dict[str, Any]) -> dict[str, float]:
    if content["class"] != f"{_SOLR}model.LinearModel":
        raise DataError(f"{name} is a model of Solr, but of {shown(content['class'])}, not linear")
    weights = _object(name, _object(name, content, "params"), "weights")
    features = content.get("features")
    if not isinstance(features, list):
        raise DataError(f"{name} has no list of features")
    found = {}
    for feature in features:
        key = feature.get("name") if isinstance(feature, dict) else None
        if not isinstance(key, str) or key not in weights:
            raise DataError(f"{name} lacks a weight for the feature {shown(str(key))}")
        spread = _spread_of_solr(name, feature.get("norm"))
        found[key] = _number(name, key, weights[key]) / spread
    return found


def _spread_of_solr(name: str, norm: Any) -> float:
    if norm is None:
        return 1.0
    kind = norm.get("class") if isinstance(norm, dict) else None
    names = {"StandardNormalizer": ("std",), "MinMaxNormalizer": ("min", "max")}
    keys = names.get(str(kind).removeprefix(f"{_SOLR}norm."))
    if keys is None:
        raise DataError(f"{name} has the normalizer {shown(str(kind))}, which is not known here")
    params = _object(name, norm, "params")
    return _spread(name, [_number(name, key, params.get(key)) for key in keys])


def _of_elasticsearch(name: str, content: dict[str, Any]) -> dict[str, float]:
    model = _object(name, content["model"], "model")
    if model.get("type") != "model/linear":
        raise DataError(
            f"{name} is a model of the type {shown(str(model.get('type')))}, not linear"
        )
    definition = model.get("definition")
    if isinstance(definition, str):
        definition = from_json(f"{name}, the definition", definition.encode())
    if not isinstance(definition, dict):
        raise DataError(f"{name} has no definition")
    normalizers = model.get("feature_normalizers", {})
    if not isinstance(normalizers, dict):
        raise DataError(f"{name} has feature_normalizers that are no object")
    found = {}
    for key, weight in definition.items():
        spread = _spread_of_elasticsearch(name, normalizers.get(key))
        found[key] = _number(name, key, weight) / spread
    return found


def _spread_of_elasticsearch(name: str, normalizer: Any) -> float:
    if normalizer is None:
        return 1.0
    names = {"standard": ("standard_deviation",), "min_max": ("minimum", "maximum")}
    for kind, keys in names.items():
        if isinstance(normalizer, dict) and isinstance(normalizer.get(kind), dict):
            return _spread(name, [_number(name, key, normalizer[kind].get(key)) for key in keys])
    raise DataError(f"{name} has a normalizer that is neither standard nor min_max")


def _spread(name: str, ends: list[float]) -> float:
    spread = ends[-1] - ends[0] if len(ends) > 1 else ends[0]
    if not spread > 0:
        raise DataError(f"{name} has a normalizer that divides by {spread:g}")
    return spread


def _object(name: str, content: Any, key: str) -> dict[str, Any]:
    found = content.get(key) if isinstance(content, dict) else None
    if not isinstance(found, dict):
        raise DataError(f"{name} has no {key}")
    return found


def _number(name: str, key: str, value: Any) -> float:
    is_text = isinstance(value, str) and is_finite_number(value.encode())
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    number = math.nan
    if is_text or is_number:
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
    if not math.isfinite(number):
        raise DataError(
            f"{name} has {shown(str(value))} for {shown(key)}, which is no finite number"
        )
    return number


def read_ranklib(name: str, lines: list[bytes]) -> FeatureWeights:
    """Read the weights of a coordinate ascent of RankLib.

    Raises
    ------
    DataError
        If a line is not what it is to be.
    """
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.startswith(b"##"):
            return _weights_of_ranklib(name, number, line.partition(b"#")[0].split())
    raise DataError(f"{name} ends at line {len(lines)}, before the weights")


def _weights_of_ranklib(name: str, number: int, pairs: list[bytes]) -> FeatureWeights:
    weights: dict[int, float] = {}
    for pair in pairs:
        index, _, value = pair.partition(b":")
        is_index = index.isdigit() and len(index) <= _MAX_DIGITS and int(index) > 0
        if not (is_index and is_finite_number(value)) or int(index) - 1 in weights:
            raise DataError(
                f"{name}, line {number}: expected index:weight, each index once and from 1, found "
                f"{shown(pair)}"
            )
        weights[int(index) - 1] = float(value)
    return FeatureWeights.of_some(weights, max(weights) + 1)
