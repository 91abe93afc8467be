"""What measurements of convolutions there are, for pages that show one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.workload import Conv

if TYPE_CHECKING:
    from collections.abc import Container

    from podsim.model.chip import Chip
    from podsim.model.workload import Workload

UNMEASURED_NOTE: Final = AnswerNote.of(NoteCode.CONVOLUTIONS_UNMEASURED, caveat=True)
MEASURED_CHIPS: Final = ("gc2",)
"""Chips with published rates of single convolutions (jia-2019, table 5.5)."""


def unmeasured_notes(
    workload: Workload, chip: Chip, calibrated_workloads: Container[str] = ()
) -> tuple[AnswerNote, ...]:
    """The note for a page of a workload with convolutions on a chip without measurements of any; () otherwise.

    It is a caveat, unless whole steps of the workload are among those `calibrated_workloads`.
    """
    shapes = (operator.shape for unit in workload.units for operator in unit.operators)
    if chip.name in MEASURED_CHIPS or not any(isinstance(shape, Conv) for shape in shapes):
        return ()
    if workload.name in calibrated_workloads:
        return (AnswerNote.of(NoteCode.CONVOLUTIONS_CALIBRATED, workload=workload.name),)
    return (UNMEASURED_NOTE,)
