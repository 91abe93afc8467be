"""Available-memory proportion: poplibs' default, lowered step by step until a mapping fits, unless a value was given.

A product or convolution that may use less of SRAM for temporary data is cut into more serial parts and takes longer, so
the largest proportion that fits is the fastest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.sums import sum_in_order
from podsim.model.training import AVAILABLE_MEMORY
from podsim.predicting import steady_state, training_case
from podsim.tiles import memory

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from podsim.model.fabric import Topology
    from podsim.model.inference import ServedState
    from podsim.model.mapping import Mapping
    from podsim.model.prediction import MemoryFit, StageMemory
    from podsim.model.workload import Workload
    from podsim.predicting.training_case import TrainingCase

STEPS: Final = (AVAILABLE_MEMORY, 0.4, 0.3, 0.2)
"""Proportions tried in turn: the default first; 0.2 is the lowest of published training configurations."""
PASSING: Final = ("activations", "exchange_buffers")
"""What an IPU holds during some supersteps only; the rest is live from one step to the next."""


def largest_that_fits(
    workload: Workload, mapping: Mapping, topology: Topology, served_state: ServedState | None = None
) -> tuple[Mapping, MemoryFit]:
    """A mapping at the largest proportion at which it fits (Eq. 19), with its memory.

    At the value that the configuration states, whether it fits or not; at the default where none fits. What a
    `served_state` keeps resident is other than what training does.
    """
    if mapping.memory_lowered:
        mapping = at_default(mapping)
    usual = memory.fit(workload, mapping, topology, served_state)
    if usual.fits or mapping.configuration.available_memory is not None or not _may_fit(usual):
        return mapping, usual
    content = usual
    for proportion in STEPS[1:]:
        configuration = replace(mapping.configuration, available_memory=proportion)
        smaller = replace(mapping, configuration=configuration, memory_lowered=True)
        if memory.stays_full(workload, smaller, topology, content, served_state):
            continue
        content = memory.fit(workload, smaller, topology, served_state)
        if content.fits:
            return smaller, content
    return mapping, usual


def at_default(mapping: Mapping) -> Mapping:
    """The mapping as it is at the default proportion, where it was lowered."""
    return replace(mapping, configuration=replace(mapping.configuration, available_memory=None), memory_lowered=False)


def lowering(question: TrainingCase, mapping: Mapping) -> Iterator[AnswerNote]:
    """That the proportion was lowered, why, and how much longer a step takes for it; nothing where it was not."""
    if not mapping.memory_lowered:
        return
    usual = at_default(mapping)
    full = memory.fit(question.workload, usual, question.machine.topology)
    quick = question.by_formula
    longer = training_case.step(quick, mapping).step_s / training_case.step(quick, usual).step_s - 1
    yield lowering_note(mapping, full, longer, serves=False)


def lowering_note(mapping: Mapping, usual: MemoryFit, longer: float, *, serves: bool) -> AnswerNote:
    """That the proportion of a mapping was lowered, what was needed at the `usual` one, and what it costs.

    Steps, or batches where it `serves`, are `longer` by that share.
    """
    return AnswerNote.of(
        NoteCode.MEMORY_LOWERED,
        proportion=mapping.configuration.memory_proportion,
        default=AVAILABLE_MEMORY,
        fraction=usual.fraction,
        longer=longer,
        serves=serves,
    )


def refusal_note(mapping: Mapping, memory_fit: MemoryFit) -> str:
    """Whether lower proportions were tried for a mapping that does not fit; "" where SRAM is not what it lacks."""
    stated_proportion = mapping.configuration.available_memory
    if memory_fit.fraction <= 1:
        return ""
    if stated_proportion is not None and not mapping.memory_lowered:
        return f"available-memory proportion {stated_proportion:g}, as the configuration states it"
    if not _may_fit(memory_fit):
        live_bytes = max(map(_always_live, memory_fit.ipus))
        if live_bytes <= memory_fit.capacity_bytes:
            return ""
        return f"{live_bytes / 1e9:.2f} GB are live throughout a step: smaller temporary buffers would not help"
    lower = ", ".join(f"{proportion:g}" for proportion in STEPS[1:-1])
    return (
        f"with smaller temporary buffers (available-memory proportion {lower} and {STEPS[-1]:g} in place of "
        f"{STEPS[0]:g}) it does not fit either"
    )


def _may_fit(content: MemoryFit) -> bool:
    """Whether smaller temporary buffers could help: what is always live fits, and so does streaming memory."""
    return content.streaming_fraction <= 1 and all(_always_live(ipu) <= content.capacity_bytes for ipu in content.ipus)


def _always_live(ipu: StageMemory) -> float:
    return ipu.used_bytes - sum_in_order(ipu.by_category.get(name, 0.0) for name in PASSING)


def fastest(quick: TrainingCase, storage_options: Sequence[tuple[Mapping, MemoryFit]]) -> tuple[Mapping, MemoryFit]:
    """Of ways to store a mapping that fit, the one of the shortest step; the earlier where two take as long."""
    if len(storage_options) == 1:
        return storage_options[0]

    def step_s(item: tuple[Mapping, MemoryFit]) -> float:
        mapping, _ = item
        return training_case.step(quick, steady_state.full(quick, mapping)).at_s(mapping.accumulation)

    return min(storage_options, key=step_s)
