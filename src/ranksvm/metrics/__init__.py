"""Measures of a ranking."""

from .conventions import PRESETS, Conventions
from .evaluation import Evaluation, evaluate, ndcg
from .names import Metric, metric_names, parse_metric
from .pairs import lost_pairs, pairwise_accuracy
from .randomization import paired_randomization_test

__all__ = [
    "PRESETS",
    "Conventions",
    "Evaluation",
    "Metric",
    "evaluate",
    "lost_pairs",
    "metric_names",
    "ndcg",
    "paired_randomization_test",
    "pairwise_accuracy",
    "parse_metric",
]
