"""What evaluators may ask: the model, what it was calibrated on, other chips, prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from podsim.errors import MissingParameter
from podsim.planning.asking import ANY_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.model.calibration import CalibrationPoint
    from podsim.model.chip import Chip
    from podsim.model.claims import ClaimPart
    from podsim.model.comparator import ComparatorResult
    from podsim.model.fabric import Topology
    from podsim.model.inference import InferenceReport
    from podsim.model.prediction import Prediction
    from podsim.model.prices import PriceList, PriceRange


class Predict(Protocol):
    """`podsim.api.predict`, as far as claims need it."""

    def __call__(
        self,
        workload: str,
        *,
        topology: str,
        preset: str | None = None,
        sdk: str | None = None,
        samples: float | None = None,
    ) -> Prediction:
        """The prediction; InputError or Infeasible where there is none."""


class Infer(Protocol):
    """`podsim.api.infer`, as far as claims need it."""

    def __call__(self, workload: str, *, topology: str, batch: int) -> InferenceReport:
        """How requests are answered; InputError or Infeasible where they are not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The model and the data that claims are held against."""

    predict: Predict
    infer: Infer
    chip_of: Callable[[str], Chip]
    topology_of: Callable[[str], Topology]
    points: tuple[CalibrationPoint, ...]
    rivals: tuple[ComparatorResult, ...]
    prices: PriceList

    def ask(
        self,
        part: ClaimPart,
        *,
        machine: str = "",
        preset: str | None = None,
        sdk: str | None = None,
        samples: float | None = None,
    ) -> Prediction:
        """The prediction for a part, on its own machine under its own preset unless others are given."""
        named = part.preset if preset is None else preset
        return self.predict(
            part.workload, topology=machine or part.machine, preset=named or None,
            sdk=(part.sdk if sdk is None else sdk) or None, samples=samples,
        )  # fmt: skip

    def rate(self, part: ClaimPart, *, machine: str = "", sdk: str | None = None) -> float:
        """Predicted samples a second; where nobody says how long a run is, of one of any length."""
        try:
            found = self.ask(part, machine=machine, sdk=sdk)
        except MissingParameter:
            found = self.ask(part, machine=machine, sdk=sdk, samples=ANY_LENGTH)
        return found.throughput_samples_per_s.value

    def time_s(self, part: ClaimPart) -> float:
        """Predicted time to train of a part, all phases of a run that has them [s]."""
        return self.ask(part).time_to_train_s.value

    def logged(self, part: ClaimPart, preset: str) -> CalibrationPoint | None:
        """The published result of a mapping; None where no log is carried."""
        asked = (part.workload, part.machine, preset)
        return next((one for one in self.points if (one.workload, one.topology, one.preset) == asked), None)

    def rival(self, part: ClaimPart) -> ComparatorResult:
        """The fastest published result of the baseline; MissingParameter where there is none of that chip and size.

        A baseline of one chip is read from the smallest system there is.
        """
        rows = [
            row for row in self.rivals
            if row.workload == part.workload and row.chip == part.baseline and part.round in ("", row.round)
            and row.division == "closed"
        ]  # fmt: skip
        size = part.baseline_chips if part.baseline_chips > 1 else min((row.chips for row in rows), default=0)
        found = [row for row in rows if row.chips == size]
        if not found:
            when = f" in {part.round}" if part.round else ""
            raise MissingParameter(
                f"no published result of {part.workload} on {part.baseline_chips} × {part.baseline}{when} is carried"
            )
        return min(found, key=lambda row: row.measured_minutes)

    def price(self, machine: str) -> PriceRange:
        """What a machine costs; MissingParameter where nobody says."""
        found = self.prices.of(machine)
        if found is None:
            raise MissingParameter(f"nobody says what {machine} costs")
        return found
