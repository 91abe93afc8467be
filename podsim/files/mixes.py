"""A customer's job mix: `podsim plan --workloads FILE`."""

from collections.abc import Iterator
from pathlib import Path

from podsim.files import find, run_phases
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.mix import Mix


def mix(path: str) -> Mix:
    """The jobs of a file; InputError with every fault of the file."""
    return of_loaded(load(Path(path), "mix")).value


def of_loaded(file: LoadedFile) -> Document[Mix]:
    """The jobs of a file that was read; InputError with every fault of the file."""
    return document(file, Mix, faults, alone=False)


def faults(mix: Mix | None, _tables: object) -> Iterator[Fault]:
    """Workloads that are not known."""
    if mix is None:
        return
    workload_names = (*find.names("workloads"), *run_phases.names())
    for at, job in enumerate(mix.jobs):
        if not find.is_path(job.workload) and job.workload not in workload_names:
            yield Fault(("job", at, "workload"), unknown_choice(job.workload, workload_names))
