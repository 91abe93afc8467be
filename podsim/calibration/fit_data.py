"""What is fitted and judged as shipped: published points, rates of frameworks, machines without IPUs, measurements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from podsim.calibration import comparator_holdout, curves, fit_cases, framework_fit
from podsim.calibration.comparator_fit import sort_out
from podsim.calibration.microbenchmarks.bench import Bench
from podsim.calibration.own_groups import Catalog
from podsim.calibration.published.framework_rows import framework_rows
from podsim.errors import MissingParameter
from podsim.files import catalog, comparator_machines, comparator_results, reference_points
from podsim.files import microbenchmarks as microbenchmark_files
from podsim.topology.build import build

if TYPE_CHECKING:
    from podsim.calibration.framework_fit import FrameworkFit
    from podsim.model.calibration import CalibrationPoint
    from podsim.model.comparator import ComparatorReport, Laws
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.prediction import Prediction
    from podsim.model.readings import ReadingsFile
    from podsim.model.validation import CurveSummary

Progress = Callable[[int, int], None]


def convergence(ready: Sequence[fit_cases.OtherCase]) -> tuple[CurveSummary, ...]:
    """Reference points left out of the curves of these cases, and of those of all rounds."""
    own = {case.workload.name: case.workload.curve for case in ready}
    rounds = reference_points.curves(reference_points.published_points())
    return (*curves.summaries(own), *curves.of_rounds(rounds))


def cases() -> tuple[fit_cases.OtherCase, ...]:
    """Every published result, ready to be predicted; MissingParameter where there are none."""
    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return ready(points)


def ready(points: Sequence[CalibrationPoint]) -> tuple[fit_cases.OtherCase, ...]:
    """These points with their workloads and machines, ready to be predicted."""
    files = known_files()
    return fit_cases.cases(points, files.workload, files.topology)


def known_files() -> Catalog:
    """Workloads and machines by the names of their files."""
    return Catalog(
        workload=lambda name: catalog.workload(name).value, topology=lambda name: catalog.topology(name).value
    )


def fit_frameworks(
    rows: Sequence[Microbenchmark],
    readings: ReadingsFile,
    predict: Callable[..., Prediction],
    on_progress: Progress | None = None,
) -> FrameworkFit:
    """The constants fitted to these rows as read, and errors with each framework and family left out."""

    def row_bytes(workload: str, changes: tuple[str, ...]) -> float:
        return catalog.workload(workload, changes).value.row_bytes

    return framework_fit.fit(framework_rows(rows, readings, predict, row_bytes), on_progress)


def comparator_fit(on_progress: Progress | None) -> tuple[Laws, ComparatorReport]:
    """The laws of machines without IPUs fitted to their published results, and how far they are off."""
    chips = {chip.value.name: chip.value for chip in comparator_machines.chips()}
    usable_rows, left_out = sort_out(comparator_results.published_results(), chips)
    workload_names = {row.workload for row in usable_rows} & set(catalog.names("workloads"))
    workloads = {name: catalog.workload(name).value for name in sorted(workload_names)}
    return comparator_holdout.calibrate(usable_rows, left_out, workloads, chips, on_progress)


def bench(rows: Sequence[Microbenchmark]) -> Bench:
    """What predictions of these measurements may look up."""
    return Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=build(catalog.topology(str(microbenchmark_files.server())).value),
        rows=rows,
    )
