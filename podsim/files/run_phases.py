"""Runs in phases: `podsim predict bert-large-full`."""

from collections.abc import Iterator
from pathlib import Path

from podsim.errors import InputError
from podsim.files import find, imports
from podsim.files.contents import is_plain
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.phases import Phases


def phases(name: str) -> Phases | None:
    """The phases that a name or a file means; None where it means something else. InputError with all faults."""
    path = Path(name) if find.is_path(name) else _shipped_file(name)
    if path is None or path.suffix.lower() in imports.SUFFIXES or not is_plain(path):
        return None
    try:
        file = load(path)
    except InputError:
        return None  # whoever reads it as what it should be says what is wrong
    return of_loaded(file).value if file.what == "phases" else None


def workloads(name: str) -> tuple[str, ...]:
    """The workloads that a name or a file means, one after the other: those of its phases, or itself."""
    result = phases(name)
    return result.workloads if result else (name,)


def names() -> tuple[str, ...]:
    """Runs in phases that have a name."""
    return tuple(sorted(path.stem for path in _folder().glob("*.toml")))


def by_name(name: str) -> Phases:
    """The phases of a name that `names` lists; InputError with all faults of its file."""
    return of_loaded(load(_folder() / f"{name}.toml", "phases")).value


def of_loaded(file: LoadedFile) -> Document[Phases]:
    """The phases of a file that was read; InputError with every fault of the file."""
    return document(file, Phases, faults)


def faults(phases: Phases | None, _tables: object) -> Iterator[Fault]:
    """Workloads that are not known."""
    workload_names = find.names("workloads") if phases else ()
    for at, phase in enumerate(phases.phases if phases else ()):
        if not find.is_path(phase.workload) and phase.workload not in workload_names:
            yield Fault(("phase", at, "workload"), unknown_choice(phase.workload, workload_names))


def _shipped_file(name: str) -> Path | None:
    return _folder() / f"{name}.toml" if find.is_name(name) else None


def _folder() -> Path:
    """Beside the workloads that podsim ships; a user's own are named by their path."""
    return find.folders("workloads")[-1] / "phases"
