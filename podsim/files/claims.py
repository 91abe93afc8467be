"""`calibration/claims.toml`: what others have claimed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.faults import Fault
from podsim.files.read import Document, read
from podsim.model.claims import ClaimsFile

NAME: Final = "claims.toml"


def claims(path: Path | None = None) -> Document[ClaimsFile]:
    """The claims of `path`, or as shipped; MissingParameter where there is no such file, InputError for its faults."""
    shipped = find.shipped("calibration") / NAME
    if path is None and not shipped.is_file():
        raise MissingParameter(f"there are no claims: no {NAME}", hint="calibration/README.md says what it holds")
    return read(path or shipped, ClaimsFile, "claims", faults)


def faults(found: ClaimsFile | None, _tables: object) -> Iterator[Fault]:
    """Ids that stand twice."""
    ids = Counter(claim.id for claim in found.claims) if found else {}
    yield from (Fault(("claim",), f'the id "{id_}" stands {count} times') for id_, count in ids.items() if count > 1)
