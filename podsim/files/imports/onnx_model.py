"""An ONNX graph as a chain of units: nodes to operators, cut where one tensor alone goes on."""

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from podsim.files import toml_text
from podsim.files.file_faults import value_text
from podsim.files.import_options import Options
from podsim.files.imports import naming, onnx_file, onnx_operators
from podsim.files.imports.onnx_node import NodeShapes
from podsim.files.imports.onnx_norms import find_norms
from podsim.model.workload import Conv, Gather, Kind, LayerUnit, Matmul, Operator, Pass, Stream
from podsim.workloads import unit as units_of
from podsim.workloads.families import INDEX_BYTES, INPUT_BYTES

IMAGE_BYTES: Final = 1  # of a colour of a pixel, as Graphcore's vision examples send images (graphcore-examples)
IMAGE_AXES, COLOURS = 4, 3  # of an image in ONNX: rows, colours, height, width
HOPS: Final = 8  # nodes between a product of attention and its softmax
WORD: Final = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What a node became, the tensors it reads and writes that depend on inputs, and whether it has no word."""

    operators: tuple[Operator, ...]
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    unsupported: str = ""


def workload_text(path: Path, options: Options) -> str:
    """The text of a workload file for an ONNX file."""
    graph = onnx_file.graph(path, options)
    steps = list(_Walk(path, graph).steps())
    chain = _units(steps)
    if not chain:
        raise onnx_file.fault(path, "nothing in it computes")
    rows = f"{graph.rows} samples" if graph.rows > 1 else "sample"
    tables = {
        "name": naming.name(path.stem),
        "title": f"{path.stem}, ONNX",
        "notes": [*graph.notes, *_notes(steps, chain)],
        "row": rows,
        "samples_per_row": graph.rows,
        "row_size": f"{_input_bytes(graph)} B",
        "kind": "derived",
        "note": f"read from {path.name}",
        "unit": units_of.unit_tables(chain),
    }
    return toml_text.workload_text(tables, naming.written_by(path))


def _input_bytes(graph: onnx_file.Graph) -> int:
    """What the host sends for a row: every input that a node reads [B]; images in 8 bit, normalised on the IPU."""
    read = {name for node in graph.nodes for name in node.input}
    return sum(math.prod(graph.shapes[name]) * _element_bytes(graph, name) for name in graph.inputs if name in read)


def _element_bytes(graph: onnx_file.Graph, name: str) -> int:
    shape = graph.shapes[name]
    if name not in graph.floats:
        return INDEX_BYTES
    return IMAGE_BYTES if len(shape) == IMAGE_AXES and shape[1] == COLOURS else INPUT_BYTES


class _Walk:
    """One pass over the nodes: which depend on no input of a run, and what the others are."""

    def __init__(self, path: Path, graph: onnx_file.Graph) -> None:
        self.path = path
        self.graph = graph
        self.shapes = graph.shapes
        self.roots = {name: name if name in graph.floats else "" for name in graph.weights}
        self.used: set[str] = set()
        self.weighted: set[str] = set()
        self.names: Counter[str] = Counter()

    def steps(self) -> Iterator[_Step]:
        """A step a node; nodes that depend on weights alone are computed once and for all, before."""
        norms = find_norms(self.graph)
        for at, node in enumerate(self.graph.nodes):
            if all(name in self.roots or not name for name in node.input) or node.op_type in ("Shape", "Size"):
                self._static(node)
            elif at in norms.inner:
                self.weighted.update(node.output)
            else:
                yield self._step(node, norms.whole.get(at))

    def _static(self, node: Any) -> None:
        sizes = {name: math.prod(self.shapes.get(name, ())) for name in node.input if self.roots.get(name)}
        root = self.roots[max(sizes, key=lambda name: sizes[name])] if sizes else ""
        if node.op_type == "Constant" and node.output[0] in self.graph.floats:
            root = node.output[0] if math.prod(self.shapes[node.output[0]]) > 1 else ""
        self.roots.update(dict.fromkeys(node.output, root))

    def _step(self, node: Any, norm: Any) -> _Step:
        word = WORD.sub("-", node.name or node.op_type).strip("-").lower() or "node"
        self.names[word] += 1
        name = f"{word}-{self.names[word]}" if self.names[word] > 1 else word
        node = norm or node
        node_shapes = NodeShapes(
            node=node,
            ins=tuple(self.shapes[item] if item else () for item in node.input),
            out=self.shapes[next(item for item in node.output if item)],
            weights={at: self.roots[item] for at, item in enumerate(node.input) if item in self.roots},
            tied=frozenset(self.used),
            name=name,
        )
        try:
            translation = onnx_operators.operators(node_shapes)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            what = (
                f"{node.op_type} {value_text(node.name or name)} has not the inputs, sizes or attributes that it needs"
            )
            raise onnx_file.fault(self.path, what) from None
        unsupported_type = "" if translation is not None else node.op_type
        operators = tuple(onnx_operators.one_pass(node_shapes) if translation is None else translation)
        reads = tuple(item for item in node.input if item and item not in self.roots)
        first = not any(read in self.weighted for read in reads)
        if first:
            until = next((at for at, each in enumerate(operators) if _has_weights(each)), len(operators))
            operators = tuple(replace(each, input_gradient=at > until) for at, each in enumerate(operators))
        if not first or any(map(_has_weights, operators)):
            self.weighted.update(node.output)
        self.used.update(root for root in node_shapes.weights.values() if root)
        return _Step(operators=operators, reads=reads, writes=tuple(node.output), unsupported=unsupported_type)


def _units(steps: list[_Step]) -> tuple[LayerUnit, ...]:
    """Units cut where one tensor alone goes on, each with a product, a convolution or a lookup."""
    last = {name: at for at, step in enumerate(steps) for name in step.reads}
    weighted_names = _weight_dependent(steps)
    live: set[str] = set()
    parts: list[list[_Step]] = [[]]
    works = False
    for at, step in enumerate(steps):
        parts[-1].append(step)
        live.update(name for name in step.writes if name in weighted_names and last.get(name, -1) > at)
        live.difference_update(name for name in step.reads if last[name] == at)
        works = works or _works(step)
        if works and len(live) <= 1 and at + 1 < len(steps):
            parts.append([])
            works = False
    if len(parts) > 1 and not any(_works(step) for step in parts[-1]):
        tail = parts.pop()
        parts[-1] += tail
    return tuple(_unit(number, part) for number, part in enumerate(parts) if any(step.operators for step in part))


def _has_weights(operator: Operator) -> bool:
    """Whether what it writes depends on weights, so that gradients go back to it."""
    return isinstance(operator.shape, (Matmul, Conv, Gather)) or operator.parameters > 0


def _weight_dependent(steps: list[_Step]) -> set[str]:
    """Tensors that depend on a weight: a mask that all layers share is no obstacle to a cut."""
    texts: set[str] = set()
    for step in steps:
        if any(name in texts for name in step.reads) or _works(step):
            texts.update(step.writes)
    return texts


def _works(step: _Step) -> bool:
    return any(isinstance(each.shape, (Matmul, Conv, Gather)) for each in step.operators)


def _unit(number: int, part: list[_Step]) -> LayerUnit:
    name, operators, operator_names = f"part{number}", [], set()
    for each in (each for step in part for each in step.operators):
        operator_name, count = each.name, 1
        while operator_name in operator_names:
            count += 1
            operator_name = f"{each.name}-{count}"
        operator_names.add(operator_name)
        operators.append(replace(each, name=f"{name}.{operator_name}"))
    kinds = {each.kind for each in operators}
    group = "attention" if Kind.SOFTMAX in kinds else "embedding" if Kind.GATHER in kinds else "block"
    return LayerUnit(name=name, group=group, checkpoint=True, operators=tuple(_attention(operators)))


def _attention(operators: list[Operator]) -> Iterator[Operator]:
    """The operators, each softmax with the products of activations around it."""
    for at, each in enumerate(operators):
        if each.kind is Kind.SOFTMAX and isinstance(each.shape, Stream):
            before, after = _near(operators[max(0, at - HOPS) : at][::-1]), _near(operators[at + 1 : at + 1 + HOPS])
            rows = {before.groups * before.m * before.n, after.groups * after.m * after.k} if before and after else {0}
            if before and after and rows == {each.shape.elements}:
                yield replace(each, shape=replace(each.shape, between=(before, after)))
                continue
        yield each


def _near(operators: list[Operator]) -> Matmul | None:
    matmuls = (each.shape for each in operators if isinstance(each.shape, Matmul) and not each.shape.weights)
    return next(matmuls, None)


def _notes(steps: list[_Step], chain: tuple[LayerUnit, ...]) -> Iterator[str]:
    """What was assumed: operators without a word, what is free and what a copy, what is not in the file."""
    total = sum(unit.flop(Pass.FORWARD) for unit in chain)
    strange: dict[str, list[_Step]] = {}
    for step in steps:
        if step.unsupported:
            strange.setdefault(step.unsupported, []).append(step)
    for kind, result in sorted(strange.items()):
        share = 100 * sum(each.flop(Pass.FORWARD) for step in result for each in step.operators) / total
        yield (
            f"{kind} ({len(result)} {'node' if len(result) == 1 else 'nodes'}) is not known: taken for one pass over "
            f"what it writes, {share:{'.2g' if share < 10 else '.0f'}} % of the forward FLOP"
            + ("; what it multiplies is not counted" if kind in onnx_operators.PRODUCTS else "")
        )
    yield "reshapes, slices and splits are free, transposes and concatenations copies; the loss is not in the file"
