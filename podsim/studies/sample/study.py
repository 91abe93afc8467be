"""Samplers on the IPUs of a machine."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.files import samplers as files
from podsim.files import stated_machines
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import SourceKind
from podsim.resolve import topology as machine_of
from podsim.scenario import MachineSpec, change_texts
from podsim.studies.argument_check import check_arguments
from podsim.studies.sample import sampler_run as predicting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.model.sampler import SamplerReport


@check_arguments
def sample(
    sampler: str,
    *,
    samples: int | None = None,
    rounds: int | None = None,
    pod: int | None = None,
    topology: str | None = None,
    chip: str | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
) -> SamplerReport:
    """Predict a run of a sampler for a number of samples, or for as many as fit; on one IPU by default.

    Raises InputError for a malformed question, Infeasible where the samples do not fit.
    """
    document = files.sampler(sampler)
    machine = machine_of(
        MachineSpec(pod=pod if pod or topology else 1, topology=topology, chip=chip), change_texts(changes)
    ).value
    stated_machines.refuse(machine, "samplers")
    report = predicting.report(document.value, samples, machine, rounds)
    notes = [
        AnswerNote.of(NoteCode.FILE_VALUE, path=path, text=provenance.note)
        for path, provenance in document.provenance.items()
        if provenance.kind is SourceKind.ASSUMED
    ]
    return replace(report, assumed=(*document.value.notes, *notes))
