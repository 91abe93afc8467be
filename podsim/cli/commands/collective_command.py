"""`podsim collective`."""

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

import podsim
from podsim.cli.answer import give_answer
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_FAULTS,
    ANY_OUTPUT,
    ENGINE,
    MACHINE,
    FaultFlags,
    OutputFlags,
    flag,
)
from podsim.cli.out import STDOUT, SUFFIXES, OutFile, check_out, write_trace
from podsim.cli.saving import CoverFlags, ReportFlags, save_answer
from podsim.errors import InputError
from podsim.report import answer_file

HOW = Group("collective", sort_key=0)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class CollectiveFlags:
    """How much, among whom and how."""

    bytes: Annotated[str, flag("collective", "bytes", HOW)]
    group: Annotated[str, flag("collective", "group", HOW, show_default=True)] = "all"

    ipus_per_replica: Annotated[int, flag("collective", "ipus_per_replica", HOW, show_default=True)] = 1
    algorithm: Annotated[str | None, flag("collective", "algorithm", HOW)] = None

    chunks: Annotated[int, flag("collective", "chunks", HOW, show_default=True)] = 1


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFlags:
    """On which links, and how they are run."""

    pod: Annotated[int | None, flag("collective", "pod", MACHINE)] = None
    topology: Annotated[str | None, flag("collective", "topology", MACHINE)] = None

    set: Annotated[tuple[str, ...], flag("collective", "changes", MACHINE)] = ()
    pace: Annotated[Literal["lockstep", "messages"] | None, flag("collective", "pace", ENGINE)] = None

    engine: Annotated[Literal["des", "analytic"], flag("collective", "engine", ENGINE, show_default=True)] = "des"
    fidelity: Annotated[Literal["folded", "full"], flag("collective", "fidelity", ENGINE, show_default=True)] = "folded"


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFlags(CoverFlags):
    """What is written besides the screen: a document, or a trace, and how much of it."""

    out: OutFile = None
    "Write a document here (.html, .pdf, .docx, .pptx, .svg, .png or .csv), or else a trace; - is stdout."

    most_spans: Annotated[int, flag("trace_collective", "most_spans", show_default=True)] = 200_000


ANY_DRAWN = DrawnFlags()
ANY_NETWORK = NetworkFlags()


def collective(
    what: str,
    /,
    *,
    how: CollectiveFlags,
    network: NetworkFlags = ANY_NETWORK,
    faults: FaultFlags = ANY_FAULTS,
    drawing: DrawnFlags = ANY_DRAWN,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Run one collective on the links of a machine or a generic fabric: its time, link loads, and lower bound.

    Parameters
    ----------
    what
        all-reduce, reduce-scatter, all-gather, broadcast or all-to-all.
    """
    output.check()
    report = _report(drawing)
    if report.out is None:
        check_out(drawing.out)
    ask = partial(
        podsim.collective,
        what,
        bytes=how.bytes,
        group=how.group,
        ipus_per_replica=how.ipus_per_replica,
        chunks=how.chunks,
        pod=network.pod,
        topology=network.topology,
        changes=network.set,
        pace=network.pace,
        engine=network.engine,
        fidelity=network.fidelity,
    )
    answer = ask(algorithm=how.algorithm, faults=faults.fault)
    if drawing.out is not None and report.out is None:
        if faults.fault:
            raise InputError("a trace is of a whole fabric: leave out --fault or --out", code="conflicting-flags")
        draw = partial(podsim.trace_collective, *ask.args, **ask.keywords)
        if write_trace(draw(algorithm=answer.algorithm, most_spans=drawing.most_spans), drawing.out) == STDOUT:
            return ExitCode.ANSWERED
    give_answer(output, answer)
    save_answer(report, output, answer, {})
    return ExitCode.ANSWERED


def _report(drawing: DrawnFlags) -> ReportFlags:
    """Where a document goes, by the suffix of the file; nowhere where the file is a trace."""
    suffix = Path(drawing.out or "").suffix.lower()
    is_report = suffix in answer_file.SUFFIXES and suffix not in SUFFIXES
    cover = {name: getattr(drawing, name) for name in ("title", "customer", "date", "author")}
    report = ReportFlags(out=drawing.out if is_report else None, **cover)
    report.check()
    return report
