"""The duration of a run on a machine whose parts fail, with the best checkpoint interval or a given one."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from podsim.engines.des.histories import simulate
from podsim.errors import InputError
from podsim.model.arguments import MOST_WORK_S
from podsim.model.goodput import Failures, GoodputReport, InterruptedRun, Quantiles
from podsim.model.quantity import Estimate, Grade
from podsim.model.sums import sum_in_order
from podsim.predicting import checkpoints, interruptions

if TYPE_CHECKING:
    from podsim.engines.des.histories import Histories
    from podsim.model.goodput import CheckpointCost, TriedInterval
    from podsim.model.prediction import Prediction
    from podsim.physics.order_statistics import Array
    from podsim.predicting.training_case import TrainingCase

LIKELY: Final = 0.05
"""Expected failures of a run from where on they are simulated: of shorter runs one in twenty sees any at most."""


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
    run = InterruptedRun(
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
    tried_intervals = search.best() if interval_s is None else ()
    chosen_s = interval_s or max(tried_intervals, key=lambda interval: interval.goodput).interval_s
    histories = simulate(checkpoints.luck(run, count, question.seed), chosen_s)
    work = answer.time_to_train_s if work_s is None else None
    return _report(answer, run, cost, chosen_s, tried_intervals, histories, work=work, seed=question.seed)


def where_likely(answer: Prediction, question: TrainingCase, failures: Failures) -> GoodputReport | None:
    """`goodput` as `podsim goodput` has it; None for a run so short that hardly any of its kind sees a failure.

    None, too, for one longer than any that is simulated. Raises Infeasible as `goodput` does.
    """
    parts = interruptions.parts(question, answer.mapping, failures)
    rate = sum_in_order(part.failures_per_s for part in parts)
    work_s = answer.time_to_train_s.value
    if rate * work_s <= LIKELY or work_s > MOST_WORK_S:
        return None
    return goodput(answer, question, failures, work_s=None, interval_s=None, runs=None, spares=0)


def _report(
    answer: Prediction,
    run: InterruptedRun,
    cost: CheckpointCost,
    interval_s: float,
    tried_intervals: tuple[TriedInterval, ...],
    histories: Histories,
    *,
    work: Estimate | None,
    seed: int,
) -> GoodputReport:
    """What the histories say."""
    finish = quantiles(histories.finish_s)
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
        searched=bool(tried_intervals),
        tried=tried_intervals,
        runs=len(histories.finish_s),
        seed=seed,
        finish_s=finish,
        time_to_finish_s=_to_finish(finish, run.work_s, work),
        predicted_work_s=work,
        goodput=replace(quantiles(run.work_s / histories.finish_s), mean=run.work_s / finish.mean),
        failures=quantiles(histories.failures),
        lost=histories.losses,
        assumptions=answer.assumptions,
        faults=answer.faults,
    )


def _refuse(run: InterruptedRun, step_s: float, interval_s: float | None) -> None:
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


def _to_finish(finish: Quantiles, work_s: float, work: Estimate | None) -> Estimate:
    """When the run ends, with the uncertainty of its work and, independent of it, that of failures (Eq. 102) [s].

    A longer run loses as large a share to failures; `work` is None where its duration was given.
    """
    longer = finish.mean / work_s
    less_s, more_s = (0.0, 0.0) if work is None else (work.value - work.low, work.high - work.value)
    return Estimate(
        value=finish.mean,
        low=finish.mean - math.hypot(longer * less_s, max(0.0, finish.mean - finish.p5)),
        high=finish.mean + math.hypot(longer * more_s, max(0.0, finish.p95 - finish.mean)),
        grade=Grade.ASSUMED,
    )


def quantiles(sample: Array) -> Quantiles:
    """Mean and 5, 50 and 95 % quantiles."""
    p5, p50, p95 = np.quantile(sample, (0.05, 0.5, 0.95)).tolist()
    return Quantiles(mean=float(np.mean(sample)), p5=p5, p50=p50, p95=p95)
