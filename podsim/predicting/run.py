"""A training run around its steps: start-up, steps, evaluations, checkpoints."""

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from podsim.convergence.samples import Samples
from podsim.model.calibration import Overhead
from podsim.model.mapping import Mapping
from podsim.model.prediction import Run
from podsim.model.training import Benchmark, EvaluationStyle
from podsim.model.workload import Workload

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NO_OVERHEAD = Overhead(startup_s=0, graph_switch_s=0, first_evaluation_s=0, each_evaluation_s=0, checkpoint_s=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPace:
    """What repeats in a run: seconds per step and an evaluation, samples per step, and the rules."""

    step_s: float
    evaluation_s: float
    samples_per_step: float
    benchmark: Benchmark
    overhead: Overhead
    interval_samples: float | None


def pace(workload: Workload, mapping: Mapping, step_s: float, evaluation_s: float, overhead: Overhead) -> RunPace:
    """The pace of a mapping."""
    return RunPace(
        step_s=step_s,
        evaluation_s=evaluation_s,
        samples_per_step=mapping.global_batch * workload.packing,
        benchmark=workload.benchmark,
        overhead=overhead,
        interval_samples=evaluation_interval(workload.benchmark, mapping.global_batch),
    )


def evaluation_interval(benchmark: Benchmark, global_batch: int) -> float | None:
    """Samples between two evaluations inside a run; None where the rules state no interval (Eq. 26).

    Parameters: `benchmark`, its rules; `global_batch`, samples of a step. Result: samples, at least one grain.

    Equation: floor(fraction × (per_batch × global_batch + base) / grain) × grain. Validity: benchmarks that evaluate
    inside the run (BERT); others evaluate checkpoints afterwards or not at all. Source: mlperf-policies, BERT.
    """
    if benchmark.style is not EvaluationStyle.INTERVAL:
        return None
    parts = (
        benchmark.interval_fraction,
        benchmark.interval_per_batch,
        benchmark.interval_base,
        benchmark.interval_grain,
    )
    fraction, per_batch, base, grain = (float(part or 0) for part in parts)
    return max(grain, math.floor(fraction * (per_batch * global_batch + base) / grain) * grain)


def stop_samples(benchmark: Benchmark, interval: float | None, needed_samples: float) -> float:
    """Samples after which a run stops: at an evaluation, or after whole epochs (Eq. 28).

    Parameters: `benchmark`, with samples of the data set; `interval`, samples between evaluations, None where they are
    not inside the run; `needed_samples`, samples to converge. Result: samples, at least one interval or epoch.

    Equation: ceil((needed_samples − interval / 2) / interval) × interval, or the nearest whole number of epochs.
    Reference points are counted at the evaluation that passed, on average half an interval late. Validity: predicted
    samples; those of `--samples` are charged exactly; whole samples where no data set is stated. Source:
    mlperf-policies.
    """
    if interval is not None:
        return max(1, math.ceil((needed_samples - interval / 2) / interval)) * interval
    dataset = float(benchmark.dataset_samples or 1)
    return max(1, round(needed_samples / dataset)) * dataset


def stop_counts(
    benchmark: Benchmark, interval: float | None, needed_samples: "NDArray[np.float64]"
) -> "NDArray[np.float64]":
    """`stop_samples` of each of many runs, to the last digit."""
    import numpy as np

    if interval is not None:
        return np.maximum(1.0, np.ceil((needed_samples - interval / 2) / interval)) * interval
    dataset = float(benchmark.dataset_samples or 1)
    return np.maximum(1.0, np.rint(needed_samples / dataset)) * dataset


def run(pace: RunPace, samples: float) -> Run:
    """The run that trains on exactly `samples` samples: its counts and the times of its parts [s] (Eq. 29).

    Parameters: `pace`, step and evaluation [s], samples per step, rules and overhead [s]; `samples`, trained on, above
    0. Result: steps, evaluations, and seconds of start-up, training, evaluations and checkpoints.

    Equation: start-up + samples / samples_per_step × step + evaluations × evaluation + what follows training. Validity:
    a run with evaluations inside ends at any share of a step, others at whole steps; checkpoints every
    `checkpoint_epochs` epochs; no evaluation where the rules state none; overhead does not grow with the machine.
    Source: the calibration points (calibration/points); mlperf-policies for the counts.
    """
    overhead, steps = pace.overhead, max(1, math.ceil(samples / pace.samples_per_step - 1e-9))
    if pace.interval_samples is not None:
        evaluations = max(1, round(samples / pace.interval_samples))
        return Run(
            steps=steps,
            evaluations=evaluations,
            interval_samples=pace.interval_samples,
            startup_s=overhead.startup_s,
            training_s=samples / pace.samples_per_step * pace.step_s,
            evaluation_s=evaluations * pace.evaluation_s,
            checkpoint_s=0.0,
        )
    if not pace.benchmark.evaluates_checkpoints:  # nobody says when it evaluates, or nothing does
        return Run(
            steps=steps,
            evaluations=0,
            interval_samples=None,
            startup_s=overhead.startup_s,
            training_s=steps * pace.step_s,
            evaluation_s=0.0,
            checkpoint_s=0.0,
        )
    epochs = samples / float(pace.benchmark.dataset_samples or 1)
    evaluations = max(1, math.ceil(epochs / float(pace.benchmark.checkpoint_epochs or 1) - 1e-9))
    afterwards = overhead.graph_switch_s + overhead.first_evaluation_s
    return Run(
        steps=steps,
        evaluations=evaluations,
        interval_samples=None,
        startup_s=overhead.startup_s,
        training_s=steps * pace.step_s,
        evaluation_s=afterwards + (evaluations - 1) * overhead.each_evaluation_s,
        checkpoint_s=evaluations * overhead.checkpoint_s,
    )


def expected_s(pace: RunPace, samples: Samples) -> float:
    """Time to train at the mean number of samples, not rounded to an evaluation [s]; what a search compares."""
    return run(pace, samples.mean).total_s
