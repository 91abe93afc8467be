"""The verbs that fit the model to published results and hold it against them: wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.api.answers import Progress, of_ipus
from podsim.api.checking import checked
from podsim.calibrate import coverage as covering
from podsim.calibrate import curves, fit_cases, holdout, noise_fit, own_logs
from podsim.calibrate import freeze as freezing
from podsim.calibrate.own_groups import Catalog
from podsim.calibrate.own_mapping import LogOptions
from podsim.errors import InputError, MissingParameter
from podsim.files import blocks, catalog, free, frozen, reference_points
from podsim.files import noise as noise_file
from podsim.files.write import check_writable, frozen_text, parameters_text, points_text, write_all
from podsim.model.own_logs import OwnLogsReport
from podsim.model.validation import FreezeReport

if TYPE_CHECKING:
    from podsim.model.calibration import CalibrationPoint
    from podsim.model.noise import NoiseFit
    from podsim.model.prediction import Prediction
    from podsim.model.validation import CoverageReport, CurveSummary, FitReport, FrozenPrediction, HoldOuts, Validation


@checked
def calibrate(
    *,
    hold_out: str = "machine",
    write: bool = True,
    path: str | Path | None = None,
    on_progress: Progress | None = None,
) -> FitReport:
    """Fit the free parameters to the published results, also with each `hold_out` left out, and write them.

    With `hold_out` "none" nothing is written: held-out errors say how wide intervals are. Raises InputError: a path
    for what is not written. MissingParameter: too few points.
    """
    if hold_out == "none" and path is not None:
        raise InputError(
            "without a hold-out nothing is written: held-out errors say how wide intervals are",
            code="conflicting-flags",
            hint="leave out --out, or --hold-out none",
        )
    write = write and hold_out != "none"
    target = Path(path) if path is not None else catalog.parameters_path()
    check_writable(target if write else None)
    parameters, report = holdout.calibrate(cases(), free.free().value, hold_out, on_progress)
    if not write:
        return report
    write_all([(target, parameters_text(parameters))], report)
    return replace(report, path=target.name if path is None else str(path))


@checked
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
    targets = [None if path is None else Path(path) for path in (out, points_out)]
    check_writable(*targets)

    options = LogOptions(topology=topology, presets=tuple(presets), ipus_per_replica=ipus_per_replica, sdk=sdk)
    read = own_logs.read(Path(logs or points or "."), options, _catalog(), from_points=logs is None)
    own = _ready([item.point for item in read.points])
    published = () if alone else cases()
    parameters, report, errors = own_logs.fitted(own, published, catalog.parameters(), free.free().value, on_progress)
    result = OwnLogsReport(
        files=read.files,
        runs=read.runs,
        points=read.points,
        published=len(published),
        errors=errors,
        fit=report,
        remarks=read.remarks,
        path="",
        points_path="",
    )
    texts = (parameters_text(parameters), points_text(case.point for case in own))
    write_all([(path, text) for path, text in zip(targets, texts, strict=True) if path is not None], result)
    where = str(out or "")
    return replace(result, fit=replace(report, path=where), path=where, points_path=str(points_out or ""))


@checked
def calibrate_noise(*, write: bool = True, path: str | Path | None = None) -> NoiseFit:
    """Find how much steps vary from the training blocks of published runs, and write it: `podsim calibrate --noise`."""
    target = Path(path) if path is not None else noise_file.path()
    check_writable(target if write else None)
    fit = noise_fit.fit(cases(), blocks.shipped(), catalog.parameters())
    if write:
        write_all([(target, noise_file.text(fit.noise))], fit)
    return replace(fit, path="" if not write else str(path or target.name))


@checked
def validate(*, on_progress: Progress | None = None) -> Validation:
    """Hold predictions against every published result, also with each machine size, round and workload left out."""
    ready = cases()
    validation = holdout.validate(ready, catalog.parameters(), free.free().value, on_progress)
    return replace(validation, convergence=convergence(ready))


@checked
def hold_outs(*, on_progress: Progress | None = None) -> HoldOuts:
    """Errors of what was left out of everything learned: `podsim validate --hold-outs`."""
    return holdout.hold_outs(cases(), free.free().value, on_progress)


def convergence(ready: Sequence[fit_cases.OtherCase]) -> tuple[CurveSummary, ...]:
    """Reference points left out of the curves of these cases, and of those of all rounds."""
    own = {case.workload.name: case.workload.curve for case in ready}
    rounds = reference_points.curves(reference_points.shipped())
    return (*curves.used(own), *curves.of_rounds(rounds))


@checked
def coverage(*, on_progress: Progress | None = None) -> CoverageReport:
    """How often intervals hold published results of machine sizes they have not seen: `podsim validate --coverage`."""
    ready, parameters, request = cases(), catalog.parameters(), free.free().value
    return covering.coverage(
        ready, parameters, request, without=holdout.by_machine(ready, parameters, request, on_progress)
    )


@checked
def freeze(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FreezeReport:
    """Predict again what is frozen, and write it: `podsim validate --freeze`."""

    def ask(row: FrozenPrediction) -> Prediction:
        return of_ipus(row.workload, topology=row.topology, preset=row.preset)

    before = frozen.frozen()
    target = Path(path) if path is not None else frozen.path()
    check_writable(target if write else None)
    after = freezing.again(before, ask, on_progress)
    report = FreezeReport(before=before, after=after, path="")
    if write:
        write_all([(target, frozen_text(after))], report)
    return replace(report, path="" if not write else str(path or target.name))


def cases() -> tuple[fit_cases.OtherCase, ...]:
    """Every published result, ready to be predicted; MissingParameter where there are none."""
    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return _ready(points)


def _ready(points: Sequence[CalibrationPoint]) -> tuple[fit_cases.OtherCase, ...]:
    known = _catalog()
    return fit_cases.cases(points, known.workload, known.topology)


def _catalog() -> Catalog:
    return Catalog(
        workload=lambda name: catalog.workload(name).value, topology=lambda name: catalog.topology(name).value
    )
