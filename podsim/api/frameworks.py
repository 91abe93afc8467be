"""Constants of frameworks: fitted to published rates, and written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.api.answers import of_ipus
from podsim.api.checking import checked
from podsim.calibrate import frameworks
from podsim.calibrate.published.framework_rows import framework_rows
from podsim.files import applications, catalog, readings
from podsim.files import frameworks as file
from podsim.files import microbenchmarks as measured
from podsim.files.write import check_writable, frameworks_text, write_all

if TYPE_CHECKING:
    from podsim.calibrate.frameworks import FrameworkFit
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.prediction import Prediction
    from podsim.model.readings import ReadingsFile

Progress = Callable[[int, int], None]


@checked
def calibrate_frameworks(
    *, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None
) -> FrameworkFit:
    """Fit what frameworks add to a step to published rates, and write it: `podsim calibrate --frameworks`."""
    target = Path(path) if path is not None else file.path()
    check_writable(target if write else None)
    microbenchmarks = (*measured.published(), *applications.applications())
    report = framework_fit(microbenchmarks, readings.readings().value, of_ipus, on_progress)
    if write:
        write_all([(target, frameworks_text(report.costs))], report)
    return replace(report, path="" if not write else str(path or target.name))


def framework_fit(
    rows: Sequence[Microbenchmark],
    readings: ReadingsFile,
    predict: Callable[..., Prediction],
    on_progress: Progress | None = None,
) -> FrameworkFit:
    """The constants fitted to these rows as read, and errors with each framework and family left out."""

    def row_bytes(workload: str, changes: tuple[str, ...]) -> float:
        return catalog.workload(workload, changes).value.row_bytes

    return frameworks.fit(framework_rows(rows, readings, predict, row_bytes), on_progress)
