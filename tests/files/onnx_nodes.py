"""One ONNX node as builders of operators see it, without a file around it."""

from onnx import helper

from podsim.files.imports.onnx_node import NodeShapes


def node_of(kind, ins, out, *, weights=None, tied=(), domain="", name="it", **attributes):
    """A node of a kind over shapes; `weights` are the inputs that hang on nothing that runs, by place."""
    names = [f"i{at}" for at in range(len(ins))]
    node = helper.make_node(kind, names, ["o"], name=name, domain=domain, **attributes)
    return NodeShapes(
        node=node, ins=tuple(map(tuple, ins)), out=tuple(out), weights=weights or {}, tied=frozenset(tied), name=name
    )
