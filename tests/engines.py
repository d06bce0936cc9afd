"""How engines read models and add up scores, as rules, from the sources that are named.

No code of theirs is here, and no server runs: these are their conditions and the order and
precision of their sums.
"""

import json
import re

import numpy as np

single = np.float32


def solr_scores(text, rows, names):
    """Score as Apache Solr: ``LinearModel.java``, ``LTRScoringModel.java``, the normalizers."""
    model = json.loads(text)
    assert model["class"] == "org.apache.solr.ltr.model.LinearModel"
    assert model["name"]
    assert model["store"]
    weights = model["params"]["weights"]
    features = [feature["name"] for feature in model["features"]]
    assert features
    assert len(set(features)) == len(features)
    # "lacks weight(s) for": each feature that is listed has a weight, and a number with a fraction.
    assert set(features) == set(weights)
    assert all(isinstance(weight, float) for weight in weights.values())
    scores = np.zeros(len(rows), dtype=single)
    for feature in model["features"]:
        values = column(rows, names, feature["name"])
        norm = feature.get("norm")
        if norm is not None:
            assert norm["class"] == "org.apache.solr.ltr.norm.StandardNormalizer"
            assert all(isinstance(value, str) for value in norm["params"].values())
            avg, std = (single(float(norm["params"][key])) for key in ("avg", "std"))
            assert std > 0
            values = (values - avg) / std
        scores = scores + values * single(weights[feature["name"]])
    assert scores.dtype == single
    return scores


def elasticsearch_scores(text, rows, names):
    """Score as the plugins: ``LinearRankerParser.java``, ``LinearRanker.java``, the normalizers."""
    content = json.loads(text)["model"]
    assert content["name"]
    model = content["model"]
    assert model["type"] == "model/linear"
    definition = model["definition"]
    assert all(isinstance(weight, float) for weight in definition.values())
    normalizers = model.get("feature_normalizers", {})
    assert set(normalizers) <= set(definition)
    known = [*names, *(set(definition) - set(names))]
    assert set(definition) - set(names) <= {"constant"}  # "Feature [...] is unknown"
    scores = np.zeros(len(rows), dtype=single)
    for name in known:
        values = column(rows, names, name)
        if name in normalizers:
            standard = normalizers[name]["standard"]
            mean, deviation = (single(standard[key]) for key in ("mean", "standard_deviation"))
            assert deviation > 0
            values = (values - mean) / deviation
        scores = scores + single(definition.get(name, 0.0)) * values
    assert scores.dtype == single
    return scores


def ranklib_scores(text, rows):
    """Score as RankLib: ``CoorAscent.java``, ``KeyValuePair.java``; weights are doubles there."""
    lines = text.encode("ascii").decode().split("\n")
    assert lines[0] == "## Coordinate Ascent"
    line = next(line.strip() for line in lines if line.strip() and not line.startswith("##"))
    scores = np.zeros(len(rows))
    for pair in line.split(" "):
        key, value = pair.split(":")
        assert int(key) >= 1
        assert float(value) != 0
        scores = scores + float(value) * rows[:, int(key) - 1].astype(single).astype(float)
    return scores


def vespa_scores(text, rows, names):
    """Score by the expression of a rank profile, a sum of numbers times rank features."""
    assert re.match(r"rank-profile [A-Za-z_]\w* \{\n", text)
    assert text.count("{") == text.count("}") == 3
    expression = re.search(r"expression \{([^{}]*)\}", text)[1]
    scores = np.zeros(len(rows))
    for term in re.split(r"\n\s*\+ ", expression.strip()):
        number, name = term.split(" * ")
        scores = scores + float(number) * column(rows, names, name)
    return scores


def column(rows, names, name):
    """Return the values of a feature; that of an offset is 1."""
    if name not in names:
        return np.ones(len(rows), dtype=single)
    return rows[:, names.index(name)].astype(single)
