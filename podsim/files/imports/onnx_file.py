"""An ONNX file, read as untrusted input: bounded, no code run, no weights loaded, no other file opened."""

import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError
from podsim.files.contents import NotPlainError, open_file, resolve_path
from podsim.files.file_faults import printable, value_text
from podsim.files.import_options import MOST_DIMENSIONS, MOST_SIZE, Options
from podsim.files.imports import onnx_wire
from podsim.model.limits import NODES

MOST_BYTES: Final = 2**30
"""Largest file that is read; weights may lie in other files, of which only the sizes are used."""
MOST_PASSES: Final = 500_000  # nodes times the turns in which their shapes are worked out
MOST_ELEMENTS: Final = 2**40
KEPT_ELEMENTS: Final = 64  # of a tensor whose values shapes may depend on; larger ones are weights
CODE: Final = "bad-onnx-file"
CONTROL: Final = ("If", "Loop", "Scan", "SequenceMap")
EQUATION: Final = re.compile(r"{0}(,{0})*(->{0})?".format(r"[A-Za-z]*(\.{3})?[A-Za-z]*"))
GRAPHS: Final = (5, 10)  # numbers of the attribute types GRAPH and GRAPHS


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """A graph whose every shape is known: nodes in an order in which they can run."""

    name: str
    nodes: tuple[Any, ...]
    shapes: Mapping[str, tuple[int, ...]]
    floats: frozenset[str]  # names of tensors of a floating type
    weights: Mapping[str, tuple[int, ...]]  # initializers
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    rows: int  # samples of the first dimension of what comes in
    notes: tuple[str, ...]


def fault(path: Path, message: str, *, context: Sequence[str] = (), hint: str = "") -> InputError:
    """What is wrong with an ONNX file."""
    lines = [printable(line) for line in context]
    return InputError(f"{printable(path.name)}: {printable(message)}", code=CODE, context=lines, hint=printable(hint))


def graph(path: Path, options: Options) -> Graph:
    """The graph of a file; InputError with what is wrong, or which input needs a size."""
    model = _parse(path)
    _check_bounds(path, model.graph)
    _no_control_flow(path, model.graph)
    _check_names(path, model.graph)
    _equations(path, model.graph)
    content = [entry.t for node in model.graph.node for entry in node.attribute if entry.HasField("t")]
    notes = tuple(_external(path, [*model.graph.initializer, *content]))
    nodes = _sort_nodes(path, model.graph)
    weights = {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
    floats = {tensor.name for tensor in model.graph.initializer if tensor.data_type in _float_types()}
    inputs = [value for value in model.graph.input if value.name not in weights]
    rows, texts = _set_sizes(path, inputs, options)
    shapes, inferred_floats = _infer_shapes(path, model, nodes)
    unsized_names = [name for node in nodes for name in node.output if name and name not in shapes]
    if unsized_names:
        raise _unknown_size(path, nodes, inputs, shapes)
    _small(path, shapes)
    return Graph(
        name=path.stem,
        nodes=tuple(nodes),
        shapes=shapes,
        floats=frozenset(floats | inferred_floats),
        weights=weights,
        inputs=tuple(value.name for value in inputs),
        outputs=tuple(value.name for value in model.graph.output),
        rows=rows,
        notes=(*notes, *texts),
    )


def _onnx() -> Any:
    try:
        import onnx
    except ImportError:
        raise InputError(
            "ONNX files need the package onnx, which is not installed",
            code="missing-package",
            hint="pip install 'podsim[onnx]'",
        ) from None
    return onnx


def _float_types() -> frozenset[int]:
    kinds = _onnx().TensorProto
    return frozenset((kinds.FLOAT, kinds.FLOAT16, kinds.BFLOAT16, kinds.DOUBLE, kinds.INT8, kinds.UINT8))


def _parse(path: Path) -> Any:
    onnx = _onnx()
    raw = _content(path)
    model = onnx.ModelProto()
    if onnx_wire.too_many(raw, onnx.ModelProto.DESCRIPTOR):
        raise fault(path, f"has more than {onnx_wire.MOST_FIELDS:,} fields: no model has so many")
    try:
        model.ParseFromString(raw)
    except Exception:  # noqa: BLE001  (protobuf has one of its own for each of its builds)
        raise fault(path, "is no ONNX file, or is cut short") from None
    if not model.graph.node:
        raise fault(path, "is no ONNX file, or its graph has no nodes")
    return model


def _content(path: Path) -> bytes:
    try:
        with open_file(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > MOST_BYTES:
                raise fault(
                    path,
                    f"{size:,} bytes are more than {MOST_BYTES:,}, the most that is read",
                    hint="save the weights as external data: only their sizes are used",
                )
            return file.read(MOST_BYTES)
    except FileNotFoundError:
        raise InputError(
            f"there is no file {printable(str(path))}", code="no-such-file", hint="check the path"
        ) from None
    except NotPlainError as error:
        raise fault(path, str(error.strerror)) from None
    except (OSError, ValueError) as error:
        raise fault(path, f"cannot be read: {getattr(error, 'strerror', None) or error}") from None


def _check_bounds(path: Path, onnx_graph: Any) -> None:
    """Refuse more than anybody's model has, before anything is done with it."""
    if excess := NODES.excess(len(onnx_graph.node) + len(onnx_graph.initializer)):
        raise fault(path, excess)
    if onnx_graph.sparse_initializer:
        raise fault(path, "sparse weights are not read")
    for tensor in onnx_graph.initializer:
        _check_dimensions(path, tensor.name, tensor.dims)


def _check_dimensions(path: Path, name: str, sizes: Sequence[int]) -> None:
    elements = 1
    for size in sizes:
        elements *= size
        if not 0 <= size <= MOST_SIZE or elements > MOST_ELEMENTS:
            raise fault(
                path,
                f"tensor {value_text(name)} has dimensions {', '.join(map(str, sizes[:MOST_DIMENSIONS]))}",
                context=[f"each may be up to {MOST_SIZE:,}, and a tensor have up to {MOST_ELEMENTS:,} elements"],
            )
    if len(sizes) > MOST_DIMENSIONS:
        raise fault(path, f"tensor {value_text(name)} has {len(sizes)} dimensions; at most {MOST_DIMENSIONS}")


def _small(path: Path, shapes: Mapping[str, tuple[int, ...]]) -> None:
    for name, sizes in shapes.items():
        _check_dimensions(path, name, sizes)


def _check_names(path: Path, onnx_graph: Any) -> None:
    """Refuse names that are no text, nodes that write nothing and tensors that two nodes write."""
    written_names: set[str] = set()
    for at, node in enumerate(onnx_graph.node):
        entries = [entry.name for entry in node.attribute]
        texts = [node.name, node.op_type, node.domain, *node.input, *node.output, *entries]
        if not all(isinstance(text, str) for text in texts):
            raise fault(path, f"node {at} has a name that is not UTF-8")
        output_names = [name for name in node.output if name]
        if not output_names:
            raise fault(path, f"node {at}, {value_text(node.op_type)}, writes nothing")
        twice = next((name for name in output_names if name in written_names), None)
        if twice is not None:
            raise fault(path, f"two nodes write {value_text(twice)}")
        written_names.update(output_names)
    if not all(isinstance(item.name, str) for item in (*onnx_graph.initializer, *onnx_graph.input, *onnx_graph.output)):
        raise fault(path, "a tensor has a name that is not UTF-8")


def _equations(path: Path, onnx_graph: Any) -> None:
    """Refuse an Einsum that is no equation: the shape inference of onnx never comes back from a lone dot."""
    for node in onnx_graph.node:
        for entry in node.attribute if node.op_type == "Einsum" else ():
            text = entry.s.decode("utf-8", "replace").replace(" ", "")
            if entry.name == "equation" and not EQUATION.fullmatch(text):
                raise fault(
                    path, f"Einsum {value_text(node.name or node.output[0])} has no equation, but {value_text(text)}"
                )


def _no_control_flow(path: Path, onnx_graph: Any) -> None:
    result = sorted(
        {
            node.op_type
            for node in onnx_graph.node
            if node.op_type in CONTROL or any(entry.type in GRAPHS for entry in node.attribute)
        }
    )
    if result:
        raise fault(
            path,
            f"has graphs within the graph: {', '.join(result)}",
            context=["how often they run cannot be read from the file"],
            hint="export the model with fixed control flow, or write what runs as [[unit]] (docs/reference/formats.md)",
        )


def _external(path: Path, tensors: Sequence[Any]) -> Iterator[str]:
    """Refuse weights outside the folder; say where they lie inside it, unopened."""
    folder, places = resolve_path(path).parent, set()
    for tensor in tensors:
        if tensor.data_location != 1:
            continue
        place = next((entry.value for entry in tensor.external_data if entry.key == "location"), "")
        inside = place and "\0" not in place and resolve_path(folder / place).is_relative_to(folder)
        if not inside or Path(place).is_absolute():
            raise fault(
                path,
                f"weights {value_text(tensor.name)} lie outside its folder, in {value_text(place)}",
                context=["only files beside an ONNX file are its own"],
            )
        places.add(place)
    if places:
        yield "weights lie in other files, of which only the sizes count: " + ", ".join(sorted(places)[:3])


def _sort_nodes(path: Path, onnx_graph: Any) -> list[Any]:
    """The nodes, each after what it reads; InputError where they form a cycle or read a tensor that no node writes."""
    available_names = (
        {tensor.name for tensor in onnx_graph.initializer} | {value.name for value in onnx_graph.input} | {""}
    )
    makers = {name: at for at, node in enumerate(onnx_graph.node) for name in node.output if name}
    missing = sorted(
        {name for node in onnx_graph.node for name in node.input if name not in available_names and name not in makers}
    )
    if missing:
        raise fault(path, f"no node writes {value_text(missing[0])}, which another reads")
    lacks = {
        at: {makers[name] for name in node.input if name not in available_names}
        for at, node in enumerate(onnx_graph.node)
    }
    readers: dict[int, list[int]] = {}
    for at, before in lacks.items():
        for other in before:
            readers.setdefault(other, []).append(at)
    ready, order = [at for at, before in lacks.items() if not before], []
    while ready:  # a heap, so that a sound file keeps its order
        at = heappop(ready)
        order.append(at)
        for reader in readers.get(at, ()):
            lacks[reader].discard(at)
            if not lacks[reader]:
                heappush(ready, reader)
    if len(order) < len(onnx_graph.node):
        stuck_node = onnx_graph.node[min(lacks.keys() - set(order))]
        raise fault(
            path, f"cycle in the graph at {stuck_node.op_type} {value_text(stuck_node.name or stuck_node.output[0])}"
        )
    return [onnx_graph.node[at] for at in order]


def _set_sizes(path: Path, inputs: Sequence[Any], options: Options) -> tuple[int, list[str]]:
    """Give the inputs the sizes asked for; a first dimension that is open is one sample. Returns the samples."""
    inputs_by_name = {value.name: value for value in inputs}
    for name, sizes in options.shapes.items():
        if name not in inputs_by_name:
            raise fault(path, f"has no input {value_text(name)}", context=[f"inputs: {', '.join(inputs_by_name)}"])
        shape = inputs_by_name[name].type.tensor_type.shape
        if inputs_by_name[name].type.tensor_type.HasField("shape") and shape.dim and len(shape.dim) != len(sizes):
            raise fault(path, f"input {name} has {len(shape.dim)} dimensions, not {len(sizes)}")
        del shape.dim[:]
        for size in sizes:
            shape.dim.add(dim_value=size)
    lacking, notes = [], []
    for value in inputs:
        sizes = value.type.tensor_type.shape.dim
        if sizes and not sizes[0].HasField("dim_value"):
            sizes[0].CopyFrom(type(sizes[0])(dim_value=1))
            notes.append(f"the open first dimension of {value.name} is one sample")
        if not value.type.tensor_type.HasField("shape") or any(not size.dim_value for size in sizes):
            lacking.append(value)
    if lacking:
        raise fault(
            path,
            f"{', '.join(value.name for value in lacking)} {'need' if len(lacking) > 1 else 'needs'} a size",
            context=[f"{value.name} is [{', '.join(_attribute_texts(value))}]" for value in lacking],
            hint=" ".join(f"--shape {value.name}={_example(value)}" for value in lacking),
        )
    for value in inputs:
        _check_dimensions(path, value.name, [size.dim_value for size in value.type.tensor_type.shape.dim])
    first = {value.type.tensor_type.shape.dim[0].dim_value for value in inputs if value.type.tensor_type.shape.dim}
    return (first.pop() if len(first) == 1 else 1), notes


def _attribute_texts(value: Any) -> list[str]:
    texts = [str(size.dim_value or size.dim_param or "?") for size in value.type.tensor_type.shape.dim]
    return texts or ["?"]


def _example(value: Any) -> str:
    sizes = [size.dim_value for size in value.type.tensor_type.shape.dim]
    image = len(sizes) == 4
    usual = [1, 3, 224, 224] if image else [1, *([128] * max(1, len(sizes) - 1))]
    return ",".join(str(size or usual[min(at, len(usual) - 1)]) for at, size in enumerate(sizes or usual))


def _infer_shapes(path: Path, model: Any, nodes: Sequence[Any]) -> tuple[dict[str, Any], set[str]]:
    """Every shape that can be known, and the names of floating tensors; weights themselves stay behind.

    An operator without a shape rule is taken to leave what comes in as it is.
    """
    onnx = _onnx()
    bare = _without_weights(onnx, model)
    for _turn in range(turns := 1 + MOST_PASSES // len(nodes)):
        shapes, floats = _shapes(path, onnx, bare)
        shapes |= {tensor.name: tuple(tensor.dims) for tensor in model.graph.initializer}
        guesses = _undefined_outputs(onnx, nodes, shapes)
        if not guesses:
            return shapes, floats
        bare.graph.value_info.extend(guesses)
    raise fault(
        path,
        f"operators that ONNX does not define stand at more than {turns:,} places between others: too many to follow",
    )


def _undefined_outputs(onnx: Any, nodes: Sequence[Any], shapes: Mapping[str, Any]) -> list[Any]:
    """What undefined operators write, as far as no other operator has to be worked out between."""
    all_shapes = dict(shapes)
    result: list[Any] = []
    for node in nodes:
        output = next(name for name in node.output if name)
        if output in all_shapes:
            continue
        if known_operator(node):
            if result:
                return result
            continue
        source = next((name for name in node.input if name in all_shapes), None)
        if source is not None:
            all_shapes[output] = all_shapes[source]
            result.append(onnx.helper.make_tensor_value_info(output, onnx.TensorProto.FLOAT, all_shapes[source]))
    return result


def known_operator(node: Any) -> bool:
    """Whether ONNX itself defines an operator."""
    return node.domain in ("", "ai.onnx") and bool(_onnx().defs.has(node.op_type, ""))


def _without_weights(onnx: Any, model: Any) -> Any:
    bare = onnx.ModelProto()
    bare.ir_version = model.ir_version
    bare.opset_import.extend(model.opset_import)
    bare.graph.name = "graph"
    for field in ("node", "input", "output", "value_info"):
        getattr(bare.graph, field).extend(getattr(model.graph, field))
    input_names = {value.name for value in bare.graph.input}
    for tensor in model.graph.initializer:
        if math.prod(tensor.dims) <= KEPT_ELEMENTS and tensor.data_location != 1:
            bare.graph.initializer.append(tensor)
        elif tensor.name not in input_names:
            bare.graph.input.append(onnx.helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims))
    return bare


def _shapes(path: Path, onnx: Any, bare: Any) -> tuple[dict[str, Any], set[str]]:
    try:
        result = onnx.shape_inference.infer_shapes(bare, strict_mode=True, data_prop=True)
    except Exception as error:  # noqa: BLE001  (the C++ side has its own)
        raise fault(path, "its shapes contradict each other", context=[str(error).partition("\n")[0][:200]]) from None
    shapes, floats = {}, set()
    for value in (*result.graph.value_info, *result.graph.output, *result.graph.input):
        kind = value.type.tensor_type
        if kind.HasField("shape") and all(size.HasField("dim_value") for size in kind.shape.dim):
            shapes[value.name] = tuple(size.dim_value for size in kind.shape.dim)
        if kind.elem_type in _float_types():
            floats.add(value.name)
    return shapes, floats


def _unknown_size(path: Path, nodes: Sequence[Any], inputs: Sequence[Any], shapes: Mapping[str, Any]) -> InputError:
    """The first node whose result has no known size."""
    first = next(node for node in nodes if any(name and name not in shapes for name in node.output))
    names = ", ".join(value_text(name) for name in first.output if name and name not in shapes)
    return fault(
        path,
        f"the size of {names} cannot be worked out: {first.op_type} depends on what runs through it",
        context=[f"input {value.name} is [{', '.join(_attribute_texts(value))}]" for value in inputs],
        hint="give every input its sizes with --shape, or export the model with fixed shapes",
    )
