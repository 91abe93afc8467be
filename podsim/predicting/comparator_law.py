"""Training runs on chips that are no IPUs: a scaling law a chip and workload, as a prediction."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from podsim.convergence.samples import Samples, to_converge
from podsim.errors import InputError, MissingParameter
from podsim.model.comparator import ComparatorChip, ComparatorMachine, ComparatorPrediction, Laws, ScalingLaw
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Run
from podsim.model.quantity import Cause, Estimate, Grade
from podsim.model.sums import sum_in_order
from podsim.model.training import Benchmark, Division, EvaluationStyle
from podsim.model.workload import Workload
from podsim.predicting import intervals
from podsim.predicting.run import evaluation_interval

COSTS = {"fixed": "fixed", "network": "network", "doubling": "growing"}
"""Parts of a step by the parameter that they are proportional to."""
BATCHES_A_DOUBLING = 4  # global batches evaluated for each doubling of the chips
MOST_BEYOND = 16.0  # so many times the largest or smallest published size is no extrapolation but a guess


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparatorCase:
    """What is asked of so many chips."""

    workload: Workload
    chip: ComparatorChip
    machine: ComparatorMachine
    chips: int
    laws: Laws
    division: Division
    global_batch: int | None = None
    samples: float | None = None


def breakdown_s(law: ScalingLaw, chips: int, global_batch: float) -> dict[str, float]:
    """Time of one step in the newest round by part [s] (Eq. 52).

    Parameters: `law`, fitted to a chip and a workload; `chips`, at least 1; `global_batch`, samples of a step. Result:
    seconds by part: work, fixed, network (beyond one machine) and growing (with the chips).

    Equation: work = global_batch / (chips × samples_per_s), growing = doubling × log2(chips); network is paid above the
    chips of one machine. Validity: synchronous data parallelism; chips and samples per chip near those published
    (`predict` refuses more than 16 times beyond in chips); lower efficiency at few samples per chip only as far as
    `fixed` stands for it. Source: derived: the form of a step with synchronous data parallelism;
    calibration/comparators/parameters.toml.
    """
    return {
        "work": global_batch / (chips * law.samples_per_s),
        "fixed": law.fixed_s,
        "network": law.network_s if chips > law.machine else 0.0,
        "growing": law.doubling_s * math.log2(chips),
    }


def step_s(law: ScalingLaw, chips: int, global_batch: float, at: str = "") -> float:
    """Time of one step [s], in a published round or in the newest (Eq. 52).

    Parameters: `law`, fitted to a chip and a workload; `chips`, at least 1; `global_batch`, samples of a step; `at`, a
    published round of that chip, "" for the newest. Result: seconds.

    Equation: round × work + overheads × (fixed + network + growing), of `breakdown_s`. Validity: as `breakdown_s`; a
    round that the law does not have counts as the newest. Source: derived: the form of a step with synchronous data
    parallelism; calibration/comparators/parameters.toml.
    """
    parts = breakdown_s(law, chips, global_batch)
    work_s = parts.pop("work")
    return law.rounds.get(at, 1.0) * work_s + law.overheads.get(at, 1.0) * sum_in_order(parts.values())


def fit_variance(law: ScalingLaw, chips: int, global_batch: float) -> float:
    """Variance of the log of a step that the covariance of the fit makes [1] (Eq. 55).

    Parameters: `law`, with the 4 × 4 covariance of the logs of rate, fixed, network and doubling; `chips`, at least 1;
    `global_batch`, samples of a step. Result: a variance, without unit.

    Equation: g C g', g the shares of the step in the newest round, negative for the rate. Validity: first order in the
    logs; without `model_error` and the distance beyond published sizes, which `predict` adds. Source: derived:
    propagation of the covariance of the fit to calibration/comparators/results.csv.
    """
    parts = breakdown_s(law, chips, global_batch)
    step = sum_in_order(parts.values())
    sensitivity = {"rate": -parts["work"], **{kind: parts[part] for kind, part in COSTS.items()}}
    return sum_in_order(
        value / step * other / step * law.covariance[a][b]
        for a, value in sensitivity.items()
        for b, other in sensitivity.items()
    )


def evaluation_s(law: ScalingLaw, chips: int) -> float:
    """Time of one evaluation [s] (Eq. 53).

    Parameters: `law`, with the fixed part [s] and the samples of an evaluation; `chips`, at least 1. Result: seconds.

    Equation: fixed part + evaluation_samples / (chips × samples_per_s). Validity: samples spread evenly over the chips;
    where logs time no evaluations (BERT) their samples are 0 and what they cost is in the step (Eq. 52). Source: the
    logs behind calibration/comparators/results.csv.
    """
    return law.evaluation_s + law.evaluation_samples / (chips * law.samples_per_s)


def evaluations(benchmark: Benchmark, samples: float, global_batch: int) -> int:
    """How often a run of so many samples evaluates, by the rules of its benchmark."""
    if benchmark.style is EvaluationStyle.EPOCHS:
        epochs = samples / float(benchmark.dataset_samples or 1)
        return max(1, math.ceil(epochs / float(benchmark.checkpoint_epochs or 1) - 1e-9))
    return max(1, round(samples / float(evaluation_interval(benchmark, global_batch) or samples)))


def usual_global_batch(sizes: Mapping[int, int], chips: int) -> int:
    """The global batch [samples] that published results suggest for a number of chips (Eq. 54).

    Parameters: `sizes`, published global batch [samples] by number of chips, ascending, at least one; `chips`, at least
    1. Result: samples of a step, rounded to the nearest whole number per chip, at least one each.

    Equation: log batch linear in log chips between published sizes. Below the smallest the samples per chip stay; above
    the largest the largest published batch stays, the least that `predict` tries. Validity: hyper-parameters tuned anew
    for the batch. Source: calibration/comparators/results.csv; between and below its sizes podsim's own assumption (Eq.
    54 of the model).
    """
    (first, least), (_, most) = next(iter(sizes.items())), list(sizes.items())[-1]
    batch = float(most)
    if chips <= first:
        batch = least * chips / first
    for (fewer, low), (more, high) in pairwise(sizes.items()):
        if fewer < chips <= more:
            batch = low * (high / low) ** (math.log(chips / fewer) / math.log(more / fewer))
    return whole(batch, chips)


def whole(samples: float, chips: int) -> int:
    """The nearest global batch with as many samples on every chip, at least one."""
    return max(1, round(samples / chips)) * chips


def beyond(law: ScalingLaw, chips: int, global_batch: int) -> float:
    """The factor by which chips or samples per chip leave what was published."""
    mine = global_batch / chips
    return max(chips / law.largest, law.smallest / chips, mine / law.most_each, law.least_each / mine, 1.0)


def predict(question: ComparatorCase) -> ComparatorPrediction:
    """The prediction of a training run by the law of its chip and workload, with 90 % intervals (Eq. 32).

    Parameters: `question`, workload, chip, machine, chips, laws and, where given, global batch and samples [samples].
    Result: step and time to train [s], throughput [samples/s], samples to converge [samples], with intervals. Errors:
    `MissingParameter` where no law of the workload on this chip is published; `InputError` for chips more than 16 times
    beyond the published numbers or more chips than samples in a step.

    Equation: time to train = start-up + samples / global batch × step (Eq. 52) + evaluations × evaluation (Eq. 53); the
    variances of Eq. 55 and of samples (Eq. 23 to 25) make lognormal intervals. Validity: the newest round of the chip;
    one submitter each; tuned hyper-parameters. Source: calibration/comparators/results.csv.
    """
    law = _law(question)
    batch = _batch(question, law)
    need = _samples(question, law, batch)
    far = beyond(law, question.chips, batch)
    grade = Grade.EXTRAPOLATED if far > 1 else Grade.INTERPOLATED
    doubt = _doubt(question, law, batch, far)
    parts = breakdown_s(law, question.chips, batch)
    smaller = law.smallest / question.chips >= far > 1
    each = intervals.lognormal(sum_in_order(parts.values()), doubt, grade, far, smaller=smaller)
    run = _run(question, law, batch, need.mean, each.value)
    return ComparatorPrediction(
        workload=question.workload.name,
        workload_title=question.workload.title,
        target=question.workload.benchmark.target,
        topology=question.machine.name,
        topology_title=question.machine.title,
        chip=question.chip.name,
        chip_title=question.chip.title,
        chips=question.chips,
        division=question.division,
        optimizer=law.optimizer,
        round=law.newest,
        global_batch=batch,
        step_s=each,
        breakdown_s=parts,
        throughput_samples_per_s=Estimate(
            value=batch / each.value,
            low=batch / each.high,
            high=batch / each.low,
            grade=grade,
            beyond=far,
            smaller=smaller,
        ),
        samples_to_converge=_samples_estimate(need),
        time_to_train_s=_time_to_train(question, run, need, each, doubt),
        run=run,
        limited_by=_limited_by(question, parts, batch),
        assumptions=tuple(_assumption_notes(question, law, need)),
        calibration=_worth(question, law),
    )


def _doubt(question: ComparatorCase, law: ScalingLaw, global_batch: int, far: float) -> dict[Cause, float]:
    """Variances of the log of a step by cause (Eq. 55)."""
    per_doubling = question.laws.workload[question.workload.name].per_doubling
    return {
        Cause.PARAMETERS: fit_variance(law, question.chips, global_batch),
        Cause.MODEL: law.model_error**2,
        Cause.DISTANCE: (per_doubling * math.log2(far)) ** 2,
    }


def _samples_estimate(need: Samples) -> Estimate:
    variances = {Cause.SEEDS: need.seed_spread**2, Cause.CONVERGENCE: need.doubt**2}
    return intervals.lognormal(need.mean, variances, need.grade, need.beyond)


def _time_to_train(
    question: ComparatorCase, run: Run, need: Samples, step: Estimate, doubt: Mapping[Cause, float]
) -> Estimate:
    """The score: its doubt is that of a step, of the mean samples, and of the seeds of all its runs [s]."""
    runs = intervals.runs_scored(question.workload.benchmark)
    variances = {**doubt, Cause.CONVERGENCE: need.doubt**2, Cause.SEEDS: need.seed_spread**2 / runs}
    grade = intervals.worst(step.grade, need.grade)
    smaller = step.smaller and step.beyond >= need.beyond
    return intervals.lognormal(run.total_s, variances, grade, max(step.beyond, need.beyond), smaller=smaller)


def _law(question: ComparatorCase) -> ScalingLaw:
    workload, chip = question.workload.name, question.chip.name
    laws = question.laws.workload.get(workload)
    if laws is None or chip not in laws.chip:
        others = ", ".join(sorted(laws.chip)) if laws else "none"
        raise MissingParameter(
            f"no published run of {workload} on {question.chip.title} says how it scales",
            context=(f"chips with a law for {workload}: {others}",),
            hint="podsim validate --comparators",
        )
    law, chips = laws.chip[chip], question.chips
    least, most = law.smallest, law.largest
    if max(chips / most, least / chips) > MOST_BEYOND:
        raise InputError(
            f"{chips:,} chips are more than {MOST_BEYOND:g} times beyond what is published of {question.chip.title}",
            code="beyond-comparator",
            context=(f"{workload}: {least:,} to {most:,} chips",),
            hint=f"--chips {most}",
        )
    return law


def _batch(question: ComparatorCase, law: ScalingLaw) -> int:
    if question.global_batch is None:
        return _default_global_batch(question, law)
    if question.global_batch < question.chips:
        raise InputError(
            f"a global batch of {question.global_batch:,} leaves some of {question.chips:,} chips without a sample",
            code="bad-mapping",
            hint=f"--global-batch {question.chips}",
        )
    return question.global_batch


def _default_global_batch(question: ComparatorCase, law: ScalingLaw) -> int:
    """The usual global batch; beyond the largest size published the one that trains soonest, as submitters choose it.

    No smaller than the largest published, no more samples per chip than there (Eq. 54).
    """
    chips, sizes = question.chips, law.sizes
    least, most = usual_global_batch(sizes, chips), max(sizes)
    if chips <= most:
        return least
    steps = math.ceil(BATCHES_A_DOUBLING * math.log2(chips / most))
    larger = (whole(sizes[most] * 2 ** (step / BATCHES_A_DOUBLING), chips) for step in range(1, steps + 1))

    def trains_s(global_batch: int) -> float:
        need = _samples(question, law, global_batch)
        return _run(question, law, global_batch, need.mean, step_s(law, chips, global_batch)).total_s

    return min(sorted({least, *larger}), key=trains_s)


def _samples(question: ComparatorCase, law: ScalingLaw, batch: int) -> Samples:
    if question.samples is not None:
        return Samples(
            mean=question.samples,
            seed_spread=0.0,
            doubt=0.0,
            grade=Grade.GIVEN,
            beyond=1.0,
            basis=AnswerNote.of(NoteCode.GIVEN),
        )
    factors = question.laws.workload[question.workload.name].samples
    return to_converge(question.workload.curve, batch, factors, law.optimizer, question.division)


def _run(question: ComparatorCase, law: ScalingLaw, batch: int, samples: float, each_s: float) -> Run:
    benchmark = question.workload.benchmark
    count = evaluations(benchmark, samples, batch)
    return Run(
        steps=max(1, math.ceil(samples / batch - 1e-9)),
        evaluations=count,
        interval_samples=evaluation_interval(benchmark, batch),
        startup_s=law.startup_s,
        training_s=samples / batch * each_s,
        evaluation_s=count * evaluation_s(law, question.chips),
        checkpoint_s=0.0,
    )


WORDS = {
    "work": "work per sample",
    "fixed": "fixed overhead",
    "network": "network between machines",
    "growing": "overhead that grows with chips",
}


def _limited_by(question: ComparatorCase, parts: Mapping[str, float], batch: int) -> AnswerNote:
    total_s = sum_in_order(parts.values())
    first, second = sorted(parts, key=lambda part: -parts[part])[:2]
    limit = AnswerNote.of(
        NoteCode.LONGEST_PARTS,
        first=WORDS[first],
        first_share=parts[first] / total_s,
        second=WORDS[second],
        second_share=parts[second] / total_s,
    )
    if first == "work" or question.global_batch is not None:  # one that was given may be far below the best
        return limit
    return AnswerNote.of(NoteCode.LARGER_GLOBAL_BATCH_AMORTIZES, parts=limit, batch=batch, part=WORDS[first])


def _assumption_notes(question: ComparatorCase, law: ScalingLaw, need: Samples) -> Iterator[AnswerNote]:
    yield AnswerNote.of(NoteCode.COMPARATOR_ROUND, round=law.newest, title=question.chip.title)
    if question.global_batch is None:
        yield _global_batch_basis(question, law)
    yield AnswerNote.of(NoteCode.SAMPLES, basis=need.basis)
    if not law.evaluation_samples:
        yield AnswerNote.of(NoteCode.COMPARATOR_EVALUATIONS)


def _global_batch_basis(question: ComparatorCase, law: ScalingLaw) -> AnswerNote:
    if question.chips <= max(law.sizes):
        return AnswerNote.of(NoteCode.COMPARATOR_GLOBAL_BATCH, least=law.smallest, most=law.largest)
    return AnswerNote.of(NoteCode.COMPARATOR_GLOBAL_BATCH_BY_LAW, most=max(law.sizes))


def _worth(question: ComparatorCase, law: ScalingLaw) -> str:
    of = f"{law.results} published result{'' if law.results == 1 else 's'} on {question.chip.title}"
    if law.held_out:
        return f"scaling law over {of}, held-out error {100 * law.error:.1f} % (rms)"
    return f"scaling law over {of}, too few for a held-out error: {100 * law.error:.1f} % (rms) taken from other chips"
