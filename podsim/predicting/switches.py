"""Switches of a software configuration that nothing but its release decides, and that move an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.engines import analytic
from podsim.lowering.lower import lower_update

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.mapping import Mapping
    from podsim.predicting.assemble import TrainingCase

LEAST: Final = 0.1
"""Share of a step from which a switch is shown."""
COLLECTIVES: Final = ("a collective for each weight tensor or buffer", "collectives merged into one")
HOST: Final = ("a loop on the device", "a call from the host each step")


def shown(question: TrainingCase, mapping: Mapping, step_s: float) -> Iterator[str]:
    """A line for each switch that would move the step by more than a tenth: what holds, and what the other would do."""
    configuration = mapping.configuration
    merged, returns = configuration.merged_collectives, configuration.returns_to_host
    own_s = _update_s(question, mapping)
    for now, states, otherwise in (
        (merged, COLLECTIVES, replace(configuration, merged_collectives=not merged)),
        (returns, HOST, replace(configuration, returns_to_host=not returns)),
    ):
        other = replace(mapping, configuration=otherwise)
        more_s = _update_s(question, other) - own_s
        if abs(more_s) > LEAST * step_s:
            moved = f"a step takes {100 * abs(more_s) / step_s:.0f} % {'longer' if more_s > 0 else 'less'}"
            yield f"{states[now]}, as in {configuration.name}; with {states[not now]}, {moved}"


def _update_s(question: TrainingCase, mapping: Mapping) -> float:
    program = lower_update(
        question.workload,
        mapping,
        question.machine,
        question.fabric,
        optimizer=question.optimizer,
        folded=question.folded,
    )
    return analytic.run(program, question.fabric).step_s
