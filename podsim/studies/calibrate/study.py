"""The functions that fit the model to published results."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.calibration import fit_data, holdout, noise_fit, own_logs_fit, start_time_fit
from podsim.calibration.own_mapping import LogOptions
from podsim.errors import InputError
from podsim.files import applications, blocks, catalog, comparator_machines, compile_rows, noise_file, readings_file
from podsim.files import frameworks_file as framework_file
from podsim.files import microbenchmarks as microbenchmark_files
from podsim.files import start_times_file as start_file
from podsim.files.write import (
    check_writable,
    frameworks_text,
    laws_text,
    parameters_text,
    points_text,
    start_times_text,
    write_all,
)
from podsim.model.own_logs import OwnLogsReport
from podsim.model.parameters import FREE
from podsim.studies.argument_check import check_arguments
from podsim.studies.predict.study import Progress, of_ipus

if TYPE_CHECKING:
    from podsim.calibration.framework_fit import FrameworkFit
    from podsim.calibration.start_time_fit import StartFit
    from podsim.model.comparator import ComparatorReport
    from podsim.model.noise import NoiseFit
    from podsim.model.validation import FitReport


@check_arguments
def calibrate(
    *,
    hold_out: str = "machine",
    write: bool = True,
    path: str | Path | None = None,
    on_progress: Progress | None = None,
) -> FitReport:
    """Fit the parameters of the model to the published results, and write them to a file.

    Every group that `hold_out` names is also left out in turn, to measure the error on results that a fit has not seen.
    With `hold_out` "none" nothing is written, since held-out errors decide how wide intervals are. Raises InputError
    where a file is named but nothing is to be written, MissingParameter where there are too few points.
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
    parameters, report = holdout.calibrate(fit_data.cases(), FREE, hold_out, on_progress)
    if not write:
        return report
    write_all([(target, parameters_text(parameters))], report)
    return replace(report, path=target.name if path is None else str(path))


@check_arguments
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
    """Fit the parameters to your own logs or points, together with the published results or `alone`.

    The files named by `out` and `points_out` are written after the fit. Raises InputError where no calibration point
    can be made of the logs, Infeasible where the fit fails.
    """
    targets = [None if path is None else Path(path) for path in (out, points_out)]
    check_writable(*targets)

    options = LogOptions(topology=topology, presets=tuple(presets), ipus_per_replica=ipus_per_replica, sdk=sdk)
    read = own_logs_fit.read(Path(logs or points or "."), options, fit_data.known_files(), from_points=logs is None)
    own = fit_data.ready([item.point for item in read.points])
    published_cases = () if alone else fit_data.cases()
    shipped_parameters, bounds = catalog.parameters(), FREE
    parameters, report, errors = own_logs_fit.fit(own, published_cases, shipped_parameters, bounds, on_progress)
    at_bounds = own_logs_fit.at_bounds(parameters, bounds)
    result = OwnLogsReport(
        files=read.files,
        runs=read.runs,
        points=read.points,
        published=len(published_cases),
        errors=errors,
        fit=report,
        remarks=read.remarks,
        path="",
        points_path="",
        held_out_before=shipped_parameters.step_error,
        held_out_after=parameters.step_error,
        at_bounds=tuple(item.name for item in at_bounds),
        bounds=at_bounds,
        in_sample_before=own_logs_fit.mean_step_error([*published_cases, *own], shipped_parameters),
        in_sample_after=report.in_sample.mean_abs,
        predictions=tuple(own_logs_fit.of_runs(read.points, own, shipped_parameters, parameters)),
        intervals=tuple(own_logs_fit.intervals_of(own, shipped_parameters, parameters)),
    )
    texts = (parameters_text(parameters), points_text(case.point for case in own))
    write_all([(path, text) for path, text in zip(targets, texts, strict=True) if path is not None], result)
    where = str(out or "")
    return replace(result, fit=replace(report, path=where), path=where, points_path=str(points_out or ""))


@check_arguments
def calibrate_noise(*, write: bool = True, path: str | Path | None = None) -> NoiseFit:
    """Estimate how much step times vary within and between published runs, and write it."""
    target = Path(path) if path is not None else noise_file.path()
    check_writable(target if write else None)
    fit = noise_fit.fit(fit_data.cases(), blocks.published_blocks(), catalog.parameters())
    if write:
        write_all([(target, noise_file.text(fit.noise))], fit)
    return replace(fit, path="" if not write else str(path or target.name))


@check_arguments
def calibrate_frameworks(
    *, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None
) -> FrameworkFit:
    """Fit the time that frameworks add to a step to published rates, and write it."""
    target = Path(path) if path is not None else framework_file.path()
    check_writable(target if write else None)
    microbenchmarks = (*microbenchmark_files.published_results(), *applications.applications())
    report = fit_data.fit_frameworks(microbenchmarks, readings_file.readings().value, of_ipus, on_progress)
    if write:
        write_all([(target, frameworks_text(report.costs))], report)
    return replace(report, path="" if not write else str(path or target.name))


@check_arguments
def calibrate_compile_times(*, write: bool = True, path: str | Path | None = None) -> StartFit:
    """Fit compile times to the published ones, with each model family left out in turn, and write them."""
    target = Path(path) if path is not None else start_file.path()
    check_writable(target if write else None)
    report = start_time_fit.fit(compile_rows.rows(), lambda name: catalog.workload(name).value)
    if write:
        write_all([(target, start_times_text(report.times))], report)
    return replace(report, path="" if not write else str(path or target.name))


@check_arguments
def calibrate_comparators(
    *, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None
) -> ComparatorReport:
    """Fit the scaling laws of other chips to their published results, and write them."""
    target = Path(path) if path is not None else comparator_machines.laws_path()
    check_writable(target if write else None)
    laws, report = fit_data.comparator_fit(on_progress)
    if not write:
        return report
    write_all([(target, laws_text(laws))], report)
    return replace(report, path=str(path or f"comparators/{target.name}"))
