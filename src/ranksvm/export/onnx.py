"""A linear ranker as a model of ONNX, in double precision throughout.

The input "X" has a row for each document and a column for each feature of the model, the output
"scores" a number for each row. Features that are scaled within queries need all rows of a query,
and no others, in an input.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..models.maps import AffineMap, QueryMap
from .exported import Exported
from .formulas import Lines, lines_of

if TYPE_CHECKING:
    from onnx import ModelProto

_OPSET, _IR_VERSION = 18, 8
_DOUBLE, _INT64 = 11, 7  # numbers of types


def onnx_model(model: Exported) -> ModelProto:
    """Return the model.

    Raises
    ------
    ImportError
        If onnx is not installed.
    """
    helper = _onnx().helper
    graph = _Graph(helper)
    rows = graph.add("Gather", "X", graph.constant(model.places), axis=1)
    given = [] if model.normalizer is None else [model.normalizer]
    for one in [*given, *model.maps]:
        rows = _mapped(graph, rows, one, model)
    scores = graph.add("MatMul", rows, graph.constant(model.weights[:, None]))
    graph.add("Squeeze", scores, graph.constant(np.array([1])), output="scores")
    made: ModelProto = helper.make_model(
        helper.make_graph(
            graph.nodes,
            "ranker",
            [helper.make_tensor_value_info("X", _DOUBLE, ["rows", model.n_features])],
            [helper.make_tensor_value_info("scores", _DOUBLE, ["rows"])],
            graph.constants,
        ),
        opset_imports=[helper.make_opsetid("", _OPSET)],
        producer_name="ranksvm",
    )
    made.ir_version = _IR_VERSION
    helper.set_model_props(made, {"name": model.name})
    _onnx().checker.check_model(made)
    return made


def _onnx() -> Any:
    try:
        import onnx
        import onnx.checker
        import onnx.helper
    except ImportError as error:
        raise ImportError("to export to ONNX, install onnx: pip install 'ranksvm[onnx]'") from error
    return onnx


class _Graph:
    """Nodes and constants, as they are added."""

    def __init__(self, helper: Any) -> None:
        self._helper = helper
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, values: Any) -> str:
        """Add numbers; return their name."""
        from onnx import numpy_helper

        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind: str, *inputs: str, output: str | None = None, **attributes: Any) -> str:
        """Add a node; return the name of its output."""
        output = f"{kind.lower()}_{len(self.nodes)}" if output is None else output
        self.nodes.append(self._helper.make_node(kind, list(inputs), [output], **attributes))
        return output


def _mapped(graph: _Graph, rows: str, one: Any, model: Exported) -> str:
    if isinstance(one, AffineMap):
        center = graph.constant(one.center[model.places])
        shifted = graph.add("Sub", rows, center)
        return graph.add("Mul", shifted, graph.constant(one.factors[model.places]))
    if isinstance(one, QueryMap):
        return _within_query(graph, rows)
    lines = [lines_of(one, place, model.target) for place in model.places.tolist()]
    return _quantiles(graph, rows, lines)


def _within_query(graph: _Graph, rows: str) -> str:
    """Return rows from their least, 0, to their greatest, 1; 0 where these are equal."""
    axes = graph.constant(np.array([0]))
    low = graph.add("ReduceMin", rows, axes, keepdims=1)
    spread = graph.add("Sub", graph.add("ReduceMax", rows, axes, keepdims=1), low)
    zero, one = (graph.constant(np.array(value)) for value in (0.0, 1.0))
    is_constant = graph.add("Equal", spread, zero)
    divisor = graph.add("Where", is_constant, one, spread)
    return graph.add("Div", graph.add("Sub", rows, low), divisor)


def _quantiles(graph: _Graph, rows: str, of_features: list[Lines]) -> str:
    """Return the values of lines, each feature by its own: knots are counted, lines gathered.

    Of K knots of a feature, the number at most x tells the line that x is on.
    """
    n_knots = max(len(lines.knots) for lines in of_features)
    table = np.zeros((4, len(of_features), n_knots + 1))
    knots = np.full((len(of_features), n_knots), np.inf)
    for k, lines in enumerate(of_features):
        size = len(lines.knots)
        knots[k, :size] = lines.knots
        segments = np.array(lines.segments()).T  # knots, at, after, slope
        table[:, k, 1 : size + 1] = segments
        table[1:3, k, 0] = lines.before[0]
    starts = np.arange(len(of_features)) * (n_knots + 1)
    column = graph.add("Unsqueeze", rows, graph.constant(np.array([2])))
    is_beyond = graph.add("GreaterOrEqual", column, graph.constant(knots))
    counted = graph.add("Cast", is_beyond, to=_INT64)
    axes = graph.constant(np.array([2]))
    number = graph.add("ReduceSum", counted, axes, keepdims=0)
    place = graph.add("Add", number, graph.constant(starts))
    knot, at, after, slope = (
        graph.add("Gather", graph.constant(part.ravel()), place, axis=0) for part in table
    )
    beyond = graph.add("Sub", rows, knot)
    line = graph.add("Add", after, graph.add("Mul", beyond, slope))
    is_at = graph.add("Equal", rows, knot)
    is_before = graph.add("Equal", number, graph.constant(np.array(0)))
    takes = graph.add("Or", is_at, is_before)
    return graph.add("Where", takes, at, line)
