"""Switches of a software configuration that nothing but its release decides, and that move an answer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from podsim.engines import analytic
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode

if TYPE_CHECKING:
    from collections.abc import Iterator

    from podsim.model.mapping import Mapping
    from podsim.model.training import SoftwareConfiguration
    from podsim.predicting.training_case import TrainingCase

LEAST: Final = 0.1
"""Share of a step from which a switch is shown."""


def switch_notes(question: TrainingCase, mapping: Mapping, step_s: float) -> Iterator[AnswerNote]:
    """A note for each switch that would move the step by more than a tenth: what holds, and what the other would do."""
    configuration = mapping.configuration
    is_merged, returns, name = configuration.merged_collectives, configuration.returns_to_host, configuration.name
    own_s = _update_s(question, mapping)

    def more_s(other: SoftwareConfiguration) -> float:
        return _update_s(question, replace(mapping, configuration=other)) - own_s

    longer_s = more_s(replace(configuration, merged_collectives=not is_merged))
    if abs(longer_s) > LEAST * step_s:
        yield AnswerNote.of(NoteCode.OTHER_COLLECTIVES, merged=is_merged, configuration=name, change=longer_s / step_s)
    longer_s = more_s(replace(configuration, returns_to_host=not returns))
    if abs(longer_s) > LEAST * step_s:
        yield AnswerNote.of(NoteCode.OTHER_STEP_CALLS, returns=returns, configuration=name, change=longer_s / step_s)


def _update_s(question: TrainingCase, mapping: Mapping) -> float:
    return analytic.run(question.weight_update(mapping), question.fabric).step_s
