"""Linear rankers in the forms of the engines that serve them."""

from .exporting import export_model
from .single_precision import changed_pairs, single_precision_scores
from .skl2onnx import register_skl2onnx

__all__ = ["changed_pairs", "export_model", "register_skl2onnx", "single_precision_scores"]
