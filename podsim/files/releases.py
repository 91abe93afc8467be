"""`calibration/sdk.toml`: releases of the software that an answer may be for."""

import re
from collections.abc import Iterator
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.maturity import Releases

NAME: Final = re.compile(r"\d{1,3}\.\d{1,3}", re.ASCII)
MONTH: Final = re.compile(r"20\d\d-(0[1-9]|1[0-2])", re.ASCII)


def releases() -> Document[Releases]:
    """Releases with their months, and what is claimed between two.

    Raises MissingParameter: there is no such file. InputError: it has faults.
    """
    path = find.data_folder("calibration") / "sdk.toml"
    if not is_there(path):
        raise MissingParameter(f"no list of releases: {path.name}", hint="calibration/README.md")
    return read(path, Releases, "sdk", faults)


def of_loaded(file: LoadedFile) -> Document[Releases]:
    """The releases of a file that was read; InputError with every fault of the file."""
    return document(file, Releases, faults)


def faults(releases: Releases | None, _tables: object) -> Iterator[Fault]:
    """Releases that are none or stand twice, and claims about unknown ones or backwards in time."""
    if releases is None:
        return
    years: dict[str, float] = {}
    for at, release in enumerate(releases.releases):
        if not NAME.fullmatch(release.name):
            yield Fault(("release", at, "name"), f'must be a version such as "2.3", not "{release.name}"')
        if release.name in years:
            yield Fault(("release", at, "name"), f'"{release.name}" is there twice')
        sound = bool(MONTH.fullmatch(release.month))
        if not sound:
            yield Fault(("release", at, "month"), f'must be a month such as "2021-06", not "{release.month}"')
        years[release.name] = release.years if sound else 0.0
    for at, claim in enumerate(releases.speedups):
        others = [key for key in ("since", "until") if getattr(claim, key) not in years]
        for key in others:
            yield Fault(("speedup", at, key), unknown_choice(getattr(claim, key), list(years)))
        if not others and not years[claim.since] < years[claim.until]:
            yield Fault(("speedup", at, "until"), f"{claim.until} is not later than {claim.since}")
