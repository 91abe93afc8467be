"""Parts of a machine or fabric that are down, slow or lost: what `--fault` says."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from podsim.model.program import Part as StepPart


class FaultyPart(StrEnum):
    """What kind of part is at fault."""

    LINK = "link"
    IPU = "ipu"
    RANK = "rank"
    MACHINE = "machine"
    RACK = "rack"


@dataclass(frozen=True, slots=True)
class PartFault:
    """One part at `rate` of what it should do, 0 where it is down or lost.

    `name` is the two ends of a link or the number of anything else; `link` the kind of link that was named, if any.
    """

    text: str
    part: FaultyPart
    name: str
    rate: float
    link: str = ""

    @property
    def in_words(self) -> str:
        """The fault as a reader says it: "IPU 0 at 50 % of its speed"."""
        kinds = {FaultyPart.IPU: "IPU", FaultyPart.MACHINE: "IPU-Machine"}
        kind = self.link or kinds.get(self.part, str(self.part))
        none = "down" if self.part is FaultyPart.LINK else "lost"
        what = "bandwidth" if self.part is FaultyPart.LINK else "speed"
        return f"{kind} {self.name} {f'at {100 * self.rate:.3g} % of its {what}' if self.rate else none}"

    @property
    def is_lost(self) -> bool:
        """Whether it takes an IPU, a machine or a rack out of the run."""
        return self.part is not FaultyPart.LINK and not self.rate

    @property
    def number(self) -> int:
        """The number of an IPU, rank, machine or rack."""
        return int(self.name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Detour:
    """A way that traffic of a step takes round what is down: nodes passed without and with the faults."""

    usual: tuple[str, ...]
    taken: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultReport:
    """What faults cost: the healthy machine and what is left of it, side by side.

    `slowdown` is how much longer the same samples take, a share; `parts` what each part of a step takes longer [s].
    `detours` are ways between IPUs that the step uses and that changed. Where machines are lost `left` says on what
    the run goes on; its mapping is then another than the healthy one. `without_slow_s` is the step with slow links out
    of use, where that is sooner: routes are static, so a slow link is used as if it were not.
    """

    texts: tuple[str, ...]
    healthy_step_s: float
    step_s: float
    slowdown: float
    healthy_time_to_train_s: float
    time_to_train_s: float
    parts: Mapping[StepPart, float]
    detours: tuple[Detour, ...]
    left: str = ""
    without_slow_s: float | None = None

    @property
    def grew(self) -> StepPart | None:
        """The part of a step that grew most; None where none did."""
        most = max(self.parts, key=lambda part: self.parts[part])
        return most if self.parts[most] > 0 else None
