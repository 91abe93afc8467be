"""Samples to converge as a function of the global batch: reference points inside their range, a law beyond."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

from podsim.model.calibration import SamplesFactor
from podsim.model.quantity import Grade
from podsim.model.training import Convergence, Division

LAW_ERROR = 0.10  # rms by which the law misses the reference points of BERT where it bends (docs/model.md)


@dataclass(frozen=True, slots=True, kw_only=True)
class Samples:
    """Samples of one run: the mean over seeds, the spread between seeds and the doubt in the mean, both as logs."""

    mean: float
    seed_spread: float
    doubt: float
    grade: Grade
    beyond: float
    basis: str


def reference(convergence: Convergence, batch: float) -> Samples:
    """The reference's samples at a batch: interpolated in log batch (Eq. 23), held below, by the law above (Eq. 24)."""
    points = convergence.points
    first, last = points[0], points[-1]
    if batch <= first.batch:
        below = first.batch / batch
        grade = Grade.EXTRAPOLATED if below > 1 else Grade.MEASURED
        return _samples(first.samples, first.std, 0.02 * math.log2(below) if below > 1 else 0.0, grade, below)
    if batch > last.batch:
        beyond = batch / last.batch
        low, high = law(convergence)
        mean = last.samples * (low + high * batch) / (low + high * last.batch)
        return _samples(mean, last.std * mean / last.samples, LAW_ERROR * math.log2(beyond), Grade.EXTRAPOLATED, beyond)
    for left, right in pairwise(points):
        if left.batch <= batch <= right.batch:
            share = math.log(batch / left.batch) / math.log(right.batch / left.batch)
            mean = left.samples + share * (right.samples - left.samples)
            std = left.std + share * (right.std - left.std)
            at_point = batch in (left.batch, right.batch)
            return _samples(mean, std, 0.0, Grade.MEASURED if at_point else Grade.INTERPOLATED, 1.0)
    raise AssertionError("the batch lies between the first and the last point")


def _samples(mean: float, std: float, doubt: float, grade: Grade, beyond: float) -> Samples:
    return Samples(mean=mean, seed_spread=std / mean, doubt=doubt, grade=grade, beyond=beyond, basis="reference points")


def law(convergence: Convergence) -> tuple[float, float]:
    """Least-squares S(B) = a + b B over the points: least samples a, critical batch a / b (Eq. 24).

    Source: mccandlish-2018.
    """
    points = convergence.points
    count = len(points)
    mean_b = sum(point.batch for point in points) / count
    mean_s = sum(point.samples for point in points) / count
    cover = sum((p.batch - mean_b) * (p.samples - mean_s) for p in points)
    slope = max(0.0, cover / sum((p.batch - mean_b) ** 2 for p in points))
    return max(mean_s - slope * mean_b, 1.0), slope


def critical_batch(convergence: Convergence) -> float:
    """The batch at which the law needs twice its least samples."""
    low, slope = law(convergence)
    return low / slope if slope else math.inf


def to_converge(
    convergence: Convergence,
    batch: float,
    factors: Mapping[str, Mapping[str, SamplesFactor]],
    optimizer: str,
    division: Division,
) -> Samples:
    """The reference's samples times what submissions of this optimizer and division needed of them (Eq. 25)."""
    base = reference(convergence, batch)
    learned = factors.get(optimizer, {}).get(division)
    if learned is None:
        basis = f"reference points; no submission with {optimizer} in the {division} division to learn a factor from"
        return Samples(
            mean=base.mean, seed_spread=base.seed_spread, doubt=base.doubt + LAW_ERROR, grade=Grade.ASSUMED,
            beyond=base.beyond, basis=basis,
        )  # fmt: skip
    return Samples(
        mean=base.mean * learned.factor,
        seed_spread=base.seed_spread,
        doubt=math.hypot(base.doubt, learned.spread),
        grade=base.grade,
        beyond=base.beyond,
        basis=f"reference points x {learned.factor:.3f} from {learned.points} submissions ({optimizer}, {division})",
    )
