"""A sweep as a document: the best points, what each axis does, what was refused."""

from collections.abc import Iterator

from podsim.model.sweep import BUG, Design, SweepAnswer, SweepRegion, SweepReport, SweepRow, SweepSpread
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Bar,
    Bars,
    Block,
    Chart,
    ChartAxis,
    Column,
    Doc,
    DocSeries,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.views.grades_view import in_words
from podsim.units import split_unit

BEST, ALL_BEST = 5, 20  # points listed on the screen, and with -v or on a page
MOST_REASONS = 5
MOST_AXES = 3  # named in the sentence on the spread
LEAST_POINTS = 20  # that a tenth is told of: two points
MOST_PREDICTED, LEAST_OF_DECIMALS = 0.999, 0.99
LEAST_SHARE = 0.01  # of the variance, that an axis is named for
LOG_FROM = 20.0  # a range that spans more reads better by factors
DESIGN_NAMES = {
    Design.GRID: "a grid",
    Design.RANDOM: "random points",
    Design.LATIN_HYPERCUBE: "a Latin hypercube",
    Design.ADAPTIVE: "adaptive points",
}
Pairs = tuple[tuple[SweepRow, SweepAnswer], ...]


def answer(report: SweepReport) -> str:
    """The best point in one line."""
    if not report.answers:
        return f"none of {len(report.rows):,} points has an answer"
    row, best = report.answers[0]
    point = ", ".join(f"{name} {value}" for name, value in zip(report.axes, row.values, strict=True))
    explanation = f"; {spread}" if (spread := _sentence(report.spread)) else ""
    return f"{numbers.time(best.time_to_train_s)} at {point}{explanation}"


def _sentence(spread: SweepSpread | None) -> str:
    """Which axes explain the spread, "chip.clock explains 71 % of the spread, pod 20 %"; "" where that is not known."""
    if spread is None or len(spread.axes) < 2:
        return ""
    ranked_axes = sorted(spread.axes, key=lambda share: -(share.first_order or 0.0))
    (first, *others) = ranked_axes[:MOST_AXES]
    if first.first_order is None:
        return ""
    alone = f"{first.axis} explains {numbers.percent(first.first_order)} of the spread"
    share_texts = [
        f"{share.axis} {numbers.percent(share.first_order)}"
        for share in others
        if share.first_order is not None and share.first_order >= LEAST_SHARE
    ]
    return ", ".join([alone, *share_texts])


def document(report: SweepReport, *, verbose: bool = False, charts: bool = False) -> Doc:
    """Counts, the best points, the best at each value of an axis; `charts` draws the answer against each axis."""
    groups: list[tuple[Block, ...]] = [(Heading(f"Sweep of {report.workload}: {report.file}"), _facts(report))]
    result = report.answers
    groups += _spread(report, verbose=verbose or charts)
    if result:
        best_points = result[: ALL_BEST if verbose or charts else BEST]
        groups.append((Heading(f"Shortest time to train of {len(result):,} points"), _best(report, best_points)))
    if charts:
        groups += ((Heading(name), chart) for name, chart in _charts(report))
    if result and (verbose or charts):
        groups += (
            (Heading(f"Best at each {name}"), _by_value(report, at))
            for at, name in enumerate(report.axes)
            if 1 < len({row.values[at] for row, _ in result}) <= ALL_BEST
        )
    if report.refusals:
        groups.append(tuple(_refusal_blocks(report)))
    groups.append((Note(f"each point is one prediction · {NOT_MLPERF}", "", Tone.QUIET),))
    return Doc(tuple(groups))


def _facts(report: SweepReport) -> Facts:
    over = ", ".join(report.axes)
    alike = f"{report.alike:,} more are alike" if report.alike else ""
    refusal_count = sum(report.refusals.values())
    fixed_values = ", ".join(f"{name} {value}" for name, value in report.fixed.items())
    seed = _seed(report)
    return Facts(
        (
            *_conclusions(report),
            Fact("Points", f"{len(report.rows):,}", "", f"{DESIGN_NAMES[report.design]} over {over}", alike or seed),
            *(
                (Fact("Answered", f"{len(report.answers):,}", "", f"{refusal_count:,} refused"),)
                if refusal_count
                else ()
            ),
            *((Fact("Fixed", "", "", fixed_values),) if fixed_values else ()),
            Fact("Results", "", "", report.results),
        )
    )


def _seed(report: SweepReport) -> str:
    if report.design is Design.GRID:
        return ""
    if report.most is None:
        return f"seed {report.seed}"
    conclusion = "axes and best point settled" if report.is_settled else "not settled: more points would tell more"
    return f"of at most {report.most:,}, {conclusion}"


def _conclusions(report: SweepReport) -> Iterator[Fact]:
    """The answer first: the best point, which axes matter, and how many points may be as good as the best."""
    spread = report.spread
    if not report.answers or spread is None:
        return
    row, best = report.answers[0]
    point = ", ".join(f"{name} {value}" for name, value in zip(report.axes, row.values, strict=True))
    time = numbers.scale(best.time_to_train_s, numbers.TIME)
    yield Fact("Best", time.number(best.time_to_train_s), time.unit, point, strong=True)
    if sentence := _sentence(spread):
        yield Fact("Spread", "", "", sentence)
    elif len(spread.axes) > 1:
        yield Fact("Spread", "", "", f"share of each axis unknown: {_missing_share(report, spread)}")
    if spread.near_ties:
        ties = f"point{'' if spread.near_ties == 1 else 's'} with intervals that overlap the best's"
        yield Fact("Near-ties", f"{spread.near_ties:,}", "", ties)


def _missing_share(report: SweepReport, spread: SweepSpread) -> str:
    """Why no share is told, and what would tell it."""
    count = len(report.answers)
    if not spread.explained:
        return f"{count:,} points are too few or too irregular for a fit; add points, or take a grid that all fits"
    share = _prediction_share(spread)
    return f"a fit of {count:,} points predicts only {share} of the variance of points left out; add points"


def _spread(report: SweepReport, *, verbose: bool) -> Iterator[tuple[Block, ...]]:
    """Bars of what each axis explains, and where the best tenth lies; `verbose` adds the worst tenth."""
    spread = report.spread
    if spread is None or len(spread.axes) < 2:
        return
    if (bars := _bars(report, spread)).rows:
        source = "all points of the grid" if spread.exact else _source(spread)
        notes = (Note(f"shares of the variance of log time to train, from {source}", "", Tone.QUIET),)
        yield Heading("What explains the spread"), bars, *(notes if verbose else ())
    if (bars.rows and not verbose) or len(report.answers) < LEAST_POINTS:
        return
    columns = Column("Axis"), Column("Best tenth", wraps=True), Column("Worst tenth", wraps=True)
    rows = tuple(
        (share.axis, _region(report, share.axis, share.best), _region(report, share.axis, share.worst))
        for share in spread.axes
    )
    yield Heading("Where the best and the worst tenth of the points lie"), DocTable(columns, rows)


def _source(spread: SweepSpread) -> str:
    return f"a fit that predicts {_prediction_share(spread)} of the variance of points left out"


def _prediction_share(spread: SweepSpread) -> str:
    """Never 100 %: a fit through points that were computed may miss what lies between them."""
    return numbers.percent(min(spread.explained, MOST_PREDICTED), 1 if spread.explained > LEAST_OF_DECIMALS else 0)


def _bars(report: SweepReport, spread: SweepSpread) -> Bars:
    tenth = len(report.answers) >= LEAST_POINTS
    return Bars(
        tuple(
            Bar(
                share.axis,
                share.first_order,
                numbers.percent(share.first_order),
                _total(share.first_order, share.total),
                f"best tenth {_region(report, share.axis, share.best)}" if tenth else "",
            )
            for share in spread.axes
            if share.first_order is not None and share.total is not None
        )
    )


def _total(first: float, total: float) -> str:
    return f"{numbers.percent(total)} with interactions" if total - first >= LEAST_SHARE else ""


def _region(report: SweepReport, axis: str, region: SweepRegion) -> str:
    """A range by its ends, a list by its values; "any" where those are all that have an answer."""
    if not region.is_range:
        at = report.axes.index(axis)
        every = {row.values[at] for row, _ in report.answers}
        return "any" if every == set(region.values) else ", ".join(region.values)
    (low, unit), (high, _) = (split_unit(value) for value in region.values)
    ends = [numbers.short(end, 3) for end in (low, high)]
    return f"{' – '.join(dict.fromkeys(ends))} {unit}".rstrip()


def _best(report: SweepReport, best_points: Pairs) -> DocTable:
    time = numbers.scale([best.time_to_train_s for _, best in best_points], numbers.TIME)
    step = numbers.scale([best.step_s for _, best in best_points], numbers.STEP_TIME)
    axis_columns = tuple(Column(name, number=_is_number(report, at), priority=0) for at, name in enumerate(report.axes))
    others = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    shown_mapping = not set(others) <= {*report.axes, *report.fixed}
    columns = (
        *axis_columns,
        Column(f"Time to train, {time.unit}", number=True),
        Column("90 % interval", number=True, priority=1),
        Column("Evidence", priority=1),
        Column(f"Step, {step.unit}", number=True, priority=3),
        *((Column("Replicas × IPUs", number=True, priority=2),) if shown_mapping else ()),
        Column("Global batch", number=True, priority=3),
        Column("MFU", number=True, priority=3),
        Column("Memory", number=True, priority=4),
    )
    rows = tuple(
        (
            *row.values,
            time.number(best.time_to_train_s),
            f"{time.number(best.time_to_train_low_s)} – {time.number(best.time_to_train_high_s)}",
            in_words(best.time_to_train_grade),
            step.number(best.step_s),
            *((f"{best.replicas:,} × {best.ipus_per_replica:,}",) if shown_mapping else ()),
            f"{best.global_batch:,}",
            numbers.percent(best.mfu),
            numbers.percent(best.memory),
        )
        for row, best in best_points
    )
    return DocTable(columns, rows, marked=0)


def _by_value(report: SweepReport, at: int) -> DocTable:
    """The shortest time to train at each value of one axis, with the values of the others that give it."""
    best: dict[str, tuple[SweepRow, SweepAnswer]] = {}
    for row, answer in report.answers:
        best.setdefault(row.values[at], (row, answer))
    order = list(dict.fromkeys(row.values[at] for row in report.rows))
    time = numbers.scale([result.time_to_train_s for _, result in best.values()], numbers.TIME)
    others = [place for place in range(len(report.axes)) if place != at]
    columns = (
        Column(report.axes[at], number=_is_number(report, at)),
        Column(f"Time to train, {time.unit}", number=True),
        *(Column(f"With {report.axes[place]}", number=_is_number(report, place), priority=1) for place in others),
    )
    rows = tuple(
        (value, time.number(best[value][1].time_to_train_s), *(best[value][0].values[place] for place in others))
        for value in order
        if value in best
    )
    return DocTable(columns, rows)


def _charts(report: SweepReport) -> Iterator[tuple[str, Chart]]:
    """Time to train against each axis of numbers: every point, and the least at each value."""
    result = report.answers
    if not result:
        return
    time = numbers.scale([best.time_to_train_s for _, best in result], numbers.TIME)
    for at, name in enumerate(report.axes):
        if not _is_number(report, at):
            continue
        unit = split_unit(result[0][0].values[at])[1]
        points = sorted((split_unit(row.values[at])[0], best.time_to_train_s / time.factor) for row, best in result)
        least = dict(reversed(points))
        if len(least) < 2:
            continue
        ends = points[0][0], points[-1][0]
        log = ends[0] > 0 and ends[1] / ends[0] >= LOG_FROM
        best_line = DocSeries("the best at each value", tuple(sorted(least.items())))
        curve = (best_line,) if 1 < len(least) < len(points) else ()
        yield (
            f"time to train against {name}",
            Chart(
                f"time to train against {name}, {time.unit}",
                ChartAxis(f"{name}, {unit}" if unit else name, log=log),
                ChartAxis(time.unit),
                (*curve, DocSeries("points", tuple(points), joined=False)),
            ),
        )


def _is_number(report: SweepReport, at: int) -> bool:
    """Whether all values of an axis are numbers with one unit."""
    units = set()
    for row in report.rows:
        try:
            units.add(split_unit(row.values[at])[1])
        except ValueError:
            return False
    return len(units) == 1 and not any(unit[:1].isdigit() for unit in units)


def _refusal_blocks(report: SweepReport) -> Iterator[Block]:
    yield Heading("Refused")
    columns = (
        Column("Points", number=True),
        Column("Code"),
        Column("The first", wraps=True),
        Column("Why", wraps=True, priority=1),
    )
    first = {
        row.outcome.refusal.code: (", ".join(row.values), row.outcome.refusal.message)
        for row in reversed(report.rows)
        if row.outcome.refusal is not None
    }
    ranked_refusals = sorted(report.refusals.items(), key=lambda item: (-item[1], item[0]))
    yield DocTable(columns, tuple((f"{count:,}", code, *first[code]) for code, count in ranked_refusals[:MOST_REASONS]))
    if BUG in report.refusals:
        yield Note('podsim failed on points marked "bug"; please report them with their values', "", Tone.WARNING)
