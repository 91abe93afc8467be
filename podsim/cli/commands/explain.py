"""`podsim explain`."""

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_OUTPUT,
    ANY_PRACTICE,
    MachineFlags,
    MappingFlags,
    OutputFlags,
    PracticeFlags,
)
from podsim.errors import InputError
from podsim.model.ranking import OperatorRanking
from podsim.report import json_text
from podsim.report.views import ranking as view


def explain(
    workload: str,
    /,
    *,
    ops: bool = False,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    practice: PracticeFlags = ANY_PRACTICE,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Rank the operators of a step by the time they take, and say what bounds each: compute, exchange, SRAM or sync.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    ops
        Operators ranked by time.
    """
    output.check()
    if not ops:
        raise InputError("say what to explain", code="missing-argument", hint=f"podsim explain {workload} --ops")
    found = _ask(workload, machine, mapping, practice)
    give(
        output,
        screen=lambda: view.document(found, verbose=output.verbose),
        json_text=lambda: json_text.ranking(found),
        line=lambda: view.answer(found),
    )
    return ExitCode.ANSWERED


def _ask(workload: str, machine: MachineFlags, mapping: MappingFlags, practice: PracticeFlags) -> OperatorRanking:
    """Flags to keywords, one to one."""
    from podsim import api

    return api.explain_operators(
        workload,
        pod=machine.pod,
        topology=machine.topology,
        chip=machine.chip,
        hosts=machine.hosts,
        changes=machine.set,
        preset=mapping.preset,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        global_batch=mapping.global_batch,
        schedule=practice.schedule,
        prefetch=practice.prefetch,
        overlap=practice.overlap,
        io_tiles=practice.io_tiles,
    )
