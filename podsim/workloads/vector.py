"""Vector operators: how often each reads and writes its elements, from the passes poplibs makes of them.

Sources: poplibs lib/popnn/NonLinearity.cpp (softmax), lib/poplin/Norms.cpp and lib/popnn/GroupNorm.cpp (norms),
lib/popnn/PoolVertices.cpp (pooling).
"""

from podsim.model.workload import Kind, Operator, Stream


def bias(name: str, elements: int, parameters: int) -> Operator:
    """Add one vector to every row; backward sums the gradient into it."""
    shape = Stream(elements=elements, reads=1, writes=1, back_reads=1, back_writes=0, parameters=parameters)
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape, weight_tensors=1, stashed=False)


def activation(name: str, elements: int) -> Operator:
    """One value in, one out (GELU, ReLU, tanh, scale and mask)."""
    shape = Stream(elements=elements, reads=1, writes=1, back_reads=2, back_writes=1)
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def residual(name: str, elements: int) -> Operator:
    """Two values in, one out; backward passes the gradient on to both."""
    shape = Stream(elements=elements, reads=2, writes=1, back_reads=2, back_writes=1)
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape, stashed=False)


def dropout(name: str, elements: int, option: str = "") -> Operator:
    """Scale by a random mask; backward draws the same mask again from its seed."""
    shape = Stream(elements=elements, reads=1, writes=1, back_reads=1, back_writes=1)
    return Operator(name=name, kind=Kind.DROPOUT, shape=shape, stashed=False, option=option)


def softmax(name: str, elements: int) -> Operator:
    """Maximum, subtract, exponential, sum, multiply; backward multiply, sum, multiply, subtract."""
    shape = Stream(elements=elements, reads=5, writes=3, back_reads=6, back_writes=3)
    return Operator(name=name, kind=Kind.SOFTMAX, shape=shape)


def norm(name: str, elements: int, channels: int, *, stashed: bool = True) -> Operator:
    """Statistics (two reads), subtract, multiply, scale, offset; backward two reductions and six passes."""
    shape = Stream(elements=elements, reads=6, writes=4, back_reads=13, back_writes=7, parameters=2 * channels)
    return Operator(name=name, kind=Kind.NORM, shape=shape, weight_tensors=2, stashed=stashed)


def pool(name: str, elements: int, window: int, outputs: int) -> Operator:
    """Each output reads its whole window."""
    reads = max(1, window * outputs // elements)
    shape = Stream(elements=elements, reads=reads, writes=1, back_reads=reads + 1, back_writes=1, out_elements=outputs)
    return Operator(name=name, kind=Kind.POOL, shape=shape)


def loss(name: str, elements: int) -> Operator:
    """Softmax and cross-entropy over the classes, and the gradient of both."""
    shape = Stream(elements=elements, reads=6, writes=3, back_reads=2, back_writes=1)
    return Operator(name=name, kind=Kind.LOSS, shape=shape)
