"""Exporting, to a file."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from ..files.atomic import open_output
from ..names import EXPORTS
from .engines import elasticsearch, ranklib, solr, vespa
from .exported import FOLD, NONNEGATIVE, Exported, Names, Unexportable
from .onnx import onnx_model
from .python import python
from .sql import sql

_TITLES = {
    "solr": "Solr",
    "elasticsearch": "Elasticsearch",
    "opensearch": "OpenSearch",
    "ranklib": "RankLib",
    "vespa": "Vespa",
    "onnx": "ONNX",
    "sql": "SQL",
    "python": "Python",
}
_TEXTS: dict[str, Callable[[Exported], str]] = {
    "solr": solr,
    "elasticsearch": elasticsearch,
    "opensearch": elasticsearch,
    "ranklib": ranklib,
    "vespa": vespa,
    "sql": sql,
    "python": python,
}
_WITHOUT_NAMES = ("ranklib", "onnx")
_WITH_OFFSET = ("solr", "elasticsearch", "opensearch", "vespa")


def export_model(
    model: Any,
    path: str | os.PathLike[str],
    to: str,
    *,
    name: str = "ranksvm",
    feature_names: Names | None = None,
    scaling: str = FOLD,
    offset: str | None = None,
    X: Any = None,
    offset_feature: str = "constant",
) -> None:
    """Write a linear ranker as a search engine, a database or a runtime takes it.

    Parameters
    ----------
    model : LinearModel, or fitted estimator, pipeline or search
    path : str or path-like
        ``-`` is the standard output.
    to : {"solr", "elasticsearch", "opensearch", "ranklib", "vespa", "onnx", "sql", "python"}
        - "solr": JSON for the model store of Solr;
        - "elasticsearch", "opensearch": JSON for ``_createmodel`` of the plugins;
        - "ranklib": RankLib's text, of a coordinate ascent;
        - "vespa": a rank profile;
        - "onnx": opset 18, in double precision;
        - "sql": an expression of columns;
        - "python": a module without dependencies.
    name : str, default="ranksvm"
        Of the model there.
    feature_names : list of str, or dict, optional
        What the features are called there: a name for each, or for each of the model's names.
    scaling : {"fold", "normalizers"}, default="fold"
        Whether the scaler of a pipeline goes into the weights, or is left to the normalizers of the
        engine (Solr, Elasticsearch, OpenSearch) and to a step of its own (onnx, sql, python).
    offset : {None, "nonnegative"}, default=None
        "nonnegative" weighs a feature that is 1 for every document so that no score is negative,
        which Lucene forbids, as long as features stay within the ranges of `X`.
    X : array-like or sparse matrix of shape (n_samples, n_features), optional
        Rows whose ranges the offset is for.
    offset_feature : str, default="constant"
        What that feature is called.

    Raises
    ------
    ValueError
        If the engine cannot have the model, its names or its weights; the message names them all.
    ImportError
        If onnx is to be written and is not installed.
    OutputError
        If the file cannot be written.
    """
    if to not in EXPORTS:
        raise InputError(f"to must be one of {', '.join(EXPORTS)}, not {to!r}")
    made = Exported.of(
        model,
        _TITLES[to],
        name=name,
        feature_names=feature_names,
        scaling=scaling,
        needs_names=to not in _WITHOUT_NAMES,
    )
    if offset is not None:
        made = _with_offset(made, to, offset, X, offset_feature)
    content = onnx_model(made).SerializeToString() if to == "onnx" else _TEXTS[to](made).encode()
    with open_output(path) as file:
        file.write(content)


def _with_offset(made: Exported, to: str, offset: str, X: Any, feature: str) -> Exported:
    if offset != NONNEGATIVE:
        raise InputError(f"offset must be None or {NONNEGATIVE!r}, not {offset!r}")
    if to not in _WITH_OFFSET:
        raise Unexportable(f"{made.target} allows negative scores: leave out offset")
    if X is None:
        raise InputError(
            "offset='nonnegative' needs X, rows whose ranges bound the scores: without ranges, a "
            "score may be as low as it likes"
        )
    low, high = (np.asarray(_dense(end(axis=0))).ravel() for end in (X.min, X.max))
    if made.normalizer is not None:
        ends = [(end - made.normalizer.center) * made.normalizer.factors for end in (low, high)]
        low, high = np.minimum(*ends), np.maximum(*ends)
    return made.nonnegative(low, high, feature)


def _dense(values: Any) -> Any:
    return values.toarray() if hasattr(values, "toarray") else values
