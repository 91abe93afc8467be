"""What the event simulation of a step says beside its formula."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.lowering.work import computing, stage_work
from podsim.model.prediction import StepEvents
from podsim.tiles.cost import TileCost

STALLS_PER_IPU_S = 0.0187 / 3600
"""Stalls of one IPU in a second of training, of all lengths.

Derived: 13 blocks of 28 submissions are too long by five spreads, a second and 1.5 steps in 1,842 IPU-hours. Of stalls
whose lengths are exponential of mean STALL_S blocks show 8 to 46 %, by submission (calibration/blocks.csv).
"""
STALL_S = 1.3
"""Mean length of a stall [s]: what the same blocks exceed the usual by, as in calibration/noise.toml."""
EULER = 0.5772156649015329
MOST_IN_SERIES = 20.0
TERMS = 100  # the last is below 1e-20 for 20

if TYPE_CHECKING:
    from podsim.model.mapping import Mapping
    from podsim.predicting.training_case import TrainingCase


def of_step(question: TrainingCase, mapping: Mapping, step_s: float, formula_s: float) -> StepEvents:
    """A step that events say takes `step_s` and the formula `formula_s`, with how long its tiles wait."""
    idle, stalls_s = _tiles_idle(question, mapping), stalled_s(mapping.ipus, step_s)
    return StepEvents(step_s=step_s, formula_s=formula_s, tiles_idle=idle, stalls_s=stalls_s)


def stalled_s(ipus: int, step_s: float) -> float:
    """What the longest stall of any IPU adds to a step, on average [s] (Eq. 95).

    Parameters: `ipus`, that train, at least 1; `step_s`, the step without stalls [s]. Result: seconds.

    Equation: 1.3 s × Ein(ipus × 0.0187 / h × step_s): all IPUs wait for the longest stall at the all-reduce. Validity:
    stalls at a constant rate per IPU-hour, exponential lengths; none shorter than a second shows in the logs; 13 events
    on up to 256 IPUs. It is added to no time. Source: mlperf-training-v1-0, mlperf-training-v1-1, mlperf-training-v2-0:
    calibration/blocks.csv.
    """
    return STALL_S * longest_of(ipus * STALLS_PER_IPU_S * step_s)


def longest_of(expected: float) -> float:
    """Mean of the largest of a Poisson number of standard exponential draws, `expected` of them on average.

    The entire exponential integral: the integral of (1 - e^-t) / t from 0 to `expected`.
    """
    if expected > MOST_IN_SERIES:
        return math.log(expected) + EULER  # what is left out is below e^-expected
    term, value = 1.0, 0.0
    for count in range(1, TERMS):
        term *= -expected / count
        value -= term / count
    return value


def _tiles_idle(question: TrainingCase, mapping: Mapping) -> float:
    """Of a micro-batch on the IPU with most work: the share that its mean tile waits for the last one (Eq. 2)."""
    machine = computing(question.machine, question.workload, mapping)
    by_ipu: dict[int, TileCost] = {}
    for item in stage_work(question.workload, mapping, machine, tiles=question.tiles):
        by_ipu[item.stage.ipu] = by_ipu.get(item.stage.ipu, TileCost()) + item.forward + item.backward
    busiest = max(by_ipu.values(), key=lambda cost: cost.total_s)
    return busiest.idle_s / busiest.total_s if busiest.total_s else 0.0
