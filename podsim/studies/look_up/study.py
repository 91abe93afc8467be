"""The verbs that look things up: machines, workloads, chips, files and settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.files import catalog, comparator_machines, settings
from podsim.model.displayable import ByName, Listing
from podsim.studies.argument_check import check_arguments

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from podsim.files.catalog import CheckedFile
    from podsim.files.comparator_machines import MachineWithChip
    from podsim.files.read import Document
    from podsim.files.settings import Files
    from podsim.model.chip import Chip
    from podsim.model.fabric import GenericFabric, Topology
    from podsim.model.workload import Workload


@check_arguments
def list_chips() -> tuple[Chip, ...]:
    """The chips that have a name."""
    return Listing(catalog.chip(name).value for name in catalog.names("chips"))


@check_arguments
def show_chip(name: str) -> Document[Chip]:
    """A chip by name or file, with the source of each number."""
    return replace(catalog.chip(name))  # the one that is kept for the next call has no question


@check_arguments
def list_topologies() -> Mapping[str, Topology | GenericFabric | MachineWithChip]:
    """The machines, generic fabrics and machines without IPUs that have a name."""
    return ByName(
        {
            **{name: catalog.topology(name).value for name in catalog.names("topologies")},
            **{name: catalog.fabric(name).value for name in catalog.names("fabrics")},
            **comparator_machines.machines(),
        }
    )


@check_arguments
def show_topology(name: str) -> Document[Topology] | Document[GenericFabric] | MachineWithChip:
    """A machine by name or file, with the source of each number: a pod, a generic fabric or a machine without IPUs."""
    if name not in catalog.names("topologies") and comparator_machines.is_comparator(name):
        return replace(comparator_machines.machine(name))
    return replace(catalog.network(name))


@check_arguments
def list_workloads() -> tuple[Workload, ...]:
    """The workloads that have a name."""
    return Listing(catalog.workload(name).value for name in catalog.names("workloads"))


@check_arguments
def show_workload(name: str, *, changes: Mapping[str, str] | Sequence[str] = ()) -> Document[Workload]:
    """A workload by name or file, with the source of each number; `changes` begin with "workload." or "import."."""
    return replace(catalog.workload(name, changes))


@check_arguments
def check(file: str | Path) -> CheckedFile:
    """Read a file of any kind and say what it is and what it holds.

    Raises InputError with all faults of the file and their lines.
    """
    return catalog.describe(Path(file))


@check_arguments
def config() -> Files:
    """The settings files that are read, the nearest first, and those that are ignored, with the reason."""
    return settings.files()
