"""Published claims about IPU systems, and what podsim says of each."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from podsim.model.chip import Precision
from podsim.model.displayable import Displayable
from podsim.model.quantity import Count, Key, NotNegative, Positive


class Metric(StrEnum):
    """What a claim is about; decides which evaluator asks the model."""

    TIME_TO_TRAIN = "time_to_train"
    TIME_REDUCTION = "time_reduction"
    SPEEDUP = "speedup"
    THROUGHPUT_RATIO = "throughput_ratio"
    SCALING = "scaling"
    SOFTWARE_SPEEDUP = "software_speedup"
    PERFORMANCE_PER_DOLLAR = "performance_per_dollar"
    PRICE = "price"
    PEAK = "peak"
    BANDWIDTH = "bandwidth"
    HOST_SERVERS = "host_servers"
    IPUS = "ipus"
    PORTABILITY = "portability"
    INFERENCE = "inference"
    SAMPLING = "sampling"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimPart:
    """One number of a claim, in the unit of the claim, with what it is about; None where the source has no number.

    `machine` is a topology, a chip or a machine with a price; `preset` a published mapping; `…_before` what it is
    compared with; `baseline` another chip, `round` where its result was published. `baseline_row` is the id of a
    measurement in `published.csv`, made on `row_chips` chips, where the result is not one of MLPerf's; for another
    number of chips it is scaled by the law of the workload `scaled_as`.
    """

    workload: str = ""
    machine: str = ""
    machine_before: str = ""
    preset: str = ""
    preset_before: str = ""
    sdk: str = ""
    sdk_before: str = ""
    precision: Precision | None = None
    baseline: str = ""
    baseline_chips: Count = 1
    baseline_price: str = ""
    round: str = ""
    baseline_row: str = ""
    row_chips: Count = 1
    scaled_as: str = ""
    claimed: Positive | None = None

    @property
    def label(self) -> str:
        """What it is about, in words: "bert on pod64, mlperf-v1.0-open"."""
        chips = f"{self.baseline_chips} × {self.baseline}" if self.baseline_chips > 1 else self.baseline
        where = " over ".join(name for name in (self.machine, self.machine_before or chips) if name)
        what = f"{self.workload} on {where}" if self.workload and where else self.workload or where
        versions = " over ".join(name for name in (self.preset, self.preset_before) if name)
        return f"{what}, {versions}" if versions else what


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """One published statement, and the relative error up to which podsim is said to agree with it.

    Where its numbers are `estimated`, not printed in the source, podsim answers and neither agrees nor disagrees.
    """

    id: str
    claim: str
    source: str
    metric: Metric
    unit: str
    tolerance: NotNegative
    note: str = ""
    estimated: str = ""  # why the numbers are not the source's own
    parts: Annotated[tuple[ClaimPart, ...], Key("part")]

    def __post_init__(self) -> None:
        if not self.parts:
            raise ValueError("part: a claim needs at least one")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimsFile:
    """All claims."""

    claims: Annotated[tuple[Claim, ...], Key("claim")]


class Verdict(StrEnum):
    """What comes of holding a claim against the model."""

    AGREES = "agrees"
    DISAGREES = "disagrees"
    ANSWERED = "answered"
    CANNOT = "cannot be modelled yet"


class Worth(StrEnum):
    """What it says about the model that it agrees or disagrees with a claim."""

    INDEPENDENT = "independent"
    CALIBRATED = "calibrated on it"
    DEFINITION = "by definition"


@dataclass(frozen=True, slots=True, kw_only=True)
class PartAnswer:
    """What podsim says of one number, in the claim's unit, and its relative error; None where it cannot say.

    `worth` is what an agreement would be worth; None without an answer. `conflict` is what published results say
    against the claim: it disagrees with them, whatever podsim says. `remark` explains which reading of a log it is.
    """

    part: ClaimPart
    podsim: float | None
    error: float | None
    verdict: Verdict
    why: str
    worth: Worth | None = None
    conflict: str = ""
    remark: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimAnswer:
    """A claim with what podsim says of each of its numbers; the worst of them is the verdict."""

    claim: Claim
    parts: tuple[PartAnswer, ...]

    @property
    def verdict(self) -> Verdict:
        """Disagrees if any number does, else cannot if any cannot be modelled; answered if none has a number."""
        verdicts = {part.verdict for part in self.parts}
        order = (Verdict.DISAGREES, Verdict.CANNOT, Verdict.AGREES)
        return next((verdict for verdict in order if verdict in verdicts), Verdict.ANSWERED)

    @property
    def worth(self) -> Worth | None:
        """The least that any answer is worth, but for figures that are read back; None where there is no verdict."""
        if self.verdict not in (Verdict.AGREES, Verdict.DISAGREES):
            return None
        worths = {part.worth for part in self.parts}
        return next((worth for worth in (Worth.CALIBRATED, Worth.INDEPENDENT) if worth in worths), Worth.DEFINITION)

    @property
    def deciding(self) -> PartAnswer:
        """The number that decides the verdict: the first of its kind, the farthest off where errors are known."""
        mine = [part for part in self.parts if part.verdict is self.verdict]
        return max(mine, key=lambda part: abs(part.error or 0.0))

    @property
    def reason(self) -> str:
        """Why, for every number that decides, and where logs speak against the claim."""
        answers = [part for part in self.parts if part.verdict is self.verdict]
        why = list(dict.fromkeys(part.why for part in answers if part.why))
        number = sum(part.podsim is not None for part in self.parts)
        if self.verdict is Verdict.CANNOT and number:
            why.append(f"{number} of {len(self.parts)} numbers answered")
        more = (text for part in self.parts for text in (part.conflict, part.remark) if text)
        return "; ".join([*why, *dict.fromkeys(more)])


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimsReport(Displayable):
    """Every claim, answered."""

    answers: tuple[ClaimAnswer, ...]

    def count(self, verdict: Verdict, worth: Worth | None = None) -> int:
        """How many claims have this verdict, of those whose verdict is worth that much."""
        return sum(answer.verdict is verdict and worth in (None, answer.worth) for answer in self.answers)
