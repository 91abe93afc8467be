"""`podsim trace`."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from podsim.cli.answer import give
from podsim.cli.console import put
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
    whole_or_zero,
)
from podsim.errors import InputError
from podsim.model.trace import Trace
from podsim.report import chrome_trace, json_text
from podsim.report.views import trace as view

STDOUT = "-"
SUFFIXES = ("", ".json", ".trace")


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class TraceFlags:
    """What is shown, and where it goes."""

    level: Annotated[Literal["pod", "tile"], Parameter(show_default=True)] = "pod"
    "The tasks of a step on all IPUs, or the supersteps of one stage on the tiles of its IPU."

    stage: Annotated[int | None, Parameter(converter=whole_or_zero, metavar="N")] = None
    "Which stage, with --level tile [default: the one with most arithmetic]."

    out: Annotated[str | None, Parameter(name=("--out", "-o"), metavar="FILE", allow_leading_hyphen=True)] = None
    "Write the trace here, in the Trace Event Format; - is stdout."

    def check(self) -> None:
        """Raise InputError where a flag was taken for the file, or the file is to be of another format."""
        if self.out is not None and self.out != STDOUT and self.out.startswith("-"):
            raise InputError(
                f"--out wants a file, not {self.out}", code="bad-value", hint=f"./{self.out} is a file of that name"
            )
        path = Path(self.out or "")
        if path.suffix.lower() not in SUFFIXES and (path.is_file() or not path.exists()):
            other = path.with_suffix(".json")
            raise InputError(f"a trace is JSON, not {path.suffix}", code="bad-value", hint=f"--out {other}")


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
    shown.check()
    found = _ask(workload, shown, machine, mapping, practice, engine, faults=faults)
    if shown.out == STDOUT:
        put(chrome_trace.text(found), sys.stdout)
        return ExitCode.ANSWERED
    if shown.out is not None:
        from podsim.files.write import write_atomic

        write_atomic(Path(shown.out), chrome_trace.text(found))
    give(
        output,
        screen=lambda: view.document(found, shown.out or ""),
        json_text=lambda: json_text.trace(found),
        line=lambda: view.answer(found),
    )
    return ExitCode.ANSWERED


def _ask(
    workload: str,
    shown: TraceFlags,
    machine: MachineFlags,
    mapping: MappingFlags,
    practice: PracticeFlags,
    engine: EngineFlags,
    *,
    faults: FaultFlags,
) -> Trace:
    """Flags to keywords, one to one."""
    from podsim import api

    return api.trace(
        workload,
        level=shown.level,
        stage=shown.stage,
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
        engine=engine.engine,
        fidelity=engine.fidelity,
        faults=faults.fault,
    )
