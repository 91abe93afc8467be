"""`podsim trace`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

import podsim
from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_CONFIGURATION,
    ANY_ENGINE,
    ANY_FAULTS,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_OUTPUT,
    ConfigurationFlags,
    EngineFlags,
    FaultFlags,
    MachineFlags,
    MappingFlags,
    OutputFlags,
    flag,
    keywords,
)
from podsim.cli.out import STDOUT, OutFile, check_out, write_trace
from podsim.errors import InputError
from podsim.studies import documents
from podsim.studies.trace import difference_report
from podsim.studies.trace import report as view


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class TraceFlags:
    """What is shown, and where it goes."""

    level: Annotated[Literal["pod", "tile"], flag("trace", "level", show_default=True)] = "pod"
    stage: Annotated[int | None, flag("trace", "stage")] = None

    steps: Annotated[int, flag("trace", "steps", show_default=True)] = 1
    noise_scale: Annotated[float | None, flag("trace", "noise_scale")] = None

    most_spans: Annotated[int, flag("trace", "most_spans", show_default=True)] = 200_000

    out: OutFile = None
    "Write the trace here, in the Trace Event Format; - is stdout."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class DifferenceFlags:
    """Two traces instead of one."""

    diff: Annotated[tuple[str, str] | None, Parameter(metavar="OLD NEW")] = None
    "Say what got longer between two traces written with --out or --json, instead of tracing a workload."


ANY_TRACE, ANY_DIFFERENCE = TraceFlags(), DifferenceFlags()
NOTHING_ASKED = (ANY_TRACE, ANY_MACHINE, ANY_MAPPING, ANY_CONFIGURATION, ANY_ENGINE, ANY_FAULTS)


def trace(
    workload: str | None = None,
    /,
    *,
    difference: DifferenceFlags = ANY_DIFFERENCE,
    trace_flags: TraceFlags = ANY_TRACE,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    configuration: ConfigurationFlags = ANY_CONFIGURATION,
    engine: EngineFlags = ANY_ENGINE,
    faults: FaultFlags = ANY_FAULTS,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Show when everything of one step happens, for a timeline viewer: ui.perfetto.dev or chrome://tracing.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file; --diff takes two traces instead.
    """
    output.check()
    check_out(trace_flags.out)
    question = (trace_flags, machine, mapping, configuration, engine, faults)
    if difference.diff is not None:
        if workload is not None or question != NOTHING_ASKED:
            raise InputError(
                "--diff compares two traces that are there, and takes no workload and no flags of one",
                code="conflicting-flags",
                hint="podsim trace --diff old.json new.json",
            )
        return _compare(*difference.diff, output)
    if workload is None:
        raise InputError(
            "give a workload, or two traces with --diff", code="missing-argument", hint="podsim trace bert --pod 16"
        )
    trace = podsim.trace(workload, **keywords(*question))
    trace_path = write_trace(trace, trace_flags.out)
    if trace_path == STDOUT:
        return ExitCode.ANSWERED
    give(
        output,
        screen=lambda: view.document(trace, trace_path),
        document=documents.answer_document(trace),
        line=lambda: view.answer(trace),
    )
    return ExitCode.ANSWERED


def _compare(old: str, new: str, output: OutputFlags) -> int:
    """What got longer between two traces."""
    answer = podsim.trace_diff(old, new)
    give(
        output,
        screen=lambda: difference_report.document(answer, verbose=output.verbose),
        document=documents.answer_document(answer),
        line=lambda: difference_report.answer(answer),
    )
    return ExitCode.ANSWERED
