"""Samples of a step where rows are packed, beside the nominal number that the global batch counts."""

from podsim.model.prediction import Prediction
from podsim.report import numbers


def packing(p: Prediction) -> float:
    """Samples of the data over those that the global batch counts: packed rows hold more than their nominal number."""
    if p.phases:
        return 1.0
    return round(p.throughput_samples_per_s.value * p.step_s.value / p.mapping.global_batch, 9)


def in_words(p: Prediction, unit: str = "") -> str:
    """Samples of a step and of a row: "4,690 (mean packing 2.04)"; "" where rows hold their nominal number."""
    if (factor := packing(p)) == 1.0:
        return ""
    samples = numbers.short(p.mapping.global_batch * factor, 3)
    return f"{samples}{unit} (mean packing {numbers.short(p.mapping.samples_per_row * factor, 3)})"
