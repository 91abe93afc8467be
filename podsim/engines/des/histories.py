"""Histories of a run whose parts fail: events are failures, thousands of histories advance together.

A SimPy process a history would spend some 4 us an event; a month on 65,536 IPUs has a thousand failures, a thousand
histories of it a million, and finding the best interval simulates dozens of such sets. Between two failures nothing
random happens, so all histories are advanced from failure to failure as arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

import numpy as np
import numpy.typing as npt

from podsim.model.goodput import InterruptedRun, LostTime

Array = npt.NDArray[np.float64]
Uniform = Callable[[str, int, int], Array]  # name, rows, columns: always the same numbers for a name, row and column
MOST_AT_ONCE = 2_000_000  # failures of all histories held in memory
EPSILON = 1e-9  # of an interval: work that is left by rounding alone


@dataclass(frozen=True, slots=True)
class FailureTimes:
    """Failures by row, histories by column: time running before each, and time out of service after it [s]."""

    running_s: Array
    repair_s: Array


@dataclass(frozen=True, slots=True)
class Histories:
    """One number a history: when it ends, how often it failed, and where its time went [s]."""

    finish_s: Array
    failures: Array
    checkpoints_s: Array
    lost_work_s: Array
    restarts_s: Array
    repairs_s: Array

    @property
    def mean_s(self) -> float:
        """Mean time to the end [s]."""
        return float(self.finish_s.mean())

    @property
    def losses(self) -> LostTime:
        """Where the mean history goes beside useful work."""
        return LostTime(
            checkpoints_s=float(self.checkpoints_s.mean()),
            lost_work_s=float(self.lost_work_s.mean()),
            restarts_s=float(self.restarts_s.mean()),
            repairs_s=float(self.repairs_s.mean()),
        )


class Luck:
    """The failures of many histories, in blocks of successive ones: the same for every checkpoint interval."""

    def __init__(self, run: InterruptedRun, histories: int, uniform: Uniform) -> None:
        self.run, self.histories, self._uniform = run, histories, uniform
        expected = run.failures_per_s * run.work_s
        self.rows = max(8, int(min(1.5 * expected + 8, MOST_AT_ONCE // histories)))
        self._first = self._draw(0)

    def blocks(self) -> Iterator[FailureTimes]:
        """Failures in order, without end; only the first block is kept, as few runs need another."""
        spares = _Spares(self.run, self.histories) if self.run.spares else None
        for number in count():
            running_s, repair_s, is_spared = self._draw(number) if number else self._first
            yield FailureTimes(running_s, spares.repair_times(running_s, repair_s, is_spared) if spares else repair_s)

    def _draw(self, number: int) -> tuple[Array, Array, npt.NDArray[np.bool_]]:
        parts, size = self.run.parts, (self.rows, self.histories)
        running_s = -np.log1p(-self._uniform(f"failure {number}", *size)) / self.run.failures_per_s
        shares = np.cumsum([part.failures_per_s for part in parts]) / self.run.failures_per_s
        which = np.minimum(np.searchsorted(shares, self._uniform(f"part {number}", *size)), len(parts) - 1)
        return (
            running_s,
            np.array([part.repair_s for part in parts])[which],
            np.array([part.spared for part in parts])[which],
        )


class _Spares:
    """Machines that stand by, by the time at which each is free; a machine that was repaired becomes a spare."""

    def __init__(self, run: InterruptedRun, histories: int) -> None:
        self._detect_s = run.detect_s
        self._clock_s = np.zeros(histories)
        self._free_at_s = np.zeros((run.spares, histories))

    def repair_times(self, running_s: Array, repair_s: Array, is_spared: npt.NDArray[np.bool_]) -> Array:
        """Time out of service with a spare at once, or as soon as one is free, where one can stand in [s]."""
        result, column = repair_s.copy(), np.arange(repair_s.shape[1])
        for row, alone_s in enumerate(repair_s):
            self._clock_s += running_s[row]
            slot = np.argmin(self._free_at_s, axis=0)
            free_s = self._free_at_s[slot, column]
            self._free_at_s[slot, column] = np.where(is_spared[row], self._clock_s + alone_s, free_s)
            result[row] = np.where(is_spared[row], np.maximum(0.0, free_s - self._clock_s), alone_s)
            self._clock_s += result[row] + self._detect_s
        return result


def simulate(luck: Luck, interval_s: float) -> Histories:
    """All histories to their end with a checkpoint every `interval_s` of work [s].

    Parameters: `luck`, a run with its times [s] and the failures of each history; `interval_s`, work between
    checkpoints [s]. Result: arrays of shape (histories,): when each ends, how often it failed and where its time went
    [s].

    Equation: a failure after x saves floor((x - restart) / (interval + write)) × interval (Eq. 49). Validity:
    exponential, independent failures strike while the run starts, works or writes and not while it is out of service;
    the first start takes no restart, the last part of the work no checkpoint; nothing runs on what is left of a
    machine. Source: podsim's own assumption (Eq. 49 of the model); rates are assumed in calibration/failures.toml.
    """
    run, histories = luck.run, luck.histories
    table = {name: np.zeros(histories) for name in ("finish", "failures", "checkpoints", "restarts", "repairs")}
    saved_work_s, active = np.zeros(histories), np.ones(histories, dtype=bool)
    for number, block in enumerate(luck.blocks()):
        load = np.full(block.running_s.shape, run.restart_s)
        if number == 0:
            load[0] = 0.0
        before, saved_work_s = _progress(block, saved_work_s, run, interval_s, load)
        remaining_work_s = run.work_s - before
        writes = np.maximum(np.ceil(remaining_work_s / interval_s - EPSILON) - 1, 0)
        is_finished = block.running_s - load >= remaining_work_s + writes * run.checkpoint_s
        ends = np.where(is_finished.any(axis=0), np.argmax(is_finished, axis=0), luck.rows)
        _tell(table, block, np.where(active, ends, -1), run, load)
        over = active & (ends < luck.rows)
        column = np.flatnonzero(over)
        at = ends[column], column
        table["finish"][column] += load[at] + remaining_work_s[at] + writes[at] * run.checkpoint_s
        table["restarts"][column] += load[at]
        active &= ~over
        if not active.any():
            break
    checkpoints = np.maximum(np.ceil(run.work_s / interval_s - EPSILON) - 1, 0)
    table["checkpoints"] += checkpoints * run.checkpoint_s
    lost_work_s = table["finish"] - run.work_s - table["checkpoints"] - table["restarts"] - table["repairs"]
    return Histories(
        table["finish"], table["failures"], table["checkpoints"], lost_work_s, table["restarts"], table["repairs"]
    )


def _progress(
    block: FailureTimes, saved_work_s: Array, run: InterruptedRun, interval_s: float, load: Array
) -> tuple[Array, Array]:
    """Work saved before each failure of a block, and after its last one [s]."""
    usable = np.maximum(block.running_s - load, 0.0)
    gained_work_s = np.floor(usable / (interval_s + run.checkpoint_s)) * interval_s
    after = saved_work_s + np.cumsum(gained_work_s, axis=0)
    return np.vstack((saved_work_s, after[:-1])), after[-1]


def _tell(
    table: dict[str, Array], block: FailureTimes, ends: npt.NDArray[np.int64], run: InterruptedRun, load: Array
) -> None:
    """Add what the failures before the end of each history took; none where `ends` is -1."""
    before = np.arange(len(block.running_s))[:, None] < ends
    out_s = block.repair_s + run.detect_s
    table["finish"] += np.where(before, block.running_s + out_s, 0.0).sum(axis=0)
    table["failures"] += before.sum(axis=0)
    table["restarts"] += np.where(before, np.minimum(load, block.running_s) + run.detect_s, 0.0).sum(axis=0)
    table["repairs"] += np.where(before, block.repair_s, 0.0).sum(axis=0)


def steady(run: InterruptedRun, block: FailureTimes, interval_s: float) -> float:
    """Share of time that is saved work, far from both ends of a run, over the failures of a block."""
    usable = np.maximum(block.running_s - run.restart_s, 0.0)
    gained_work_s = np.floor(usable / (interval_s + run.checkpoint_s)) * interval_s
    return float(gained_work_s.sum() / (block.running_s + block.repair_s + run.detect_s).sum())
