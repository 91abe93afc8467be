"""Every legal mapping of a workload on a machine, ranked: the search of `predict`, over all storage as well."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING

from podsim.errors import Infeasible
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.planning import choose, idle_ipus, shorter_rows
from podsim.planning.configuration import (
    TENSOR_SHARDS,
    MappingBuilder,
    may_stream,
    search_configurations,
    stream,
    what_if,
)
from podsim.planning.mapping_search import Search
from podsim.planning.no_fit import refusal
from podsim.predicting import assemble, intervals
from podsim.studies.mappings.framework_settings import settings
from podsim.studies.mappings.result import AdvisedMapping, Mappings, NotQuite, Rank

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from podsim.model.mapping import Mapping
    from podsim.model.note_code import Rejection
    from podsim.model.prediction import ConsideredMapping, MemoryFit
    from podsim.model.training import SoftwareConfiguration
    from podsim.predicting.training_case import TrainingCase
    from podsim.resolve import Case
    from podsim.scenario import Constraints


@dataclass(frozen=True, slots=True)
class _Best:
    """The best batch of one split and storage, with the search that evaluated it."""

    search: Search
    time_s: float
    mapping: Mapping
    memory: MemoryFit


def mappings(case: Case, by: Rank, most: int, on_progress: Callable[[int, int], None] | None = None) -> Mappings:
    """The `most` best mappings; Infeasible where none fits, InputError where none divides as asked.

    Each split (replicas, IPUs per replica, micro-batch) and storage is there once, at its best batch.
    """
    question, has_length = case.question, not case.missing
    machine, workload = question.machine, question.workload
    usual = MappingBuilder(workload, machine.topology, machine.like, what_if(case.scenario))
    choose.check(case.scenario.mapping, usual)
    searches, best = _evaluations(question, usual, case.scenario.mapping, by, on_progress)
    idle = None if best else idle_ipus.uneven_reason(searches[0])
    whole = searches
    if idle is not None:
        parts = idle_ipus.parts(machine.topology.ipus)
        on_parts, best = _evaluations(question, usual, case.scenario.mapping, by, on_progress, parts)
        searches = [*whole, *on_parts]
    if not best:
        first = min(whole, key=_missed_by)  # what fits on no part may fit on the machine
        first.global_batches = {batch for search in searches for batch in search.global_batches}
        no = refusal(first, on_parts=idle is not None)
        raise shorter_rows.with_advice(no, case) if isinstance(no, Infeasible) else no
    ranked_mappings = [(best, best.search.settle(best.mapping, best.memory)) for best in best]
    ranked_mappings.sort(key=lambda item: _order(item[1], by, workload.packing))
    rejections: Counter[Rejection] = sum((search.rejected for search in searches), Counter())
    return Mappings(
        workload=workload.name,
        workload_title=workload.title,
        topology=machine.topology.name,
        topology_title=machine.topology.title,
        chip=machine.chip.name,
        ipus=machine.topology.ipus,
        sdk=machine.sdk,
        by=by,
        legal=sum(search.legal for search in searches),
        distinct=len(best),
        timed=has_length,
        rejected={str(why): count for why, count in sorted(rejections.items())},
        nearest=_nearest(searches),
        idle=idle,
        advised=tuple(_advice(question, best, item, has_length) for best, item in ranked_mappings[:most]),
        assumptions=(*workload.notes, *case.notes),
        calibration=intervals.held_out_note(machine.parameters, machine.parameters_file),
    )


def _evaluations(
    question: TrainingCase,
    usual: MappingBuilder,
    constraints: Constraints,
    by: Rank,
    on_progress: Callable[[int, int], None] | None,
    sizes: Sequence[int] = (0,),
) -> tuple[list[Search], list[_Best]]:
    """All searches that were made and the best batch of each split; further ways only where nothing fits so far.

    `sizes` are numbers of IPUs to use, 0 for all of the machine.
    """
    schedules = {configuration.schedule for configuration in search_configurations(question.workload)}
    waves: list[list[Search]] = [[]]
    for ipus in sizes:
        waves[0] += _resident(question, usual, constraints, ipus) if schedules != {Schedule.PHASED} else []
        waves[0] += _layerwise_searches(question, usual, constraints, ipus) if Schedule.PHASED in schedules else []
    streams = bool(question.machine.topology.gateway.streaming_bytes)
    if streams and not usual.what_if.schedule and may_stream(question.workload):
        waves.append([each for ipus in sizes for each in _layerwise_searches(question, usual, constraints, ipus)])
    searches: list[Search] = []
    best: list[_Best] = []
    for wave in waves:
        for search_number, search in enumerate(wave, 1):
            best += _best(search, by)
            if on_progress:
                on_progress(search_number, len(wave))
        searches += wave
        if best:
            break
    return searches, best


def _resident(question: TrainingCase, usual: MappingBuilder, constraints: Constraints, ipus: int) -> list[Search]:
    """Weights on the chip: one search for each way to store the rest."""
    streams = question.machine.topology.gateway.streaming_bytes
    storage = product(Recompute, StatePlace if streams else (StatePlace.ON_CHIP,))
    what_ifs = (replace(usual.what_if, recompute=recompute, state=place) for recompute, place in storage)
    return [Search(question, usual.otherwise(each), constraints, ipus=ipus) for each in what_ifs]


def _layerwise_searches(
    question: TrainingCase, usual: MappingBuilder, constraints: Constraints, ipus: int
) -> list[Search]:
    """Weights streamed: one search for each number of tensor shards, with state sharded over replicas and without."""
    own = [each.tensor_shards for each in search_configurations(question.workload) if each.schedule is Schedule.PHASED]
    shardings = product(dict.fromkeys((*own, *TENSOR_SHARDS)), (True, False))
    return [
        Search(question, usual.otherwise(stream(usual.what_if, shards, sharded=flag)), constraints, ipus=ipus)
        for shards, flag in shardings
    ]


def _best(search: Search, by: Rank) -> list[_Best]:
    """Of each split the batch that is best: the soonest; or the largest, since a fixed cost a step is then rarest."""
    bests: dict[tuple[int, int, int], _Best] = {}
    for time_s, mapping, memory in search.every():
        if mapping.replicas == 1 and search.planner.what_if.state_sharded is False:
            continue  # shared with nobody it is the same
        previous_best = bests.get(mapping.split)
        better = previous_best is None or (
            time_s < previous_best.time_s
            if by is Rank.TIME
            else mapping.accumulation > previous_best.mapping.accumulation
        )
        if better:
            bests[mapping.split] = _Best(search, time_s, mapping, memory)
    return list(bests.values())


def _missed_by(search: Search) -> float:
    return search.nearest[0].needed_share if search.nearest else float("inf")


def _order(item: ConsideredMapping, by: Rank, packing: float) -> tuple[float, float, float]:
    """Best first; what takes no less is put behind what holds less."""
    value = item.time_to_train_s if by is Rank.TIME else -_rate(item, packing)
    return value, item.memory, item.mapping.ipus_per_replica


def _rate(item: ConsideredMapping, packing: float) -> float:
    """Samples per second."""
    return item.mapping.global_batch * packing / item.step_s


def _nearest(searches: list[Search]) -> NotQuite | None:
    near_misses = [search.nearest for search in searches if search.nearest]
    if not near_misses:
        return None
    memory, mapping = min(near_misses, key=lambda item: item[0].needed_share)
    category, _ = max(memory.fullest.by_category.items(), key=lambda item: item[1])
    return NotQuite(
        mapping=mapping, memory=memory.fraction, streaming=memory.streaming_fraction, largest=category.replace("_", " ")
    )


def _advice(question: TrainingCase, best: _Best, item: ConsideredMapping, timed: bool) -> AdvisedMapping:
    workload = question.workload
    step_s, _ = assemble.estimates(question.by_formula, item.mapping)
    rate = _rate(item, workload.packing)
    return AdvisedMapping(
        mapping=item.mapping,
        step_s=item.step_s,
        throughput_samples_per_s=rate,
        throughput_low_samples_per_s=rate * step_s.value / step_s.high,
        throughput_high_samples_per_s=rate * step_s.value / step_s.low,
        time_to_train_s=item.time_to_train_s if timed else None,
        bubble=item.bubble,
        memory=item.memory,
        streaming=best.memory.streaming_fraction,
        streaming_bytes_per_ipu=best.memory.streaming_bytes_per_ipu,
        preset=_preset(question, item.mapping),
        settings=settings(workload, item.mapping),
    )


def _preset(question: TrainingCase, mapping: Mapping) -> str:
    """The published mapping of this split and storage on this machine; "" where there is none."""
    storage = {_storage(configuration) for configuration in question.workload.configurations}
    configuration = mapping.configuration
    split = mapping.replicas, mapping.ipus_per_replica, mapping.micro_batch
    if _storage(configuration) not in storage:
        return ""
    return next(
        (
            preset.name
            for preset in question.workload.presets
            if preset.topology == question.machine.topology.name
            and preset.configuration == configuration.name
            and (preset.replicas, preset.ipus_per_replica, preset.micro_batch) == split
        ),
        "",
    )


def _storage(configuration: SoftwareConfiguration) -> tuple[object, ...]:
    """What is kept where; whether state is shared is evaluated in phases alone."""
    in_phases = configuration.schedule is Schedule.PHASED
    sharding = (configuration.tensor_shards, configuration.state_sharded) if in_phases else ()
    return configuration.name, configuration.recompute, configuration.state, *sharding
