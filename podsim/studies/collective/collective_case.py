"""The collective that flags mean, on its network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.files import catalog
from podsim.files.changes import apply_to_parameters
from podsim.resolve import topology as machine_of
from podsim.scenario import MachineSpec, change_texts
from podsim.studies.collective.simulation import CollectiveArguments, CollectiveCase, resolved_case
from podsim.topology import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def collective(
    kind: str,
    volume: str | float,
    *,
    pod: int | None,
    topology: str | None,
    group: str | int,
    ipus_per_replica: int,
    algorithm: str | None,
    chunks: int,
    pace: str | None,
    changes: Mapping[str, str] | Sequence[str],
    fidelity: str,
) -> CollectiveCase:
    """The collective that flags mean, on its network; `volume` is in bytes or a text with a unit."""
    stated_changes = change_texts(changes)
    if topology is not None and pod is None:
        network = build.network(catalog.network(topology, stated_changes).value)
    else:
        network = build.network(machine_of(MachineSpec(pod=pod, topology=topology), stated_changes).value)
    arguments = CollectiveArguments(volume, str(group), ipus_per_replica, algorithm, chunks, pace, fidelity)
    return resolved_case(kind, network, arguments, apply_to_parameters(catalog.parameters(), stated_changes))
