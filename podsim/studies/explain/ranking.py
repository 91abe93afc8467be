"""Operators of a mapping ranked by the time their plans take."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from podsim.lowering.work import rates
from podsim.model.chip import Chip
from podsim.model.sums import sum_in_order
from podsim.model.tile_plan import TilePlan
from podsim.model.workload import Pass
from podsim.predicting.convolutions import unmeasured_notes
from podsim.predicting.training_case import TrainingCase
from podsim.studies.explain.ranking_result import Bound, OperatorRanking, OperatorShare
from podsim.tiles.supersteps import Cycles, sram_rates, total

NUMBER = re.compile(r"(?<=[a-z])\d+(?=\.)")  # of a layer or block, which have equal operators
MEMORY_METHODS = ("vector", "rearrange", "gather", "scatter-add")
HALF = 0.5  # of the SRAM path a tile has: a vector operator above it waits for memory rather than arithmetic


@dataclass
class _OperatorGroup:
    """Equal operators met so far."""

    method: str
    times: int = 0
    cycles: Cycles = field(default_factory=Cycles)
    moved_bytes: float = 0.0

    def add(self, plan: TilePlan, cycles: Cycles) -> None:
        """One more of them."""
        self.times += 1
        self.cycles = self.cycles + cycles
        self.moved_bytes += sum_in_order(
            step.repeat * max(cohort.load_bytes + cohort.store_bytes for cohort in step.cohorts)
            for step in plan.supersteps
        )


Plans = Iterable[tuple[str, Pass, TilePlan]]


def ranking(question: TrainingCase, micro_batch: int, plans: Plans) -> OperatorRanking:
    """Every operator of all stages, equal ones of all layers together, longest first."""
    machine = question.machine
    stretch = rates(machine, question.workload).stretch
    groups: dict[tuple[str, str], _OperatorGroup] = {}
    for name, run, plan in plans:
        key = NUMBER.sub("*", plan.operator or name), run.value
        groups.setdefault(key, _OperatorGroup(plan.method)).add(plan, total(plan.supersteps, machine.chip))
    each_s = stretch / machine.chip.clock_hz
    whole = sum_in_order(group.cycles.total for group in groups.values())
    order = sorted(groups, key=lambda key: (-groups[key].cycles.total, key))
    return OperatorRanking(
        workload=question.workload.name,
        topology=machine.topology.name,
        chip=machine.chip.name,
        micro_batch=micro_batch,
        stretch=stretch,
        total_s=whole * each_s,
        evidence=unmeasured_notes(question.workload, machine.chip),
        operators=tuple(
            OperatorShare(
                name=name,
                run=run,
                method=groups[name, run].method,
                times=groups[name, run].times,
                total_s=groups[name, run].cycles.total * each_s,
                share=groups[name, run].cycles.total / whole,
                compute_s=groups[name, run].cycles.compute * each_s,
                exchange_s=groups[name, run].cycles.exchange * each_s,
                sync_s=groups[name, run].cycles.sync * each_s,
                bound=_bound(groups[name, run], machine.chip),
            )
            for name, run in order
        ),
    )


def _bound(group: _OperatorGroup, chip: Chip) -> Bound:
    """The largest of exchange, sync and compute; vector work that keeps the SRAM path busy is SRAM."""
    cycles = group.cycles
    if cycles.exchange >= max(cycles.compute, cycles.sync):
        return Bound.EXCHANGE
    if cycles.sync > cycles.compute:
        return Bound.SYNC
    if group.method not in MEMORY_METHODS:
        return Bound.COMPUTE  # the AMP streams operands through the same path all the while
    path = sum_in_order(sram_rates(chip))
    return Bound.SRAM if group.moved_bytes > HALF * path * cycles.compute else Bound.COMPUTE
