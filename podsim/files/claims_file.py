"""`calibration/claims.toml`: what others have claimed."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from podsim.errors import MissingParameter
from podsim.files import find
from podsim.files.contents import is_there
from podsim.files.file_faults import Fault
from podsim.files.load import LoadedFile
from podsim.files.read import Document, document, read
from podsim.model.claims import ClaimsFile

NAME: Final = "claims.toml"


def claims(path: Path | None = None) -> Document[ClaimsFile]:
    """The claims of `path`, or as shipped; MissingParameter where there is no such file, InputError for its faults."""
    shipped_path = find.data_folder("calibration") / NAME
    if path is None and not is_there(shipped_path):
        raise MissingParameter(f"there are no claims: no {NAME}", hint="calibration/README.md says what it holds")
    return read(path or shipped_path, ClaimsFile, "claims", faults)


def of_loaded(file: LoadedFile) -> Document[ClaimsFile]:
    """The claims of a file that was read; InputError with every fault of the file."""
    return document(file, ClaimsFile, faults)


def faults(file: ClaimsFile | None, _tables: object) -> Iterator[Fault]:
    """Ids that stand twice, and baselines of another number of chips that no law scales."""
    ids = Counter(claim.id for claim in file.claims) if file else {}
    yield from (Fault(("claim",), f'the id "{id_}" stands {count} times') for id_, count in ids.items() if count > 1)
    for at, claim in enumerate(file.claims if file else ()):
        for number, part in enumerate(claim.parts):
            if part.baseline_row and part.row_chips != part.baseline_chips and not part.scaled_as:
                path = ("claim", at, "part", number, "scaled_as")
                yield Fault(path, f"missing: the row was measured on {part.row_chips} chips, not {part.baseline_chips}")
