"""`calibration/prices/*.toml`: what systems cost and draw; and a user's own list."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from podsim.errors import InputError, MissingParameter
from podsim.files import catalog, find
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.prices import PriceList, Terms


def prices(own: Path | None = None) -> PriceList:
    """The prices of all files, after those of a user's `own`.

    Raises MissingParameter where there are none, InputError where a file has faults.
    """
    over = PriceList()
    for path in sorted((find.data_folder("calibration") / "prices").glob("*.toml")):
        over = over.over(read(path, PriceList, "prices").value)
    if not over.prices:
        raise MissingParameter("no prices", hint="calibration/README.md says where prices stand")
    return of_file(own).value.over(over) if own is not None else over


def of_file(path: Path) -> Document[PriceList]:
    """A user's own list; InputError where it has faults, such as machines that podsim does not know."""
    return read(path, PriceList, "prices", faults, alone=False)


def of_loaded(file: LoadedFile) -> Document[PriceList]:
    """The prices of a file that was read; InputError with every fault of the file."""
    return document(file, PriceList, faults, alone=False)


def faults(_list: PriceList | None, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Machines that nothing is known of."""
    names: list[str] = []
    for key in ("price", "power"):
        rows = tables.get(key)
        for at, row in enumerate(rows if isinstance(rows, list) else ()):
            name = row.get("machine") if isinstance(row, dict) else None
            names = names or _names()
            if isinstance(name, str) and name not in names and not _is_machine(name):
                yield Fault((key, at, "machine"), unknown_choice(name, names))


def _names() -> list[str]:
    """Machines of shipped lists, topologies and machines without IPUs."""
    price_list = prices()
    machine_names = (*(price.machine for price in price_list.prices), *(power.machine for power in price_list.powers))
    return list(dict.fromkeys((*catalog.names("topologies"), *catalog.without_ipus(), *machine_names)))


def _is_machine(name: str) -> bool:
    """Whether a machine of any size goes by that name: pod512."""
    try:
        catalog.topology(name)
    except InputError:
        return False
    return True


def terms(result: PriceList) -> Terms:
    """The terms of a list; MissingParameter where none states any."""
    if result.terms is None:
        raise MissingParameter("no terms of use", hint="[terms] in calibration/prices")
    return result.terms
