"""The verbs that keep the model honest: wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.api.answers import Progress, predict
from podsim.errors import MissingParameter

if TYPE_CHECKING:
    from podsim.calibrate.cases import Case
    from podsim.calibrate.own_groups import Catalog
    from podsim.model.calibration import CalibrationPoint
    from podsim.model.microbenchmark import MicrobenchmarkReport
    from podsim.model.noise import NoiseFit
    from podsim.model.own_logs import OwnLogsReport
    from podsim.model.prediction import Prediction
    from podsim.model.validation import FitReport, FreezeReport, FrozenPrediction, Validation


def calibrate(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FitReport:
    """Fit the free parameters to the published results, and write them."""
    from podsim.calibrate import holdout
    from podsim.files import catalog
    from podsim.files.write import parameters_text, write_atomic

    parameters, report = holdout.calibrate(cases(), on_progress)
    if not write:
        return report
    target = Path(path) if path is not None else catalog.parameters_path()
    write_atomic(target, parameters_text(parameters))
    return replace(report, path=target.name if path is None else str(path))


def calibrate_own(
    *,
    logs: str | Path | None = None,
    points: str | Path | None = None,
    topology: str | None = None,
    presets: Sequence[str] = (),
    ipus_per_replica: int | None = None,
    sdk: str | None = None,
    alone: bool = False,
    out: str | Path | None = None,
    points_out: str | Path | None = None,
    on_progress: Progress | None = None,
) -> OwnLogsReport:
    """Fit to own logs or points, beside the published ones or `alone`; flags as those of `podsim calibrate --logs`.

    Files are written where `out` and `points_out` say, after the fit. Raises InputError where no point can be made,
    Infeasible where the fit fails.
    """
    from podsim.calibrate import own_logs
    from podsim.calibrate.own_mapping import Told
    from podsim.files import catalog
    from podsim.files.write import parameters_text, points_text, write_atomic
    from podsim.model.own_logs import OwnLogsReport

    told = Told(topology=topology, presets=tuple(presets), ipus_per_replica=ipus_per_replica, sdk=sdk)
    read = own_logs.read(Path(logs or points or "."), told, _catalog(), from_points=logs is None)
    own = _ready([item.point for item in read.points])
    published = () if alone else cases()
    parameters, report, errors = own_logs.fitted(own, published, catalog.parameters(), on_progress)
    for path, text in ((out, parameters_text(parameters)), (points_out, points_text(case.point for case in own))):
        if path is not None:
            write_atomic(Path(path), text)
    return OwnLogsReport(
        files=read.files, runs=read.runs, points=read.points, published=len(published), errors=errors,
        fit=replace(report, path=str(out or "")), remarks=read.remarks, path=str(out or ""),
        points_path=str(points_out or ""),
    )  # fmt: skip


def calibrate_noise(*, write: bool = True, path: str | Path | None = None) -> NoiseFit:
    """Find how much steps vary from the training blocks of published runs, and write it: `podsim calibrate --noise`."""
    from podsim.calibrate import noise
    from podsim.files import blocks, catalog
    from podsim.files import noise as noise_file
    from podsim.files.write import write_atomic

    found = noise.fit(cases(), blocks.shipped(), catalog.parameters())
    target = Path(path) if path is not None else noise_file.path()
    if write:
        write_atomic(target, noise_file.text(found.noise))
    return replace(found, path="" if not write else str(path or target.name))


def validate(*, on_progress: Progress | None = None) -> Validation:
    """Hold predictions against every published result, also with each machine size left out of the fit."""
    from podsim.calibrate import holdout
    from podsim.files import catalog

    return holdout.validate(cases(), catalog.parameters(), on_progress)


def microbenchmarks(*, on_progress: Progress | None = None) -> MicrobenchmarkReport:
    """Hold the tile, exchange and link model against every published microbenchmark."""
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.calibrate.microbenchmarks.compare import compare
    from podsim.files import catalog
    from podsim.files import microbenchmarks as measured
    from podsim.topology.fabric import build

    rows = measured.shipped()
    bench = Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=build(catalog.topology(str(measured.server())).value),
        rows=rows,
    )
    return compare(rows, bench, on_progress)


def freeze(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FreezeReport:
    """Predict again what is frozen, and write it: `podsim validate --freeze`."""
    from podsim.calibrate.freeze import again
    from podsim.files import catalog
    from podsim.files.write import frozen_text, write_atomic
    from podsim.model.validation import FreezeReport

    def ask(row: FrozenPrediction) -> Prediction:
        return predict(row.workload, topology=row.topology, preset=row.preset)

    before = catalog.frozen()
    after = again(before, ask, on_progress)
    target = Path(path) if path is not None else catalog.frozen_path()
    if write:
        write_atomic(target, frozen_text(after))
    return FreezeReport(before=before, after=after, path="" if not write else str(path or target.name))


def cases() -> tuple[Case, ...]:
    """Every published result, ready to be predicted; MissingParameter where there are none."""
    from podsim.files import catalog

    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return _ready(points)


def _ready(points: Sequence[CalibrationPoint]) -> tuple[Case, ...]:
    from podsim.calibrate.cases import cases as ready

    known = _catalog()
    return ready(points, known.workload, known.topology)


def _catalog() -> Catalog:
    from podsim.calibrate.own_groups import Catalog
    from podsim.files import catalog

    return Catalog(
        workload=lambda name: catalog.workload(name).value, topology=lambda name: catalog.topology(name).value
    )
