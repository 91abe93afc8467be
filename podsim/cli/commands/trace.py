"""`podsim trace`."""

from dataclasses import dataclass
from typing import Annotated, Literal

from cyclopts import Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_ENGINE,
    ANY_FAULTS,
    ANY_MACHINE,
    ANY_MAPPING,
    ANY_OUTPUT,
    ANY_PRACTICE,
    EngineFlags,
    FaultFlags,
    MachineFlags,
    MappingFlags,
    OutputFlags,
    PracticeFlags,
    keywords,
    positive_or_zero,
    whole,
    whole_or_zero,
)
from podsim.cli.out import STDOUT, OutFile, check_out, write_trace
from podsim.report import json_text
from podsim.report.views import trace as view


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class TraceFlags:
    """What is shown, and where it goes."""

    level: Annotated[Literal["pod", "tile"], Parameter(show_default=True)] = "pod"
    "The tasks of a step on all IPUs, or the supersteps of one stage on the tiles of its IPU."

    stage: Annotated[int | None, Parameter(converter=whole_or_zero, metavar="N")] = None
    "Which stage, with --level tile [default: the one with most arithmetic]."

    steps: Annotated[int, Parameter(converter=whole, metavar="N", show_default=True)] = 1
    "Steps drawn, one after the other, at most 100."

    noise_scale: Annotated[float | None, Parameter(converter=positive_or_zero, metavar="X")] = None
    "Draw steps with noise, delays X times as long as in published runs [default: no noise]."

    most_spans: Annotated[int, Parameter(converter=whole, metavar="N", show_default=True)] = 200_000
    "Spans drawn at most (101 or more), and as many changes of link load; the rest, in the middle, is left out."

    out: OutFile = None
    "Write the trace here, in the Trace Event Format; - is stdout."


ANY_TRACE = TraceFlags()


def trace(
    workload: str,
    /,
    *,
    shown: TraceFlags = ANY_TRACE,
    machine: MachineFlags = ANY_MACHINE,
    mapping: MappingFlags = ANY_MAPPING,
    practice: PracticeFlags = ANY_PRACTICE,
    engine: EngineFlags = ANY_ENGINE,
    faults: FaultFlags = ANY_FAULTS,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Show when everything of one step happens, for a timeline viewer: ui.perfetto.dev or chrome://tracing.

    Parameters
    ----------
    workload
        A name (podsim workload list) or a file.
    """
    output.check()
    check_out(shown.out)
    from podsim import api

    found = api.trace(workload, **keywords(shown, machine, mapping, practice, engine, faults))
    written = write_trace(found, shown.out)
    if written == STDOUT:
        return ExitCode.ANSWERED
    give(
        output,
        screen=lambda: view.document(found, written),
        json_text=lambda: json_text.trace(found),
        line=lambda: view.answer(found),
    )
    return ExitCode.ANSWERED
