"""What one run of a log is worth: the figures behind a calibration point, from its event times."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from podsim.model.mllog import Evaluation, LogRun, LogSpan
from podsim.model.sums import sum_in_order
from podsim.model.training import Benchmark, EvaluationStyle
from podsim.model.workload import Workload
from podsim.predicting.run import evaluation_interval

TOUCH_S = 0.001  # an evaluation that begins so little before training ends begins after it


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """One run in the columns of a point; `last_s` is when its last event ended, `notes` what had to be assumed."""

    run: LogRun
    startup_s: float
    train_s: float
    graph_switch_s: float
    first_evaluation_s: float
    each_evaluation_s: float
    evaluations: int
    last_s: float
    samples: float
    steps: float
    step_s: float
    notes: tuple[str, ...]

    @property
    def stretch(self) -> float:
        """What run_stop says over when the last event ended."""
        return self.run.clock_s / self.last_s


def figures(run: LogRun, workload: Workload, global_batch: int) -> Figures | str:
    """The figures of a run, or why it has none."""
    if not run.evaluations:
        return "has no evaluation, left out"
    pieces = run.epochs if len(run.epochs) > len(run.blocks) else run.blocks
    coarse = run.blocks or run.epochs
    if run.unpaired and (missing_s := _missing_s(run, coarse)):
        return f"lacks a block of training, whose start or end cannot be read ({missing_s:.3g} s), left out"
    training_samples = _samples(run, workload, global_batch, pieces)
    if isinstance(training_samples, str):
        return training_samples
    samples, notes = training_samples
    inside_s = sum_in_order(_overlap_s(evaluation.span, coarse) for evaluation in run.evaluations)
    train_s = sum_in_order(span.length_s for span in coarse) - inside_s
    per_step = global_batch * workload.packing
    if workload.benchmark.style is EvaluationStyle.INTERVAL:
        steps: float = max(1, round(samples / per_step))
        step_s = train_s / steps
    else:
        steps = max(1, math.ceil(samples / per_step - 1e-9))
        step_s = _steady_s(pieces, run.evaluations, workload.benchmark, train_s, steps)
    if not (train_s > 0 and step_s > 0):
        return "its training takes no time, left out"
    return Figures(
        run=run,
        startup_s=max(0.0, coarse[0].start_s),
        train_s=train_s,
        evaluations=len(run.evaluations),
        last_s=max(span.stop_s for span in (*coarse, *(evaluation.span for evaluation in run.evaluations))),
        samples=samples,
        steps=steps,
        step_s=step_s,
        notes=notes,
        **_evaluating(run, coarse[-1].stop_s, workload.benchmark),
    )


def _overlap_s(span: LogSpan, others: Sequence[LogSpan]) -> float:
    return sum_in_order(max(0.0, min(span.stop_s, other.stop_s) - max(span.start_s, other.start_s)) for other in others)


def _missing_s(run: LogRun, coarse: Sequence[LogSpan]) -> float:
    """The longest time between blocks, evaluations apart, where it is as long as a block could be; else 0 [s]."""
    spans = [evaluation.span for evaluation in run.evaluations]
    holes = [(before.stop_s, after.start_s) for before, after in pairwise(coarse)]
    holes += [(coarse[-1].stop_s, span.start_s) for span in spans if span.start_s > coarse[-1].stop_s]
    holes += [(0.0, span.start_s) for span in spans if span.stop_s <= coarse[0].start_s]
    values = [
        stop_s - start_s - _overlap_s(LogSpan(start_s=start_s, stop_s=stop_s), spans) for start_s, stop_s in holes
    ]
    longest_s = max(values, default=0.0)
    return longest_s if longest_s > median(span.length_s for span in coarse) / 2 else 0.0


def _evaluating(run: LogRun, trained_s: float, benchmark: Benchmark) -> dict[str, float]:
    """Graph switch, first and later evaluations [s].

    Evaluations after training follow each other, and each is charged from the stop of the one before.
    """
    spans = [evaluation.span for evaluation in run.evaluations]
    first_s = spans[0].length_s
    afterwards = benchmark.style is EvaluationStyle.EPOCHS and spans[0].start_s >= trained_s - TOUCH_S
    if afterwards:
        later = [after.stop_s - before.stop_s for before, after in pairwise(spans)]
    else:
        later = [span.length_s for span in spans[1:]]
    return {
        "graph_switch_s": max(0.0, spans[0].start_s - trained_s) if afterwards else 0.0,
        "first_evaluation_s": first_s,
        "each_evaluation_s": median(later) if later else first_s,
    }


def _samples(
    run: LogRun, workload: Workload, global_batch: int, pieces: Sequence[LogSpan]
) -> tuple[float, tuple[str, ...]] | str:
    """Samples the run trained on and what was assumed for it, or why they are not known."""
    last = run.evaluations[-1].epoch_num
    if workload.benchmark.style is EvaluationStyle.INTERVAL:
        return _until_passed(run, workload.benchmark, global_batch, last)
    dataset = run.samples_set or workload.benchmark.dataset_samples
    if not dataset:
        return "nothing says how many samples an epoch has, left out"
    if last and last > 0:
        return last * dataset, ()
    epoch_counts = [span.epoch_count for span in run.blocks if span.epoch_count]
    if epoch_counts and len(epoch_counts) == len(run.blocks):
        return sum(epoch_counts) * dataset, (
            "its last evaluation has no epoch_num: the epoch_count of its blocks is used",
        )
    return len(pieces) * dataset, ("neither epoch_num nor epoch_count: one epoch a training block is assumed",)


def _until_passed(
    run: LogRun, benchmark: Benchmark, global_batch: int, last: float | None
) -> tuple[float, tuple[str, ...]]:
    """Samples of a run that evaluates as it goes, up to its last evaluation."""
    if run.samples_done:
        return run.samples_done, ()
    if last and last > global_batch:
        return last, ("no train_samples at its end: samples taken from the epoch_num of its last evaluation",)
    interval = evaluation_interval(benchmark, global_batch) or 0.0
    note = f"neither train_samples nor epoch_num: {interval:,.0f} samples per evaluation, as the rules have it"
    return interval * len(run.evaluations), (note,)


def _steady_s(
    pieces: Sequence[LogSpan], evaluations: Sequence[Evaluation], benchmark: Benchmark, train_s: float, steps: float
) -> float:
    """Step time outside checkpoints: median of the blocks, less the slowest, of which one in so many writes one [s]."""
    own = [
        span.length_s - sum_in_order(_overlap_s(evaluation.span, [span]) for evaluation in evaluations)
        for span in pieces
    ]
    every = benchmark.checkpoint_epochs or 1
    if len(own) < 2 * every or every < 2:
        return train_s / steps
    fastest_s = sorted(own)[: len(own) - math.ceil(len(own) / every)]
    return median(fastest_s) * len(own) / steps
