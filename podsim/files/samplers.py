"""`calibration/samplers/NAME.toml`, or a file of one's own: what a sampler does with one sample."""

from collections.abc import Iterator
from pathlib import Path

from podsim.errors import InputError
from podsim.files import find
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.sampler import Sampler
from podsim.tiles.vector import OPERATIONS


def folder() -> Path:
    """Where samplers are that podsim ships."""
    return find.data_folder("calibration") / "samplers"


def names() -> tuple[str, ...]:
    """Every sampler that is shipped."""
    return tuple(sorted(path.stem for path in folder().glob("*.toml")))


def sampler(name: str) -> Document[Sampler]:
    """The sampler of a name or in a file; InputError where there is none, or with every fault of its file."""
    if find.is_path(name):
        return of_loaded(load(Path(name), "sampler"))
    if name not in names():
        raise InputError(
            f"sampler {unknown_choice(name, names())}",
            code="unknown-sampler",
            hint="or a file of your own: docs/reference/formats.md, podsim.sampler/1",
        )
    return of_loaded(load(folder() / f"{name}.toml", "sampler"))


def of_loaded(file: LoadedFile) -> Document[Sampler]:
    """What a loaded file says."""
    return document(file, Sampler, faults)


def faults(sampler: Sampler | None, _tables: object) -> Iterator[Fault]:
    """Operations that no tile does."""
    if sampler is None:
        return
    for part, _, works in sampler.parts:
        for at, work in enumerate(works):
            for word in work.operations:
                if word not in OPERATIONS:
                    yield Fault((part, at, "operations"), unknown_choice(word, tuple(OPERATIONS)))
