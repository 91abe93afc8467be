"""The verbs that hold podsim against what others have measured and claimed: wiring only."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import podsim
from podsim.calibration import coverage as covering
from podsim.calibration import fit_data, holdout
from podsim.calibration import freeze as freezing
from podsim.calibration.claims.claim_verdicts import report as claim_report
from podsim.calibration.claims.environment import Environment
from podsim.calibration.microbenchmarks.compare import compare
from podsim.calibration.published.evaluate import EvaluationContext
from podsim.calibration.published.fitted_rows import outdated_constants, row_fits
from podsim.calibration.published.judge import report as published_report
from podsim.calibration.published.power_rows import held_out as power_held_out
from podsim.files import (
    applications,
    catalog,
    claims_file,
    comparator_results,
    frameworks_file,
    frozen,
    prices_file,
    readings_file,
)
from podsim.files import microbenchmarks as microbenchmark_files
from podsim.files.write import check_writable, frozen_text, write_all
from podsim.model.parameters import FREE
from podsim.model.validation import FreezeReport
from podsim.studies.argument_check import check_arguments
from podsim.studies.predict.study import Progress, of_ipus

if TYPE_CHECKING:
    from podsim.model.claims import ClaimsReport
    from podsim.model.comparator import ComparatorReport
    from podsim.model.microbenchmark import MicrobenchmarkReport
    from podsim.model.prediction import Prediction
    from podsim.model.published import PublishedReport
    from podsim.model.validation import CoverageReport, FrozenPrediction, HoldOuts, Validation


@check_arguments
def microbenchmarks(*, on_progress: Progress | None = None) -> MicrobenchmarkReport:
    """Compare the model of tiles, exchange and links with every published microbenchmark."""
    rows = microbenchmark_files.all_measurements()
    return compare(rows, fit_data.bench(rows), on_progress)


@check_arguments
def claims(*, path: str | Path | None = None, on_progress: Progress | None = None) -> ClaimsReport:
    """Compare claims of vendors and press, or those in `path`, with what the model predicts."""
    claims = claims_file.claims(Path(path) if path is not None else None).value.claims
    return claim_report(claims, _world(), on_progress)


def _world() -> Environment:
    return Environment(
        predict=cache(of_ipus),
        infer=podsim.infer,
        sample=podsim.sample,
        predict_comparator=cache(podsim.predict_comparator),
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        points=catalog.points(),
        rivals=comparator_results.published_results(),
        measured={row.id: row for row in microbenchmark_files.published_results()},
        prices=prices_file.prices(),
    )


@check_arguments
def validate_published(*, path: str | Path | None = None, on_progress: Progress | None = None) -> PublishedReport:
    """Compare predictions with every published application result that podsim can model.

    The results are those of `calibration/published.csv` and `applications.csv`; `path` may say how they are read.
    Constants of frameworks are fitted to them again with each framework and each family left out in turn. Raises
    InputError for faults of either file.
    """
    file = readings_file.readings(Path(path) if path is not None else None).value
    verbs = {name: cache(getattr(podsim, name)) for name in podsim.__all__}  # rows ask the same in part
    rows = microbenchmark_files.all_measurements()
    asked_rows = (*microbenchmark_files.published_results(), *applications.applications())
    fit = fit_data.fit_frameworks(asked_rows, file, verbs["predict"])
    context = EvaluationContext(
        verbs=verbs, environment=_world(), bench=fit_data.bench(rows), rows={row.id: row for row in asked_rows}
    )
    result = published_report(
        asked_rows,
        file,
        context,
        on_progress,
        fits=row_fits(asked_rows, fit, power_held_out(file, context)),
    )
    return replace(result, outdated=outdated_constants(frameworks_file.costs(), fit))


@check_arguments
def validate(*, on_progress: Progress | None = None) -> Validation:
    """Compare predictions with every published result, also with each machine size, round and workload left out."""
    ready = fit_data.cases()
    validation = holdout.validate(ready, catalog.parameters(), FREE, on_progress)
    return replace(validation, convergence=fit_data.convergence(ready))


@check_arguments
def hold_outs(*, on_progress: Progress | None = None) -> HoldOuts:
    """Errors on the results that were kept out of every fit and every choice."""
    return holdout.hold_outs(fit_data.cases(), FREE, on_progress)


@check_arguments
def coverage(*, on_progress: Progress | None = None) -> CoverageReport:
    """How often intervals contain the published results of machine sizes that the fit has not seen."""
    ready, parameters, request = fit_data.cases(), catalog.parameters(), FREE
    return covering.coverage(
        ready, parameters, request, without=holdout.by_machine(ready, parameters, request, on_progress)
    )


@check_arguments
def freeze(*, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None) -> FreezeReport:
    """Predict the frozen questions again, and write their answers as the new reference."""

    def ask(row: FrozenPrediction) -> Prediction:
        return of_ipus(row.workload, topology=row.topology, preset=row.preset)

    before = frozen.frozen_predictions()
    target = Path(path) if path is not None else frozen.path()
    check_writable(target if write else None)
    after = freezing.again(before, ask, on_progress)
    report = FreezeReport(before=before, after=after, path="")
    if write:
        write_all([(target, frozen_text(after))], report)
    return replace(report, path="" if not write else str(path or target.name))


@check_arguments
def validate_comparators(*, on_progress: Progress | None = None) -> ComparatorReport:
    """Compare the scaling laws of other chips with their results, with each number of chips left out in turn."""
    return fit_data.comparator_fit(on_progress)[1]
