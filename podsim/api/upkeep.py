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
    from podsim.model.microbenchmark import MicrobenchmarkReport
    from podsim.model.noise import NoiseFit
    from podsim.model.prediction import Prediction
    from podsim.model.validation import (
        CoverageReport,
        CurveSummary,
        FitReport,
        FreezeReport,
        FrozenPrediction,
        Validation,
    )


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

    ready = cases()
    return replace(holdout.validate(ready, catalog.parameters(), on_progress), convergence=convergence(ready))


def convergence(ready: Sequence[Case]) -> tuple[CurveSummary, ...]:
    """Reference points left out of the curves of these cases, and of those of all rounds."""
    from podsim.calibrate import curves
    from podsim.files import reference_points

    own = {case.workload.name: case.workload.convergence for case in ready}
    rounds = reference_points.curves(reference_points.shipped())
    return (*curves.used(own), *curves.of_rounds(rounds))


def coverage(*, on_progress: Progress | None = None) -> CoverageReport:
    """How often intervals hold published results of machine sizes they have not seen: `podsim validate --coverage`."""
    from podsim.calibrate import coverage as covering
    from podsim.calibrate import holdout
    from podsim.files import catalog

    ready = cases()
    return covering.coverage(ready, catalog.parameters(), without=holdout.held_out(ready, on_progress))


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
    from podsim.calibrate.cases import cases as ready
    from podsim.files import catalog

    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return ready(points, lambda name: catalog.workload(name).value, lambda name: catalog.topology(name).value)
