"""The verbs that keep the model honest: wiring only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from podsim.api.answers import Progress, predict
from podsim.api.checking import checked
from podsim.api.comparators import predict_comparator
from podsim.api.inference import infer
from podsim.api.samplers import sample
from podsim.errors import InputError, MissingParameter

if TYPE_CHECKING:
    from podsim.calibrate.claims.environment import Environment
    from podsim.calibrate.fit_cases import OtherCase
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.calibrate.own_groups import Catalog
    from podsim.model.calibration import CalibrationPoint
    from podsim.model.claims import ClaimsReport
    from podsim.model.difference import Difference
    from podsim.model.microbenchmark import Microbenchmark, MicrobenchmarkReport
    from podsim.model.noise import NoiseFit
    from podsim.model.own_logs import OwnLogsReport
    from podsim.model.prediction import Prediction
    from podsim.model.published import PublishedReport
    from podsim.model.validation import (
        CoverageReport,
        CurveSummary,
        FitReport,
        FreezeReport,
        FrozenPrediction,
        HoldOuts,
        Validation,
    )


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
    from podsim.calibrate import holdout
    from podsim.files import catalog, free
    from podsim.files.write import check_writable, parameters_text, write_all

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
    from podsim.calibrate import own_logs
    from podsim.calibrate.own_mapping import LogOptions
    from podsim.files import catalog, free
    from podsim.files.write import check_writable, parameters_text, points_text, write_all
    from podsim.model.own_logs import OwnLogsReport

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
    from podsim.calibrate import noise_fit
    from podsim.files import blocks, catalog
    from podsim.files import noise as noise_file
    from podsim.files.write import check_writable, write_all

    target = Path(path) if path is not None else noise_file.path()
    check_writable(target if write else None)
    fit = noise_fit.fit(cases(), blocks.shipped(), catalog.parameters())
    if write:
        write_all([(target, noise_file.text(fit.noise))], fit)
    return replace(fit, path="" if not write else str(path or target.name))


@checked
def validate(*, on_progress: Progress | None = None) -> Validation:
    """Hold predictions against every published result, also with each machine size, round and workload left out."""
    from podsim.calibrate import holdout
    from podsim.files import catalog, free

    ready = cases()
    validation = holdout.validate(ready, catalog.parameters(), free.free().value, on_progress)
    return replace(validation, convergence=convergence(ready))


@checked
def hold_outs(*, on_progress: Progress | None = None) -> HoldOuts:
    """Errors of what was left out of everything learned: `podsim validate --hold-outs`."""
    from podsim.calibrate import holdout
    from podsim.files import free

    return holdout.hold_outs(cases(), free.free().value, on_progress)


def convergence(ready: Sequence[OtherCase]) -> tuple[CurveSummary, ...]:
    """Reference points left out of the curves of these cases, and of those of all rounds."""
    from podsim.calibrate import curves
    from podsim.files import reference_points

    own = {case.workload.name: case.workload.curve for case in ready}
    rounds = reference_points.curves(reference_points.shipped())
    return (*curves.used(own), *curves.of_rounds(rounds))


@checked
def coverage(*, on_progress: Progress | None = None) -> CoverageReport:
    """How often intervals hold published results of machine sizes they have not seen: `podsim validate --coverage`."""
    from podsim.calibrate import coverage as covering
    from podsim.calibrate import holdout
    from podsim.files import catalog, free

    ready, parameters, request = cases(), catalog.parameters(), free.free().value
    return covering.coverage(
        ready, parameters, request, without=holdout.by_machine(ready, parameters, request, on_progress)
    )


@checked
def microbenchmarks(*, on_progress: Progress | None = None) -> MicrobenchmarkReport:
    """Hold the tile, exchange and link model against every published microbenchmark."""
    from podsim.calibrate.microbenchmarks.compare import compare
    from podsim.files import microbenchmarks as measured

    rows = measured.shipped()
    return compare(rows, bench(rows), on_progress)


def bench(rows: Sequence[Microbenchmark]) -> Bench:
    """What predictions of these measurements may look up."""
    from podsim.calibrate.microbenchmarks.bench import Bench
    from podsim.files import catalog
    from podsim.files import microbenchmarks as measured
    from podsim.topology.fabric import build

    return Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=build(catalog.topology(str(measured.server())).value),
        rows=rows,
    )


@checked
def claims(*, path: str | Path | None = None, on_progress: Progress | None = None) -> ClaimsReport:
    """Hold what vendors and press have claimed, or the claims of `path`, against the model."""
    from podsim.calibrate.claims.judge import report
    from podsim.files import claims as claimed

    claims = claimed.claims(Path(path) if path is not None else None).value.claims
    return report(claims, _world(), on_progress)


def _world() -> Environment:
    from functools import cache

    from podsim.calibrate.claims.environment import Environment
    from podsim.files import catalog, comparators, prices
    from podsim.files import microbenchmarks as measured

    return Environment(
        predict=cache(of_ipus),
        infer=infer,
        sample=sample,
        predict_comparator=cache(predict_comparator),
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        points=catalog.points(),
        rivals=comparators.shipped(),
        measured={row.id: row for row in measured.published()},
        prices=prices.prices(),
    )


@checked
def published(*, path: str | Path | None = None, on_progress: Progress | None = None) -> PublishedReport:
    """Hold what podsim says against every published row that it can model, as shipped or read as `path` says.

    Rows are those of `calibration/published.csv` and `applications.csv`; constants of frameworks are fitted to them
    again, without each framework and family in turn. Raises InputError for faults of either file.
    """
    from functools import cache

    from podsim import api
    from podsim.api.frameworks import framework_fit
    from podsim.calibrate.published.evaluate import EvaluationContext
    from podsim.calibrate.published.fitted import outdated, row_fits
    from podsim.calibrate.published.judge import report
    from podsim.files import applications, frameworks, readings
    from podsim.files import microbenchmarks as measured

    file = readings.readings(Path(path) if path is not None else None).value
    verbs = {name: cache(getattr(api, name)) for name in api.__all__}  # rows ask the same in part
    rows = measured.shipped()
    asked_rows = (*measured.published(), *applications.applications())
    fit = framework_fit(asked_rows, file, verbs["predict"])
    result = report(
        asked_rows,
        file,
        EvaluationContext(verbs=verbs, environment=_world(), bench=bench(rows)),
        on_progress,
        fits=row_fits(asked_rows, fit),
    )
    return replace(result, outdated=outdated(frameworks.costs(), fit))


def of_ipus(workload: str, **keywords: Any) -> Prediction:  # noqa: ANN401  (those of `predict`)
    """`predict`; InputError for a machine without IPUs."""
    from podsim.model.prediction import Prediction

    prediction = predict(workload, **keywords)
    if not isinstance(prediction, Prediction):
        raise InputError(
            f"{prediction.topology} has no IPUs", code="no-ipus", hint="podsim compare holds it against others"
        )
    return prediction


@checked
def diff(old: str | Path, new: str | Path) -> Difference:
    """What moved between two answers saved with `--json`, and which input did it.

    Raises InputError where one is no answer of podsim's, or they are of different verbs.
    """
    from podsim.calibrate.difference import difference
    from podsim.files import catalog, inputs, saved

    def values(file: str | None) -> Mapping[str, float]:
        parameters = catalog.own_parameters(Path(file)) if file else catalog.parameters()
        return {name: item.value for name, item in parameters.fitted.items()}

    def again(flags: Mapping[str, Any], parameters: Mapping[str, float]) -> tuple[Prediction, Mapping[str, str]]:
        named = {"changes" if name == "set" else "faults" if name == "fault" else name: flags[name] for name in flags}
        try:
            request = list(named.pop("changes", ()))
            own = {change.partition("=")[0] for change in request}
            here = values(named.get("parameters"))
            # A number that is set is taken as certain, so only one that differs is.
            others = {name: value for name, value in parameters.items() if value != here.get(name)}
            changes = [f"{name}={value!r}" for name, value in others.items() if name not in own]
            with inputs.recording() as ledger:
                return of_ipus(named.pop("workload"), changes=[*changes, *request], **named), ledger.files
        except (AttributeError, KeyError, TypeError, ValueError) as error:  # a file may hold anything
            raise InputError(f"its flags are none of podsim predict: {error}", code="bad-saved-answer") from None

    try:
        return difference(saved.read(Path(old)), saved.read(Path(new)), again)
    except RecursionError:
        raise InputError("the answers nest too deep", code="bad-saved-answer") from None


@checked
def freeze(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FreezeReport:
    """Predict again what is frozen, and write it: `podsim validate --freeze`."""
    from podsim.calibrate.freeze import again
    from podsim.files import catalog
    from podsim.files.write import check_writable, frozen_text, write_all
    from podsim.model.validation import FreezeReport

    def ask(row: FrozenPrediction) -> Prediction:
        return of_ipus(row.workload, topology=row.topology, preset=row.preset)

    before = catalog.frozen()
    target = Path(path) if path is not None else catalog.frozen_path()
    check_writable(target if write else None)
    after = again(before, ask, on_progress)
    report = FreezeReport(before=before, after=after, path="")
    if write:
        write_all([(target, frozen_text(after))], report)
    return replace(report, path="" if not write else str(path or target.name))


def cases() -> tuple[OtherCase, ...]:
    """Every published result, ready to be predicted; MissingParameter where there are none."""
    from podsim.files import catalog

    points = catalog.points()
    if not points:
        raise MissingParameter("there are no calibration points", hint="calibration/README.md says how to add one")
    return _ready(points)


def _ready(points: Sequence[CalibrationPoint]) -> tuple[OtherCase, ...]:
    from podsim.calibrate.fit_cases import cases as ready

    known = _catalog()
    return ready(points, known.workload, known.topology)


def _catalog() -> Catalog:
    from podsim.calibrate.own_groups import Catalog
    from podsim.files import catalog

    return Catalog(
        workload=lambda name: catalog.workload(name).value, topology=lambda name: catalog.topology(name).value
    )
