"""The verbs of podsim as functions: those that answer, and those that keep the model honest."""

from podsim.api.answers import (
    PracticeFlags,
    collective,
    explain_operators,
    goodput,
    op,
    predict,
    trace,
    trace_collective,
)
from podsim.api.upkeep import calibrate, calibrate_noise, coverage, freeze, microbenchmarks, validate

__all__ = [
    "PracticeFlags",
    "calibrate",
    "calibrate_noise",
    "collective",
    "coverage",
    "explain_operators",
    "freeze",
    "goodput",
    "microbenchmarks",
    "op",
    "predict",
    "trace",
    "trace_collective",
    "validate",
]
