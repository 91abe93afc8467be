"""`podsim explain`."""

from typing import TYPE_CHECKING, Any

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_OUTPUT,
    ANY_PRACTICE,
    ANY_RUN,
    EngineFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    OutputFlags,
    PracticeFlags,
    RunFlags,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError

if TYPE_CHECKING:
    from podsim.cli.origins import Groups
    from podsim.model.explanation import Explanation


def explain(
    workload: str,
    /,
    *,
    ops: bool = False,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    practice: PracticeFlags = ANY_PRACTICE,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Take a predicted run apart: how its time adds up, what it hangs on, what would help and what would not.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    ops
        Rank operators by time instead, with what bounds each: compute, exchange, SRAM or sync.
    """
    output.check()
    report.check()
    _check(ops=ops, flags=(run, length, engine))
    if ops:
        return _operators(workload, (machine, mapping, practice), report, output)
    asked = keywords(machine, mapping, practice, run, length, engine)
    asked.pop("fidelity")
    return _run(workload, asked, machine, report, output)


def _run(workload: str, asked: dict[str, Any], machine: MachineFlags, report: ReportFlags, output: OutputFlags) -> int:
    from podsim import api
    from podsim.report import json_explanation
    from podsim.report.views import explanation as view

    with progress("asking what if", output) as on_progress:
        found = api.explain(workload, on_progress=on_progress, **asked)

    def written() -> str:
        return json_explanation.explanation(found)

    give(
        output,
        screen=lambda: view.document(found, verbose=output.verbose),
        json_text=written,
        line=lambda: view.answer(found),
    )
    save(report, output, report=lambda: view.document(found, verbose=True, extra=_origins(found, workload, machine)),
         json_text=written, rows="influences")  # fmt: skip
    return ExitCode.ANSWERED


def _origins(found: "Explanation", workload: str, machine: MachineFlags) -> "Groups":
    """Where the numbers of the machine and the workload come from."""
    from podsim.cli.origins import Used, of_page

    name = found.prediction.topology
    used = Used(called=name, topology=machine.topology or name, chip=machine.chip, changes=machine.set)
    return of_page([used], [workload])


def _check(*, ops: bool, flags: tuple[RunFlags, LengthFlags, EngineFlags]) -> None:
    """Raise InputError for flags that change nothing here."""
    if ops and flags != (ANY_RUN, ANY_LENGTH, ANY_ENGINE):
        raise InputError("--ops looks at one micro-batch: flags of the run and of the engine change nothing",
                         code="conflicting-flags", hint="leave them out, or --ops")  # fmt: skip
    if flags[-1].fidelity != ANY_ENGINE.fidelity:
        raise InputError("what-ifs run folded, which is exact", code="conflicting-flags",
                         hint="leave out --fidelity")  # fmt: skip


def _operators(
    workload: str,
    asked: tuple[MachineFlags, MappingFlags, PracticeFlags],
    report: ReportFlags,
    output: OutputFlags,
) -> int:
    from podsim import api
    from podsim.report import json_text
    from podsim.report.views import ranking as view

    found = api.explain_operators(workload, **keywords(*asked))
    give(
        output,
        screen=lambda: view.document(found, verbose=output.verbose),
        json_text=lambda: json_text.ranking(found),
        line=lambda: view.answer(found),
    )
    save(
        report, output, report=lambda: view.document(found, verbose=True, charts=True),
        json_text=lambda: json_text.ranking(found), rows="operators",
    )  # fmt: skip
    return ExitCode.ANSWERED
