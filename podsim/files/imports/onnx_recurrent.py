"""Recurrent nodes of ONNX: a product of input and state with all gates at each position, then the cell (Eq. 83)."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from podsim.files.imports.onnx_node import NodeShapes, Operators, is_tied
from podsim.model.workload import Kind, Matmul, Operator, Stream
from podsim.workloads import vector_operators

Chain = tuple[str, tuple[str, ...], tuple[str, ...]]
CELLS: Final[Mapping[str, tuple[Chain, ...]]] = {
    "LSTM": (
        ("candidate", ("tanh",), ("tanh_grad",)),
        ("cell", ("multiply", "multiply", "add"), ("multiply",) * 4),
        ("cell-tanh", ("tanh",), ("tanh_grad",)),
        ("output", ("multiply",), ("multiply", "multiply")),
    ),
    "GRU": (
        ("reset", ("multiply",), ("multiply", "multiply")),
        ("candidate", ("tanh",), ("tanh_grad",)),
        ("mix", ("subtract", "multiply", "add"), ("multiply",) * 3),
    ),
    "RNN": (("candidate", ("tanh",), ("tanh_grad",)),),
}
"""What a cell computes on each element of the state once its gates are known: hochreiter-1997, cho-2014."""
GATES: Final = {"LSTM": 4, "GRU": 3, "RNN": 1}


def recurrent(node_shapes: NodeShapes) -> Operators | None:
    """All directions of a layer; None where its weights are not in the file, so that they are not trained."""
    if not (node_shapes.weights.get(1) and node_shapes.weights.get(2)):
        return None
    directions, rows, inputs = node_shapes.ins[1]
    hidden = node_shapes.ins[2][-1]
    steps, batch = node_shapes.ins[0][:2] if not node_shapes.attribute("layout", 0) else node_shapes.ins[0][1::-1]
    if rows != GATES[node_shapes.node.op_type] * hidden or node_shapes.ins[2] != (directions, rows, hidden):
        raise ValueError
    operators = []
    for direction in range(directions):
        name = node_shapes.name if directions == 1 else f"{node_shapes.name}-{('forward', 'backward')[direction]}"
        operators += [replace(each, repeats=steps) for each in _layer(node_shapes, name, batch, inputs, hidden)]
    return operators


def _layer(node_shapes: NodeShapes, name: str, batch: int, inputs: int, hidden: int) -> Iterator[Operator]:
    """One position of one direction."""
    kind = node_shapes.node.op_type
    gates, is_shared = GATES[kind], is_tied(node_shapes, 1)
    shape = Matmul(m=batch, k=inputs + hidden, n=gates * hidden)
    yield Operator(name=name, kind=Kind.MATMUL, shape=shape, tied=is_shared, weight_tensors=0 if is_shared else 2)
    if len(node_shapes.ins) > 3 and node_shapes.ins[3]:  # one of input and one of state, added as one
        parameters = (
            0 if is_tied(node_shapes, 3) or not node_shapes.weights.get(3) else math.prod(node_shapes.ins[3][1:])
        )
        bias = Stream(elements=batch * gates * hidden, operations=("bias",), row=gates * hidden, parameters=parameters)
        yield Operator(
            name=f"{name}-bias", kind=Kind.BIAS, shape=bias, stashed=False, weight_tensors=1 if parameters else 0
        )
    if gates > 1:
        yield vector_operators.activation(f"{name}-sigmoid", batch * (gates - 1) * hidden, "sigmoid")
    for part, forward, backward in CELLS[kind]:
        elements = Stream(elements=batch * hidden, operations=forward, back_operations=backward)
        yield Operator(name=f"{name}-{part}", kind=Kind.ELEMENTWISE, shape=elements)
