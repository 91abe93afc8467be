"""Machines weighed for a workload: the quickest mapping of each, what it costs and draws, which demands it misses."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from podsim.errors import Infeasible, InputError, MissingParameter
from podsim.model.plan import Candidate, Demand, Excluded, Miss
from podsim.planning import asking
from podsim.planning.search import Wanted
from podsim.predicting import assemble, intervals
from podsim.predicting.doubt import of_step

if TYPE_CHECKING:
    from podsim.convergence.samples import Samples
    from podsim.model.mapping import Mapping
    from podsim.model.money import Money
    from podsim.model.prediction import Choice, Prediction
    from podsim.model.program import StepTimeline
    from podsim.model.workload import Workload
    from podsim.planning.purse import Purse

Progress = Callable[[int, int], None]

SAME = 1e-3  # share of a step below which another number of hosts changes nothing
OUT = ("beyond-comparator", "mapping-does-not-divide")
"""Codes of errors that leave one machine out and not the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is asked of every machine; `model` is the workload where it is read already."""

    workload: str
    demand: Demand
    purse: Purse
    sdk: str | None = None
    division: str = "closed"
    parameters: str | None = None
    seed: int = 0
    model: Workload | None = None
    samples: float | None = None
    by_law: Samples | None = None  # how long a run is, where a law says so


@dataclass(frozen=True, slots=True, kw_only=True)
class Weighed:
    """One machine as a candidate, with the question and the mapping behind it; None for one without IPUs."""

    candidate: Candidate
    question: assemble.Question | None = None
    mapping: Mapping | None = None
    choice: Choice | None = None
    said: tuple[str, ...] = ()
    worth: str = ""
    target: str = ""


@dataclass
class Scale:
    """Weighs machines, and counts what was left out."""

    asked: Asked
    legal: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    excluded: list[Excluded] = field(default_factory=list)

    def all(self, machines: tuple[str, ...], on_progress: Progress | None = None) -> list[Weighed]:
        """Every machine with every number of hosts that makes a difference, in the order of the names."""
        found: list[Weighed] = []
        for done, name in enumerate(machines, start=1):
            try:
                found += self.machine(name)
            except (Infeasible, MissingParameter) as no:
                self.excluded.append(Excluded(topology=name, reason=no.message))
            except InputError as no:
                if no.code not in OUT:
                    raise
                self.excluded.append(Excluded(topology=name, reason=no.message))
            if on_progress:
                on_progress(done, len(machines))
        return found

    def machine(self, name: str) -> Iterator[Weighed]:
        """The candidates of one machine; errors of `podsim predict` pass."""
        if has_no_ipus(name):
            return iter((self._comparator(name),))
        return self._ipus(name)

    def _ipus(self, name: str) -> Iterator[Weighed]:
        asked = self.asked
        machine, model, _ = asking.asked_of(
            asked.workload, name, chip=None, preset=None, sdk=asked.sdk, hosts=None, changes=(),
            parameters_file=asked.parameters, known=asked.model,
        )  # fmt: skip
        samples, by_law = asking.length(model, asked.samples, {}) if asked.by_law is None else (None, asked.by_law)
        question = asking.question(machine, model, None, division=asked.division, engine="analytic", seed=asked.seed,
                                   samples=samples, by_law=by_law)  # fmt: skip
        usual = self._best(question)
        yield usual
        for hosts in _other_hosts(question):
            other = replace(question, machine=replace(machine, hosts=hosts))
            assert usual.mapping is not None, "an IPU machine has a mapping"
            usual_s = assemble.step(question, usual.mapping).step_s
            moved = assemble.step(other, usual.mapping).step_s / usual_s - 1
            if abs(moved) > SAME:
                yield _told(self._best(other), hosts)
            elif hosts < machine.hosts:
                fewer = replace(usual, candidate=_candidate(other, _predicted(other, usual), asked), question=other)
                yield _told(fewer, hosts)
            elif usual.choice:
                self.counts["gain nothing by more hosts"] += usual.choice.legal

    def _best(self, question: assemble.Question) -> Weighed:
        """The quickest mapping of one machine; on one machine no other costs or draws less (Eq. 64)."""
        given = (self.asked.sdk, None, None)
        mapping, choice, said = asking.settled(question, Wanted(), None, given, None)
        self.legal += choice.legal
        self.counts.update(choice.rejected)
        self.counts["slower than another mapping of their machine"] += choice.legal - 1
        found = assemble.predict(question, mapping, choice, said)
        return Weighed(candidate=_candidate(question, found, self.asked), question=question, mapping=mapping,
                       choice=choice, said=found.assumptions, worth=found.calibration,
                       target=found.target)  # fmt: skip

    def _comparator(self, text: str) -> Weighed:
        from podsim.files import catalog, comparator_machines
        from podsim.model.training import Division
        from podsim.predicting import comparators

        asked, (name, chips) = self.asked, counted(text)
        placed = comparator_machines.machine(name)
        answer = comparators.predict(comparators.Question(
            workload=asked.model or catalog.workload(asked.workload).value, chip=placed.chip.value,
            machine=placed.machine, chips=comparator_machines.count(placed, chips, f"--machines {name}:"),
            laws=comparator_machines.laws(), division=Division(asked.division),
            samples=asked.by_law.mean if asked.by_law else asked.samples,
        ))  # fmt: skip
        time, within = answer.time_to_train_s, asked.demand.within_s
        candidate = Candidate(
            topology=text, title=answer.topology_title, chip=answer.chip_title, chips=answer.chips, hosts=0,
            mapping=None, global_batch=answer.global_batch, time_to_train_s=time,
            sure_s=intervals.below(time, asked.demand.confidence),
            chance=None if within is None else intervals.chance(time, within), engine="law",
        )  # fmt: skip
        spent = asked.purse.run(time, asked.purse.comparator(placed.machine, answer.chips))
        return Weighed(candidate=_judged(_paid(candidate, spent), asked.demand), said=answer.assumptions)


def counted(text: str) -> tuple[str, int | None]:
    """A machine without IPUs as `--machines` names it: "dgx-a100", or with a number of chips "dgx-a100:64"."""
    name, colon, chips = text.partition(":")
    if colon and not (chips.isascii() and chips.isdecimal()):
        raise InputError(f'"{text}" does not say how many chips', code="bad-value", hint=f"{name}:64")
    return name, int(chips) if colon else None


def has_no_ipus(text: str) -> bool:
    """Whether a text names a machine of other chips."""
    from podsim.files import comparator_machines

    return comparator_machines.meant(text.partition(":")[0])


def _other_hosts(question: assemble.Question) -> list[int]:
    """Numbers of hosts beside the usual: doublings from what a machine ships with to the most it takes."""
    hosts, usual = question.machine.topology.hosts, question.machine.hosts
    found = {min(hosts.servers * 2**i, hosts.most_servers) for i in range(hosts.most_servers.bit_length())}
    return sorted(found - {usual})


def _told(weighed: Weighed, hosts: int) -> Weighed:
    """The same, whose number of hosts is none that was published."""
    others = tuple(line for line in weighed.said if not line.startswith("hosts: "))
    return replace(weighed, said=(*others, f"hosts: {hosts}, of the numbers that this machine takes"))


def _predicted(question: assemble.Question, weighed: Weighed) -> Prediction:
    assert weighed.mapping is not None, "a machine of IPUs has a mapping"
    assert weighed.choice is not None, "and why it was chosen"
    return assemble.predict(question, weighed.mapping, weighed.choice, weighed.said)


def settle(weighed: Weighed, asked: Asked) -> Weighed:
    """The same timed by the event engine; a law has none."""
    if weighed.question is None:
        return weighed
    settled = replace(weighed.question, engine=asking.engine_of("des"), engine_name="des")
    return replace(weighed, candidate=_candidate(settled, _predicted(settled, weighed), asked), question=settled)


def _candidate(question: assemble.Question, found: Prediction, asked: Asked) -> Candidate:
    """The prediction as a candidate, with what its scores say of the time demanded."""
    topology, time = question.machine.topology, found.time_to_train_s
    ordered = scores(question, found.mapping, found.timeline)
    within = asked.demand.within_s
    candidate = Candidate(
        topology=topology.name, title=topology.title, chip=question.machine.chip.name, chips=topology.ipus,
        hosts=question.machine.hosts, mapping=found.mapping, global_batch=found.mapping.global_batch,
        time_to_train_s=time, sure_s=intervals.quantile(ordered, asked.demand.confidence),
        chance=None if within is None else bisect_right(ordered, within) / len(ordered),
        engine=question.engine_name, timeline=found.timeline,
    )  # fmt: skip
    spent = asked.purse.run(time, asked.purse.machine(topology, question.machine.hosts))
    return _judged(_paid(candidate, spent), asked.demand)


def _paid(candidate: Candidate, spent: Money) -> Candidate:
    """The candidate with what it costs and draws, as far as anybody says."""
    owned, drawn = spent.owned.capital, spent.owned.draw
    return replace(
        candidate,
        capital_usd=owned.usd.value if owned else None,
        most_capital_usd=owned.usd.high if owned else None,
        power_w=drawn.least_w if drawn else None,
        most_power_w=drawn.most_w if drawn else None,
        owned=spent.owned,
        cost_usd=spent.run_usd.value if spent.run_usd else None,
        energy_j=spent.energy_j.value if spent.energy_j else None,
        rent=spent.rent,
    )


def _judged(candidate: Candidate, demand: Demand) -> Candidate:
    """The candidate with the demands it misses."""
    figures = {"time": candidate.sure_s, "budget": candidate.most_capital_usd, "power": candidate.most_power_w}
    return replace(candidate, misses=misses(demand, figures))


def misses(demand: Demand, figures: dict[str, float | None]) -> tuple[Miss, ...]:
    """The demands that figures miss: the time as sure as asked, the highest price, the most power; None is a miss."""
    limits = {"time": demand.within_s, "budget": demand.budget_usd, "power": demand.most_power_w}
    return tuple(
        Miss(demand=name, limit=limit, found=found)
        for name, found in figures.items()
        if (limit := limits[name]) is not None and (found is None or found > limit)
    )


def scores(question: assemble.Question, mapping: Mapping, timeline: StepTimeline) -> list[float]:
    """Simulated scores of a mapping with such a step, ascending [s] (Eq. 30)."""
    beat = assemble.question_pace(question, mapping, timeline.step_s)
    need, outside = assemble.samples(question, mapping.global_batch), question.machine.parameters.outside_error
    return intervals.scores(beat, need, of_step(question, timeline), question.seed, outside)[0]
