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
from podsim.api.drawing import drawn
from podsim.api.sweeping import sweep
from podsim.api.upkeep import calibrate, calibrate_noise, freeze, microbenchmarks, validate
from podsim.model.shown import Shown

Shown.page = staticmethod(drawn)

__all__ = [
    "PracticeFlags",
    "calibrate",
    "calibrate_noise",
    "collective",
    "explain_operators",
    "freeze",
    "goodput",
    "microbenchmarks",
    "op",
    "predict",
    "sweep",
    "trace",
    "trace_collective",
    "validate",
]
