"""The screen of `podsim explain --measure`: measurements by how much each narrows the interval."""

from collections.abc import Iterator

from podsim.model.prediction import Prediction
from podsim.model.sums import sum_in_order
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Fact, Facts, Heading, Note, Tone
from podsim.report.views.grades_view import CAUSES, grade
from podsim.studies.explain.measurements_result import Measurement, MeasurementRanking

MOST_ROWS = 6
LEAST_SHOWN = 0.01
"""Share of the width of an interval below which a measurement is not worth its runs."""
LEAST_CAUSE = 0.05
"""Share of the variance from which a cause that is left is named."""


def document(ranking: MeasurementRanking, *, verbose: bool = False, charts: bool = False) -> Doc:
    """The best measurement, the others, and what is left after it; `verbose` lists every candidate, `charts` draws."""
    p = ranking.prediction
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{p.workload_title} on {p.topology_title}: what to measure next"),),
        (Facts(tuple(_facts(ranking))),),
        (Heading("How much narrower the interval would be"), _bars(ranking)) if charts else (),
        tuple(_table(ranking, verbose=verbose)),
        tuple(_notes(ranking, verbose=verbose)),
    ]
    return Doc(tuple(group for group in groups if group))


def answer(ranking: MeasurementRanking) -> str:
    """The best measurement in one line."""
    best = _best(ranking)
    if best is None:
        return "no measurement narrows this interval by 1 %"
    return f"{ranking.runs} runs of {best.title}: interval {numbers.percent(best.narrower)} narrower"


def _best(ranking: MeasurementRanking) -> Measurement | None:
    first = next(iter(ranking.measurements), None)
    return first if first is not None and first.narrower >= LEAST_SHOWN else None


def _title(p: Prediction) -> str:
    return "Time to train" if p.has_length else "Step time"


def _facts(ranking: MeasurementRanking) -> Iterator[Fact]:
    p, best = ranking.prediction, _best(ranking)
    time = numbers.format_estimate(ranking.answer, _ladder(p))
    level = numbers.level(p.interval)
    yield Fact(_title(p), time.number, time.unit, f"{level}: {time.interval}; {grade(ranking.answer)}", strong=True)
    if best is None:
        yield Fact("Measure next", "", remark="nothing: no run narrows the interval by 1 %")
    else:
        narrower = f"interval {numbers.percent(best.narrower)} narrower, {_interval(ranking, best)}"
        aim = " to the target" if best.converges else ""
        what = f"{ranking.runs} runs of {best.workload} on {best.machine}{aim}"
        yield Fact("Measure next", "", remark=f"{what}: {narrower}")
    causes = _remaining_causes(ranking, best)
    if causes:
        yield Fact("Remaining uncertainty" if best else "Sources of uncertainty", "", remark=", ".join(causes))


def _ladder(p: Prediction) -> numbers.Ladder:
    return numbers.TIME if p.has_length else numbers.STEP_TIME


def _interval(ranking: MeasurementRanking, item: Measurement) -> str:
    unit = numbers.scale(ranking.answer.value, _ladder(ranking.prediction))
    return f"{numbers.spread(ranking.answer.value, item.low_s, item.high_s, unit).interval} {unit.unit}"


def _remaining_causes(ranking: MeasurementRanking, best: Measurement | None) -> list[str]:
    """What the interval is made of after the best measurement, as shares of its variance."""
    reductions = best.causes if best else {}
    remaining_shares = {
        cause: max(0.0, share - reductions.get(cause, 0.0)) for cause, share in ranking.answer.causes.items()
    }
    whole = sum_in_order(remaining_shares.values())
    causes = sorted(remaining_shares.items(), key=lambda item: -item[1])
    return [
        f"{CAUSES[cause]} {numbers.percent(share / whole)}"
        for cause, share in causes
        if share >= LEAST_CAUSE * whole > 0
    ]


def _bars(ranking: MeasurementRanking) -> Bars:
    """Candidates that narrow the interval at all; of none the first, with nothing."""
    measurements = [item for item in ranking.measurements if item.narrower > 0] or ranking.measurements[:1]
    return Bars(
        tuple(
            Bar(item.title, max(item.narrower, 0.0), numbers.percent(max(item.narrower, 0.0)), _interval(ranking, item))
            for item in measurements
        )
    )


def _table(ranking: MeasurementRanking, *, verbose: bool) -> Iterator[Block]:
    worth = [item for item in ranking.measurements if item.narrower >= LEAST_SHOWN]
    measurements = ranking.measurements if verbose else tuple(worth[:MOST_ROWS])
    if not measurements:
        return
    unit = numbers.scale(ranking.answer.value, _ladder(ranking.prediction))
    columns = (
        Column(f"{ranking.runs} runs of"),
        Column("Step", number=True, priority=2),
        Column(f"Interval then, {unit.unit}", number=True),
        Column("Narrower", number=True),
        Column("Reduces", wraps=True, priority=1),
    )
    rows = tuple(
        (
            item.title,
            numbers.time(item.step_s),
            numbers.spread(ranking.answer.value, item.low_s, item.high_s, unit).interval,
            numbers.percent(item.narrower) if item.narrower >= 0.5 * LEAST_SHOWN else "none",
            ", ".join(CAUSES[cause] for cause, share in item.causes.items() if share >= LEAST_SHOWN)
            or numbers.NO_VALUE,
        )
        for item in measurements
    )
    yield DocTable(columns, rows)


def _notes(ranking: MeasurementRanking, *, verbose: bool) -> Iterator[Note]:
    if _best(ranking) is not None:
        yield Note("podsim calibrate --logs DIR --out mine.toml, then --parameters mine.toml", "Next", Tone.QUIET)
    if verbose:
        yield Note(
            "each is a step time as predicted, added to the fit (Eq. 104); runs to the target measure samples to "
            "converge too (Eq. 105), and start-up, evaluation and checkpoints of a release without logs",
            "",
            Tone.QUIET,
        )
    yield Note(f"{ranking.prediction.calibration} · {NOT_MLPERF}", "", Tone.QUIET)
