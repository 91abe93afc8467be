"""The verb about runs whose parts fail: wiring only."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.convergence.lengths import ANY_LENGTH
from podsim.errors import InputError
from podsim.files import failures_file
from podsim.model.arguments import CHECKPOINT_EVERY, WORK
from podsim.planning.answering import answer
from podsim.predicting import run_with_failures as lasting
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario

if TYPE_CHECKING:
    from podsim.model.goodput import GoodputReport
    from podsim.scenario import Scenario
    from podsim.studies.predict.study import Progress


@takes_scenario
def goodput(
    scenario: Scenario,
    *,
    work: str | None = None,
    checkpoint_every: str | None = None,
    spares: int = 0,
    runs: int | None = None,
    on_progress: Progress | None = None,
) -> GoodputReport:
    """Duration of a run with failures, checkpoints and relaunches; times are texts such as "14d" or "30 min".

    Raises InputError for a malformed question, Infeasible where failures leave hardly any progress.
    """
    rates = failures_file.failures(scenario.what_if.changes).value
    work_s, every_s = WORK.given_si(work), CHECKPOINT_EVERY.given_si(checkpoint_every)
    if work_s is not None and scenario.length.is_given:
        raise InputError(
            "--work and the samples or tokens of a run both say how long it is",
            code="conflicting-flags",
            hint="give one of them",
        )
    case = resolve(scenario, also="failures.", needs_length=work_s is None)
    if work_s is not None and case.question.samples is not None:  # stated by the workload, and not how long this lasts
        case = replace(case, question=replace(case.question, samples=ANY_LENGTH))
    prediction, case = answer(case, on_progress, takes_sdk=False)
    return lasting.goodput(
        prediction, case.question, rates, work_s=work_s, interval_s=every_s, runs=runs, spares=spares
    )
