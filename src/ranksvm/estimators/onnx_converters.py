"""The linear rankers as operators of skl2onnx, registered on demand.

With these, skl2onnx converts whole pipelines, with steps that it knows and `export_model` does not.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InputError

_OPSET = 18


def register_skl2onnx() -> None:
    """Teach skl2onnx the linear rankers: RankSVM, RankSVMCV, SurvivalSVM and SurvivalSVMCV.

    Raises
    ------
    ImportError
        If skl2onnx is not installed.
    """
    try:
        from skl2onnx import update_registered_converter
    except ImportError as error:
        raise ImportError(
            "to convert pipelines, install skl2onnx: pip install 'ranksvm[onnx]'"
        ) from error
    from .rank_svm import RankSVM
    from .rank_svm_cv import RankSVMCV
    from .survival_svm import SurvivalSVM
    from .survival_svm_cv import SurvivalSVMCV

    for kind in (RankSVM, RankSVMCV, SurvivalSVM, SurvivalSVMCV):
        update_registered_converter(
            kind, f"RankSVM{kind.__name__}", _shape, _convert, parser=_parse, overwrite=True
        )


def _parse(scope: Any, ranker: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    from skl2onnx.common.data_types import DoubleTensorType

    operator = scope.declare_local_operator(f"RankSVM{type(ranker).__name__}", ranker)
    operator.inputs.extend(inputs)
    operator.outputs.append(scope.declare_local_variable("scores", DoubleTensorType()))
    return operator.outputs


def _shape(operator: Any) -> None:
    from skl2onnx.common.data_types import DoubleTensorType

    n_rows = operator.inputs[0].get_first_dimension()
    operator.outputs[0].type = DoubleTensorType([n_rows])


def _convert(scope: Any, operator: Any, container: Any) -> None:
    from onnx import TensorProto

    ranker = operator.raw_operator
    if getattr(ranker, "maps_", ()):
        raise InputError(
            "the chosen ranker maps features first: use export_model(ranker, path, 'onnx')"
        )
    weights = np.asarray(ranker.coef_, dtype=np.float64)
    name = scope.get_unique_variable_name("weights")
    container.add_initializer(name, TensorProto.DOUBLE, list(weights.shape), weights)
    rows = scope.get_unique_variable_name("rows")
    inputs = operator.inputs[0].full_name
    container.add_node("Cast", inputs, rows, to=TensorProto.DOUBLE, op_version=_OPSET)
    outputs = operator.outputs[0].full_name
    container.add_node("MatMul", [rows, name], outputs, op_version=_OPSET)
