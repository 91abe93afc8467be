"""The answer of a prediction in short: facts in the order of what a reader asks first."""

from collections.abc import Iterator

from podsim.model.mapping import Mapping
from podsim.model.note_code import NoteCode
from podsim.model.prediction import MemoryFit, Prediction
from podsim.model.quantity import Cause, Estimate
from podsim.model.training import Schedule
from podsim.report import numbers
from podsim.report.doc import Fact, Facts, label
from podsim.report.views import (
    faults_view,
    grades_view,
    lengths_view,
    next_question_view,
    run_cost_view,
    tokens_view,
    unknown_length_view,
    wall_clock_view,
)
from podsim.report.views.lengths_view import skew_notes
from podsim.topology.fault_text import parse

RUN_OVERHEAD, STEP_TIME, PEAK_SRAM, LENGTH, GLOBAL_BATCH = 5, 4, 3, 2, 1
"""Priorities of facts that `--verbose` tells more of: the highest leaves first where a screen has too many lines."""
LEAST_SCORED = 0.005
"""Share of a run from which on the page says how a score differs from it."""


def summary_facts(p: Prediction, *, costs_in_short: bool = False, verbose: bool = True) -> Iterator[Fact]:
    """Time, throughput, bottleneck, mapping, memory, length and money, of which `costs_in_short` has two lines."""
    if p.has_length:
        yield time_to_train(p)
        yield from wall_clock_view.facts(p)
        yield throughput(p, f"{_per_ipu(p)} samples/s per IPU, MFU {mfu(p)}")
        yield from tokens_view.rate(p)
    else:
        yield from unknown_length_view.facts(p, f"{_per_ipu(p)} samples/s per IPU, MFU {mfu(p)}")
    yield bottleneck(p)
    yield from _mapping(p)
    yield peak_sram(p)
    if p.has_length:
        yield _length(p)
        yield _steps(p)
        yield overhead(p)
    else:
        yield unknown_length_view.length(p)
    if p.money:
        yield from run_cost_view.facts(p.money, in_short=costs_in_short, verbose=verbose, level=p.interval)


def next_step() -> Facts:
    """The command to go on with."""
    return Facts((Fact("Next", "", remark=next_question_view.after_prediction()),))


def time_to_train(p: Prediction) -> Fact:
    """The time to train with its interval."""
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    interval = f"{numbers.level(p.interval)}: {time.interval}"
    return Fact("Time to train", time.number, time.unit, f"{interval}{_score_text(p)}", strong=True)


def _score_text(p: Prediction) -> str:
    """By how much the score of several runs differs from the run shown, whose steps and overhead the page lists."""
    more = p.time_to_train_s.value / p.run.total_s - 1
    if p.division is None or abs(more) < LEAST_SCORED or coarse(p) or any(skew_notes(p)):
        return ""
    return f"; MLPerf score; a single run {numbers.time(p.run.total_s)}"


def throughput(p: Prediction, remark: str) -> Fact:
    """Samples per second while training."""
    rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
    return Fact("Throughput", rate.number, f"{rate.unit} samples/s".strip(), remark)


def bottleneck(p: Prediction) -> Fact:
    """The longest parts of a step."""
    return Fact("Bottleneck", "", remark=label(str(p.limited_by)))


def evidence(p: Prediction) -> Fact:
    """Shares of the time to train by evidence, in words."""
    estimate = p.time_to_train_s if p.has_length else p.step_s
    if any(note.code is NoteCode.STATED_FABRIC for note in p.assumptions):
        text = "assumed: no IPU machine has this topology, and the interval is that of a pod"
        return Fact("Evidence", "", remark=text)
    parts = [grades_view.evidence(p) or grades_view.grade(estimate)]
    if p.faults:
        if p.faults.left and all(fault.is_lost for fault in parse(p.faults.texts)):
            parts[0] = f"as for a healthy machine of {numbers.count_of(p.ipus, 'IPU')}: {parts[0]}"
        parts.append(faults_view.EVIDENCE)
    elif grades_view.is_calibrated(p) and not coarse(p):
        parts.append(p.calibration)
    return Fact("Evidence", "", remark="; ".join(parts))


def _per_ipu(p: Prediction) -> str:
    return numbers.significant(p.throughput_samples_per_s.value / p.mapping.ipus, 2 if coarse(p) else 3)


def coarse(p: Prediction) -> bool:
    """Whether what is answered lies so far out that its times show few digits."""
    return numbers.is_coarse(p.time_to_train_s if p.has_length else p.step_s)


def mfu(p: Prediction) -> str:
    """Model FLOP/s over the peak."""
    return numbers.percent(p.mfu, 0 if p.mfu >= 0.1 else 1)


def _mapping(p: Prediction) -> Iterator[Fact]:
    mapping = p.mapping
    stages = f"{len(mapping.stages):,} stage{'' if len(mapping.stages) == 1 else 's'}{_shared_stages(p)}"
    shards = mapping.configuration.tensor_shards
    if shards > 1:
        rows = mapping.ipus_per_replica // shards  # of the grid over which products are cut
        stages += f", {shards:,}{f' × {rows:,}' if rows > 1 else ''} tensor shards"
    yield Fact("Mapping", "", remark=f"{split(mapping)}, {stages}, {mapping.schedule} schedule")
    yield from idle_ipus(p)
    yield from larger_replicas(p)
    factors = f"micro-batch {mapping.micro_batch:,} × accumulation {mapping.accumulation:,} × {_replicas(mapping)}"
    if mapping.samples_per_row != 1:
        factors += f" × packing {numbers.short(mapping.samples_per_row, 3)}"
    yield Fact("Global batch", f"{mapping.global_batch:,}", "samples", factors, priority=GLOBAL_BATCH)
    yield from tokens_view.batch(p)


def idle_ipus(p: Prediction) -> Iterator[Fact]:
    """How many IPUs the search leaves idle, and why a run on all of them would be slower."""
    if p.choice.all_ipus is not None:
        idle = dict(p.choice.reason.values)
        yield Fact("IPUs idle", f"{idle['idle']:,}", f"of {idle['ipus']:,}", str(p.choice.all_ipus))


def larger_replicas(p: Prediction) -> Iterator[Fact]:
    """The time with replicas larger than the search takes, where they would be quicker."""
    if p.with_larger_replicas is None:
        return
    mapping, share = p.with_larger_replicas
    unit = numbers.scale(p.time_to_train_s.value, numbers.TIME)
    yield Fact(
        "Larger replicas",
        numbers.signed_percent(share - 1, 0) if coarse(p) else unit.number(share * p.time_to_train_s.value),
        "time" if coarse(p) else unit.unit,
        f"{mapping.replicas:,} × {mapping.ipus_per_replica} IPUs, not chosen: no published run has these",
    )


def split(mapping: Mapping) -> str:
    """How a mapping divides the IPUs: "32 replicas × 32 IPUs"."""
    ipus = f"{mapping.ipus_per_replica:,} IPU{'' if mapping.ipus_per_replica == 1 else 's'}"
    return f"{_replicas(mapping)} × {ipus}"


def _replicas(mapping: Mapping) -> str:
    return f"{mapping.replicas:,} replica{'' if mapping.replicas == 1 else 's'}"


def _shared_stages(p: Prediction) -> str:
    """Which stages lie on one IPU, where a pipeline has more stages than IPUs."""
    several = [share for share in p.memory.ipus if len(share.stages) > 1]
    if p.mapping.schedule is Schedule.PHASED or not several or len(p.memory.ipus) == 1:
        return ""
    on = " and ".join(f"{stage}" for stage in several[0].stages)
    return f" ({on} on IPU {several[0].ipu})" if len(several) == 1 and len(several[0].stages) == 2 else ""


def peak_sram(p: Prediction) -> Fact:
    """Peak SRAM over the IPUs of a replica."""
    fit, count = p.memory, len(p.memory.ipus)
    parts = [fullest(fit)] if count > 1 else []
    if fit.streaming_bytes_per_ipu:
        parts.append(f"and {numbers.amount(fit.streaming_bytes_per_ipu)} per IPU in streaming memory")
    percent = numbers.with_decimals(fit.fraction * 100, 0)
    return Fact("Peak SRAM", percent, "%", ", ".join(parts), priority=PEAK_SRAM)


def fullest(fit: MemoryFit) -> str:
    """Which IPU of a replica the peak is that of."""
    return f"on IPU {fit.fullest.ipu}, the highest of {len(fit.ipus):,} IPUs per replica"


def _length(p: Prediction) -> Fact:
    estimate = p.samples_to_converge
    samples = numbers.format_estimate(estimate, numbers.COUNT)
    interval = f"{numbers.level(p.interval)}{of_runs(estimate)}: {samples.interval}"
    if estimate.low == estimate.high:
        origin = "default of the workload" if p.length_default else "given"
        interval = origin if p.global_batch_tokens is None else f"{_tokens(p)} tokens, {origin}"
    elif p.run.evaluations and p.run.interval_samples:
        stop = numbers.count(p.run.evaluations * p.run.interval_samples)
        interval += f"; one run: {stop}, evaluation {p.run.evaluations:,}"
    elif p.run.evaluations:
        stop = numbers.count(p.run.steps * p.step_s.value * p.throughput_samples_per_s.value)
        interval += f"; one run: {stop} samples"
    elif p.global_batch_tokens is not None:
        interval += f"; {_tokens(p)} tokens {'at this global batch' if lengths_view.is_by_law(p) else 'on average'}"
    title = "Run length" if lengths_view.is_length(p) else "Samples to converge"
    priority = 0 if any(skew_notes(p)) else LENGTH  # which are about the samples
    return Fact(title, samples.number, f"{samples.unit} samples".strip(), interval, priority=priority)


def of_runs(samples: Estimate) -> str:
    """What the interval of samples to converge has a share of: " of runs" where these differ from seed to seed."""
    return " of runs" if samples.causes.get(Cause.SEEDS, 0.0) > 0 else ""


def _tokens(p: Prediction) -> str:
    """The length of a run of a language model in tokens."""
    assert p.global_batch_tokens is not None, "a language model"
    length = p.global_batch_tokens / p.mapping.global_batch / tokens_view.packing(p) * p.samples_to_converge.value
    return tokens_view.amount(length)


def _steps(p: Prediction) -> Fact:
    step = numbers.format_estimate(p.step_s, numbers.STEP_TIME, coarse=coarse(p))
    interval = f"{numbers.level(p.interval)}: {step.interval}"
    packed_samples = tokens_view.packed_samples(p)
    of = f" of {packed_samples}" if packed_samples else ""
    steps = f"{numbers.count_of(p.run.steps, 'step')}{of}"
    return Fact("Step time", step.number, step.unit, f"{interval}; {steps}", priority=STEP_TIME)


def overhead(p: Prediction) -> Fact:
    """Start-up, evaluation and checkpoints of a run."""
    run, figures = p.run, 2
    outside_s = run.startup_s + run.evaluation_s + run.checkpoint_s
    if not outside_s:
        text = "start-up, evaluation, checkpoints: not included"
        return Fact("Run overhead", numbers.NO_VALUE, "", text, priority=RUN_OVERHEAD)
    unit = numbers.scale(outside_s, numbers.TIME, figures)
    parts = [f"start-up {numbers.time(run.startup_s, figures)}"] if run.startup_s else []
    if run.evaluations:
        evaluations = f"{run.evaluations:,} evaluation{'' if run.evaluations == 1 else 's'}"
        program = "its program" if run.evaluations == 1 else "their program"
        switch = "" if run.interval_samples else f" and loading {program}"  # after so many epochs
        parts.append(f"{evaluations}{switch} {numbers.time(run.evaluation_s, figures)}")
    if run.checkpoint_s:
        parts.append(f"checkpoints {numbers.time(run.checkpoint_s, figures)}")
    share = numbers.percent(outside_s / run.total_s if run.total_s else None)
    remark = f"{share} of the run: {', '.join(parts)}"
    return Fact("Run overhead", unit.number(outside_s, figures), unit.unit, remark, priority=RUN_OVERHEAD)
