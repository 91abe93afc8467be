"""A customer's jobs, and one machine that holds them on partitions side by side."""

from dataclasses import dataclass
from typing import Annotated

from podsim.model.quantity import Count, Key, Positive, Seconds

MOST_JOBS = 12
LEAST_RUNS, MOST_RUNS = 0.01, 100_000
"""Runs of a job in a month: from one in eight years to one every 26 seconds, less than any run here takes to start."""
HOURS_A_MONTH = 365.25 * 24 / 12
HOUR_S = 3600.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One workload, how many runs of it a month brings, and the time one may take; None where that is free.

    Of several jobs that with the lowest `priority` is served first, those without one last, equal ones as listed.
    """

    workload: str
    runs_per_month: Positive
    within_s: Seconds | None = None
    name: str = ""
    priority: Count | None = None

    @property
    def title(self) -> str:
        """What to call it: its name, else its workload."""
        return self.name or self.workload


@dataclass(frozen=True, slots=True, kw_only=True)
class Mix:
    """The jobs of a month."""

    jobs: Annotated[tuple[Job, ...], Key("job")]

    def __post_init__(self) -> None:
        if not 1 <= len(self.jobs) <= MOST_JOBS:
            raise ValueError(f"job: a mix has from 1 to {MOST_JOBS} jobs")
        for job in self.jobs:
            if not LEAST_RUNS <= job.runs_per_month <= MOST_RUNS:
                raise ValueError(
                    f"job: runs_per_month of {job.title} must be from {LEAST_RUNS:g} to {MOST_RUNS:,}, "
                    f"not {job.runs_per_month:.6g}"
                )
        titles = [job.title for job in self.jobs]
        if len(set(titles)) < len(titles):
            raise ValueError("job: two are called alike; give one a name")
