"""Pipelines without barriers run only until every period is like the one before; the rest is counted (Eq. 16)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.lowering.lower import reach
from podsim.model.program import Part
from podsim.model.sums import clean_residue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.program import Span, StepTimeline
    from podsim.predicting.training_case import TrainingCase

REACHES = 4  # of micro-batches, after which a period is looked for first
SAME = 1e-12  # share of a step by which two times may differ and still be one


def full(question: TrainingCase, mapping: Mapping) -> Mapping:
    """The mapping with so many micro-batches that each more adds one mean period to the step (Eq. 34).

    Parameters: `question`, workload, machine and fabric; `mapping`, with any accumulation. Result: the mapping with
    another accumulation [micro-batches per step].

    Equation: 2 × stages + 1 between barriers, 12 × reach + 1 without. Between barriers every cycle is alike once all
    stages have work; without them waits for inputs build up first, and it has the fewest micro-batches of which `run`
    times less than all. Validity: folded simulation; a period that shows within 4 × reach micro-batches, else all are
    timed. Source: derived: the schedules of Eq. 15 and 16.
    """
    far = reach(question.workload, mapping, question.machine, question.fabric) if question.folded else 0
    return mapping.at(max(mapping.filling, 3 * REACHES * far + 1) if far else mapping.filling)


def run(time: Callable[[int], StepTimeline], micro_batches: int, reach: int) -> StepTimeline:
    """What `time` gives for so many micro-batches; where it pays, for fewer and the periods between.

    `reach` is how many micro-batches back lies all that a task waits for. So once the tasks of that many start and end
    as far from their equal ones a period before, those after them do too. Where no period is found more micro-batches
    run, in the end all.
    """
    simulated_micro_batches = REACHES * reach
    while 3 * simulated_micro_batches < micro_batches:
        each = period(time(simulated_micro_batches).spans, simulated_micro_batches, reach)
        if each:
            first = simulated_micro_batches + (micro_batches - simulated_micro_batches) % each
            return _longer(time(first), time(first + each), (micro_batches - first) // each, each)
        simulated_micro_batches *= 2
    return time(micro_batches)


def period(spans: Sequence[Span], micro_batches: int, reach: int) -> int:
    """Micro-batches after which all that runs once a micro-batch starts and ends again; 0 where no number is one.

    Looked for where the pipeline is full: before the last micro-batches, which drain it.
    """
    times: dict[tuple[str, int], list[tuple[float, float]]] = {}
    for span in spans:
        times.setdefault((span.name, span.where), []).append((span.start_s, span.end_s))
    tracks = [track for track in times.values() if len(track) == micro_batches]
    near = SAME * max(span.end_s for span in spans)
    stop = micro_batches - reach
    for each in range(1, reach + 1):
        whole = range(stop - reach - each, stop)
        first = tracks[0]
        period_s = first[stop - 1][0] - first[stop - 1 - each][0]
        if all(
            abs(track[at][end] - track[at - each][end] - period_s) <= near
            for track in tracks
            for at in whole
            for end in (0, 1)
        ):
            return each
    return 0


def _longer(base: StepTimeline, more: StepTimeline, times: int, each: int) -> StepTimeline:
    """So many periods more than the shorter of two timelines that are one period apart."""
    step_s = base.step_s + times * (more.step_s - base.step_s)
    growth_s = {part: more.breakdown_s[part] - seconds for part, seconds in base.breakdown_s.items()}
    # A full pipeline has no bubble: what is held up by inputs in line hides other waits there.
    if growth_s[Part.BUBBLE] < 0 < growth_s[Part.FRAMEWORK]:
        growth_s[Part.FRAMEWORK] += growth_s[Part.BUBBLE]
        growth_s[Part.BUBBLE] = 0.0
    parts = {part: seconds + times * growth_s[part] for part, seconds in base.breakdown_s.items()}
    return replace(
        base,
        step_s=step_s,
        period_s=(more.step_s - base.step_s) / each,
        breakdown_s=clean_residue(parts, step_s),
        micro_batches=base.micro_batches + times * each,
    )
