"""Every legal mapping of a workload on a machine, ranked: the search of `predict`, over all storage as well."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from podsim.errors import InputError
from podsim.model.advice import Advised, Mappings, NotQuite, Rank
from podsim.model.training import Recompute, StatePlace
from podsim.planning import choose
from podsim.planning.practice import Planner
from podsim.planning.real_flags import settings
from podsim.planning.search import Search, Wanted
from podsim.predicting import intervals

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from podsim.model.mapping import Mapping
    from podsim.model.prediction import Considered, MemoryFit
    from podsim.predicting.assemble import Question

MOST = 1000  # rows that anybody reads


@dataclass(frozen=True, slots=True)
class _Best:
    """The best batch of one split and storage, with the search that weighed it."""

    search: Search
    time_s: float
    mapping: Mapping
    held: MemoryFit


def mappings(
    question: Question,
    wanted: Wanted,
    by: Rank,
    most: int,
    said: tuple[str, ...],
    on_progress: Callable[[int, int], None] | None = None,
) -> Mappings:
    """The `most` best mappings; Infeasible where none fits, InputError where none divides as asked.

    Each split (replicas, IPUs a replica, micro-batch) and storage is there once, at its best batch.
    """
    if not 1 <= most <= MOST:
        raise InputError(f"--most must be from 1 to {MOST:,}, not {most:,}", code="bad-value")
    machine, workload = question.machine, question.workload
    choose.check(wanted, machine.topology, workload)
    searches = list(_searches(question, wanted))
    best: list[_Best] = []
    for done, search in enumerate(searches, 1):
        best += _best(search, by)
        if on_progress:
            on_progress(done, len(searches))
    if not best:
        raise min(searches, key=_missed_by).no()
    settled = [(one, one.search.settled(one.mapping, one.held)) for one in best]
    settled.sort(key=lambda item: _order(item[1], by, workload.packing))
    rejected = sum((search.rejected for search in searches), Counter[str]())
    return Mappings(
        workload=workload.name, workload_title=workload.title, topology=machine.topology.name,
        topology_title=machine.topology.title, chip=machine.chip.name, ipus=machine.topology.ipus, sdk=machine.sdk,
        by=by, legal=sum(search.legal for search in searches), distinct=len(best),
        rejected=dict(sorted(rejected.items())), nearest=_nearest(searches),
        advised=tuple(_advised(question, one, item) for one, item in settled[:most]), assumptions=said,
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
    )  # fmt: skip


def _searches(question: Question, wanted: Wanted) -> Iterator[Search]:
    """One search for each way to store: what practice has, and what it could have."""
    machine = question.machine
    for recompute, state in product(Recompute, StatePlace):
        what_if = replace(wanted.what_if, recompute=recompute, state=state)
        planner = Planner(question.workload, machine.topology, machine.like, what_if)
        yield Search(question, planner, replace(wanted, what_if=what_if))


def _best(search: Search, by: Rank) -> list[_Best]:
    """Of each split the batch that is best: the soonest; or the largest, since a fixed cost a step is then rarest."""
    found: dict[tuple[int, int, int], _Best] = {}
    for time_s, mapping, held in search.every():
        split = mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch
        known = found.get(split)
        better = known is None or (
            time_s < known.time_s if by is Rank.TIME else mapping.accumulation > known.mapping.accumulation
        )
        if better:
            found[split] = _Best(search, time_s, mapping, held)
    return list(found.values())


def _missed_by(search: Search) -> float:
    return search.nearest[0].fraction if search.nearest else float("inf")


def _order(item: Considered, by: Rank, packing: float) -> tuple[float, float, float]:
    """Best first; what takes no less is put behind what holds less."""
    value = item.time_to_train_s if by is Rank.TIME else -_rate(item, packing)
    return value, item.memory, item.mapping.ipus_per_replica


def _rate(item: Considered, packing: float) -> float:
    """Samples a second."""
    return item.mapping.global_batch * packing / item.step_s


def _nearest(searches: list[Search]) -> NotQuite | None:
    missed = [search.nearest for search in searches if search.nearest]
    if not missed:
        return None
    held, mapping = min(missed, key=lambda item: item[0].fraction)
    category, _ = max(held.fullest.by_category.items(), key=lambda item: item[1])
    return NotQuite(mapping=mapping, memory=held.fraction, largest=category.replace("_", " "))


def _advised(question: Question, one: _Best, item: Considered) -> Advised:
    workload = question.workload
    return Advised(
        mapping=item.mapping, step_s=item.step_s, throughput_samples_per_s=_rate(item, workload.packing),
        time_to_train_s=item.time_to_train_s, bubble=item.bubble, memory=item.memory,
        streaming_bytes_per_ipu=one.held.streaming_bytes_per_ipu, preset=_preset(question, item.mapping),
        settings=settings(workload, item.mapping, question.machine.chip),
    )  # fmt: skip


def _preset(question: Question, mapping: Mapping) -> str:
    """The published mapping of this split and storage on this machine; "" where there is none."""
    storage = {(one.name, one.recompute, one.state) for one in question.workload.practices}
    practice = mapping.practice
    split = mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch
    if (practice.name, practice.recompute, practice.state) not in storage:
        return ""
    return next((
        one.name for one in question.workload.presets
        if one.topology == question.machine.topology.name and one.practice == practice.name
        and (one.replicas, one.ipus_per_replica, one.micro_batch) == split
    ), "")  # fmt: skip
