"""What evaluators may ask: the model, what it was calibrated on, other chips, prices."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from podsim.convergence.lengths import ANY_LENGTH
from podsim.errors import MissingParameter
from podsim.units import FIXED_UNITS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from podsim.model.calibration import CalibrationPoint
    from podsim.model.chip import Chip
    from podsim.model.claims import ClaimPart
    from podsim.model.comparator import ComparatorPrediction, ComparatorResult
    from podsim.model.fabric import Topology
    from podsim.model.inference import InferenceReport
    from podsim.model.microbenchmark import Microbenchmark
    from podsim.model.prediction import Prediction
    from podsim.model.prices import PriceList, PriceRange
    from podsim.model.sampler import SamplerReport


class Predict(Protocol):
    """`podsim.predict`, as far as claims need it."""

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
    """`podsim.infer`, as far as claims need it."""

    def __call__(self, workload: str, *, topology: str, batch: int) -> InferenceReport:
        """How requests are answered; InputError or Infeasible where they are not."""


class SampleVerb(Protocol):
    """`podsim.sample`, as far as claims need it."""

    def __call__(self, sampler: str, *, topology: str) -> SamplerReport:
        """How fast a sampler runs; InputError or Infeasible where it does not."""


class PredictComparator(Protocol):
    """`podsim.predict_comparator`, as far as claims need it."""

    def __call__(self, workload: str, *, topology: str, chips: int) -> ComparatorPrediction:
        """The answer of a scaling law; MissingParameter where nothing is published."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Environment:
    """The model and the data that claims are compared with."""

    predict: Predict
    infer: Infer
    sample: SampleVerb
    predict_comparator: PredictComparator
    chip_of: Callable[[str], Chip]
    topology_of: Callable[[str], Topology]
    points: tuple[CalibrationPoint, ...]
    rivals: tuple[ComparatorResult, ...]
    measured: Mapping[str, Microbenchmark]
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
        preset_name = part.preset if preset is None else preset
        return self.predict(
            part.workload,
            topology=machine or part.machine,
            preset=preset_name or None,
            sdk=(part.sdk if sdk is None else sdk) or None,
            samples=samples,
        )

    def rate(self, part: ClaimPart, *, machine: str = "", sdk: str | None = None) -> float:
        """Predicted samples per second; without a run length, of a run of any length."""
        try:
            prediction = self.ask(part, machine=machine, sdk=sdk)
        except MissingParameter:
            prediction = self.ask(part, machine=machine, sdk=sdk, samples=ANY_LENGTH)
        return prediction.throughput_samples_per_s.value

    def time_s(self, part: ClaimPart) -> float:
        """Predicted time to train of a part, all phases of a run that has them [s]."""
        return self.ask(part).time_to_train_s.value

    def log_of(self, part: ClaimPart, preset: str) -> CalibrationPoint | None:
        """The published result of a mapping; None where no log is carried."""
        names = (part.workload, part.machine, preset)
        return next((point for point in self.points if (point.workload, point.topology, point.preset) == names), None)

    def rival(self, part: ClaimPart) -> ComparatorResult:
        """The fastest published result of the baseline; MissingParameter where there is none of that chip and size.

        A baseline of one chip is read from the smallest system there is.
        """
        rows = [
            row
            for row in self.rivals
            if row.workload == part.workload
            and row.chip == part.baseline
            and part.round in ("", row.round)
            and row.division == "closed"
        ]
        size = part.baseline_chips if part.baseline_chips > 1 else min((row.chips for row in rows), default=0)
        results = [row for row in rows if row.chips == size]
        if not results:
            when = f" in {part.round}" if part.round else ""
            raise MissingParameter(
                f"no published result of {part.workload} on {part.baseline_chips} × {part.baseline}{when} is carried"
            )
        return min(results, key=lambda row: row.measured_minutes)

    def baseline_s(self, part: ClaimPart) -> tuple[float, str]:
        """Time of the baseline [s] and where it comes from: a published result, or a measured row of other chips.

        A row of another number of chips is divided by the ratio of throughputs that the law of `scaled_as` gives.
        """
        if not part.baseline_row:
            row = self.rival(part)
            return 60 * row.measured_minutes, f"published result {row.id}"
        measured = self.measured.get(part.baseline_row)
        if measured is None or measured.unit not in FIXED_UNITS:
            raise MissingParameter(f"published.csv has no time to train with the id {part.baseline_row}")
        time_s = measured.value * FIXED_UNITS[measured.unit][0]
        basis = f"{measured.id}: {measured.value:g} {measured.unit} on {part.row_chips} × {part.baseline}"
        if part.baseline_chips == part.row_chips:
            return time_s, basis
        less, more = (
            self.predict_comparator(part.scaled_as, topology=f"dgx-{part.baseline}", chips=chips)
            for chips in (part.row_chips, part.baseline_chips)
        )
        gain = more.throughput_samples_per_s.value / less.throughput_samples_per_s.value
        return (
            time_s / gain,
            f"{basis}, {gain:.2f} times as fast on {part.baseline_chips} by the law of {part.scaled_as}",
        )

    def price(self, machine: str) -> PriceRange:
        """What a machine costs; MissingParameter where no price is known."""
        price = self.prices.of(machine)
        if price is None:
            raise MissingParameter(f"no price of {machine} is known")
        return price
