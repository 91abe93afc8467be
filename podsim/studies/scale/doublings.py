"""What each doubling of a machine gains, and up to which size it pays."""

import math
from itertools import pairwise

from podsim.model.prediction import Prediction
from podsim.studies.scale.result import ScaleReport


def knee(report: ScaleReport) -> Prediction | None:
    """The largest machine up to which each doubling gains as much as is asked; None where only one is compared."""
    pairs = growing(report)
    slow = next((small for small, large in pairs if gain(report, small, large) < report.knee_gain), None)
    return (slow or pairs[-1][1]) if pairs else None


def growing(report: ScaleReport) -> list[tuple[Prediction, Prediction]]:
    """Each machine with the next larger one, of the chip of the first: another chip is no growth."""
    chip = report.predictions[0].chip
    pairs = pairwise(prediction for prediction in report.predictions if prediction.chip == chip)
    return [(small, large) for small, large in pairs if small.ipus < large.ipus]


def gain(report: ScaleReport, small: Prediction, large: Prediction) -> float:
    """What a larger machine gains for each doubling of IPUs: in time to train, or in throughput without a length."""
    ratio = (
        small.time_to_train_s.value / large.time_to_train_s.value
        if report.has_length
        else large.throughput_samples_per_s.value / small.throughput_samples_per_s.value
    )
    return float(ratio ** (1 / math.log2(large.ipus / small.ipus))) - 1
