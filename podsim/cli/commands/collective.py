"""`podsim collective`."""

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import (
    ANY_FAULTS,
    ANY_OUTPUT,
    ENGINE,
    MACHINE,
    Count,
    FaultFlags,
    Name,
    NameOrFile,
    OutputFlags,
    whole,
)
from podsim.cli.out import STDOUT, OutFile, check_out, write_trace
from podsim.errors import InputError
from podsim.report import json_text
from podsim.report.views import collective as view

HOW = Group("collective", sort_key=0)
AtLeastOne = Annotated[int, Parameter(group=HOW, converter=whole, metavar="N", show_default=True)]


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class CollectiveFlags:
    """How much, among whom and how."""

    bytes: Annotated[str, Parameter(group=HOW, metavar="SIZE")]
    "Buffer of one member: before a reduce-scatter, after an all-gather, all it sends in an all-to-all."

    group: Annotated[str, Parameter(group=HOW, metavar="GROUP", show_default=True)] = "all"
    "Who works together: all, rack, across-racks, consecutive:N (or N), orthogonal:N."

    ipus_per_replica: AtLeastOne = 1
    "Members are replicas of so many IPUs: a collective for each of their places, all at once."

    algorithm: Annotated[Name, Parameter(group=HOW)] = None
    "ring, ring-pair, meet-in-the-middle, ladder-ring, halving-doubling, tree, direct, torus, three-phase [the best]."

    chunks: AtLeastOne = 1
    "Parts of the buffer that follow each other through the phases."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class NetworkFlags:
    """On which links, and how they are run."""

    pod: Annotated[Count, Parameter(group=MACHINE)] = None
    "IPUs of an IPU-POD, a power of two."

    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None
    "A machine or generic fabric by name or file, instead of --pod."

    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = ()
    'Change a number, repeatable: gw-link.bandwidth="400 Gbit/s".'

    pace: Annotated[Literal["lockstep", "messages"] | None, Parameter(group=ENGINE)] = None
    "Next step after all messages of one (machines), or after a member's own (generic fabrics)."

    engine: Annotated[Literal["des", "analytic"], Parameter(group=ENGINE, show_default=True)] = "des"
    "Discrete events, or each step alone on the links."

    fidelity: Annotated[Literal["folded", "full"], Parameter(group=ENGINE, show_default=True)] = "folded"
    "Run one of each set of equal members, or all."


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class DrawnFlags:
    """Whether a trace is written, and how much of it."""

    out: OutFile = None
    "Write when everything happens here, in the Trace Event Format; - is stdout."

    most_spans: Annotated[int, Parameter(converter=whole, metavar="N", show_default=True)] = 200_000
    "Spans written at most (101 or more), and as many changes of link load; the rest, in the middle, is left out."


ANY_DRAWN = DrawnFlags()
ANY_NETWORK = NetworkFlags()


def collective(
    what: str,
    /,
    *,
    how: CollectiveFlags,
    network: NetworkFlags = ANY_NETWORK,
    faults: FaultFlags = ANY_FAULTS,
    drawn: DrawnFlags = ANY_DRAWN,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Run one collective on the links of a machine or a generic fabric: its time, what it loads, the least possible.

    Parameters
    ----------
    what
        all-reduce, reduce-scatter, all-gather, broadcast or all-to-all.
    """
    output.check()
    check_out(drawn.out)
    from podsim import api

    ask = partial(
        api.collective, what, bytes=how.bytes, group=how.group, ipus_per_replica=how.ipus_per_replica,
        chunks=how.chunks, pod=network.pod, topology=network.topology, changes=network.set, pace=network.pace,
        engine=network.engine, fidelity=network.fidelity,
    )  # fmt: skip
    answer = ask(algorithm=how.algorithm, faults=faults.fault)
    if drawn.out is not None:
        if faults.fault:
            raise InputError("a trace is of a whole fabric: leave out --fault or --out", code="conflicting-flags")
        draw = partial(api.trace_collective, *ask.args, **ask.keywords)
        if write_trace(draw(algorithm=answer.algorithm, most_spans=drawn.most_spans), drawn.out) == STDOUT:
            return ExitCode.ANSWERED
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_text.collective(answer),
        line=lambda: view.answer(answer),
    )
    return ExitCode.ANSWERED
