"""Other global batches: those near the one given that divide better over replicas, and the intervals of their times."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.errors import PodsimError
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning.choose import choose
from podsim.predicting import assemble, training_case

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Prediction
    from podsim.resolve import Case

FARTHEST: Final = 0.02
"""Share by which a batch may differ from the one given to be called near."""
GAIN: Final = 0.05
"""Share of the time from which a near batch is worth a note."""
GLOBAL_BATCHES_TRIED: Final = 6


def with_advice(prediction: Prediction, case: Case) -> Prediction:
    """The prediction with a note on a near batch that is quicker by more than a twentieth, if there is one.

    Of several it is the nearest from which no other of them is that much quicker.
    """
    batch = case.scenario.mapping.global_batch
    if batch is None or case.preset is not None or case.scenario.faults:
        return prediction
    near = sorted(set(_rounder(batch)), key=lambda number: (abs(number - batch), number))[:GLOBAL_BATCHES_TRIED]
    mappings = [mapping for number in near if (mapping := _other_mapping(case, number))]
    times_s = [_time_s(case, mapping) for mapping in mappings]
    own_s = _time_s(case, prediction.mapping)
    least_s = min(times_s, default=own_s)
    if 1 - least_s / own_s <= GAIN:
        return prediction
    quick = ((mapping, s) for mapping, s in zip(mappings, times_s, strict=True) if 1 - s / own_s > GAIN)
    mapping, time_s = next(each for each in quick if 1 - least_s / each[1] <= GAIN)
    note = _note(prediction.mapping, mapping, 1 - time_s / own_s)
    return replace(prediction, assumptions=(*prediction.assumptions, note))


def with_intervals(prediction: Prediction, case: Case) -> Prediction:
    """The prediction with the interval of each mapping that differs from the chosen one in its batch alone.

    Their times are those that `predict` answers, by formula. None is added for a machine with faults, nor without a
    length of the run.
    """
    if case.missing or case.scenario.faults:
        return prediction
    question, own = case.question.by_formula, prediction.mapping.split
    considered_mappings = tuple(
        replace(candidate, estimate=assemble.estimates(question, candidate.mapping)[1])
        if candidate.mapping.split == own
        else candidate
        for candidate in prediction.choice.considered
    )
    return replace(prediction, choice=replace(prediction.choice, considered=considered_mappings))


def _rounder(batch: int) -> Iterator[int]:
    """Multiples of higher powers of two, and of three times those, next to a batch."""
    step = 2 * (batch & -batch)
    while step <= batch:
        for unit in (step, 3 * step):
            for near in (batch // unit * unit, (batch // unit + 1) * unit):
                if near and near != batch and abs(near / batch - 1) <= FARTHEST:
                    yield near
        step *= 2


def _other_mapping(case: Case, batch: int) -> Mapping | None:
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
        return training_case.step(question, mapping).step_s / mapping.global_batch
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
