"""Bars of `podsim validate --published`: on networks, frameworks, families, programs and memory."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from podsim.model.checks import verdict
from podsim.model.microbenchmark import quantile
from podsim.model.published import NEAR, NETWORKS, FrameworkErrors, PublishedReport, ReadRow, Sample, Statement, Summary
from podsim.model.readings import Mode

MOST_MEDIAN = 0.12
LEAST_NEAR = 0.80  # of the rows
MOST_MEAN = 0.05  # signed, either way
LEAST_INSIDE, MOST_INSIDE = 0.80, 0.97  # of the intervals
IN_SAMPLE = "in sample"
FITTED_APART = {
    "not fitted": (Sample.NOT_FITTED, Sample.REFERENCE),
    IN_SAMPLE: (Sample.IN_SAMPLE,),
}
"""Networks are judged apart by whether a constant that was fitted to a row enters its prediction."""
FRAMEWORKS = {"popart": 0.06, "tensorflow1": 0.10, "tensorflow2": 0.12, "pytorch": 0.12}
LEAST_FAMILIES = 3
"""A framework with rows of fewer networks has no bar: one network would set it."""
ATTENTION = ("Swin-Large", "ViT", "GPT-2")
MOST_ATTENTION = 0.20
HEAT = "2D heat equation"
MOST_HEAT = 0.10
SCHNET = "SchNet"
MOST_SCHNET = 0.15
MEDIAN, WORST = "median", "worst"
CARD = "c600"
RESNET = "ResNet-50"
MOST_CARD = 0.12
MOST_KERNEL_POWER = 0.10  # in sample; errors of a kernel that is left out have no bar
MOST_SYSTEM_POWER = 0.15


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
    in_sample: int = 0  # of the rows

    @property
    def passes(self) -> bool:
        """Whether the figure lies from `least` to `most`."""
        return self.least <= self.value <= self.most

    @property
    def verdict(self) -> str:
        """PASS or FAIL."""
        return verdict(passed=self.passes)


def bars(report: PublishedReport) -> tuple[BarResult, ...]:
    """Every bar that has a row, in the order in which they are shown."""
    return tuple(_bars(report))


def _bars(report: PublishedReport) -> Iterator[BarResult]:
    for name, samples in FITTED_APART.items():
        yield from _networks(name, report.networks.only(*samples))
    for framework in report.frameworks:
        if has_bar(framework):
            yield BarResult(
                name=f"{framework.framework}, {judged_on(framework)}",
                statistic="median",
                rows=len(framework.summary.rows),
                value=framework.judged_error,
                most=FRAMEWORKS[framework.framework],
                in_sample=_in_sample(framework.summary.rows),
            )
    yield from _families(report)
    yield from _some(
        "power of one IPU", report.summaries["power_kernels"].rows, MOST_KERNEL_POWER, WORST, as_fitted=True
    )
    yield from _some("power of machines", report.summaries["power_systems"].rows, MOST_SYSTEM_POWER, WORST)
    refusals = len(report.refused_mappings)
    yield BarResult(
        name="published configurations",
        statistic="refused",
        rows=len(report.compared) + refusals,
        value=refusals,
        most=0,
        counts=True,
    )


def _networks(name: str, networks: Summary) -> Iterator[BarResult]:
    """Bars on networks whose configuration is stated; none of those in sample where there are none."""
    if not networks.rows and name == IN_SAMPLE:
        return
    bar_name, rows, fit_rows = f"networks, configuration stated, {name}", len(networks.rows), _in_sample(networks.rows)
    yield BarResult(
        name=bar_name, statistic="median", rows=rows, value=networks.median_abs, most=MOST_MEDIAN, in_sample=fit_rows
    )
    yield BarResult(
        name=bar_name,
        statistic=f"within {100 * NEAR:.0f} %",
        rows=rows,
        value=networks.share_near,
        least=LEAST_NEAR,
        in_sample=fit_rows,
    )
    yield BarResult(
        name=bar_name,
        statistic="mean, signed",
        rows=rows,
        value=networks.mean,
        least=-MOST_MEAN,
        most=MOST_MEAN,
        in_sample=fit_rows,
    )
    yield BarResult(
        name=bar_name,
        statistic="inside 90 %",
        rows=networks.with_interval,
        value=networks.share_inside,
        least=LEAST_INSIDE,
        most=MOST_INSIDE,
        in_sample=fit_rows,
    )


def _in_sample(rows: tuple[ReadRow, ...]) -> int:
    return sum(row.sample is Sample.IN_SAMPLE for row in rows)


def has_bar(errors: FrameworkErrors) -> bool:
    """Whether a framework has a bar: one network or two would set it."""
    return errors.framework in FRAMEWORKS and errors.families >= LEAST_FAMILIES


def judged_on(errors: FrameworkErrors) -> str:
    """What the errors of a framework are: "held out", or "nothing fitted" where it has no constant."""
    return "held out" if errors.constants else "nothing fitted"


def _families(report: PublishedReport) -> Iterator[BarResult]:
    rows = report.of(NETWORKS).rows
    for family in ATTENTION:
        mine = tuple(row for row in rows if row.family == family and row.statement is not Statement.NO_CHIP)
        yield from _some(family, mine, MOST_ATTENTION, WORST)
    heat = tuple(row for row in report.of((Mode.TILES,)).rows if row.row.what == HEAT and row.row.whole("ipus") > 1)
    yield from _some(f"{HEAT}, 2 to 16 IPUs", heat, MOST_HEAT, WORST)
    yield from _some(f"{SCHNET}, QM9", tuple(row for row in rows if row.family == SCHNET), MOST_SCHNET, MEDIAN)
    cards = (row for row in rows if row.row.chip == CARD and row.family == RESNET and row.statement is Statement.YES)
    yield from _some(f"{RESNET} on {CARD}, batch stated", tuple(cards), MOST_CARD, MEDIAN)


def _some(
    name: str, rows: tuple[ReadRow, ...], most: float, statistic: str, *, as_fitted: bool = False
) -> Iterator[BarResult]:
    """A bar on rows, each held out of the fit where it is in one; else, or `as_fitted`, as predicted."""
    if not rows:
        return
    rows = tuple(replace(row, fit=replace(row.fit, held_out=math.nan)) for row in rows) if as_fitted else rows
    held_out = sum(not math.isnan(row.fit.held_out) for row in rows)
    fit_rows = _in_sample(rows)
    kinds = ((", held out", held_out), (f", {IN_SAMPLE}", fit_rows - held_out))
    name += next((kind for kind, count in kinds if count), "")
    sizes = sorted(abs(row.error if math.isnan(row.fit.held_out) else row.fit.held_out) for row in rows)
    value = quantile(sizes, 0.5) if statistic == MEDIAN else sizes[-1]
    yield BarResult(name=name, statistic=statistic, rows=len(rows), value=value, most=most, in_sample=fit_rows)


def any_missed(report: PublishedReport) -> bool:
    """Whether a bar is not cleared."""
    return not all(bar.passes for bar in bars(report))
