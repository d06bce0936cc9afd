"""The search engines: Solr, Elasticsearch, OpenSearch and Vespa, and RankLib's files.

All but Vespa and RankLib hold weights, normalise and add up in single precision.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np

from ..models.maps import AffineMap
from .exported import Exported, Unexportable, duplicates

_VESPA_NAME = re.compile(r"[A-Za-z_][\w.]*(\([\w., \"]*\))?(\.\w+)?$", re.ASCII)
_SOLR_NORM = "org.apache.solr.ltr.norm.StandardNormalizer"


def solr(model: Exported, store: str = "_DEFAULT_") -> str:
    """Return a ``LinearModel`` of Solr, to be put into its model store."""
    _require_plain(model)
    model.require_single_precision()
    features: list[dict[str, Any]] = []
    for term in model.weighed:
        features.append({"name": term.name})
        if model.normalizer is not None and term.place >= 0:
            avg, std = _normalizer(model.normalizer, term.place)
            params = {"avg": repr(avg), "std": repr(std)}
            features[-1]["norm"] = {"class": _SOLR_NORM, "params": params}
    content = {
        "class": "org.apache.solr.ltr.model.LinearModel",
        "name": model.name,
        "store": store,
        "features": features,
        "params": {"weights": {term.name: term.weight for term in model.weighed}},
    }
    return _json(content)


def elasticsearch(model: Exported) -> str:
    """Return the body that makes a model of Elasticsearch's or OpenSearch's plugin."""
    _require_plain(model)
    model.require_single_precision()
    content: dict[str, Any] = {
        "type": "model/linear",
        "definition": {term.name: term.weight for term in model.weighed},
    }
    if model.normalizer is not None:
        content["feature_normalizers"] = {}
        for term in model.terms:
            mean, deviation = _normalizer(model.normalizer, term.place)
            standard = {"mean": mean, "standard_deviation": deviation}
            content["feature_normalizers"][term.name] = {"standard": standard}
    return _json({"model": {"name": model.name, "model": content}})


def ranklib(model: Exported) -> str:
    """Return a model file of RankLib's coordinate ascent, which is a linear one.

    Features are counted from one, whatever their names are.
    """
    model.require_no_maps()
    _require_folded(model)
    weights = " ".join(f"{term.place + 1}:{term.weight!r}" for term in model.terms)
    return f"## Coordinate Ascent\n## Name = {ascii(model.name)[1:-1]}\n{weights}\n"


def vespa(model: Exported) -> str:
    """Return a rank profile of Vespa, whose names are rank features or functions."""
    model.require_no_maps()
    _require_folded(model)
    bad = [name for name in model.names if not _VESPA_NAME.match(name)]
    model.require_names({"no rank feature": bad, "more than once": duplicates(model.names)})
    if not re.match(r"[A-Za-z_]\w*$", model.name, re.ASCII):
        raise Unexportable(f"a rank profile cannot have the name {model.name!r}")
    sums = "\n".join(
        f"            {'+ ' if k else ''}{term.weight!r} * {term.name}"
        for k, term in enumerate(model.weighed)
    )
    return (
        f"rank-profile {model.name} {{\n    first-phase {{\n        expression {{\n{sums}\n"
        "        }\n    }\n}\n"
    )


def _require_plain(model: Exported) -> None:
    model.require_no_maps()
    empty = [name for name in model.names if not name.strip()]
    model.require_names({"empty": empty, "more than once": duplicates(model.names)})


def _require_folded(model: Exported) -> None:
    if model.normalizer is not None:
        raise Unexportable(f"{model.target} has no normalizers: use scaling='fold'")


def _normalizer(scale: AffineMap, place: int) -> tuple[float, float]:
    """Return what is taken off a feature, and what it is divided by, whatever scaler that was."""
    center, spread = float(scale.center[place]), 1 / float(scale.factors[place])
    if not (0 < np.float32(spread) < np.inf and np.isfinite(np.float32(center))):
        raise Unexportable(
            f"feature {place + 1} has the centre {center:g} and the spread {spread:g}, beyond "
            "single precision: use scaling='fold'"
        )
    return center, spread


def _json(content: Any) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
