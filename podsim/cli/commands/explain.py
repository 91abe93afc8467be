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
    keywords,
)
from podsim.errors import InputError
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
    from podsim import api

    found = api.explain_operators(workload, **keywords(machine, mapping, practice))
    give(
        output,
        screen=lambda: view.document(found, verbose=output.verbose),
        json_text=lambda: json_text.ranking(found),
        line=lambda: view.answer(found),
    )
    return ExitCode.ANSWERED
