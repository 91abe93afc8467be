"""Layers that run over positions one after the other: LSTM, and the trellis of an alignment loss."""

from dataclasses import replace

from podsim.model.workload import Kind, Operator, Stream
from podsim.workloads import vector_operators
from podsim.workloads.transformer import dense

GATES = 4  # input, forget and output gate, and the candidate (hochreiter-1997, with the forget gate of gers-2000)
LOG_ADD = ("subtract", "exp", "add", "log")
"""The sum of two probabilities of which the logarithms are kept."""


def lstm(name: str, steps: int, inputs: int, hidden: int) -> tuple[Operator, ...]:
    """One layer: at each of `steps` a product of input and state with all gates, then the cell (Eq. 83).

    Input and state are multiplied together at each step, and so are the gradients of the weights: a layer computes
    nothing for all steps at once.
    """
    gates = dense(f"{name}.gates", 1, inputs + hidden, GATES * hidden)
    gates_bias = vector_operators.bias(f"{name}.gates-bias", GATES * hidden, GATES * hidden)
    each = (
        gates,
        gates_bias,
        vector_operators.activation(f"{name}.sigmoid", (GATES - 1) * hidden, "sigmoid"),
        vector_operators.activation(f"{name}.candidate", hidden, "tanh"),
        _chain(f"{name}.cell", hidden, ("multiply", "multiply", "add"), ("multiply",) * 4),
        vector_operators.activation(f"{name}.cell-tanh", hidden, "tanh"),
        _chain(f"{name}.output", hidden, ("multiply",), ("multiply", "multiply")),
    )
    return tuple(replace(operator, repeats=steps) for operator in each)


def trellis(name: str, steps: int, states: int) -> Operator:
    """Probabilities of all alignments, `states` at a time; backward the same from the end, and the gradient."""
    step_chain = _chain(name, states, LOG_ADD, (*LOG_ADD, "exp"))
    return replace(step_chain, repeats=steps)


def _chain(name: str, elements: int, operations: tuple[str, ...], back: tuple[str, ...]) -> Operator:
    shape = Stream(elements=elements, operations=operations, back_operations=back)
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)
