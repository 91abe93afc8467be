"""What limits a run: the longest parts of its step, and what a larger global batch would change."""

from typing import Final

from podsim.model.mapping import Mapping
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice
from podsim.model.program import Part, StepTimeline
from podsim.model.training import Schedule
from podsim.predicting.training_case import TrainingCase, formula_time_s
from podsim.tiles import memory

LEAST_STALL: Final = 0.05
"""Share of a step from which waiting for inputs that are loaded ahead is its bottleneck."""
LEAST_FASTER: Final = 0.05
"""Share of the time to train from which on a larger batch is said to be faster."""

PER_UPDATE: Final = frozenset(
    (
        Part.ALL_REDUCE,
        Part.COLLECTIVE_STEPS,
        Part.RACK_STEPS,
        Part.WEIGHT_UPDATE,
        Part.SHARDING,
        Part.BUBBLE,
        Part.HOST_STEP,
    )
)
"""Parts of a step that a weight update takes once, however many micro-batches it has."""


def of_run(question: TrainingCase, mapping: Mapping, timeline: StepTimeline, choice: Choice) -> AnswerNote:
    """What limits a run of a mapping, and whether a larger global batch is faster where the mapping was searched."""
    return _with_larger_batches(limited_by(timeline, mapping), question, mapping, timeline, choice)


def limited_by(timeline: StepTimeline, mapping: Mapping) -> AnswerNote:
    """The two longest parts of a step with their shares, and why they are long."""
    shares = sorted(((s / timeline.step_s, part) for part, s in timeline.breakdown_s.items()), reverse=True)
    stall_share = timeline.breakdown_s.get(Part.HOST, 0.0) / timeline.step_s
    comes_ahead = mapping.configuration.prefetch > 0 and mapping.schedule is not Schedule.PHASED
    if comes_ahead and stall_share >= LEAST_STALL:  # and still too late
        share, part = next((share, part) for share, part in shares if part is not Part.HOST)
        is_beside = part in (Part.COMPUTE, Part.EXCHANGE)  # while inputs are loaded
        return AnswerNote.of(
            NoteCode.INPUTS_SLOWER_THAN_WORK if is_beside else NoteCode.INPUTS_TOO_SLOW,
            inputs=Part.HOST,
            wait=stall_share,
            part=part,
            share=share,
        )
    (first, most), (second, next_) = shares[0], shares[1]
    parts = AnswerNote.of(NoteCode.LONGEST_PARTS, first=most, first_share=first, second=next_, second_share=second)
    if Part.BUBBLE not in (most, next_):
        return parts
    stages, accumulation = len(mapping.stages), mapping.accumulation
    return AnswerNote.of(NoteCode.FEW_MICRO_BATCHES, parts=parts, accumulation=accumulation, stages=stages)


def _with_larger_batches(
    limit: AnswerNote, question: TrainingCase, mapping: Mapping, timeline: StepTimeline, choice: Choice
) -> AnswerNote:
    """The limit with whether a larger global batch is faster, or what of a step it amortizes in vain.

    The limit alone where no batch was searched. Tried are batches of twice as many micro-batches each, with the same
    split, as long as each is faster.
    """
    largest = max(timeline.breakdown_s, key=lambda part: timeline.breakdown_s[part])
    if choice.given != "search" or question.samples is not None or mapping.replicas == 1:
        return limit
    is_given = all(each.mapping.global_batch == mapping.global_batch for each in choice.considered)
    if largest is Part.COMPUTE and not is_given:  # of several the search has taken the fastest
        return limit
    first_s = last_s = best_s = formula_time_s(question, mapping)
    best, larger = mapping, mapping.at(2 * mapping.accumulation)
    twice_s = next_s = formula_time_s(question, larger)
    while next_s < last_s:
        if memory.fit(question.workload, larger, question.machine.topology).fits:
            best, best_s = larger, next_s
        last_s, larger = next_s, larger.at(2 * larger.accumulation)
        next_s = formula_time_s(question, larger)
    if (less := 1 - best_s / first_s) > LEAST_FASTER:
        batch = best.global_batch
        return AnswerNote.of(NoteCode.LARGER_GLOBAL_BATCH_IS_FASTER, parts=limit, batch=batch, less=less)
    if largest not in PER_UPDATE or twice_s < first_s:  # by little, or it does not fit
        return limit
    longer = twice_s / first_s - 1
    return AnswerNote.of(NoteCode.TWICE_THE_GLOBAL_BATCH_IS_SLOWER, parts=limit, part=largest, longer=longer)
