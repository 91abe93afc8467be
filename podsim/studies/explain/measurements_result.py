"""Which measurement would narrow the interval of an answer most, and by how much."""

from collections.abc import Mapping
from dataclasses import dataclass

from podsim.model.displayable import Displayable
from podsim.model.prediction import Prediction
from podsim.model.quantity import Cause, Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class Measurement:
    """Runs of a workload on a machine, and the interval [s] that a calibration to them too would leave.

    They end after some steps, or where `converges` at the target: then their samples to converge are measured too.

    `narrower` is the share of the interval's width, as a factor around its middle, that it takes away; `causes` has the
    share of the variance that it takes away, by cause. `flags` ask podsim for what is to be measured.
    """

    workload: str
    machine: str
    ipus: int
    flags: str
    step_s: float
    low_s: float
    high_s: float
    narrower: float
    causes: Mapping[Cause, float]
    converges: bool = False

    @property
    def title(self) -> str:
        """What is to be run: "bert --pod 512, to the target" or "bert --pod 512, steps"."""
        return f"{self.flags}, {'to the target' if self.converges else 'steps'}"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class MeasurementRanking(Displayable):
    """Measurements by how much each narrows the interval of an answer, the most first.

    `answer` is the time to train, or the step where no length is stated; `runs` are those of each measurement.
    """

    prediction: Prediction
    answer: Estimate
    runs: int
    measurements: tuple[Measurement, ...]

    @property
    def quantity(self) -> str:
        """The name of `answer`."""
        return "time_to_train_s" if self.prediction.has_length else "step_s"
