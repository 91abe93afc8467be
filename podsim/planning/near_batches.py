"""Global batches near the one that was given which divide better over the replicas of a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import PodsimError
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning.choose import choose
from podsim.predicting import assemble

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Prediction
    from podsim.resolve import Case

FARTHEST: Final = 0.02
"""Share by which a batch may differ from the one given to be called near."""
GAIN: Final = 0.05
"""Share of the time from which a near batch is worth a note."""
TRIED: Final = 6


def advised(prediction: Prediction, case: Case) -> Prediction:
    """The prediction with a note on the nearest batch that is quicker by more than a twentieth, if there is one."""
    batch = case.scenario.mapping.global_batch
    if batch is None or case.preset is not None or case.scenario.faults:
        return prediction
    own_s = _time_s(case, prediction.mapping)
    for near in sorted(set(_rounder(batch)), key=lambda number: (abs(number - batch), number))[:TRIED]:
        mapping = _chosen(case, near)
        gain = 0.0 if mapping is None else 1 - _time_s(case, mapping) / own_s
        if mapping is not None and gain > GAIN:
            note = _note(prediction.mapping, mapping, gain)
            return replace(prediction, assumptions=(*prediction.assumptions, note))
    return prediction


def _rounder(batch: int) -> Iterator[int]:
    """Multiples of higher powers of two, and of three times those, next to a batch."""
    step = 2 * (batch & -batch)
    while step <= batch:
        for unit in (step, 3 * step):
            for near in (batch // unit * unit, (batch // unit + 1) * unit):
                if near and near != batch and abs(near / batch - 1) <= FARTHEST:
                    yield near
        step *= 2


def _chosen(case: Case, batch: int) -> Mapping | None:
    """The mapping of the same question with another batch; None where there is none."""
    constraints = replace(case.scenario.mapping, global_batch=batch)
    try:
        return choose(replace(case, scenario=replace(case.scenario, mapping=constraints))).mapping
    except PodsimError:
        return None


def _time_s(case: Case, mapping: Mapping) -> float:
    """The time to train by formula [s]; that of a sample where the length of the run is not stated."""
    question = case.question.by_formula
    if case.missing:
        return assemble.step(question, mapping).step_s / mapping.global_batch
    return assemble.answer_s(question, mapping)


def _note(own: Mapping, near: Mapping, gain: float) -> AnswerNote:
    return AnswerNote.of(
        NoteCode.NEAR_GLOBAL_BATCH,
        caveat=True,
        batch=near.global_batch,
        replicas=near.replicas,
        size=near.ipus_per_replica,
        micro_batch=near.micro_batch,
        own=own.global_batch,
        own_replicas=own.replicas,
        own_size=own.ipus_per_replica,
        own_micro_batch=own.micro_batch,
        gain=gain,
    )
