"""The verbs for chips that are no IPUs: wiring only."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from podsim.api.checking import checked, takes_scenario
from podsim.calibrate import comparator_holdout
from podsim.calibrate.comparator_fit import sort_out
from podsim.files import catalog, comparator_machines, comparators
from podsim.files.write import check_writable, laws_text, write_all
from podsim.planning import comparator_runs

if TYPE_CHECKING:
    from podsim.api.answers import Progress
    from podsim.model.comparator import ComparatorPrediction, ComparatorReport, Laws
    from podsim.scenario import Scenario


@takes_scenario
def predict_comparator(scenario: Scenario) -> ComparatorPrediction:
    """Predict a training run on chips that are no IPUs: `podsim predict --topology dgx-a100`.

    Raises InputError where the question is malformed, MissingParameter where nothing is published of it.
    """
    return comparator_runs.answer(scenario)


@checked
def calibrate_comparators(
    *, write: bool = True, path: str | Path | None = None, on_progress: Progress | None = None
) -> ComparatorReport:
    """Fit the laws of other chips to their published results, and write them: `podsim calibrate --comparators`."""
    target = Path(path) if path is not None else comparator_machines.laws_path()
    check_writable(target if write else None)
    laws, report = _fitted(on_progress)
    if not write:
        return report
    write_all([(target, laws_text(laws))], report)
    return replace(report, path=str(path or f"comparators/{target.name}"))


@checked
def validate_comparators(*, on_progress: Progress | None = None) -> ComparatorReport:
    """Hold laws of other chips against their results, with a chip count left out: `podsim validate --comparators`."""
    return _fitted(on_progress)[1]


def _fitted(on_progress: Progress | None) -> tuple[Laws, ComparatorReport]:
    chips = {chip.value.name: chip.value for chip in comparator_machines.chips()}
    kept, left_out = sort_out(comparators.shipped(), chips)
    known = {row.workload for row in kept} & set(catalog.names("workloads"))
    workloads = {name: catalog.workload(name).value for name in sorted(known)}
    return comparator_holdout.calibrate(kept, left_out, workloads, chips, on_progress)
