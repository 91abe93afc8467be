"""The curve through reference points: a straight line between two of them, a law through all."""

import math

from podsim.model.sums import sum_in_order
from podsim.model.training import Convergence, ReferencePoint


def between(left: ReferencePoint, right: ReferencePoint, batch: float) -> tuple[float, float, float]:
    """Samples and their spread between two points, straight in log batch, and how far along it lies (Eq. 23)."""
    share = math.log(batch / left.batch) / math.log(right.batch / left.batch)
    return left.samples + share * (right.samples - left.samples), left.std + share * (right.std - left.std), share


def law(convergence: Convergence) -> tuple[float, float]:
    """Least-squares S(B) = a + b B over the points: least samples a, critical batch a / b (Eq. 24).

    Source: mccandlish-2018.
    """
    points = convergence.points
    count = len(points)
    mean_b = sum(point.batch for point in points) / count
    mean_s = sum_in_order(point.samples for point in points) / count
    cover = sum_in_order((p.batch - mean_b) * (p.samples - mean_s) for p in points)
    slope = max(0.0, cover / sum_in_order((p.batch - mean_b) ** 2 for p in points))
    return max(mean_s - slope * mean_b, 1.0), slope


def critical_batch(convergence: Convergence) -> float:
    """The batch at which the law needs twice its least samples."""
    low, slope = law(convergence)
    return low / slope if slope else math.inf
