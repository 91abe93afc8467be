"""Machines side by side as a document."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from podsim.model.comparator import ComparatorPrediction
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate
from podsim.model.run_cost import Draw
from podsim.report import numbers
from podsim.report.doc import (
    NOT_MLPERF,
    Block,
    Column,
    Doc,
    DocTable,
    Fact,
    Facts,
    Heading,
    Note,
    Tone,
)
from podsim.report.handout import MOST_FIGURES, Handout, arrange, sentence
from podsim.report.origins import Groups, MachineNames, of_page
from podsim.report.views import caveats_view, faults_view, run_cost_view, unknown_length_view
from podsim.report.views.lengths_view import aim
from podsim.studies.compare import evidence_report, parts_report
from podsim.studies.compare.parts_report import MANY
from podsim.studies.compare.result import (
    Comparison,
    ComparisonCase,
    InfeasibleSide,
    PerWatt,
    PowerBasis,
    Ratio,
)
from podsim.studies.predict.report import chips
from podsim.studies.predict.sequence_report import batches, splits

Answer = Prediction | ComparatorPrediction
Quantity = tuple[str, Callable[[Answer], str]]
OF_RENT = ("Rent for training", "Break-even")
BASES = {PowerBasis.TRAINING: "power in use", PowerBasis.PEAK: "peak power", PowerBasis.TYPICAL: "typical power"}
PRICE_OF_HOSTS = "Machine price (hosts)"
NOT_PUBLISHED = "not published"
OF_MONEY = ("Machine price", PRICE_OF_HOSTS, "Training cost", "Total cost", *OF_RENT)
OF_COST = (*OF_MONEY, "Power", "Peak power")
OF_A_RUN = ("Time to train", "Samples to converge", *OF_COST)
IN_FULL = ("Samples to converge", "Step time")  # rows of the verbose screen
MOST_LINES = 30
LESS_IMPORTANT = ("Total cost", "Samples/s", "Global batch", "Peak power")  # rows, the last of which leaves first
LONGEST_TITLE = 23  # a longer label stands below the cases, with its difference
GAP = 2  # cells between two columns
TABLE_WIDTH = 76  # cells of the narrowest usual screen, in which every case has its column


def answer(comparison: Comparison) -> tuple[str, ...]:
    """A line per difference: "DGX A100: time to train +3.7 % (−19.1 to +27.2)"; then the cases that do not fit."""
    what = "time to train" if _has_length(comparison) else "time per sample"
    alone = comparison.sides if not comparison.differences else ()
    return (
        *(f"{case.label}: {_headline(case.answer)}" for case in alone),
        *(f"{difference.label}: {what} {_change(difference.time)}" for difference in comparison.differences),
        *(f"{side.label}: {side.message}" for side in comparison.infeasible),
    )


def _has_length(comparison: Comparison) -> bool:
    """Whether the length of the run is known; without one the time of a sample is compared."""
    return all(not isinstance(case.answer, Prediction) or case.answer.has_length for case in comparison.sides)


def _headline(p: Answer) -> str:
    if isinstance(p, Prediction) and not p.has_length:
        return f"{_estimate(p.throughput_samples_per_s, numbers.COUNT)} samples/s"
    return _estimate(p.time_to_train_s, numbers.TIME)


def _aim(comparison: Comparison) -> str:
    first = comparison.sides[0].answer
    return aim(first) if isinstance(first, Prediction) else f"target {comparison.target}"


def page(comparison: Comparison, question: Mapping[str, Any] | None) -> Handout:
    """The whole answer with where the numbers of all sides and of the workload come from, if that is known."""
    origins = _origins(comparison, question) if question is not None else ()
    doc = document(comparison, verbose=True)
    handout = arrange(doc, _sentence(comparison), origins, details=[case.label for case in comparison.sides])
    return replace(handout, figures=tuple(map(_figure, comparison.sides[:MOST_FIGURES])))


def _figure(case: ComparisonCase) -> Fact:
    """The time of a case, or its throughput, for large type."""
    p = case.answer
    if isinstance(p, Prediction) and not p.has_length:
        rate = numbers.format_estimate(p.throughput_samples_per_s, numbers.COUNT)
        return Fact(case.label, rate.number, f"{rate.unit} samples/s".strip(), f"90 %: {rate.interval}")
    time = numbers.format_estimate(p.time_to_train_s, numbers.TIME)
    capital = p.money.owned.capital if p.money else None
    price = numbers.money(capital.usd.value, p.money.currency) if p.money and capital else ""
    return Fact(case.label, time.number, time.unit, f"90 %: {time.interval}", price and f"machine {price}")


def _sentence(comparison: Comparison) -> str:
    """By how much each case differs from the first, in words."""
    first = comparison.sides[0]
    what = "Time to train" if _has_length(comparison) else "Time of a sample"
    moves = ", ".join(f"{item.label} {_change(item.time)}" for item in comparison.differences)
    parts = [f"{what} against {first.label}: {moves}"] if moves else [f"{first.label}: {_headline(first.answer)}"]
    parts += [f"{side.label} does not fit: {side.message}" for side in comparison.infeasible]
    return sentence("; ".join(parts))


def _origins(comparison: Comparison, question: Mapping[str, Any]) -> Groups:
    machines = [
        MachineNames(called=case.label, topology=case.topology, chip=case.chip, changes=case.changes)
        for case in comparison.sides
    ]
    ownerships = [case.answer.money.owned for case in comparison.sides if case.answer.money]
    answers = [case.answer for case in comparison.sides if isinstance(case.answer, Prediction)]
    return of_page(machines, [question["workload"]], ownerships, answers)


def document(comparison: Comparison, *, verbose: bool = False) -> Doc:
    """The difference of each case to the first, the cases, the causes; `verbose` adds uncertainty and assumptions."""
    first = comparison.sides[0].label
    versus = _versus(first, comparison) if comparison.differences else first
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{comparison.workload_title}, {_aim(comparison)}: {versus}"), *_faults(comparison)),
        (Heading(_relative(comparison)), _differences(comparison, verbose=verbose)) if comparison.differences else (),
        *((table,) for table in _sides(comparison, verbose=verbose)),
        tuple(_flags(comparison)),
        *(tuple(_refusal(sides)) for sides in _refusals(comparison)),
        *(
            parts_report.in_full(comparison, timed=_has_length(comparison))
            if verbose
            else (tuple(parts_report.in_short(comparison, timed=_has_length(comparison))),)
        ),
    ]
    if verbose:
        groups += [
            (Heading(f"Assumptions for {case.label}"), *(Note(str(note), "·") for note in case.answer.assumptions))
            for case in comparison.sides
        ]
    assumptions = {case.label: case.answer.assumptions for case in comparison.sides}
    caveats = caveats_view.of_several(assumptions, verbose=verbose)
    groups.append((*caveats, *_closing(comparison, verbose=verbose), *_footer(comparison)))
    return Doc(tuple(group for group in groups if group), 0 if verbose else MOST_LINES)


def _faults(comparison: Comparison) -> Iterator[Note]:
    """The faults of a side, and what is left of a machine that has lost parts."""
    for case in comparison.sides:
        if isinstance(case.answer, Prediction) and case.answer.faults:
            several = len(comparison.sides) > 2  # where the screen has a line for it
            yield faults_view.fault_note(case.answer.faults, case.answer.ipus if several else None)


def _relative(comparison: Comparison) -> str:
    first, *others = (case.label for case in comparison.sides)
    alone = len(comparison.differences) == 1
    whose = f"{_in_full(first, others[0])} relative" if alone else "Relative"
    per_watt = any(difference.per_watt for difference in comparison.differences)
    none = ", none of performance per watt" if per_watt and not alone else ""
    return f"{whose} to {comparison.sides[0].label}, {numbers.percent(comparison.interval)} intervals{none}"


def _refusals(comparison: Comparison) -> Iterator[list[InfeasibleSide]]:
    """Cases without an answer, those together that lack it for the same reason."""
    alike: dict[InfeasibleSide, list[InfeasibleSide]] = {}
    for side in comparison.infeasible:
        alike.setdefault(replace(side, label=""), []).append(side)
    yield from alike.values()


def _refusal(sides: Sequence[InfeasibleSide]) -> Iterator[Block]:
    """Why cases have no answer, and what would work."""
    yield Heading(f"No answer for {', '.join(side.label for side in sides)}")
    side = sides[0]
    yield Note(side.message, "", Tone.WARNING)
    yield from (Note(line, "·") for line in side.context)
    if side.hint:
        yield Note(side.hint, "Hint")


def _in_full(first: str, label: str) -> str:
    """A label for a title, where "with IPU 5 lost" is of the first machine."""
    return f"{first} {label}" if label.startswith("with ") else label


def _versus(first: str, comparison: Comparison) -> str:
    names = [case.label for case in comparison.sides[1:]]
    return f"{_in_full(first, names[0])} vs {first}" if len(names) == 1 else f"{first} and {len(names)} alternatives"


def _flags(comparison: Comparison) -> Iterator[Note]:
    """The flags that would give a time to train."""
    first = comparison.sides[0].answer
    if isinstance(first, Prediction):
        yield from unknown_length_view.notes(first)


def _sides(comparison: Comparison, *, verbose: bool) -> list[DocTable]:
    """A row a quantity, a column a case; of many cases a row a case, with speed in one table and costs in another."""
    cases, has_length = comparison.sides, _has_length(comparison)
    with_hosts = any(_of_ipus(case.answer) for case in cases)
    rows = (
        ("Time to train", lambda p: _estimate(p.time_to_train_s, numbers.TIME)),
        ("Samples/s", lambda p: _estimate(p.throughput_samples_per_s, numbers.COUNT)),
        ("Samples to converge", lambda p: _estimate(p.samples_to_converge, numbers.COUNT)),
        ("Global batch", lambda p: batches(p) if isinstance(p, Prediction) else f"{p.global_batch:,}"),
        ("Step time", lambda p: numbers.scale(p.step_s.value, numbers.STEP_TIME).text(p.step_s.value)),
        ("Chips", lambda p: chips(p) if isinstance(p, Prediction) else f"{p.chips:,} × {p.chip}"),
        (f"Replicas × {'IPUs' if all(_of_ipus(case.answer) for case in cases) else 'chips'}", _split),
        (PRICE_OF_HOSTS, _price_with_hosts) if with_hosts else ("Machine price", _price),
        ("Training cost", lambda p: _amount(p, lambda money: money.run_usd and money.run_usd.value)),
        ("Total cost", lambda p: _amount(p, lambda money: money.total and money.total.usd.value)),
        ("Rent for training", lambda p: _amount(p, lambda money: money.rent and money.rent.run_usd.value)),
        ("Break-even", _break_even),
        ("Power", lambda p: _power(p, lambda draw: draw.typical_w)),
        ("Peak power", lambda p: _power(p, lambda draw: draw.peak_w)),
    )
    has_rent = any(case.answer.money and case.answer.money.rent for case in cases)
    left_out = (
        *(() if has_length else OF_A_RUN),
        *(() if verbose or not has_length else IN_FULL),
        *(() if has_rent else OF_RENT),
    )
    visible_rows = [(title, cell) for title, cell in rows if title not in left_out]
    if len(cases) >= MANY or sum(len(case.label) > LONGEST_TITLE for case in cases) > 1:
        groups = [
            [(title, cell) for title, cell in visible_rows if (title in OF_COST) is costs] for costs in (False, True)
        ]
        return [_row_by_row(cases, group) for group in groups if group]
    titles = [case.label if len(case.label) <= LONGEST_TITLE else "Changed" for case in cases]
    columns = [
        (title, *(cell(case.answer) for _, cell in visible_rows)) for title, case in zip(titles, cases, strict=True)
    ]
    heads = ("", *(title for title, _ in visible_rows))
    return [_side_by_side(heads, group) for group in _groups(heads, columns)]


def _row_by_row(cases: Sequence[ComparisonCase], quantities: Sequence[Quantity]) -> DocTable:
    """A row a case, a column a quantity."""
    columns = (Column("", wraps=True), *(Column(title, number=True) for title, _ in quantities))
    return DocTable(
        columns, tuple((case.label, *(cell(case.answer) for _, cell in quantities)) for case in cases), stacks=True
    )


def _groups(heads: tuple[str, ...], columns: list[tuple[str, ...]]) -> list[list[tuple[str, ...]]]:
    """Columns in groups as wide as a table may be."""
    widths = [max(map(len, column)) + GAP for column in columns]
    room = TABLE_WIDTH - max(map(len, heads))
    groups: list[list[tuple[str, ...]]] = [[]]
    free_width = room
    for column, width in zip(columns, widths, strict=True):
        if groups[-1] and width > free_width:
            groups.append([])
            free_width = room
        groups[-1].append(column)
        free_width -= width
    return groups


def _side_by_side(heads: tuple[str, ...], columns: list[tuple[str, ...]]) -> DocTable:
    titles = (Column(heads[0]), *(Column(column[0], number=True) for column in columns))
    cells = tuple((head, *(column[at] for column in columns)) for at, head in enumerate(heads) if at)
    priorities = tuple(LESS_IMPORTANT.index(row[0]) + 1 if row[0] in LESS_IMPORTANT else 0 for row in cells)
    return DocTable(titles, cells, priorities=priorities)


def _estimate(estimate: Estimate, ladder: numbers.Ladder) -> str:
    return numbers.format_estimate(estimate, ladder).text


def _of_ipus(p: Answer) -> bool:
    return isinstance(p, Prediction)


def _split(p: Answer) -> str:
    return splits(p) if isinstance(p, Prediction) else numbers.NO_VALUE


def _amount(p: Answer, of: Callable[..., float | None]) -> str:
    return numbers.NO_VALUE if p.money is None else numbers.money(of(p.money), p.money.currency)


def _price(p: Answer) -> str:
    """What the machine costs with its hosts."""
    return _amount(p, lambda money: money.owned.capital and money.owned.capital.usd.value)


def _price_with_hosts(p: Answer) -> str:
    """The same, then how many hosts those are: "$596k (4)"."""
    price = _price(p)
    return f"{price} ({p.hosts:,})" if isinstance(p, Prediction) and price != numbers.NO_VALUE else price


def _break_even(p: Answer) -> str:
    """Hours of use from which on owning is cheaper than renting."""
    hours = p.money.rent.break_even_hours if p.money and p.money.rent else None
    return numbers.NO_VALUE if hours is None else f"{numbers.count(hours)} h"


def _power(p: Answer, of: Callable[[Draw], float | None]) -> str:
    draw = p.money.owned.draw if p.money else None
    if draw is None:
        return numbers.NO_VALUE
    power_w = of(draw)
    return NOT_PUBLISHED if power_w is None else numbers.rate(power_w, "W")


def _change(time: Ratio) -> str:
    places = _places(time)
    middle, low, high = (numbers.signed_percent(ratio - 1, places) for ratio in (time.value, time.low, time.high))
    return f"{middle} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def _places(time: Ratio) -> int:
    """Decimals of a percentage that its interval is worth."""
    width = 100 * (time.high - time.low)
    return 0 if width >= 10 else 1 if width >= 1 else 2


def _differences(comparison: Comparison, *, verbose: bool) -> DocTable | Facts:
    """Ratios to the first case; `verbose` adds those that the table of the cases shows too."""
    titles = (
        "Time to train" if _has_length(comparison) else "Time per sample",
        *(("Throughput", "Samples") if verbose else ()),
        f"Performance per dollar{' of price' if len(comparison.differences) == 1 else ''}",
        "Performance per watt",
    )
    rows = tuple(
        (
            _change(difference.time),
            *((_times(difference.throughput), _times(difference.samples)) if verbose else ()),
            _per_dollar(difference.per_dollar),
            _per_watt(difference.per_watt, alone=len(comparison.differences) == 1),
        )
        for difference in comparison.differences
    )
    if len(rows) == 1:  # a line for each ratio, which fits the narrowest screen
        return Facts(tuple(Fact(title, "", remark=cell) for title, cell in zip(titles, rows[0], strict=True)))
    columns = (
        Column("", wraps=True),
        Column(titles[0]),
        *(Column(title, number=True, priority=at) for at, title in enumerate(titles[1:], 1)),
    )
    labels = (difference.label for difference in comparison.differences)
    cells = tuple((label, *row) for label, row in zip(labels, rows, strict=True))
    return DocTable(columns, cells, stacks=True)


def _times(ratio: float | None) -> str:
    return numbers.NO_VALUE if ratio is None else f"{numbers.significant(ratio)}×"


def _per_dollar(ratio: Ratio | None) -> str:
    if ratio is None:
        return numbers.NO_VALUE
    return f"{_times(ratio.value)} ({numbers.significant(ratio.low)} – {numbers.significant(ratio.high)})"


def _per_watt(ratio: PerWatt | None, *, alone: bool = False) -> str:
    """A ratio with the power that it is at; `alone` beside others that have intervals, which it has not."""
    if ratio is None:
        return numbers.NO_VALUE
    return f"{_times(ratio.value)} ({BASES[ratio.basis]}{'; no interval' if alone else ''})"


def _closing(comparison: Comparison, *, verbose: bool) -> Iterator[Block]:
    evidence = evidence_report.evidence(comparison, timed=_has_length(comparison))
    facts = [evidence, *evidence_report.also_different(comparison)]
    if verbose and comparison.differences and (intervals := evidence_report.uncertainty(comparison)):
        facts.append(Fact("Intervals", "", remark=intervals))
    monies = [case.answer.money for case in comparison.sides if case.answer.money]
    if monies:
        facts.append(Fact("Terms", "", remark=run_cost_view.terms(monies[0].terms, monies[0].currency)))
    if energy := evidence_report.of_energy(comparison):
        facts.append(Fact("Power", "", remark=energy))
    if not verbose:
        details = "breakdown, uncertainty, assumptions and price sources"
        facts.append(Fact("Next", "", remark=f"--verbose adds {details}"))
    yield Facts(tuple(facts))
    yield from run_cost_view.old_prices(money.owned for money in monies)
    if not verbose:
        return
    yield from run_cost_view.priced_by(money.owned for money in monies)
    for case in comparison.sides:
        if case.answer.money and case.answer.money.total:
            yield Heading(case.label)
            yield from run_cost_view.ownership(case.answer.money.total, case.answer.money.currency)


def _footer(comparison: Comparison) -> Iterator[Note]:
    each = [case.answer.time_to_train_s if _has_length(comparison) else case.answer.step_s for case in comparison.sides]
    if any(map(numbers.is_coarse, each)):
        yield Note(
            "one case is more than 8× beyond calibration: expect the trend and a wide interval, not a point estimate",
            "",
            Tone.WARNING,
        )
    yield Note(f"seed {comparison.seed} · {NOT_MLPERF}", "", Tone.QUIET)
