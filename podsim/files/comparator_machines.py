"""Chips that are no IPUs and their machines from `topologies/comparators`, and the laws fitted to their results."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from podsim.errors import InputError, MissingParameter
from podsim.files import find
from podsim.files.comparator_results import FOLDER, WHAT
from podsim.files.contents import is_there, mentions
from podsim.files.file_faults import printable, value_text
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.arguments import CHIPS
from podsim.model.comparator import ComparatorChip, ComparatorMachine, Laws
from podsim.model.displayable import Displayable
from podsim.units import whole

MOST_CHIPS: Final = int(CHIPS.high)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MachineWithChip(Displayable):
    """One machine with the chip that is in it."""

    chip: Document[ComparatorChip]
    machine: ComparatorMachine

    def __repr__(self) -> str:
        """Its name and its chips: of machine and chip each number would be listed."""
        return f"MachineWithChip({self.machine.name}: {self.machine.chips} × {self.chip.value.name})"

    @property
    def workloads_with_law(self) -> tuple[str, ...]:
        """Workloads whose training time on this chip a fitted law gives; MissingParameter where none was fitted."""
        return tuple(name for name, table in laws().workload.items() if self.chip.value.name in table.chip)


def chips() -> tuple[Document[ComparatorChip], ...]:
    """Every chip that is no IPU, by the order of its name; InputError where a file has faults."""
    folder = find.data_folder("topologies") / FOLDER
    return tuple(read(path, ComparatorChip, WHAT) for path in sorted(folder.glob("*.toml")))


def machines() -> dict[str, MachineWithChip]:
    """Every machine of such chips by name."""
    return {
        machine.name: MachineWithChip(chip=chip, machine=machine) for chip in chips() for machine in chip.value.machines
    }


def is_comparator(name: str) -> bool:
    """Whether a text names such a machine; only a file that mentions it is worth reading."""
    if not find.is_name(name):
        return False
    folder = find.data_folder("topologies") / FOLDER
    return any(mentions(path, f'"{name}"') for path in folder.glob("*.toml")) and name in machines()


def names_comparator(text: str) -> bool:
    """Whether a text means such a machine, "dgx-a100" or "dgx-a100:64", and none of IPUs of the same name."""
    name = text.partition(":")[0]
    return name not in find.names("topologies") and is_comparator(name)


def name_and_count(text: str, flag: str = "write ") -> tuple[str, int | None]:
    """The name and the number of chips of a text such as "dgx-a100:64"; None where it has none, as "dgx-a100".

    Raises InputError where what follows the colon is no count, `flag` before the name in its hint.
    """
    name, colon, chips = text.partition(":")
    number = whole(chips)
    if colon and number is None:
        raise InputError(
            f"{printable(value_text(text))} does not say how many chips",
            code="bad-value",
            hint=f"{flag}{shlex.quote(printable(name))}:64",
        )
    return name, number if colon else None


def machine(name: str) -> MachineWithChip:
    """The machine of that name; InputError where there is none."""
    placements = machines()
    if name not in placements:
        raise find.unknown_name("topologies", name, tuple(placements))
    return placements[name]


def count(comparator: MachineWithChip, number: int | None, flag: str = "--chips ") -> int:
    """The number of chips that is meant; InputError where no machine comes to that many, `flag` before the hint."""
    machine = comparator.machine
    chips = machine.chips if number is None else number
    whole = max(1, round(chips / machine.multiple)) * machine.multiple
    if not 1 <= chips <= MOST_CHIPS:
        raise InputError(
            f"chips must be from 1 to {MOST_CHIPS:,}, not {chips:,}", code="bad-value", hint=f"{flag}{machine.chips}"
        )
    if chips != whole:
        raise InputError(
            f"{machine.name} comes in portions of {machine.multiple} chips, not {chips:,}",
            code="bad-mapping",
            hint=f"{flag}{whole}",
        )
    return chips


def chip_of_loaded(file: LoadedFile) -> Document[ComparatorChip]:
    """The chip of a file that was read; InputError with every fault of the file."""
    return document(file, ComparatorChip)


def laws_of_loaded(file: LoadedFile) -> Document[Laws]:
    """The laws of a file that was read; InputError with every fault of the file."""
    return document(file, Laws)


def laws_path() -> Path:
    """Where the fitted laws stand."""
    return find.data_folder("calibration") / FOLDER / "parameters.toml"


def laws() -> Laws:
    """What `calibrate --comparators` has learned; MissingParameter where it has not been run."""
    path = laws_path()
    if not is_there(path):
        raise MissingParameter(
            f"there are no laws of other chips: no {FOLDER}/{path.name}", hint="podsim calibrate --comparators"
        )
    return read(path, Laws, "laws").value
