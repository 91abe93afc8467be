"""The verbs about one collective: wiring only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from podsim.resolve import engine_of
from podsim.studies.argument_check import check_arguments
from podsim.studies.collective import broken_links as collective_faults
from podsim.studies.collective import collective_case as collective_arguments
from podsim.studies.collective import simulation as predicting

if TYPE_CHECKING:
    from podsim.model.collective import CollectiveReport
    from podsim.model.trace import Trace


@check_arguments
def collective(
    collective: str,
    *,
    bytes: str | float,  # noqa: A002  (named after the flag)
    pod: int | None = None,
    topology: str | None = None,
    group: str | int = "all",
    ipus_per_replica: int = 1,
    algorithm: str | None = None,
    chunks: int = 1,
    pace: Literal["lockstep", "messages"] | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    faults: Sequence[str] = (),
) -> CollectiveReport:
    """Simulate one collective on the links of a machine or fabric.

    Raises InputError where the group or the algorithm is not possible on that machine.
    """
    case = collective_arguments.collective(
        collective,
        bytes,
        pod=pod,
        topology=topology,
        group=group,
        ipus_per_replica=ipus_per_replica,
        algorithm=algorithm,
        chunks=chunks,
        pace=pace,
        changes=changes,
        fidelity=fidelity,
    )
    if not faults:
        return predicting.answer(case, engine_of(engine), engine)
    return collective_faults.compare_with_faults(case, (engine_of(engine), engine), faults)


@check_arguments
def trace_collective(
    collective: str,
    *,
    bytes: str | float,  # noqa: A002  (named after the flag)
    pod: int | None = None,
    topology: str | None = None,
    group: str | int = "all",
    ipus_per_replica: int = 1,
    algorithm: str | None = None,
    chunks: int = 1,
    pace: Literal["lockstep", "messages"] | None = None,
    changes: Mapping[str, str] | Sequence[str] = (),
    engine: Literal["des", "analytic"] = "des",
    fidelity: Literal["folded", "full"] = "folded",
    most_spans: int = 200_000,
) -> Trace:
    """When each message of a collective happens, and how much of its bandwidth each link carries."""
    case = collective_arguments.collective(
        collective,
        bytes,
        pod=pod,
        topology=topology,
        group=group,
        ipus_per_replica=ipus_per_replica,
        algorithm=algorithm,
        chunks=chunks,
        pace=pace,
        changes=changes,
        fidelity=fidelity,
    )
    return predicting.trace(case, engine_of(engine), engine, most_spans)
