"""The verbs that hold podsim against what others have measured and claimed: wiring only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from podsim import api
from podsim.api.answers import Progress, of_ipus
from podsim.api.checking import checked
from podsim.api.comparators import predict_comparator
from podsim.api.frameworks import framework_fit
from podsim.api.inference import infer
from podsim.api.samplers import sample
from podsim.calibrate.claims.environment import Environment
from podsim.calibrate.claims.judge import report as claim_report
from podsim.calibrate.microbenchmarks.bench import Bench
from podsim.calibrate.microbenchmarks.compare import compare
from podsim.calibrate.published.evaluate import EvaluationContext
from podsim.calibrate.published.fitted import outdated, row_fits
from podsim.calibrate.published.judge import report as published_report
from podsim.files import applications, catalog, comparators, frameworks, prices, readings
from podsim.files import claims as claimed
from podsim.files import microbenchmarks as measured
from podsim.topology.fabric import build

if TYPE_CHECKING:
    from podsim.model.claims import ClaimsReport
    from podsim.model.microbenchmark import Microbenchmark, MicrobenchmarkReport
    from podsim.model.published import PublishedReport


@checked
def microbenchmarks(*, on_progress: Progress | None = None) -> MicrobenchmarkReport:
    """Hold the tile, exchange and link model against every published microbenchmark."""
    rows = measured.shipped()
    return compare(rows, bench(rows), on_progress)


def bench(rows: Sequence[Microbenchmark]) -> Bench:
    """What predictions of these measurements may look up."""
    return Bench(
        chip_of=lambda name: catalog.chip(name).value,
        topology_of=lambda name: catalog.topology(name).value,
        server=build(catalog.topology(str(measured.server())).value),
        rows=rows,
    )


@checked
def claims(*, path: str | Path | None = None, on_progress: Progress | None = None) -> ClaimsReport:
    """Hold what vendors and press have claimed, or the claims of `path`, against the model."""
    claims = claimed.claims(Path(path) if path is not None else None).value.claims
    return claim_report(claims, _world(), on_progress)


def _world() -> Environment:
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
    file = readings.readings(Path(path) if path is not None else None).value
    verbs = {name: cache(getattr(api, name)) for name in api.__all__}  # rows ask the same in part
    rows = measured.shipped()
    asked_rows = (*measured.published(), *applications.applications())
    fit = framework_fit(asked_rows, file, verbs["predict"])
    result = published_report(
        asked_rows,
        file,
        EvaluationContext(verbs=verbs, environment=_world(), bench=bench(rows)),
        on_progress,
        fits=row_fits(asked_rows, fit),
    )
    return replace(result, outdated=outdated(frameworks.costs(), fit))
