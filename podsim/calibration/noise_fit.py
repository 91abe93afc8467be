"""How much a step may vary: what the training blocks of published runs bound and what they measure."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean, median

from podsim.calibration.fit_cases import OtherCase, steps_s
from podsim.model.calibration import ParameterSet, RunBlocks
from podsim.model.noise import HostNoise, IpuNoise, Noise, NoiseFit, RunNoise, Submission
from podsim.model.sums import sum_in_order
from podsim.model.training import EvaluationStyle
from podsim.physics.order_statistics import total
from podsim.predicting.noisy_steps import Meeting, meeting

NORMAL = 1.4826  # standard deviation of a normal sample over its median absolute deviation
OUTLIER = 5.0  # standard deviations beyond which a block is an outlier
LEAST_HICCUP_S = 1.0  # what delays a block by less is jitter of its steps
WINDOW = 7  # successive blocks whose median says what each of them should have taken
DIGITS = 2


@dataclass(frozen=True, slots=True)
class Variation:
    """One submission: the spread of a step, outliers above and below [s], and how long its servers were watched."""

    case: OtherCase
    step_spread_s: float
    above_s: tuple[float, ...]
    below_s: tuple[float, ...]
    watched_s: float


def variation(case: OtherCase, runs: Sequence[RunBlocks]) -> Variation:
    """What the blocks of a submission say; the first block of each run is part of its start and left out (Eq. 47)."""
    blocks = [run.blocks_s[1:] for run in runs]
    at_once = case.workload.benchmark.style is EvaluationStyle.EPOCHS
    differences, excess = _across(blocks) if at_once else _along(blocks, case.point.step_s)
    block_s = NORMAL * median(abs(difference) for difference in differences) / math.sqrt(2)
    per_block = median(value for run in blocks for value in run) / case.point.step_s
    limit_s = max(OUTLIER * block_s, LEAST_HICCUP_S, 0.0 if at_once else 1.5 * case.point.step_s)
    return Variation(
        case=case,
        step_spread_s=block_s / math.sqrt(per_block),
        above_s=tuple(value for value in excess if value > limit_s),
        below_s=tuple(-value for value in excess if value < -limit_s),
        watched_s=case.preset.hosts * sum_in_order(map(sum_in_order, blocks)),
    )


def _along(blocks: Sequence[Sequence[float]], step_s: float) -> tuple[list[float], list[float]]:
    """Blocks of one run against their neighbours; a block may hold a step more or less, which is taken out [s]."""
    differences = [_less_a_step(later - sooner, step_s) for run in blocks for sooner, later in pairwise(run)]
    excess = []
    for run in blocks:
        for at, value in enumerate(run):
            first = max(0, min(at - WINDOW // 2, len(run) - WINDOW))
            excess.append(_less_a_step(value - median(run[first : first + WINDOW]), step_s))
    return differences, excess


def _less_a_step(difference_s: float, step_s: float) -> float:
    steps = round(difference_s / step_s)
    return difference_s - steps * step_s if abs(steps) <= 1 else difference_s


def _across(blocks: Sequence[Sequence[float]]) -> tuple[list[float], list[float]]:
    """The same block of several runs, which write checkpoints at the same places [s]."""
    level = [[value - median(run) for value in run] for run in blocks]
    differences = []
    for sooner, later in pairwise(level):
        changes = [b - a for a, b in zip(sooner, later, strict=True)]
        differences += [value - median(changes) for value in changes]
    usual = [median(same) for same in zip(*level, strict=True)]
    return differences, [value - often for run in level for value, often in zip(run, usual, strict=True)]


def fit(cases: Sequence[OtherCase], runs: Iterable[RunBlocks], parameters: ParameterSet) -> NoiseFit:
    """The noise of all published runs (Eq. 47).

    `ipu.jitter` is the most that no submission contradicts; `host.jitter` the median of what is then left.
    """
    by_point: dict[str, list[RunBlocks]] = {}
    for run in runs:
        by_point.setdefault(run.point, []).append(run)
    variations = [variation(case, by_point[case.point.id]) for case in cases if case.point.id in by_point]
    meetings = [_meeting(variation, parameters) for variation in variations]
    most = [_most_jitter(variation, where) for variation, where in zip(variations, meetings, strict=True)]
    host_jitters = [
        _left_for_hosts(variation, where, min(most)) for variation, where in zip(variations, meetings, strict=True)
    ]
    submissions = tuple(
        Submission(
            point=variation.case.point.id,
            step_s=where.step_s,
            step_spread_s=variation.step_spread_s,
            ipu_jitter=jitter,
            host_jitter=host,
            above_s=variation.above_s,
            below_s=variation.below_s,
            watched_s=variation.watched_s,
        )
        for variation, where, jitter, host in zip(variations, meetings, most, host_jitters, strict=True)
    )
    spread = math.sqrt(fmean(variation.case.point.step_spread**2 for variation in variations))
    return NoiseFit(noise=_noise(submissions, spread), submissions=submissions)


def _noise(submissions: Sequence[Submission], run_spread: float) -> Noise:
    above = [size for submission in submissions for size in submission.above_s]
    below = [size for submission in submissions for size in submission.below_s]
    net = max(1, len(above) - len(below))  # what wanders both ways is no hiccup
    return Noise(
        ipu=IpuNoise(jitter=_short(min(submission.ipu_jitter for submission in submissions))),
        host=HostNoise(
            jitter=_short(median(submission.host_jitter for submission in submissions)),
            hiccup_every_s=_short(sum_in_order(submission.watched_s for submission in submissions) / net),
            hiccup_size_s=_short(max(0.0, sum_in_order(above) - sum_in_order(below)) / net),
        ),
        run=RunNoise(spread=_short(run_spread)),
    )


def _meeting(variation: Variation, parameters: ParameterSet) -> Meeting:
    return meeting(
        variation.case.question(parameters), variation.case.mapping, steps_s([variation.case], parameters)[0]
    )


def _spread_s(where: Meeting, jitter: float) -> float:
    """What jitter of IPUs alone makes of a step: standard deviation [s]."""
    laws = [total(barriers, jitter) for barriers in (where.micro_batches, where.update)]
    return math.hypot(*(law.maximum(where.replicas).spread_s for law in laws if law))


def _most_jitter(variation: Variation, where: Meeting) -> float:
    """The jitter of IPUs that would explain all that a submission's steps vary by."""
    low, high = 1e-6, 1.0
    while high / low > 1.001:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if _spread_s(where, middle) < variation.step_spread_s else (low, middle)
    return low


def _left_for_hosts(variation: Variation, where: Meeting, jitter: float) -> float:
    """Mean delay of a host as a share of a step, from what IPUs leave of the variance: that of the slowest host."""
    left_s = math.sqrt(max(0.0, variation.step_spread_s**2 - _spread_s(where, jitter) ** 2))
    return left_s / where.step_s / math.sqrt(sum_in_order(1 / k**2 for k in range(1, where.hosts + 1)))


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
