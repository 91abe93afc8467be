"""`podsim explain`."""

from typing import Any

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_FAULTS,
    ANY_LENGTH,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_MODEL,
    ANY_OUTPUT,
    ANY_RUN,
    ConfigurationFlags,
    EngineFlags,
    FaultFlags,
    LengthFlags,
    MachineFlags,
    MappingFlags,
    ModelFlags,
    OutputFlags,
    RunFlags,
    keywords,
)
from podsim.cli.progress import progress
from podsim.cli.saving import ANY_REPORT, ReportFlags, save_answer
from podsim.errors import InputError


def explain(
    workload: str,
    /,
    *,
    ops: bool = False,
    measure: bool = False,
    model: ModelFlags = ANY_MODEL,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    run: RunFlags = ANY_RUN,
    length: LengthFlags = ANY_LENGTH,
    engine: EngineFlags = ANY_ENGINE,
    faults: FaultFlags = ANY_FAULTS,
    report: ReportFlags = ANY_REPORT,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Take a predicted run apart: how its time adds up, what it is sensitive to, what would help and what would not.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file: TOML, a config.json of transformers, ONNX.
    ops
        Rank operators by time instead, with what bounds each: compute, exchange, SRAM or sync.
    measure
        Rank measurements instead, by how much narrower each would make the interval of the answer.
    """
    output.check()
    report.check()
    _check(ops=ops, measure=measure, run=run, length=length, engine=engine, faults=faults)
    machine = model.add_to(machine)
    if ops:
        return _operators(workload, (machine, mapping, configuration), report, output)
    table = keywords(machine, mapping, configuration, run, length, engine, faults)
    table.pop("fidelity")
    if measure:
        table.pop("faults")
        return _measurements(workload, table, report, output)
    with progress("asking what if", output) as on_progress:
        explanation = podsim.explain(workload, on_progress=on_progress, **table)
    give_answer(output, explanation)
    save_answer(report, output, explanation, {"workload": workload, **keywords(machine)})
    return ExitCode.ANSWERED


def _check(
    *, ops: bool, measure: bool, run: RunFlags, length: LengthFlags, engine: EngineFlags, faults: FaultFlags
) -> None:
    """Raise InputError for flags that change nothing here."""
    if ops and measure:
        raise InputError("--ops and --measure are mutually exclusive", code="conflicting-flags", hint="keep one")
    if ops and (run, length, engine, faults) != (ANY_RUN, ANY_LENGTH, ANY_ENGINE, ANY_FAULTS):
        raise InputError(
            "--ops looks at one micro-batch: flags of the run, of the engine and --fault change nothing",
            code="conflicting-flags",
            hint="leave out --ops, or the other flags",
        )
    if measure and faults != ANY_FAULTS:
        raise InputError(
            "--measure ranks measurements of a healthy machine: --fault does not apply",
            code="conflicting-flags",
            hint="leave out --fault, or --measure",
        )
    if engine.fidelity != ANY_ENGINE.fidelity:
        raise InputError("what-ifs run folded, which is exact", code="conflicting-flags", hint="leave out --fidelity")


def _operators(
    workload: str,
    request: tuple[MachineFlags, MappingFlags, ConfigurationFlags],
    report: ReportFlags,
    output: OutputFlags,
) -> int:
    ranking = podsim.explain_operators(workload, **keywords(*request))
    give_answer(output, ranking)
    save_answer(report, output, ranking, None)
    return ExitCode.ANSWERED


def _measurements(workload: str, table: dict[str, Any], report: ReportFlags, output: OutputFlags) -> int:
    with progress("measurements", output) as on_progress:
        ranking = podsim.explain_measurements(workload, on_progress=on_progress, **table)
    give_answer(output, ranking)
    save_answer(report, output, ranking, None)
    return ExitCode.ANSWERED
