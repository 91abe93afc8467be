"""Fitted constants of frameworks: what waiting for the input of a micro-batch takes."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from podsim.model.calibration import FittedParameter
from podsim.model.framework import INTERFACES, Framework, HostInterface
from podsim.model.quantity import NotNegative
from podsim.model.sums import sum_in_order

MICRO_BATCH: Final = "input.micro-batch"
REPLICA: Final = "input.replica"
NAMES: Final = (MICRO_BATCH, REPLICA)


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameworkCosts:
    """Fitted constants of frameworks (Eq. 13); without any, no framework adds anything.

    `correlation` is that of the logs of the two constants, `scatter` the rms log error of step times with each
    framework and family left out of the fit, beyond the errors of the constants.
    """

    fitted: Mapping[str, FittedParameter] = field(default_factory=dict)
    correlation: float = 0.0
    scatter: NotNegative = 0.0
    rows: int = 0

    def value(self, name: str) -> float:
        """Value of a constant [s]; 0 where nothing was fitted."""
        constant = self.fitted.get(name)
        return constant.value if constant else 0.0

    def parts(self, framework: str, replicas: int) -> dict[str, float]:
        """What each constant adds to one micro-batch under a framework [s]."""
        interface = INTERFACES[Framework(framework)] if framework else HostInterface()
        if not (interface.fetches_in_line and self.fitted):
            return {}
        process_replicas = replicas if interface.one_process else 0
        return {MICRO_BATCH: self.value(MICRO_BATCH), REPLICA: self.value(REPLICA) * process_replicas}

    def variance(self, framework: str, replicas: int, share: float) -> float:
        """Variance of a log step time of which the constants of a framework take a share."""
        parts = self.parts(framework, replicas)
        whole = sum_in_order(parts.values())
        if not whole:
            return 0.0
        value, other = (share * parts[name] / whole * self.fitted[name].error for name in NAMES)
        return max(0.0, math.fsum((value**2, other**2, 2 * self.correlation * value * other))) + self.scatter**2


def constants_of(framework: Framework) -> tuple[str, ...]:
    """The fitted constants that a step under a framework has; none of a framework that is the reference."""
    interface = INTERFACES[framework]
    if not interface.fetches_in_line:
        return ()
    return NAMES if interface.one_process else (MICRO_BATCH,)


NO_COSTS: Final = FrameworkCosts()
