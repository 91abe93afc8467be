"""The verb that compares machines, chips, releases and what-ifs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.prediction import Prediction
from podsim.planning import answering, comparator_runs, workload_sequence
from podsim.planning.ownership import OwnershipKeywords, OwnershipTerms, one_rent, ownership_terms
from podsim.predicting import unknown_length
from podsim.resolve import resolve
from podsim.studies.argument_check import takes_scenario
from podsim.studies.compare import cases
from podsim.studies.compare import difference as comparing
from podsim.studies.compare.result import CaseDifference, Comparison, ComparisonCase, InfeasibleSide
from podsim.studies.predict.economics import on_machine, price

if TYPE_CHECKING:
    from podsim.model.comparator import ComparatorPrediction
    from podsim.scenario import Scenario
    from podsim.studies.compare.difference import SimulatedScores
    from podsim.studies.predict.study import Progress

    SimulatedAnswer = tuple[Prediction | ComparatorPrediction, tuple[SimulatedScores, ...]]


@takes_scenario
def compare(
    scenario: Scenario,
    machines: Sequence[str] = (),
    *,
    to: Sequence[str] = (),
    to_chip: str | None = None,
    to_sdk: str | None = None,
    to_preset: str | None = None,
    on_progress: Progress | None = None,
    **money: Unpack[OwnershipKeywords],
) -> Comparison:
    """Compare machines with the first of them, with the interval of each difference.

    Give the names of the machines, or one machine by `pod` or `topology` and what it is compared `to`. Machines that a
    workload does not fit are listed as `infeasible`, and the others are compared with the first that it fits. Raises
    InputError for a malformed question, Infeasible where the workload fits none of the machines.
    """
    variants = cases.variants(scenario, machines, to=to, to_chip=to_chip, to_sdk=to_sdk, to_preset=to_preset)
    terms = ownership_terms(**money)
    cases.check_chips(variants)
    infeasibles: list[SimulatedAnswer | Infeasible] = []
    for number, variant in enumerate(variants, start=1):
        try:
            infeasibles.append(
                _by_law(variant, terms)
                if comparator_runs.has_law(variant.scenario.machine)
                else _side(variant.scenario, terms, money)
            )
        except Infeasible as error:
            infeasibles.append(error)
        except InputError as error:
            if to_preset is not None and number > 1 and error.code == "unknown-preset":  # of the side that it makes
                error.hint = error.hint.replace("--preset", "--to-preset")
            raise
        if on_progress:
            on_progress(number, len(variants))
    sizes = [_chips(answer[0]) for answer in infeasibles if not isinstance(answer, Infeasible)]
    one_rent(money.get("rent_per_hour"), sizes)
    return _compare(infeasibles, variants)


def _chips(answer: Prediction | ComparatorPrediction) -> int:
    return answer.ipus if isinstance(answer, Prediction) else answer.chips


def _by_law(side: cases.Variant, terms: OwnershipTerms) -> SimulatedAnswer:
    """The answer of a side without IPUs with what it costs, and what may move it."""
    cases.check_law(side)
    law = comparator_runs.answer(side.scenario)
    scored_runs = catalog.workload(side.scenario.workload).value.benchmark.runs_scored
    return price(law, terms=terms), (comparing.of_law(law, max(3, scored_runs)),)


def _side(scenario: Scenario, terms: OwnershipTerms, money: Mapping[str, Any]) -> SimulatedAnswer:
    """The answer of one side with what it costs, and what may move it."""
    run = workload_sequence.run(scenario.workload)
    run.check(scenario)
    answers, questions = [], []
    for workload in run.workloads:
        whole = resolve(replace(scenario, workload=workload), needs_length=False)
        prediction, case = answering.answer(whole)
        answers.append(unknown_length.without_length(prediction, case.missing))
        question = case.question
        if case.missing:  # times of as many samples are compared
            prediction, question = unknown_length.on_and_on(prediction), unknown_length.endless(question)
        questions.append((prediction, question))
    run_name = run.phases.name if run.phases else ""
    programs = " and ".join(prediction.mapping.configuration.name for prediction, _ in questions) if run_name else ""
    scores = [comparing.of_prediction(*pair, run_name, programs) for pair in questions]
    machine = whole.question.machine.topology  # owned with the parts that are lost
    if case.missing and not any(value is not None for value in money.values()):
        return run.whole(answers), tuple(scores)
    return on_machine(run.whole(answers), machine, scenario.what_if.changes, terms), tuple(scores)


def _compare(answers: Sequence[SimulatedAnswer | Infeasible], variants: Sequence[cases.Variant]) -> Comparison:
    """The cases that fit, compared with the first of them; Infeasible where there is none."""
    pairs = list(zip(answers, variants, strict=True))
    result = [answer for answer in answers if not isinstance(answer, Infeasible)]
    feasible_sides = [side for infeasible, side in pairs if not isinstance(infeasible, Infeasible)]
    infeasible_sides = [(infeasible, side) for infeasible, side in pairs if isinstance(infeasible, Infeasible)]
    if not result:
        raise infeasible_sides[0][0]
    first, level, seed = result[0][0], variants[0].scenario.interval, variants[0].scenario.seed
    labels = cases.labels([answer.topology_title for answer, _ in result], feasible_sides)
    return Comparison(
        workload=first.workload,
        workload_title=first.workload_title,
        target=first.target,
        sides=tuple(
            ComparisonCase(
                label=label,
                answer=answer,
                topology=side.scenario.machine.topology or answer.topology,
                chip=side.scenario.machine.chip,
                changes=side.scenario.what_if.changes,
            )
            for label, (answer, _), side in zip(labels, result, feasible_sides, strict=True)
        ),
        differences=tuple(
            _difference(label, result[0], other, level, seed)
            for label, other in zip(labels[1:], result[1:], strict=True)
        ),
        interval=level,
        seed=seed,
        infeasible=tuple(
            InfeasibleSide(
                label=side.name, code=error.code, message=error.message, context=error.context, hint=error.hint
            )
            for error, side in infeasible_sides
        ),
    )


def _difference(label: str, first: SimulatedAnswer, other: SimulatedAnswer, level: float, seed: int) -> CaseDifference:
    (before, first_scores), (after, other_scores) = first, other
    has_length = not math.isnan(before.time_to_train_s.value)
    time = comparing.ratio(first_scores, other_scores, seed=seed, level=level)
    rates, needs = (
        getattr(after, name).value / getattr(before, name).value
        for name in ("throughput_samples_per_s", "samples_to_converge")
    )
    return CaseDifference(
        label=label,
        time=time,
        unshared=comparing.ratio(first_scores, other_scores, seed=seed, level=level, shared=False),
        throughput=rates,
        samples=needs if has_length else 1.0,
        causes=comparing.causes(first_scores, other_scores),
        parts=tuple(comparing.parts(before, after) if has_length else comparing.parts_of_step(before, after)),
        per_dollar=cases.per_dollar(time, before.money, after.money),
        per_watt=cases.per_watt(time, before.money, after.money),
    )
