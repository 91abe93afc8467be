"""The checkpoint interval that ends a run soonest, found by simulating it; and runs that never end."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from podsim.engines.des.histories import FailureTimes, Histories, Luck, simulate, steady
from podsim.errors import Infeasible, InputError
from podsim.model.goodput import InterruptedRun, TriedInterval
from podsim.model.sums import sum_in_order
from podsim.predicting.noisy_steps import stream

LEAST_GOODPUT = 0.05  # share of time below which a run is said not to get anywhere
MOST_FAILURES = 50_000_000  # of all histories together: half a minute
USUAL_RUNS = 1000
LEAST_RUNS = 20  # where so many failures befall each that all fare alike
GRID = 48  # intervals a coarse search looks at
CLOSE = 0.97  # of the best of the coarse search: what is simulated in full
NARROWINGS = 4
SEARCH_RUNS = 200  # histories behind each interval, more where few of them see a failure
MOST_SEARCH_RUNS = 50_000
SEARCH_FAILURES = 2000
PILOT = 256  # failures by histories of the coarse search
MOST_TIMES = 2**20  # how much rarer failures are made to find what would work


def luck(run: InterruptedRun, histories: int, seed: int) -> Luck:
    """Failures of so many histories; a history has the same luck in every scenario of one seed."""
    return Luck(run, histories, lambda name, rows, columns: stream(seed, name).random((rows, columns)))


class IntervalSearch:
    """Simulated goodput by interval: coarse over all, in full where it is close to the best."""

    def __init__(self, run: InterruptedRun, least_s: float, seed: int) -> None:
        self.run, self.least_s, self.seed = run, min(least_s, run.work_s), seed
        self._sample = self._pilot(run)
        reach = np.geomspace(self.least_s, run.work_s, GRID).tolist()
        self.grid = sorted({*reach[1:-1], self.least_s, run.work_s, *(run.work_s / n for n in range(2, 9))})
        self.coarse = [steady(run, self._sample, tau) for tau in self.grid]

    def _pilot(self, run: InterruptedRun) -> FailureTimes:
        """Uptimes of the coarse search; repairs change how much is lost and not which interval is best."""
        uniform = stream(self.seed, "pilot").random((PILOT, PILOT))
        rate = run.failures_per_s
        mean_s = 0.0 if run.spares else sum_in_order(part.failures_per_s * part.repair_s for part in run.parts) / rate
        return FailureTimes(-np.log1p(-uniform) / rate, np.full((PILOT, PILOT), mean_s))

    def check(self, interval_s: float | None) -> float:
        """Goodput to expect, coarsely; Infeasible where next to nothing is ever saved."""
        at = int(np.argmax(self.coarse))
        if self.coarse[at] < LEAST_GOODPUT:
            raise self._hopeless(self.coarse[at])
        if interval_s is None:
            return self.coarse[at]
        value = steady(self.run, self._sample, interval_s)
        if value < LEAST_GOODPUT:
            percent = 100 * self.coarse[at]
            raise Infeasible(
                f"a checkpoint every {_time(interval_s)} saves next to nothing: "
                f"something fails every {_time(1 / self.run.failures_per_s)}",
                code="no-progress",
                hint=f"--checkpoint-every {_flag(self.grid[at])} makes {percent:.0f} % of the time useful",
            )
        return value

    def _hopeless(self, best: float) -> Infeasible:
        """What would work: the same machine with parts that fail less often."""
        run, times, useful = self.run, 2, best
        while times < MOST_TIMES:
            rarer = FailureTimes(self._sample.running_s * times, self._sample.repair_s)
            useful = max(steady(run, rarer, tau) for tau in self.grid)
            if useful >= LEAST_GOODPUT:
                break
            times *= 2
        hint = f"with every part failing {times:,} times less often, {100 * useful:.0f} % would be"
        return Infeasible(
            f"something fails every {_time(1 / run.failures_per_s)}, and a restart takes {_time(run.restart_s)}: "
            f"{100 * best:.1f} % of the time would be useful at best",
            code="no-progress",
            context=[
                f"{part.count:,} x {part.name}, each every {_time(part.mtbf_s)}"
                for part in sorted(run.parts, key=lambda part: -part.failures_per_s)[:3]
            ],
            hint=hint if useful >= LEAST_GOODPUT else "a shorter restart or a cheaper checkpoint is needed first",
        )

    def best(self) -> tuple[TriedInterval, ...]:
        """Checkpoint intervals that were simulated to the end of the run, in ascending order (Eq. 50).

        Result: for each its length [s], its goodput (a share), mean lost times [s] and the 5 and 95 % quantiles of the
        time to finish [s].

        Equation: goodput = work / mean finish. Intervals of the grid within 3 % of the best coarse goodput, then four
        narrowings around the best; all have the same failures, so that their order is known far better than each of
        them. Validity: exponential times between failures (Eq. 49); intervals from `least_s` to the work of the run; an
        optimum that the coarse search puts more than 3 % below its best is missed. Source: derived: the definition of
        goodput, over the histories of Eq. 49.
        """
        failure_luck = luck(self.run, _seeing_failures(self.run, SEARCH_RUNS), self.seed)
        limit = CLOSE * max(self.coarse)
        histories_by_interval: dict[float, Histories] = {}

        def ask(tau: float) -> float:
            if tau not in histories_by_interval:
                histories_by_interval[tau] = simulate(failure_luck, tau)
            return histories_by_interval[tau].mean_s

        near_best = [tau for tau, useful in zip(self.grid, self.coarse, strict=True) if useful >= limit]
        first = min(near_best, key=ask)
        low = max((tau for tau in self.grid if tau < first), default=first)
        high = min((tau for tau in self.grid if tau > first), default=first)
        for _ in range(NARROWINGS):
            lower, upper = math.sqrt(low * first), math.sqrt(first * high)
            low, first, high = _around(min((lower, first, upper), key=ask), (low, lower, first, upper, high))
        return tuple(self._summarize(tau, histories) for tau, histories in sorted(histories_by_interval.items()))

    def _summarize(self, tau: float, histories: Histories) -> TriedInterval:
        earliest_s, latest_s = np.quantile(histories.finish_s, (0.05, 0.95)).tolist()
        return TriedInterval(
            interval_s=tau,
            goodput=self.run.work_s / histories.mean_s,
            lost=histories.losses,
            earliest_s=earliest_s,
            latest_s=latest_s,
        )


def _around(middle: float, points: Sequence[float]) -> tuple[float, float, float]:
    at = points.index(middle)
    return points[max(0, at - 1)], middle, points[min(len(points) - 1, at + 1)]


def _seeing_failures(run: InterruptedRun, least: int) -> int:
    """Histories, at least so many, of which enough see a failure that their mean counts what failures cost."""
    expected = run.failures_per_s * run.work_s
    return max(least, min(MOST_SEARCH_RUNS, math.ceil(SEARCH_FAILURES / expected)))


def histories(run: InterruptedRun, runs: int | None, useful: float) -> int:
    """How many histories to simulate, more where failures are rare; InputError for more `runs` than can be."""
    each = run.failures_per_s * run.work_s / useful + 1
    most = max(1, int(MOST_FAILURES / each))
    if runs is None:
        return min(_seeing_failures(run, USUAL_RUNS), max(LEAST_RUNS, most // 5))
    if runs > most:
        raise InputError(
            f"{runs:,} runs of about {each:,.0f} failures each are too many to simulate",
            code="bad-value",
            hint=f"--runs {most:,}, or a shorter --work" if most >= LEAST_RUNS else "a shorter --work",
        )
    return runs


UNITS = ((365.25 * 86400.0, "y"), (86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"))


def _time(seconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), UNITS[-1])
    return f"{seconds / size:.3g} {unit}"


def _flag(seconds: float) -> str:
    return _time(seconds).replace(" ", "")
