"""A transformer-transducer as a chain of units: encoder, recurrent predictor, joint network with the RNN-T loss.

Sources: zhang-2020 for the model, graves-2012 for the loss over a lattice of frames and tokens.
"""

from podsim.model.speech import RecurrentTransducer, Transducer
from podsim.model.workload import Gather, Kind, LayerUnit, Operator, Stream
from podsim.workloads import recurrent, vector_operators
from podsim.workloads.conformer import affine, encoder, subsample


def units(size: Transducer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return (*encoder(size), predictor(size), joint(size, subsample(size.frames)[1]))


def predictor(size: Transducer | RecurrentTransducer) -> LayerUnit:
    """A table, blank included, and the recurrent layers over the tokens and the start."""
    steps, hidden = size.tokens + 1, size.predictor_hidden
    table = Gather(table=size.vocabulary + 1, width=hidden, lookups=steps)
    layers = (
        recurrent.lstm(f"predictor.lstm{number}", steps, hidden, hidden) for number in range(size.predictor_layers)
    )
    look_up = Operator(name="predictor.table", kind=Kind.GATHER, shape=table, input_gradient=False, weight_tensors=1)
    return LayerUnit(
        name="predictor",
        group="predictor",
        checkpoint=True,
        operators=(look_up, *(operator for layer in layers for operator in layer)),
    )


def joint(size: Transducer | RecurrentTransducer, frames: int) -> LayerUnit:
    """Every frame of the encoder with every token: a sum, a bend, a product with all tokens and the blank."""
    steps, classes = size.tokens + 1, size.vocabulary + 1
    pairs = frames * steps
    sum_shape = Stream(elements=pairs * size.joint, operations=("add",), back_operations=("add", "add"))
    return LayerUnit(
        name="joint",
        group="joint",
        checkpoint=False,
        operators=(
            *affine("joint.frames", frames, size.hidden, size.joint),
            *affine("joint.tokens", steps, size.predictor_hidden, size.joint),
            Operator(name="joint.sum", kind=Kind.ELEMENTWISE, shape=sum_shape, stashed=False),
            vector_operators.activation("joint.relu", pairs * size.joint, "relu"),
            *affine("joint.dense", pairs, size.joint, classes),
            vector_operators.loss("joint.loss", pairs * classes, classes),
            recurrent.trellis("joint.alignments", frames + steps, steps),
        ),
    )
