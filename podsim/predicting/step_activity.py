"""What IPUs do in a step, from the plans of its operators and its timeline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from podsim.lowering.work import computing, stage_work
from podsim.model.activity import StepActivity
from podsim.model.program import Part
from podsim.model.sums import sum_in_order
from podsim.model.training import Schedule

if TYPE_CHECKING:
    from collections.abc import Sequence

    from podsim.model.chip import Chip, Precision
    from podsim.model.inference import Service
    from podsim.model.machine import Machine
    from podsim.model.mapping import Mapping
    from podsim.model.program import StepTimeline
    from podsim.model.workload import Workload
    from podsim.tiles.cost import TileCost


def of_step(workload: Workload, mapping: Mapping, machine: Machine, timeline: StepTimeline) -> StepActivity:
    """Activity of the mean IPU of the machine in one weight update.

    All stages of a replica count, not the busiest alone; in phases every IPU does every stage. The weight update is
    vector code.
    """
    ready = computing(machine, workload, mapping)
    work = [item.forward + item.backward for item in stage_work(workload, mapping, ready)]
    spread = 1 if mapping.schedule is Schedule.PHASED else mapping.ipus_per_replica
    used_share = mapping.ipus / machine.topology.ipus
    times = used_share * mapping.accumulation / spread / timeline.step_s
    updating = used_share * timeline.breakdown_s[Part.WEIGHT_UPDATE] / timeline.step_s
    return shares(work, times, ready.chip, workload.precision, updating)


def of_service(workload: Workload, mapping: Mapping, machine: Machine, service: Service) -> StepActivity:
    """Activity of the mean IPU of the machine that serves one batch after another, as many as it can."""
    ready = computing(machine, workload, mapping)
    work = [item.forward for item in stage_work(workload, mapping, ready, forward_only=True)]
    spread = 1 if mapping.schedule is Schedule.PHASED else mapping.ipus_per_replica
    per_s = mapping.ipus / machine.topology.ipus / spread / service.period_s
    return shares(work, per_s, ready.chip, workload.precision)


def shares(
    work: Sequence[TileCost], per_s: float, chip: Chip, precision: Precision, updating: float = 0.0
) -> StepActivity:
    """Activity of an IPU that does each item of `work` so many times a second, and updates weights for that share."""
    flop_per_s = per_s * sum_in_order(item.matrix_flop for item in work)
    matrix = flop_per_s / chip.peak_flop_per_s(precision)
    compute = per_s * sum_in_order(item.compute_s for item in work)
    return StepActivity(
        precision=precision,
        flop_per_s=flop_per_s,
        matrix=matrix,
        vector=max(0.0, compute - matrix) + updating,
        exchange=per_s * sum_in_order(item.exchange_s for item in work),
    )


def together(each: Sequence[StepActivity], weights: Sequence[float]) -> StepActivity:
    """The mean over phases that last so long, by their share of the time; all have the precision of the first."""

    def mean(name: str) -> float:
        return sum_in_order(getattr(item, name) * weight for item, weight in zip(each, weights, strict=True))

    return StepActivity(
        precision=each[0].precision,
        flop_per_s=mean("flop_per_s"),
        matrix=mean("matrix"),
        vector=mean("vector"),
        exchange=mean("exchange"),
    )
