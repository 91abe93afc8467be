"""Machines that a buyer has already: `podsim plan bert --own FILE`."""

from collections.abc import Iterator
from pathlib import Path

from podsim.errors import InputError
from podsim.files import catalog, comparator_machines
from podsim.files.file_faults import Fault
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.fabric import Topology
from podsim.model.inventory import Inventory, InventoryMachine


def inventory(path: str) -> Inventory:
    """The machines of a file; InputError with every fault of the file."""
    return of_loaded(load(Path(path), "inventory")).value


def of_loaded(file: LoadedFile) -> Document[Inventory]:
    """The machines of a file that was read; InputError with every fault of the file."""
    return document(file, Inventory, faults, alone=False)


def name(machine: InventoryMachine) -> str:
    """The name or path of a machine, its chip included: bow-pod64 for pod64 with bow.

    Raises InputError where there is no such machine, or no family has the chip.
    """
    if not machine.chip:
        return machine.topology
    topology = catalog.topology(machine.topology).value
    if machine.chip == topology.chip.name:
        return machine.topology
    if not _of_family(topology):
        raise InputError(
            f"{topology.title} comes with {topology.chip.name} alone: a machine of its own is a file "
            "(docs/reference/formats.md)",
            code="unknown-chip",
        )
    return catalog.pod_name(topology.ipus, machine.chip)


def _of_family(topology: Topology) -> bool:
    """Whether a family of machines builds this one by its IPUs."""
    try:
        return catalog.pod(topology.ipus, topology.chip.name).value.name == topology.name
    except InputError:
        return False


def faults(inventory: Inventory | None, _tables: object) -> Iterator[Fault]:
    """Machines that are not known or have no IPUs, chips that do not suit them, more hosts than they take."""
    for at, machine in enumerate(inventory.machines if inventory else ()):
        if comparator_machines.names_comparator(machine.topology):
            text = f"{machine.topology} has no IPUs: owned machines are IPU machines, others are compared by --against"
            yield Fault(("machine", at, "topology"), text)
            continue
        try:
            catalog.topology(machine.topology)
        except InputError as error:
            hint = f" ({error.hint})" if error.hint else ""
            yield Fault(("machine", at, "topology"), f"{error.message}{hint}")
            continue
        try:
            topology = catalog.topology(name(machine)).value
        except InputError as error:
            yield Fault(("machine", at, "chip"), error.message)
            continue
        most = topology.hosts.most_servers
        if machine.hosts is not None and machine.hosts > most:
            text = f"{topology.title} takes at most {most:,} hosts, not {machine.hosts:,}"
            yield Fault(("machine", at, "hosts"), text)
