"""SchNet as a chain of units: embedding and edges, interactions, readout.

Sources: schuett-2017 for the model; hydronet-gnn (hydronet/) for edges made on the device out of all distances, the
gather of neighbours and the scatter-add of messages.
"""

from podsim.model.graphs import SchNet
from podsim.model.messages import AllPairs, NodeGather, ScatterAdd
from podsim.model.workload import Gather, Kind, LayerUnit, Operator, Stream
from podsim.workloads import vector_operators
from podsim.workloads.conformer import affine
from podsim.workloads.transformer import dense

CUTOFF = ("scale", "cos", "bias", "scale", "mask")
"""(cos(pi d / cutoff) + 1) / 2, and nothing beyond the cutoff."""


def units(size: SchNet) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    interactions = (_interaction(size, number) for number in range(size.interactions))
    return (_embedding(size), *interactions, _readout(size))


def _embedding(size: SchNet) -> LayerUnit:
    """Edges of the nearest neighbours, distances as Gaussians, and the vectors of the atoms."""
    table = Gather(table=size.atoms, width=size.features, lookups=size.nodes)
    near = AllPairs(nodes=size.nodes, neighbours=size.neighbours)
    distances = Stream(elements=size.edges * size.gaussians, operations=("bias", "square", "scale", "exp"))
    operators = (
        Operator(name="embedding.nearest", kind=Kind.NEAREST, shape=near, input_gradient=False, stashed=False),
        Operator(name="embedding.gaussians", kind=Kind.ELEMENTWISE, shape=distances, input_gradient=False),
        Operator(name="embedding.atoms", kind=Kind.GATHER, shape=table, input_gradient=False, weight_tensors=1),
    )
    return LayerUnit(name="embedding", group="embedding", checkpoint=True, operators=operators)


def _softplus(name: str, elements: int) -> Operator:
    """Softplus less log 2."""
    shape = Stream(
        elements=elements, operations=(*vector_operators.SOFTPLUS, "bias"), back_operations=("sigmoid", "multiply")
    )
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def _interaction(size: SchNet, number: int) -> LayerUnit:
    at = f"interaction{number}"
    nodes, edges, wide = size.nodes, size.edges, size.features
    first, first_bias = affine(f"{at}.filter0", edges, size.gaussians, wide)
    messages = {"nodes": nodes, "edges": edges, "width": wide}
    weights = Stream(elements=edges, operations=CUTOFF)
    filter_shape = Stream(elements=edges * wide, operations=("bias",), back_operations=("bias",), row=wide)
    operators = (
        Operator(name=first.name, kind=first.kind, shape=first.shape, weight_tensors=1, input_gradient=False),
        first_bias,
        _softplus(f"{at}.filter0-softplus", edges * wide),
        *affine(f"{at}.filter1", edges, wide, wide),
        Operator(name=f"{at}.cutoff", kind=Kind.ELEMENTWISE, shape=weights, input_gradient=False),
        Operator(name=f"{at}.filter", kind=Kind.ELEMENTWISE, shape=filter_shape),
        dense(f"{at}.nodes", nodes, wide, wide),
        Operator(name=f"{at}.neighbours", kind=Kind.NODE_GATHER, shape=NodeGather(**messages)),
        vector_operators.multiply(f"{at}.messages", edges * wide),
        Operator(name=f"{at}.sum", kind=Kind.SCATTER_ADD, shape=ScatterAdd(**messages)),
        *affine(f"{at}.dense0", nodes, wide, wide),
        _softplus(f"{at}.softplus", nodes * wide),
        *affine(f"{at}.dense1", nodes, wide, wide),
        vector_operators.residual(f"{at}.residual", nodes * wide),
    )
    return LayerUnit(name=at, group="interaction", checkpoint=True, operators=operators)


def _readout(size: SchNet) -> LayerUnit:
    """A number for each atom, summed over its graph, and its squared error."""
    nodes, half, slots = size.nodes, size.features // 2, size.graphs
    error = Stream(elements=slots, operations=("subtract", "square"), back_operations=("scale",))
    operators = (
        *affine("readout.dense0", nodes, size.features, half),
        _softplus("readout.softplus", nodes * half),
        *affine("readout.dense1", nodes, half, 1),
        Operator(name="readout.sum", kind=Kind.SCATTER_ADD, shape=ScatterAdd(nodes=slots, edges=nodes, width=1)),
        Operator(name="readout.error", kind=Kind.ELEMENTWISE, shape=error),
    )
    return LayerUnit(name="readout", group="readout", checkpoint=False, operators=operators)
