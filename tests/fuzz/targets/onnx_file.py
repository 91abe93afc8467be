"""ONNX files: sizes, attributes and names of small graphs changed, bytes damaged."""

import sys
from functools import cache
from pathlib import Path
from typing import Any

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.scratch import put

from podsim.files import catalog

SIZES = (0, 1, 2, 3, 7, 8, 64, 1000, 2**20, 2**31, 2**40, 2**62, -1, -2)


@cache
def seeds() -> tuple[bytes, ...]:
    """Small graphs of each kind."""
    sys.path.insert(0, str(Path(__file__).parents[2] / "files"))
    import onnx_models

    made = (onnx_models.cnn(), onnx_models.transformer(), onnx_models.transformer(layers=1, hidden=16))
    return tuple(model.SerializeToString() for model in made)


def mutated(model: Any, draw: Choices) -> None:
    """One size, attribute, operator or name of a graph changed."""
    draw.of((_attribute, _dimension, _operator, _wiring, _name, _input, _again, _lost))(model.graph, draw)


def _attribute(graph: Any, draw: Choices) -> None:
    entries = draw.of(graph.node).attribute
    if entries:
        entry = draw.of(entries)
        entry.i = draw.of(SIZES)
        if entry.ints:
            entry.ints[draw.below(len(entry.ints))] = draw.of(SIZES)


def _dimension(graph: Any, draw: Choices) -> None:
    dims = draw.of(graph.initializer).dims if graph.initializer else []
    if dims:
        dims[draw.below(len(dims))] = draw.of(SIZES)


def _operator(graph: Any, draw: Choices) -> None:
    operators = ["Conv", "MatMul", "Relu", "Loop", "Einsum", "\u202e", "", draw.of(graph.node).op_type]
    draw.of(graph.node).op_type = draw.of(operators)


def _wiring(graph: Any, draw: Choices) -> None:
    node, other = draw.of(graph.node), draw.of(graph.node)
    if node.input:
        node.input[draw.below(len(node.input))] = draw.of(other.output or [""])


def _name(graph: Any, draw: Choices) -> None:
    draw.of(graph.node).name = draw.of(["", "\x1b[31m", "=1+1", "x" * 5000, "²"])


def _input(graph: Any, draw: Choices) -> None:
    dims = draw.of(graph.input).type.tensor_type.shape.dim
    if dims:
        draw.of(dims).dim_value = draw.of(SIZES)


def _again(graph: Any, draw: Choices) -> None:
    graph.node.append(draw.of(graph.node))


def _lost(graph: Any, draw: Choices) -> None:
    del graph.node[draw.below(len(graph.node))]


def one_input(data: bytes) -> str:
    """One graph with up to two changes, or damaged bytes."""
    import onnx

    draw = Choices(data)
    raw = draw.of(seeds())
    if draw.chance(30):
        raw = mutate.damaged(raw, draw)
    elif draw.chance(80):
        model = onnx.ModelProto.FromString(raw)
        for _ in range(draw.some(2)):
            if model.graph.node:
                mutated(model, draw)
        raw = model.SerializeToString()
    path = put("my.onnx", raw)
    return judged(lambda: catalog.workload(str(path), draw.of([(), (), ("import.shape.image=8,3,32,32",)])).value.name)
