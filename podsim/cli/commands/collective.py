"""`podsim collective`."""

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
    NameOrFile,
    OutputFlags,
    whole,
)
from podsim.report import json_text
from podsim.report.views import collective as view

WHAT = Group("collective", sort_key=0)
At = Annotated[int, Parameter(group=WHAT, converter=whole, metavar="N", show_default=True)]


def collective(
    what: str,
    /,
    *,
    bytes: Annotated[str, Parameter(group=WHAT, metavar="SIZE")],
    pod: Annotated[Count, Parameter(group=MACHINE)] = None,
    topology: Annotated[NameOrFile, Parameter(group=MACHINE)] = None,
    set: Annotated[tuple[str, ...], Parameter(group=MACHINE, metavar="PATH=VALUE")] = (),
    group: Annotated[str, Parameter(group=WHAT, metavar="GROUP", show_default=True)] = "all",
    ipus_per_replica: At = 1,
    algorithm: Annotated[str | None, Parameter(group=WHAT, metavar="NAME")] = None,
    chunks: At = 1,
    pace: Annotated[Literal["lockstep", "messages"] | None, Parameter(group=ENGINE)] = None,
    engine: Annotated[Literal["des", "analytic"], Parameter(group=ENGINE, show_default=True)] = "des",
    fidelity: Annotated[Literal["folded", "full"], Parameter(group=ENGINE, show_default=True)] = "folded",
    faults: FaultFlags = ANY_FAULTS,
    output: OutputFlags = ANY_OUTPUT,
) -> int:
    """Run one collective on the links of a machine or a generic fabric: its time, what it loads, the least possible.

    Parameters
    ----------
    what
        all-reduce, reduce-scatter, all-gather, broadcast or all-to-all.
    bytes
        Buffer of one member: before a reduce-scatter, after an all-gather, all that it sends in an all-to-all.
    pod
        IPUs of an IPU-POD, a power of two.
    topology
        A machine or generic fabric by name or file, instead of --pod.
    set
        Change a number, repeatable: gw-link.bandwidth="400 Gbit/s".
    group
        Who works together: all, rack, across-racks, consecutive:N (or N), orthogonal:N.
    ipus_per_replica
        Members are replicas of so many IPUs: one collective for each of their places, all at once.
    algorithm
        ring, ring-pair, meet-in-the-middle, ladder-ring, halving-doubling, tree, direct, torus or three-phase
        [default: the soonest].
    chunks
        Parts of the buffer that follow each other through the phases.
    pace
        Next step after all messages of one (machines), or after a member's own (generic fabrics).
    engine
        Discrete events, or each step alone on the links.
    fidelity
        Run one of each set of equal members, or all.
    """
    output.check()
    from podsim import api

    answer = api.collective(
        what, bytes=bytes, pod=pod, topology=topology, group=group, ipus_per_replica=ipus_per_replica,
        algorithm=algorithm, chunks=chunks, pace=pace, changes=set, engine=engine, fidelity=fidelity,
        faults=faults.fault,
    )  # fmt: skip
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_text.collective(answer),
        line=lambda: view.answer(answer),
    )
    return ExitCode.ANSWERED
