"""Bars of `podsim validate --published`: on networks, frameworks, families, programs and memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from podsim.model.microbenchmark import quantile
from podsim.model.published import NEAR, NETWORKS, PublishedReport, ReadRow, Stated, Summary
from podsim.model.readings import Mode

MOST_MEDIAN = 0.12
LEAST_NEAR = 0.80  # of the rows
MOST_MEAN = 0.05  # signed, either way
LEAST_INSIDE, MOST_INSIDE = 0.80, 0.97  # of the intervals
FRAMEWORKS = {"popart": 0.06, "tensorflow1": 0.10, "tensorflow2": 0.12, "pytorch": 0.12}
LEAST_FAMILIES = 3
"""A framework with rows of fewer networks has no bar: one network would set it."""
ATTENTION = ("Swin-Large", "ViT", "GPT-2")
MOST_ATTENTION = 0.20
HEAT = "2D heat equation"
MOST_HEAT = 0.10
SCHNET = "SchNet"
MOST_SCHNET = 0.15
CARD = "c600"
RESNET = "ResNet-50"
MOST_CARD = 0.12


@dataclass(frozen=True, slots=True, kw_only=True)
class BarResult:
    """A figure of some rows beside its bar, as fractions, or counts where `counts`; NaN of no row clears no bar."""

    name: str
    statistic: str
    rows: int
    value: float
    least: float = -math.inf
    most: float = math.inf
    counts: bool = False

    @property
    def passed(self) -> bool:
        """Whether the figure lies from `least` to `most`."""
        return self.least <= self.value <= self.most

    @property
    def verdict(self) -> str:
        """PASS or MISS."""
        return "PASS" if self.passed else "MISS"


def bars(report: PublishedReport) -> tuple[BarResult, ...]:
    """Every bar that has a row, in the order in which they are shown."""
    return tuple(_bars(report))


def _bars(report: PublishedReport) -> Iterator[BarResult]:
    networks = report.networks
    name, rows = "networks, configuration stated", len(networks.rows)
    yield BarResult(name=name, statistic="median", rows=rows, value=networks.median_abs,
                    most=MOST_MEDIAN)  # fmt: skip
    yield BarResult(
        name=name, statistic=f"within {100 * NEAR:.0f} %", rows=rows, value=networks.share_near, least=LEAST_NEAR
    )
    yield BarResult(name=name, statistic="mean, signed", rows=rows, value=networks.mean, least=-MOST_MEAN,
                    most=MOST_MEAN)  # fmt: skip
    yield BarResult(name=name, statistic="inside 90 %", rows=networks.with_interval,
                    value=networks.share_inside, least=LEAST_INSIDE, most=MOST_INSIDE)  # fmt: skip
    for framework, most in FRAMEWORKS.items():
        found = Summary(rows=tuple(one for one in networks.rows if one.framework == framework))
        if found.families >= LEAST_FAMILIES:
            yield _median(framework, found.rows, most)
    yield from _families(report)
    refused = len(report.refused)
    yield BarResult(name="published configurations", statistic="refused",
                    rows=len(report.compared) + refused, value=refused, most=0, counts=True)  # fmt: skip


def _families(report: PublishedReport) -> Iterator[BarResult]:
    rows = report.of(NETWORKS).rows
    for family in ATTENTION:
        mine = tuple(one for one in rows if one.family == family and one.stated is not Stated.NO_CHIP)
        if mine:
            worst = max(abs(one.error) for one in mine)
            yield BarResult(name=family, statistic="worst", rows=len(mine), value=worst,
                            most=MOST_ATTENTION)  # fmt: skip
    heat = tuple(one for one in report.of((Mode.TILES,)).rows if one.row.what == HEAT and one.row.whole("ipus") > 1)
    if heat:
        yield BarResult(name=f"{HEAT}, 2 to 16 IPUs", statistic="worst", rows=len(heat),
                        value=max(abs(one.error) for one in heat), most=MOST_HEAT)  # fmt: skip
    yield from _some(f"{SCHNET}, QM9", tuple(one for one in rows if one.family == SCHNET), MOST_SCHNET)
    cards = (one for one in rows if one.row.chip == CARD and one.family == RESNET and one.stated is Stated.YES)
    yield from _some(f"{RESNET} on {CARD}, batch stated", tuple(cards), MOST_CARD)


def _some(name: str, rows: tuple[ReadRow, ...], most: float) -> Iterator[BarResult]:
    if rows:
        yield _median(name, rows, most)


def _median(name: str, rows: tuple[ReadRow, ...], most: float) -> BarResult:
    value = quantile(sorted(abs(one.error) for one in rows), 0.5)
    return BarResult(name=name, statistic="median", rows=len(rows), value=value, most=most)


def missed(report: PublishedReport) -> bool:
    """Whether a bar is not cleared."""
    return not all(one.passed for one in bars(report))
