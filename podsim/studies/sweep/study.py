"""`sweep`: wiring only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from podsim.errors import InputError
from podsim.report.version import version
from podsim.studies.argument_check import check_arguments
from podsim.studies.sweep import backends, compute

if TYPE_CHECKING:
    from podsim.model.sweep import SweepReport


@check_arguments
def sweep(
    file: str | Path,
    *,
    results: str | Path | None = None,
    jobs: int | None = None,
    backend: Literal["local", "dask"] = "local",
    scheduler: str | None = None,
    most: int | None = None,
    anew: bool = False,
    extend: bool = False,
    on_progress: Callable[[int, int], None] | None = None,
    on_warning: Callable[[str], None] | None = None,
) -> SweepReport:
    """Predict every point of a sweep file; points that the file `results` already holds are not recomputed.

    Raises InputError where the sweep file has faults, where `results` belongs to another sweep or cannot be written, or
    where the cluster fails. Stored points are kept, and the same call continues after them. `on_warning`
    is called before anything is computed, with a sentence for each line of `results` that is ignored.
    """
    path = Path(file)
    if anew and extend:
        raise InputError("--anew and --extend are mutually exclusive", code="conflicting-flags", hint="keep one")
    if scheduler is not None and backend != "dask":
        raise InputError("--scheduler goes with --backend dask", code="conflicting-flags", hint="add --backend dask")
    if jobs is not None and backend == "dask":
        raise InputError("--jobs is for this machine, not for a cluster", code="conflicting-flags", hint="leave it out")
    address = backends.check_cluster(scheduler) if backend == "dask" else None
    layout = compute.laid_out(path, compute.MOST_POINTS if most is None else most)
    job = compute.SweepJob(
        version=version(),
        results=Path(results) if results else results_beside(path),
        jobs=jobs,
        scheduler=address,
        anew=anew,
        extend=extend,
        on_progress=on_progress,
        on_warning=on_warning,
    )
    return compute.run(layout, job)


def results_beside(file: Path) -> Path:
    """Where the results of a sweep file are kept: FILE.results.jsonl, in its folder."""
    return file.with_suffix(".results.jsonl")
