"""The time a run takes on a machine whose parts fail, with the best checkpoint interval or a given one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from podsim.engines.des.histories import simulate
from podsim.errors import InputError
from podsim.model.arguments import MOST_WORK_S
from podsim.model.goodput import Failures, GoodputReport, Interrupted, Quantiles
from podsim.predicting import checkpoints, interruptions

if TYPE_CHECKING:
    from podsim.engines.des.histories import Histories
    from podsim.model.goodput import CheckpointCost, TriedInterval
    from podsim.model.prediction import Prediction
    from podsim.physics.order_statistics import Array
    from podsim.predicting.assemble import TrainingCase


def goodput(
    answer: Prediction,
    question: TrainingCase,
    failures: Failures,
    *,
    work_s: float | None,
    interval_s: float | None,
    runs: int | None,
    spares: int,
) -> GoodputReport:
    """Simulate the predicted run, or `work_s` of its steps, until failures have let it end.

    Raises InputError: a time that makes no sense. Infeasible: failures leave no progress to speak of.
    """
    cost = interruptions.checkpoint(question, answer.mapping, answer.memory, failures)
    run = Interrupted(
        work_s=answer.time_to_train_s.value if work_s is None else work_s,
        checkpoint_s=cost.total_s,
        detect_s=failures.restart.detect_s,
        restart_s=failures.restart.init_s + question.overhead.startup_s + cost.load_s,
        parts=interruptions.parts(question, answer.mapping, failures),
        spares=spares,
    )
    _refuse(run, answer.step_s.value, interval_s)
    search = checkpoints.IntervalSearch(run, answer.step_s.value, question.seed)
    count = checkpoints.histories(run, runs, search.check(interval_s))
    tried = search.best() if interval_s is None else ()
    chosen_s = interval_s or max(tried, key=lambda interval: interval.goodput).interval_s
    histories = simulate(checkpoints.luck(run, count, question.seed), chosen_s)
    return _report(answer, run, cost, chosen_s, tried, histories, seed=question.seed)


def _report(
    answer: Prediction,
    run: Interrupted,
    cost: CheckpointCost,
    interval_s: float,
    tried: tuple[TriedInterval, ...],
    histories: Histories,
    *,
    seed: int,
) -> GoodputReport:
    """What the histories say."""
    return GoodputReport(
        workload=answer.workload,
        workload_title=answer.workload_title,
        topology=answer.topology,
        topology_title=answer.topology_title,
        chip=answer.chip,
        ipus=answer.mapping.ipus,
        step_s=answer.step_s.value,
        run=run,
        cost=cost,
        init_s=run.restart_s - cost.load_s,
        interval_s=interval_s,
        searched=bool(tried),
        tried=tried,
        runs=len(histories.finish_s),
        seed=seed,
        finish_s=quantiles(histories.finish_s),
        goodput=quantiles(run.work_s / histories.finish_s),
        failures=quantiles(histories.failures),
        lost=histories.lost,
        assumptions=answer.assumptions,
        faults=answer.faults,
    )


def _refuse(run: Interrupted, step_s: float, interval_s: float | None) -> None:
    """Raise InputError for times that contradict each other."""
    if not 0 < run.work_s <= MOST_WORK_S:
        raise InputError(
            f"work must be above 0 and at most 100 years, not {run.work_s:.3g} s", code="bad-value", hint="--work 14d"
        )
    if interval_s is None:
        return
    if interval_s > run.work_s:
        raise InputError(
            f"a checkpoint every {interval_s:.6g} s is longer than the work, {run.work_s:.6g} s",
            code="bad-value",
            hint="leave --checkpoint-every out and the best is searched",
        )
    if interval_s < step_s:
        raise InputError(
            f"a checkpoint every {interval_s:.3g} s is shorter than a step, {step_s:.3g} s",
            code="bad-value",
            hint="a checkpoint is written between two steps",
        )


def quantiles(sample: Array) -> Quantiles:
    """Mean and 5, 50 and 95 % quantiles."""
    p5, p50, p95 = np.quantile(sample, (0.05, 0.5, 0.95)).tolist()
    return Quantiles(mean=float(np.mean(sample)), p5=p5, p50=p50, p95=p95)
