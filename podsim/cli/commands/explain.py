"""`podsim explain`."""

from typing import TYPE_CHECKING, Any

from podsim import api
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MODEL,
    ANY_OUTPUT,
    ANY_RUN,
    ConfigurationFlags,
    EngineFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    ModelFlags,
    OutputFlags,
    RunFlags,
    keywords,
)
from podsim.cli.origins import Groups, Used, of_page
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save
from podsim.errors import InputError
from podsim.report import json_explanation, json_text
from podsim.report.views import explanation as explanation_view
from podsim.report.views import ranking as ranking_view

if TYPE_CHECKING:
    from podsim.model.explanation import Explanation


def explain(
    workload: str,
    /,
    *,
    ops: bool = False,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
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
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    ops
        Rank operators by time instead, with what bounds each: compute, exchange, SRAM or sync.
    """
    output.check()
    report.check()
    _check(ops=ops, run=run, length=length, engine=engine)
    machine = model.added(machine)
    if ops:
        return _operators(workload, (machine, mapping, configuration), report, output)
    table = keywords(machine, mapping, configuration, run, length, engine)
    table.pop("fidelity")
    return _run(workload, table, machine, report, output)


def _run(workload: str, table: dict[str, Any], machine: MachineFlags, report: ReportFlags, output: OutputFlags) -> int:
    with progress("asking what if", output) as on_progress:
        explanation = api.explain(workload, on_progress=on_progress, **table)

    def written() -> str:
        return json_explanation.explanation(explanation)

    give(
        output,
        screen=lambda: explanation_view.document(explanation, verbose=output.verbose),
        json_text=written,
        line=lambda: explanation_view.answer(explanation),
    )
    save(
        report,
        output,
        report=lambda: explanation_view.document(
            explanation, verbose=True, extra=_origins(explanation, workload, machine)
        ),
        json_text=written,
        rows="influences",
    )
    return ExitCode.ANSWERED


def _origins(explanation: "Explanation", workload: str, machine: MachineFlags) -> Groups:
    """Where the numbers of the machine and the workload come from."""
    name = explanation.prediction.topology
    used = Used(called=name, topology=machine.topology or name, chip=machine.chip, changes=machine.set)
    return of_page([used], [workload], answers=[explanation.prediction])


def _check(*, ops: bool, run: RunFlags, length: LengthFlags, engine: EngineFlags) -> None:
    """Raise InputError for flags that change nothing here."""
    if ops and (run, length, engine) != (ANY_RUN, ANY_LENGTH, ANY_ENGINE):
        raise InputError(
            "--ops looks at one micro-batch: flags of the run and of the engine change nothing",
            code="conflicting-flags",
            hint="leave them out, or --ops",
        )
    if engine.fidelity != ANY_ENGINE.fidelity:
        raise InputError("what-ifs run folded, which is exact", code="conflicting-flags", hint="leave out --fidelity")


def _operators(
    workload: str,
    request: tuple[MachineFlags, MappingFlags, ConfigurationFlags],
    report: ReportFlags,
    output: OutputFlags,
) -> int:
    ranking = api.explain_operators(workload, **keywords(*request))
    give(
        output,
        screen=lambda: ranking_view.document(ranking, verbose=output.verbose),
        json_text=lambda: json_text.ranking(ranking),
        line=lambda: ranking_view.answer(ranking),
    )
    save(
        report,
        output,
        report=lambda: ranking_view.document(ranking, verbose=True, charts=True),
        json_text=lambda: json_text.ranking(ranking),
        rows="operators",
    )
    return ExitCode.ANSWERED
