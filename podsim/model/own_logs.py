"""What own logs or points add to a calibration."""

from dataclasses import dataclass

from podsim.model.calibration import CalibrationPoint
from podsim.model.mllog import Remark
from podsim.model.training import Preset
from podsim.model.validation import FitReport


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnPoint:
    """A point of own logs with the mapping it was taken for; `published` where that is a preset's own."""

    point: CalibrationPoint
    mapping: Preset
    published: bool
    reached: int
    init_s: float
    platform: str
    learning_rate: float | None
    seeds: tuple[int, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnError:
    """One quantity of one own point: measured, and errors of the fits before and after, as fractions [s]."""

    id: str
    quantity: str
    measured_s: float
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnLogsReport:
    """What was read, what it makes, and what the fit did with it; paths are "" where nothing was written.

    `published` counts the published points fitted beside, `files` is 0 where points were given.
    """

    files: int
    runs: int
    points: tuple[OwnPoint, ...]
    published: int
    errors: tuple[OwnError, ...]
    fit: FitReport
    remarks: tuple[Remark, ...]
    path: str
    points_path: str
