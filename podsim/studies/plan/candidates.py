"""Machines evaluated for a workload: the quickest mapping of each, what it costs and draws, which demands it misses."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.files import catalog, comparator_machines
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.sums import sum_in_order
from podsim.model.wall_clock import ProgramStart
from podsim.planning import competitors, workload_sequence
from podsim.planning.choose import choose
from podsim.predicting import assemble, intervals, job_wall_clock, training_case
from podsim.resolve import Case, engine_of, resolve, tiles_of
from podsim.studies.plan import deadline
from podsim.studies.plan.inventory_use import purchase
from podsim.studies.plan.result import SLOWER, Candidate, Deadline, Demand, ExcludedMachine, Miss
from podsim.studies.predict.economics import tokens

if TYPE_CHECKING:
    from podsim.model.activity import StepActivity
    from podsim.model.comparator import ComparatorPrediction
    from podsim.model.goodput import GoodputReport
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Choice, Prediction
    from podsim.model.program import StepTimeline
    from podsim.model.run_cost import Money
    from podsim.model.wall_clock import WallClock
    from podsim.model.workload import Workload
    from podsim.planning.ownership import OwnershipTerms
    from podsim.scenario import Scenario
    from podsim.studies.plan.inventory_use import Stock

Progress = Callable[[int, int], None]

SAME = 1e-3  # share of a step below which another number of hosts changes nothing
OUT = ("beyond-comparator", "mapping-does-not-divide", "in-phases", "no-ipus")
"""Codes of errors that leave one machine out and not the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What is asked of every machine, which `scenario` does not name; `models` are its workloads if read already."""

    scenario: Scenario
    demand: Demand
    terms: OwnershipTerms
    models: tuple[Workload, ...] = ()
    own: Stock | None = None
    explain: bool = False  # whether the answer says why its neighbours are not the answer


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingChoice:
    """What is trained on a machine: the question of one workload, the mapping taken and why."""

    question: training_case.TrainingCase
    mapping: Mapping
    choice: Choice
    notes: tuple[AnswerNote, ...]

    def predict(self) -> Prediction:
        """The prediction of that mapping."""
        return assemble.predict(self.question, self.mapping, self.choice, self.notes)


@dataclass(frozen=True, slots=True, kw_only=True)
class CandidateEvaluation:
    """One machine as a candidate, with what is trained on it one after the other; nothing for one without IPUs."""

    candidate: Candidate
    parts: tuple[TrainingChoice, ...] = ()
    notes: tuple[AnswerNote, ...] = ()
    worth: str = ""
    target: str = ""
    stated_length: bool = False
    ends_with_samples: bool = False
    run_tokens: float | None = None  # of a language model
    activity: StepActivity | None = None
    stretch: float = 1.0  # quantile of the time with failures, over that without
    starts_s: tuple[float, ...] = (
        0.0,
    )  # what the time judged includes in addition to training, each as likely as the others

    def started_s(self, times_s: Sequence[float], confidence: float) -> float:
        """Quantile at that confidence of the time judged, from times to train without failures [s]."""
        stretched_times_s = [self.stretch * time_s for time_s in times_s]
        return intervals.quantile(deadline.with_starts(stretched_times_s, self.starts_s), confidence)


@dataclass
class CandidateEvaluator:
    """Weighs machines, and counts what was left out."""

    request: PlanRequest
    run: workload_sequence.WorkloadSequence
    legal: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    excluded: list[ExcludedMachine] = field(default_factory=list)

    def all(self, machines: tuple[str, ...], on_progress: Progress | None = None) -> list[CandidateEvaluation]:
        """Every machine with every number of hosts that makes a difference, in the order of the names."""
        evaluations: list[CandidateEvaluation] = []
        for number, name in enumerate(machines, start=1):
            try:
                evaluations += self.machine(name)
            except (Infeasible, MissingParameter) as no:
                self.excluded.append(ExcludedMachine(topology=name, reason=no.message))
            except InputError as no:
                if no.code not in OUT:
                    raise
                self.excluded.append(ExcludedMachine(topology=name, reason=no.message))
            if on_progress:
                on_progress(number, len(machines))
        return evaluations

    def machine(self, name: str) -> Iterator[CandidateEvaluation]:
        """The candidates of one machine; errors of `podsim predict` pass."""
        if comparator_machines.names_comparator(name):
            return iter((self._comparator(name),))
        return self._ipus(name)

    def _ipus(self, name: str) -> Iterator[CandidateEvaluation]:
        request = self.request
        models = request.models or (None,) * len(self.run.workloads)
        cases = [self._case(*item, name) for item in zip(self.run.workloads, models, strict=True)]
        usual = self._best(cases)
        yield usual
        before_s, machine = _steps_s(usual.parts), cases[0].question.machine
        for hosts in other_hosts(machine):
            others = [_on_hosts(case, hosts) for case in cases]
            parts = tuple(
                replace(part, question=other.question) for part, other in zip(usual.parts, others, strict=True)
            )
            change = max(abs(after / was - 1) for after, was in zip(_steps_s(parts), before_s, strict=True))
            if change > SAME:
                yield _with_notes(self._best(others), hosts)
            elif hosts < machine.hosts:
                yield _with_notes(_evaluation(self.run, parts, request), hosts)
            else:
                self.counts["with more hosts, which would gain nothing"] += sum(
                    part.choice.legal for part in usual.parts
                )

    def _case(self, workload: str, model: Workload | None, name: str) -> Case:
        scenario = replace(
            self.request.scenario, workload=workload, machine=replace(self.request.scenario.machine, topology=name)
        )
        return resolve(scenario, read=model)

    def _best(self, cases: Sequence[Case]) -> CandidateEvaluation:
        """The quickest mapping of one machine; on one machine no other costs or draws less (Eq. 64)."""
        parts = []
        for case in cases:
            chosen_mapping = choose(case)
            choice, notes = chosen_mapping.choice, (*chosen_mapping.assumptions, *case.notes)
            self.legal += choice.legal
            self.counts.update(choice.rejected)
            self.counts[SLOWER] += choice.legal - 1
            parts.append(
                TrainingChoice(question=case.question, mapping=chosen_mapping.mapping, choice=choice, notes=notes)
            )
        return _evaluation(self.run, tuple(parts), self.request)

    def _comparator(self, text: str) -> CandidateEvaluation:
        request, (name, chips) = self.request, comparator_machines.name_and_count(text, "--machines ")
        if request.demand.deadline is Deadline.WALL_CLOCK:
            raise InputError(
                "how long a job takes to start on it is not known: --against compares its time to train",
                code="no-ipus",
            )
        comparator, count = comparator_machines.machine(name), f"--machines {name}:"
        answer = competitors.predict(
            comparator, comparator_machines.count(comparator, chips, count), one_model(request), request.scenario
        )
        run_cost = request.terms.run(answer.time_to_train_s, request.terms.comparator(comparator.machine, answer.chips))
        return CandidateEvaluation(candidate=by_law(text, answer, run_cost, request.demand), notes=answer.assumptions)


def one_model(request: PlanRequest) -> Workload:
    """The workload of a request, of which a scaling law knows no phases."""
    return request.models[0] if len(request.models) == 1 else catalog.workload(request.scenario.workload).value


def by_law(name: str, answer: ComparatorPrediction, run_cost: Money, demand: Demand) -> Candidate:
    """A machine without IPUs as a candidate of that name, with the demands it misses.

    How long a job starts on it is not known: where the wall clock is judged it misses the time if training alone does.
    """
    time, within = answer.time_to_train_s, demand.within_s
    is_judged = within is not None and demand.deadline is Deadline.TRAINING
    candidate = Candidate(
        topology=name,
        title=answer.topology_title,
        chip=answer.chip_title,
        chips=answer.chips,
        hosts=0,
        mapping=None,
        global_batch=answer.global_batch,
        time_to_train_s=time,
        sure_s=intervals.below(time, demand.confidence),
        chance=intervals.chance(time, within) if within is not None and is_judged else None,
        engine="law",
    )
    return _with_misses(_with_cost(candidate, run_cost), demand)


def other_hosts(machine: Machine) -> list[int]:
    """Numbers of hosts beside the usual: doublings from what a machine ships with to the most it takes."""
    hosts = machine.topology.hosts
    result = {min(hosts.servers * 2**i, hosts.most_servers) for i in range(hosts.most_servers.bit_length())}
    return sorted(result - {machine.hosts})


def _on_hosts(case: Case, hosts: int) -> Case:
    machine = replace(case.question.machine, hosts=hosts)
    return replace(case, question=replace(case.question, machine=machine))


def _steps_s(parts: Sequence[TrainingChoice]) -> list[float]:
    """A step of each [s]."""
    return [training_case.step(part.question, part.mapping).step_s for part in parts]


def _with_notes(evaluation: CandidateEvaluation, hosts: int) -> CandidateEvaluation:
    """The same, whose number of hosts is none that was published."""
    others = tuple(note for note in evaluation.notes if note.code is not NoteCode.HOSTS)
    return replace(evaluation, notes=(*others, AnswerNote.of(NoteCode.HOSTS_OTHER, hosts=hosts)))


def settle(
    evaluation: CandidateEvaluation, run: workload_sequence.WorkloadSequence, request: PlanRequest
) -> CandidateEvaluation:
    """The same timed by event simulation; a law has none."""
    if not evaluation.parts:
        return evaluation
    engine, tiles = engine_of("des"), tiles_of("des")
    parts = tuple(
        replace(part, question=replace(part.question, engine=engine, engine_name="des", tiles=tiles))
        for part in evaluation.parts
    )
    simulated_evaluation = _evaluation(run, parts, request)
    return replace(simulated_evaluation, notes=evaluation.notes, worth=evaluation.worth)


def from_cache(
    evaluation: CandidateEvaluation, run: workload_sequence.WorkloadSequence, request: PlanRequest
) -> CandidateEvaluation:
    """The same with an executable that is in the cache already."""
    demand = replace(request.demand, program=ProgramStart.CACHED)
    return _evaluation(run, evaluation.parts, replace(request, demand=demand))


def _evaluation(
    run: workload_sequence.WorkloadSequence, parts: tuple[TrainingChoice, ...], request: PlanRequest
) -> CandidateEvaluation:
    """The sum of the predictions as a candidate, with what its scores say of the time demanded."""
    each = [part.predict() for part in parts]
    prediction, first = run.whole(each), parts[0].question
    topology, time = first.machine.topology, prediction.time_to_train_s
    within, confidence = request.demand.within_s, request.demand.confidence
    alone = [scores(part.question, part.mapping, item.timeline) for part, item in zip(parts, each, strict=True)]
    healthy = scores_s = together(alone)
    clocks = _clocks(parts, each, [None] * len(parts), request.demand)
    starts = deadline.starts_s(clocks) if clocks else [0.0]
    times = deadline.with_starts(scores_s, starts)
    reports: list[GoodputReport | None] = []
    if within is not None:
        reports = [deadline.goodput_of(part.question, item) for part, item in zip(parts, each, strict=True)]
    if any(reports):
        pairs = zip(alone, reports, strict=True)
        scores_s = together([deadline.with_failures(own, report) for own, report in pairs])
        clocks, times = _clocks(parts, each, reports, request.demand), deadline.with_starts(scores_s, starts)
    candidate = Candidate(
        topology=topology.name,
        title=topology.title,
        chip=first.machine.chip.name,
        chips=topology.ipus,
        hosts=first.machine.hosts,
        mapping=prediction.mapping,
        all_ipus=prediction.choice.all_ipus,
        global_batch=prediction.mapping.global_batch,
        time_to_train_s=time,
        sure_s=intervals.quantile(times, confidence),
        chance=None if within is None else bisect_right(times, within) / len(times),
        engine=first.engine_name,
        timeline=prediction.timeline,
        finish_s=deadline.finish_s(each, reports) if any(reports) else None,
        failures=tuple(report for report in reports if report),
        wall_clock=job_wall_clock.together(clocks, time) if clocks else None,
    )
    ownership, reuse = purchase(request.own, topology, first.machine.hosts, request.terms, activity=prediction.activity)
    run_cost = request.terms.run(time, ownership, tokens(prediction), prediction.pace)
    return CandidateEvaluation(
        candidate=_with_misses(replace(_with_cost(candidate, run_cost), reuse=reuse), request.demand),
        parts=parts,
        notes=(*prediction.assumptions, AnswerNote.of(NoteCode.FAILURES_IN_TIME))
        if any(reports)
        else prediction.assumptions,
        worth=prediction.calibration,
        target=prediction.target,
        stated_length=prediction.division is None,
        ends_with_samples=prediction.ends_with_samples,
        run_tokens=tokens(prediction),
        activity=prediction.activity,
        stretch=intervals.quantile(scores_s, confidence) / intervals.quantile(healthy, confidence),
        starts_s=tuple(starts),
    )


def _clocks(
    parts: Sequence[TrainingChoice], each: Sequence[Prediction], reports: Sequence[GoodputReport | None], demand: Demand
) -> list[WallClock]:
    """The wall clock of each part with what is simulated of its failures, where the deadline is of it."""
    if demand.deadline is not Deadline.WALL_CLOCK:
        return []
    return [
        deadline.clock_with(item, part.question, demand.program, report)
        for part, item, report in zip(parts, each, reports, strict=True)
    ]


def with_wall_clock(evaluation: CandidateEvaluation, demand: Demand) -> CandidateEvaluation:
    """The same with the wall clock of its job as `podsim predict` has it, if it is not there; a law has none."""
    if evaluation.candidate.wall_clock is not None or not evaluation.parts:
        return evaluation
    predictions = [part.predict() for part in evaluation.parts]
    clocks = [
        deadline.clock(item, part.question, demand.program)
        for part, item in zip(evaluation.parts, predictions, strict=True)
    ]
    clock = job_wall_clock.together(clocks, evaluation.candidate.time_to_train_s)
    return replace(evaluation, candidate=replace(evaluation.candidate, wall_clock=clock))


def together(each: Sequence[Sequence[float]]) -> list[float]:
    """Ascending scores of runs one after the other: the slowest with the slowest, as errors are shared (Eq. 77) [s]."""
    return [sum_in_order(rank_scores) for rank_scores in zip(*each, strict=True)]


def _with_cost(candidate: Candidate, run_cost: Money) -> Candidate:
    """The candidate with what it costs and draws, as far as anybody says."""
    capital, draw = run_cost.owned.capital, run_cost.owned.draw
    return replace(
        candidate,
        capital_usd=capital.usd.value if capital else None,
        most_capital_usd=capital.usd.high if capital else None,
        power_w=draw.least_w if draw else None,
        most_power_w=draw.most_w if draw else None,
        owned=run_cost.owned,
        cost_usd=run_cost.run_usd.value if run_cost.run_usd else None,
        energy_j=run_cost.energy_j.value if run_cost.energy_j else None,
        rent=run_cost.rent,
        total=run_cost.total,
        million_tokens_usd=run_cost.million_tokens_usd.value if run_cost.million_tokens_usd else None,
    )


def _with_misses(candidate: Candidate, demand: Demand) -> Candidate:
    """The candidate with the demands it misses."""
    figures = {"time": candidate.sure_s, "budget": candidate.most_capital_usd, "power": candidate.most_power_w}
    return replace(candidate, misses=misses(demand, figures))


def misses(demand: Demand, figures: dict[str, float | None]) -> tuple[Miss, ...]:
    """The demands that figures miss: the time as sure as asked, the highest price, the most power; None is a miss."""
    limits = {"time": demand.within_s, "budget": demand.budget_usd, "power": demand.most_power_w}
    return tuple(
        Miss(demand=name, limit=limit, found=figure)
        for name, figure in figures.items()
        if (limit := limits[name]) is not None and (figure is None or figure > limit)
    )


def scores(question: training_case.TrainingCase, mapping: Mapping, timeline: StepTimeline) -> list[float]:
    """Simulated scores of a mapping with such a step, or times for the samples given, ascending [s] (Eq. 30)."""
    beat, outside = training_case.question_pace(question, mapping, timeline.step_s), question.outside_error
    doubt = training_case.step_doubt(question, mapping, timeline)
    if question.samples is not None:
        return intervals.given_scores(beat, question.samples, doubt, question.seed, outside_error=outside)
    need = training_case.samples(question, mapping.global_batch)
    return intervals.scores(beat, need, doubt, question.seed, outside)[0]
