"""Linear rankers in the forms of the engines that serve them."""

from .exporting import export_model
from .single_precision import changed_pairs, single_precision_scores

__all__ = ["changed_pairs", "export_model", "single_precision_scores"]
