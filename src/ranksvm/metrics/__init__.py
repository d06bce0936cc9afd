"""Measures of a ranking: `evaluate`, and a function for each; knows scores, but no model."""

from .conventions import PRESETS, Conventions
from .evaluation import Evaluation, evaluate
from .names import Metric, metric_names, parse_metric
from .pairs import lost_pairs, pairwise_accuracy, pairwise_error
from .randomization import paired_randomization_test
from .single import (
    auc,
    average_precision,
    expected_reciprocal_rank,
    kendall_tau,
    ndcg,
    precision,
    recall,
    reciprocal_rank,
)
from .survival import concordance_index

__all__ = [
    "PRESETS",
    "Conventions",
    "Evaluation",
    "Metric",
    "auc",
    "average_precision",
    "concordance_index",
    "evaluate",
    "expected_reciprocal_rank",
    "kendall_tau",
    "lost_pairs",
    "metric_names",
    "ndcg",
    "paired_randomization_test",
    "pairwise_accuracy",
    "pairwise_error",
    "parse_metric",
    "precision",
    "recall",
    "reciprocal_rank",
]
