"""What would have to change for a machine to meet a time: one number at a time, all else and the mapping as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from podsim.model.parameters import LABELS
from podsim.model.wall_clock import ProgramStart
from podsim.predicting import training_case
from podsim.resolve import engine_of, target
from podsim.scenario import WhatIfs
from podsim.studies.plan.candidates import from_cache, scores, together
from podsim.studies.plan.result import Deadline, Remedy
from podsim.topology.build import build

if TYPE_CHECKING:
    from podsim.model.machine import Machine
    from podsim.planning.workload_sequence import WorkloadSequence
    from podsim.studies.plan.candidates import CandidateEvaluation, PlanRequest

MOST_RATE = 4.0  # times a bandwidth is raised, as from 100 to 400 Gbit/s, before it counts as no remedy
MOST_OTHER = 2.0  # times a clock is raised, or a cost of software divided, before it counts as no remedy
ENOUGH = 0.005  # share by which a time may stay below the one demanded
MOST_TRIES = 12
IDLE = 1e-3  # share of a time below which a number that is as good as tried changes nothing
CLOCK, SERVER, HOSTS, COMPILE = "chip.clock", "hosts.server_bandwidth", "hosts", "compile"


def remedies(evaluation: CandidateEvaluation, run: WorkloadSequence, request: PlanRequest) -> tuple[Remedy, ...]:
    """Each number that matters, with the value at which the machine meets the time demanded (Eq. 65)."""
    if not evaluation.parts or request.demand.within_s is None:
        return ()
    remedies = [_remedy(evaluation, request, path) for path in _paths(_machine(evaluation))]
    others = _more_hosts(evaluation, request), _cached_executable(evaluation, run, request)
    return tuple(remedy for remedy in (*remedies, *others) if remedy is not None)


def _paths(machine: Machine) -> Iterator[str]:
    """Paths that `--set` takes: bandwidths of links and servers, the clock, and what software takes."""
    joining_links = machine.topology.joining
    yield from (f"{link}.bandwidth" for link in machine.topology.links if link in joining_links)
    yield from (SERVER, CLOCK)
    yield from (name for name in LABELS if name in machine.parameters.fitted)


def _remedy(evaluation: CandidateEvaluation, request: PlanRequest, path: str) -> Remedy | None:
    """The least change of a number that is enough; None where it does nothing."""
    assert request.demand.within_s is not None, "a time is demanded"
    limit, now_s = request.demand.within_s, evaluation.candidate.sure_s
    present, unit = _present(_machine(evaluation), path)
    most = MOST_OTHER if path == CLOCK or path in LABELS else MOST_RATE
    best_s = _time_s(evaluation, request, path, _better(path, present, most), unit)
    if best_s > now_s * (1 - IDLE):
        return None
    remedy = Remedy(
        topology=evaluation.candidate.topology,
        demand="time",
        path=path,
        unit=unit,
        present=present,
        needed=None,
        best=best_s,
    )
    if best_s > limit:
        return remedy
    low, low_s, high, high_s = 1.0, now_s, 1 / most, best_s
    aim = limit * (1 - ENOUGH / 2)
    for tries in range(MOST_TRIES):
        if limit * (1 - ENOUGH) <= high_s <= limit:
            break
        # A time is nearly a line in one over a rate, but for steps of an evaluation: chords, every other one halved.
        middle = high + (low - high) * (aim - high_s) / (low_s - high_s)
        middle = middle if tries % 2 == 0 else (middle + (low + high) / 2) / 2
        middle_s = _time_s(evaluation, request, path, _better(path, present, 1 / middle), unit)
        if middle_s <= limit:
            high, high_s = middle, middle_s
        else:
            low, low_s = middle, middle_s
    return replace(remedy, needed=_better(path, present, 1 / high), best=high_s)


def _more_hosts(evaluation: CandidateEvaluation, request: PlanRequest) -> Remedy | None:
    """The fewest hosts that are enough, of doublings up to what the machine takes; None where more do nothing."""
    assert request.demand.within_s is not None, "a time is demanded"
    machine, limit = _machine(evaluation), request.demand.within_s
    present, most = machine.hosts, machine.topology.hosts.most_servers
    best_s = evaluation.candidate.sure_s
    fewest_hosts = None
    for hosts in sorted({min(present << doublings, most) for doublings in range(1, most.bit_length() + 1)} - {present}):
        best_s = min(best_s, _sure_s(evaluation, request, _on_hosts(evaluation, hosts)))
        if best_s <= limit:
            fewest_hosts = float(hosts)
            break
    if best_s > evaluation.candidate.sure_s * (1 - IDLE):
        return None
    return Remedy(
        topology=evaluation.candidate.topology,
        demand="time",
        path=HOSTS,
        unit="",
        present=float(present),
        needed=fewest_hosts,
        best=best_s,
    )


def _cached_executable(evaluation: CandidateEvaluation, run: WorkloadSequence, request: PlanRequest) -> Remedy | None:
    """An executable that is there already, where the wall clock is judged and the program is to be compiled."""
    clock, demand = evaluation.candidate.wall_clock, request.demand
    assert demand.within_s is not None, "a time is demanded"
    if clock is None or demand.deadline is not Deadline.WALL_CLOCK or demand.program is ProgramStart.CACHED:
        return None
    cached_candidate = from_cache(evaluation, run, request).candidate
    best_s = cached_candidate.sure_s
    assert cached_candidate.wall_clock is not None, "the wall clock is judged"
    needed_s = cached_candidate.wall_clock.compile_s.value
    return Remedy(
        topology=evaluation.candidate.topology,
        demand="time",
        path=COMPILE,
        unit="s",
        present=clock.compile_s.value,
        needed=needed_s if best_s <= demand.within_s else None,
        best=best_s,
    )


def _better(path: str, present: float, factor: float) -> float:
    """A number so many times better: rates grow, what software takes shrinks."""
    return present / factor if path in LABELS else present * factor


def _present(machine: Machine, path: str) -> tuple[float, str]:
    """What a number is, and its unit."""
    if path in LABELS:
        return machine.parameters.value(path), machine.parameters.fitted[path].unit
    if path == CLOCK:
        return machine.chip.clock_hz, "Hz"
    if path == SERVER:
        return machine.topology.hosts.server_bytes_per_s, "B/s"
    return machine.topology.links[path.removesuffix(".bandwidth")].bandwidth_bytes_per_s, "B/s"


def _time_s(evaluation: CandidateEvaluation, request: PlanRequest, path: str, value: float, unit: str) -> float:
    """The quantile of the time to train that is asked for, with a number changed as `--set` would [s]."""
    text = f"{value!r} {unit}"
    return _sure_s(evaluation, request, [_change(part.question, request, path, text) for part in evaluation.parts])


def _sure_s(evaluation: CandidateEvaluation, request: PlanRequest, machines: Sequence[Machine]) -> float:
    """The quantile of the time to train that is asked for, of the same mappings on changed machines [s]."""
    fabric, engine = build(machines[0].topology), engine_of("analytic")
    each = []
    for part, machine in zip(evaluation.parts, machines, strict=True):
        question = replace(part.question, engine=engine, machine=machine, fabric=fabric)
        each.append(scores(question, part.mapping, training_case.step(question, part.mapping)))
    return evaluation.started_s(together(each), request.demand.confidence)


def _machine(evaluation: CandidateEvaluation) -> Machine:
    """The machine of IPUs, which all that is trained on it has."""
    return evaluation.parts[0].question.machine


def _on_hosts(evaluation: CandidateEvaluation, hosts: int) -> list[Machine]:
    return [replace(part.question.machine, hosts=hosts) for part in evaluation.parts]


def _change(question: training_case.TrainingCase, request: PlanRequest, path: str, text: str) -> Machine:
    """The machine with one number changed; a learned number stays as doubtful as it was."""
    machine = question.machine
    if path in LABELS:
        fitted_parameters = machine.parameters.fitted
        other = replace(fitted_parameters[path], value=float(text.partition(" ")[0]))
        return replace(machine, parameters=replace(machine.parameters, fitted={**fitted_parameters, path: other}))
    spec = replace(request.scenario.machine, topology=machine.topology.name, hosts=machine.hosts)
    scenario = replace(
        request.scenario, workload=question.workload.name, machine=spec, what_if=WhatIfs(changes=(f"{path}={text}",))
    )
    return target(scenario, read=question.workload).machine
