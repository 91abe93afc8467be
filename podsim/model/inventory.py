"""Machines that a buyer has already."""

from dataclasses import dataclass
from typing import Annotated, Final

from podsim.model.quantity import Count, Key

MOST_ENTRIES: Final = 32
MOST_MACHINES: Final = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class InventoryMachine:
    """Like machines of an inventory: `hosts` servers feed each, None for as many as the machine ships with.

    `chip` is that of another family than the topology's: pod64 with bow is bow-pod64. `name` is what screens call them.
    """

    topology: str
    count: Count = 1
    chip: str = ""
    hosts: Count | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if self.count > MOST_MACHINES:
            raise ValueError(f"count: at most {MOST_MACHINES:,} machines")


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    """All machines that are there."""

    machines: Annotated[tuple[InventoryMachine, ...], Key("machine")]

    def __post_init__(self) -> None:
        if not 1 <= len(self.machines) <= MOST_ENTRIES:
            raise ValueError(f"machine: an inventory has from 1 to {MOST_ENTRIES} entries")
