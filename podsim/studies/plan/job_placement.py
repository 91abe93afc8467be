"""Jobs on partitions side by side: which size of partition each takes, so that a machine is as small as can be."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from podsim.model.sums import sum_in_order

Hours = Mapping[int, float]
"""Hours that the month's runs of one job take, by the IPUs of the partition; only sizes that meet its deadline."""

_SLACK = 1e-9


def partitions(hours: float, available: float) -> int:
    """Partitions that so many hours keep busy where each has so many available (Eq. 67)."""
    return math.ceil(hours / available - _SLACK)


def ipus(sizes: Sequence[int], jobs: Sequence[Hours], available: float) -> int:
    """IPUs of the partitions that jobs need on these sizes; those of one size share theirs (Eq. 67).

    Sizes are powers of two, which fit side by side into any machine that has as many IPUs.
    """
    hours: dict[int, float] = {}
    for size, job in zip(sizes, jobs, strict=True):
        hours[size] = hours.get(size, 0.0) + job[size]
    return sum(size * partitions(total, available) for size, total in hours.items())


def fewest(jobs: Sequence[Hours], available: float) -> tuple[int, ...] | None:
    """The size for each job that needs the fewest IPUs in all, then the fewest hours; None where a job has no size."""
    if any(not job for job in jobs):
        return None
    order = sorted(range(len(jobs)), key=lambda at: -min(size * hours for size, hours in jobs[at].items()))
    search = _Search([jobs[at] for at in order], available)
    search.run(())
    return tuple(size for _, size in sorted(zip(order, search.best, strict=True)))


def by_priority(jobs: Sequence[Hours], runs: Sequence[float], available: float, room: int) -> tuple[float, ...]:
    """Runs of each job that fit on `room` IPUs in a month, where each job goes before those after it (Eq. 67).

    `runs` are those that the month brings, whose hours `jobs` has. A job that does not fit beside the jobs before it
    gets as many whole runs as do, and later jobs what is left.
    """
    placed_jobs: list[Hours] = []
    counts = []
    for job, total in zip(jobs, runs, strict=True):
        fitting = {size: hours for size, hours in job.items() if size <= room}
        count = _most(placed_jobs, fitting, total, available, room) if fitting else 0.0
        if count:
            placed_jobs.append(part(fitting, count / total))
        counts.append(count)
    return tuple(counts)


def part(job: Hours, share: float) -> Hours:
    """The hours of a share of the runs."""
    return {size: hours * share for size, hours in job.items()}


def _most(placed_jobs: Sequence[Hours], job: Hours, total: float, available: float, room: int) -> float:
    """The most runs of a job that fit beside the jobs that are placed: all, or whole ones."""

    def fits(count: float) -> bool:
        each = [*placed_jobs, part(job, count / total)]
        sizes = fewest(each, available)
        return sizes is not None and ipus(sizes, each, available) <= room

    if fits(total):
        return total
    low, high = 0, math.ceil(total)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(float(middle)) else (low, middle)
    return float(low)


@dataclass
class _Search:
    """Depth first over the jobs; a branch ends where what is placed and the least of the rest exceed the best."""

    jobs: Sequence[Hours]
    available: float
    best: tuple[int, ...] = ()
    least: tuple[float, float] = (math.inf, math.inf)
    rest: list[float] = field(default_factory=list)

    def run(self, sizes: tuple[int, ...]) -> None:
        """Place the next job on each of its sizes."""
        here = self.jobs[: len(sizes)]
        work = sum_in_order(size * job[size] for size, job in zip(sizes, here, strict=True))
        if len(sizes) == len(self.jobs):
            hours = sum_in_order(job[size] for size, job in zip(sizes, here, strict=True))
            values = (float(ipus(sizes, here, self.available)), hours)
            if values < self.least:
                self.least, self.best = values, sizes
            return
        # No layout does the work of all jobs with fewer IPUs than if none of them ever stood idle.
        if (work + self._rest(len(sizes))) / self.available > self.least[0] + _SLACK:
            return
        for size in sorted(self.jobs[len(sizes)]):
            self.run((*sizes, size))

    def _rest(self, first: int) -> float:
        """The least IPU-hours of the jobs from `first` on."""
        if not self.rest:
            least = [min(size * hours for size, hours in job.items()) for job in self.jobs]
            self.rest = [sum_in_order(least[at:]) for at in range(len(least) + 1)]
        return self.rest[first]
