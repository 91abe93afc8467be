"""A transducer of recurrent layers alone (RNN-T) as a chain of units: a layer of the encoder each, predictor, joint.

Sources: he-2019 for the model, whose frames are stacked where time is reduced; graves-2012 for the loss. Dropout
between layers is left out.
"""

from collections.abc import Iterator

from podsim.model.speech import RecurrentTransducer
from podsim.model.workload import LayerUnit
from podsim.workloads import recurrent
from podsim.workloads.transducer import joint, predictor


def units(size: RecurrentTransducer) -> tuple[LayerUnit, ...]:
    """The whole model in order."""
    return (*_encoder(size), predictor(size), joint(size, reduced_frames(size)))


def reduced_frames(size: RecurrentTransducer) -> int:
    """Frames after the reduction, the last one padded."""
    return -(-size.frames // size.reduction)


def _encoder(size: RecurrentTransducer) -> Iterator[LayerUnit]:
    """Layers over all frames, then over fewer, each of several next to each other."""
    inputs = size.features
    for number in range(size.layers_before + size.layers_after):
        if number == size.layers_before:
            inputs *= size.reduction
        steps = size.frames if number < size.layers_before else reduced_frames(size)
        layer = recurrent.lstm(f"encoder{number}.lstm", steps, inputs, size.hidden)
        yield LayerUnit(name=f"encoder{number}", group="encoder", checkpoint=True, operators=layer)
        inputs = size.hidden
