"""Releases of the software: when each was seen, what is claimed between two, and what one is taken for."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.note import AnswerNote
from podsim.model.quantity import Grade, Key, Positive


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """One release of the SDK and the month (year-month) of the document that shows it in use."""

    name: str
    month: str
    source: str
    locator: str

    @property
    def years(self) -> float:
        """The month as years of the calendar."""
        year, month = self.month.split("-")
        return int(year) + (int(month) - 1) / 12


@dataclass(frozen=True, slots=True, kw_only=True)
class SpeedUp:
    """A published claim: how much more throughput a workload has under a later release."""

    id: str
    workload: str
    since: str
    until: str
    factor: Positive
    source: str
    locator: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Releases:
    """All releases that can be asked for; `claim_error` is the log error that a vendor's factor is given."""

    claim_error: Positive
    releases: Annotated[tuple[Release, ...], Key("release")]
    speedups: Annotated[tuple[SpeedUp, ...], Key("speedup")]

    def years_between(self, since: str, until: str) -> float:
        """Years from one release to another."""
        years = {release.name: release.years for release in self.releases}
        return years[until] - years[since]


@dataclass(frozen=True, slots=True, kw_only=True)
class Maturity:
    """What a release without logs is taken for: programs take `factor` times what they do under the release `like`.

    `error` is that of log factor; configurations and overheads are those of `like`; `basis` says all that as a note.
    """

    like: str
    factor: float
    error: float
    grade: Grade
    basis: AnswerNote
