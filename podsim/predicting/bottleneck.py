"""What limits a run: the longest parts of its step, and what a larger global batch would change."""

from typing import Final

from podsim.model.mapping import Mapping
from podsim.model.prediction import Choice
from podsim.model.program import PART_NAMES, Part, StepTimeline
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


def of_run(question: TrainingCase, mapping: Mapping, timeline: StepTimeline, choice: Choice) -> str:
    """What limits a run of a mapping, and whether a larger global batch is faster where the mapping was searched."""
    return limited_by(timeline, mapping) + _of_larger_batches(question, mapping, timeline, choice)


def limited_by(timeline: StepTimeline, mapping: Mapping) -> str:
    """The two longest parts of a step with their shares, and why they are long."""
    shares = sorted(((s / timeline.step_s, part) for part, s in timeline.breakdown_s.items()), reverse=True)
    stalled = timeline.breakdown_s.get(Part.HOST, 0.0) / timeline.step_s
    if mapping.configuration.prefetch and stalled >= LEAST_STALL:  # inputs come ahead, and still too late
        longest = next((share, part) for share, part in shares if part is not Part.HOST)
        text = f"{PART_NAMES[Part.HOST]}: IPUs wait for it {100 * stalled:.0f} % of a step"
        if longest[1] in (Part.COMPUTE, Part.EXCHANGE):  # beside which inputs are loaded
            name = PART_NAMES[longest[1]]
            text += f"; it is loaded during {name} ({100 * longest[0]:.0f} %)"
            return f"{text}, so faster {name} would only lengthen the wait"
        return f"{text}; {PART_NAMES[longest[1]]} takes {100 * longest[0]:.0f} %"
    (first, most), (second, next_) = shares[0], shares[1]
    text = f"{PART_NAMES[most]}, {100 * first:.0f} % of a step; then {PART_NAMES[next_]}, {100 * second:.0f} %"
    if Part.BUBBLE in (most, next_):
        stages = len(mapping.stages)
        text += f"; accumulation {mapping.accumulation:,} is low for {stages} pipeline stages"
    return text


def _of_larger_batches(question: TrainingCase, mapping: Mapping, timeline: StepTimeline, choice: Choice) -> str:
    """Whether a larger global batch is faster, or what of a step it amortizes in vain; "" where none was searched.

    Tried are batches of twice as many micro-batches each, with the same split, as long as each is faster.
    """
    largest = max(timeline.breakdown_s, key=lambda part: timeline.breakdown_s[part])
    if choice.given != "search" or question.samples is not None or mapping.replicas == 1:
        return ""
    is_given = all(each.mapping.global_batch == mapping.global_batch for each in choice.considered)
    if largest is Part.COMPUTE and not is_given:  # of several the search has taken the fastest
        return ""
    first_s = last_s = best_s = formula_time_s(question, mapping)
    best, larger = mapping, mapping.at(2 * mapping.accumulation)
    twice_s = next_s = formula_time_s(question, larger)
    while next_s < last_s:
        if memory.fit(question.workload, larger, question.machine.topology).fits:
            best, best_s = larger, next_s
        last_s, larger = next_s, larger.at(2 * larger.accumulation)
        next_s = formula_time_s(question, larger)
    if (less := 1 - best_s / first_s) > LEAST_FASTER:
        return f"; a larger global batch is faster: {best.global_batch:,} takes {100 * less:.0f} % less time"
    if largest not in PER_UPDATE or twice_s < first_s:  # by little, or it does not fit
        return ""
    longer = "< 1" if twice_s < 1.01 * first_s else f"{100 * (twice_s / first_s - 1):.0f}"
    batch = f"twice the batch amortizes {PART_NAMES[largest]} but needs more samples to converge"
    return f"; {batch}: the run takes {longer} % longer"
