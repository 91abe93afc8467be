"""`podsim collective`."""

from functools import partial
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from podsim.cli.answer import give
from podsim.cli.exit import ExitCode
from podsim.cli.options import ANY_OUTPUT, ENGINE, MACHINE, Count, NameOrFile, OutputFlags, whole
from podsim.cli.out import OutFile, check_out, write_trace
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
    out: OutFile = None,
    most_spans: Annotated[int, Parameter(converter=whole, metavar="N", show_default=True)] = 200_000,
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
    out
        Write when everything happens here, in the Trace Event Format; - is stdout.
    most_spans
        Spans written at most, and as many changes of link load; the rest, in the middle, is left out.
    """
    output.check()
    check_out(out)
    from podsim import api

    ask = partial(
        api.collective, what, bytes=bytes, pod=pod, topology=topology, group=group, ipus_per_replica=ipus_per_replica,
        chunks=chunks, pace=pace, changes=set, engine=engine, fidelity=fidelity,
    )  # fmt: skip
    answer = ask(algorithm=algorithm)
    if out is not None:
        drawn = partial(api.trace_collective, *ask.args, **ask.keywords)
        if write_trace(drawn(algorithm=answer.algorithm, most_spans=most_spans), out):
            return ExitCode.ANSWERED
    give(
        output,
        screen=lambda: view.document(answer, verbose=output.verbose),
        json_text=lambda: json_text.collective(answer),
        line=lambda: view.answer(answer),
    )
    return ExitCode.ANSWERED
