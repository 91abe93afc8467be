"""The verb that asks one question of machines of growing size."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, Unpack

from podsim.files import catalog
from podsim.files import failures_file as rates
from podsim.planning import answering, competitors, workload_sequence
from podsim.planning.ownership import OwnershipKeywords, one_rent, ownership_terms
from podsim.predicting import run_with_failures
from podsim.predicting.unknown_length import without_length
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario
from podsim.studies.predict.economics import on_machine
from podsim.studies.scale import machines as planning
from podsim.studies.scale.competitor_comparison import with_competitors
from podsim.studies.scale.result import Scaling

if TYPE_CHECKING:
    from collections.abc import Iterable

    from podsim.model.prediction import Prediction
    from podsim.planning.workload_sequence import NamedRun
    from podsim.resolve import Case
    from podsim.scenario import Scenario
    from podsim.studies.predict.study import Progress
    from podsim.studies.scale.result import ScaleReport


@takes_scenario
def scale(
    scenario: Scenario,
    *,
    pods: str | Iterable[int] | None = None,
    topologies: str | Iterable[str] | None = None,
    scaling: Literal["best", "strong", "weak"] = "best",
    knee: float = 0.5,
    failures: bool = False,
    against: str | Iterable[str] | None = None,
    on_progress: Progress | None = None,
    **money: Unpack[OwnershipKeywords],
) -> ScaleReport:
    """Predict a run on machines of growing size, and where a larger machine stops paying.

    Raises InputError for a malformed question, Infeasible where the workload fits none of the machines.
    """
    changes = scenario.what_if.changes
    run = workload_sequence.by_name(scenario.workload, changes)
    terms = ownership_terms(**money)
    run.check(scenario, failures=failures, needs_length=failures)
    machines = planning.machines(scenario, pods, topologies)
    one_rent(money.get("rent_per_hour"), [machine.ipus for machine in machines])

    def answer(machine_scenario: Scenario) -> Prediction:
        answers = []
        for model in run.models:
            of_model = replace(machine_scenario, workload=model.name)
            case = resolve(of_model, read=model, also="failures." if failures else "", needs_length=failures)
            prediction, case = answering.answer(case)
            answers.append(_with_failures(prediction, case) if failures else without_length(prediction, case.missing))
        whole = run.run.whole(answers)
        is_priced = whole.has_length or any(value is not None for value in money.values())
        return on_machine(whole, case.question.machine.topology, changes, terms) if is_priced else whole

    others = competitors.names(against if against is None or isinstance(against, str) else tuple(against))
    as_published = not changes and (topologies is None or scenario.machine.chip is None)
    report = planning.report(
        planning.Series(
            scenario=scenario,
            run=run,
            machines=machines,
            scaling=Scaling(scaling),
            knee_gain=knee,
            points=catalog.points() if as_published else (),
            preset=_published_preset(run, scenario.mapping.preset),
            notes=planning.stops(pods) if pods is not None else (),
            answer=answer,
            on_progress=on_progress,
        )
    )
    return with_competitors(report, others, run, scenario, terms) if others else report


def _published_preset(run: NamedRun, preset: str | None) -> str | None:
    """The preset where it is a published mapping; a configuration leaves batch and mapping to the search."""
    large_pods = {large_pod.name for model in run.models for large_pod in model.large_pods}
    return None if preset in large_pods else preset


def _with_failures(prediction: Prediction, case: Case) -> Prediction:
    """A prediction with its goodput."""
    report = run_with_failures.goodput(
        prediction,
        case.question,
        rates.failures(case.scenario.what_if.changes).value,
        work_s=None,
        interval_s=None,
        runs=None,
        spares=0,
    )
    return replace(prediction, goodput=report)
