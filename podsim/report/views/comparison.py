"""Machines side by side as a document."""

from collections.abc import Callable, Iterable, Iterator

from podsim.model.comparator import ComparatorPrediction
from podsim.model.comparison import CaseDifference, Comparison, InfeasibleSide, Ratio
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate
from podsim.model.run_cost import Draw
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, DocTable, Heading, Note, Tone
from podsim.report.views import caveats, comparator, run_cost, untimed
from podsim.report.views.grades import CAUSES, short_grade
from podsim.report.views.lengths import aim
from podsim.report.views.phases import batches, splits
from podsim.report.views.prediction import PARTS, chips

Answer = Prediction | ComparatorPrediction
NAMES = {**{part.value: title for part, title in PARTS.items()}, **comparator.PARTS, "start": "start-up"}
OF_A_RUN = ("time to train", "samples to converge", "price, USD", "a run, USD", "power, typical", "power, at peak")
LONGEST_TITLE = 20  # a longer label stands below the sides, with its difference
LEAST_SHOWN = 0.001  # of the longer run; parts that move less are in JSON


def answer(comparison: Comparison) -> tuple[str, ...]:
    """A line a difference: "DGX A100: +3.7 % (−19.1 to +27.2)"; then the sides that do not fit."""
    alone = comparison.sides if not comparison.differences else ()
    return (
        *(f"{case.label}: {_headline(case.answer)}" for case in alone),
        *(f"{difference.label}: {_change(difference.time)}" for difference in comparison.differences),
        *(f"{side.label}: no, {side.message}" for side in comparison.infeasible),
    )


def _timed(comparison: Comparison) -> bool:
    """Whether the length of the run is known; without one the time of a sample is compared."""
    return all(not isinstance(case.answer, Prediction) or case.answer.timed for case in comparison.sides)


def _headline(p: Answer) -> str:
    if isinstance(p, Prediction) and not p.timed:
        return f"{_estimate(p.throughput_samples_per_s, numbers.COUNT)} samples/s"
    return _estimate(p.time_to_train_s, numbers.TIME)


def _aim(comparison: Comparison) -> str:
    first = comparison.sides[0].answer
    return aim(first) if isinstance(first, Prediction) else f"target {comparison.target}"


def document(comparison: Comparison, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The sides, the difference of each to the first, and where it comes from; `verbose` adds why it is not sure.

    `extra` comes before the last lines.
    """
    first = comparison.sides[0].label
    against = f" against {_others(comparison)}" if comparison.differences else ""
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{comparison.workload_title}, {_aim(comparison)}: {first}{against}"),),
        (_sides(comparison), *_flags(comparison)),
    ]
    if comparison.differences:
        groups.append((Heading(f"over {first}"), _differences(comparison), _note(comparison)))
    groups += [tuple(_refusal(side)) for side in comparison.infeasible]
    whole = "of the run" if _timed(comparison) else f"in the time of as many samples as a step of {first} has"
    groups += [
        (
            Heading(f"where {difference.label} differs from {first}, {whole}"),
            *_reasons(difference, timed=_timed(comparison)),
        )
        for difference in comparison.differences
    ]
    if verbose:
        groups += [tuple(_causes(difference)) for difference in comparison.differences]
        groups += [
            (Heading(f"assumed of {case.label}"), *(Note(line, "·") for line in case.answer.assumptions))
            for case in comparison.sides
        ]
    assumed = {case.label: case.answer.assumptions for case in comparison.sides}
    groups.append(tuple(caveats.of_several(assumed, verbose=verbose)))
    groups += extra
    groups.append(tuple(_footer(comparison)))
    return Doc(tuple(group for group in groups if group))


def _refusal(side: InfeasibleSide) -> Iterator[Block]:
    """Why a side has no answer, and what would work."""
    yield Heading(f"no answer for {side.label}")
    yield Note(side.message, "", Tone.WARNING)
    yield from (Note(line, "·") for line in side.context)
    if side.hint:
        yield Note(side.hint, "hint")


def _others(comparison: Comparison) -> str:
    names = [case.label for case in comparison.sides[1:]]
    return names[0] if len(names) == 1 else f"{len(names)} others"


def _flags(comparison: Comparison) -> Iterator[Note]:
    """The flags that would give a time to train."""
    first = comparison.sides[0].answer
    if isinstance(first, Prediction):
        yield from untimed.notes(first)


def _sides(comparison: Comparison) -> DocTable:
    """A row a quantity, a column a side: the last sides leave first."""
    cases, timed = comparison.sides, _timed(comparison)
    rows = (
        ("time to train", lambda p: _estimate(p.time_to_train_s, numbers.TIME)),
        ("throughput, samples/s", lambda p: _estimate(p.throughput_samples_per_s, numbers.COUNT)),
        ("samples to converge", lambda p: _estimate(p.samples_to_converge, numbers.COUNT)),
        ("global batch", lambda p: batches(p) if isinstance(p, Prediction) else f"{p.global_batch:,}"),
        ("step", lambda p: numbers.scale(p.step_s.value, numbers.STEP_TIME).text(p.step_s.value)),
        ("chips", lambda p: chips(p) if isinstance(p, Prediction) else f"{p.chips:,} × {p.chip}"),
        ("replicas × IPUs", _split),
        ("price, USD", lambda p: _usd(p, lambda paid: paid.owned.capital and paid.owned.capital.usd.value)),
        ("a run, USD", lambda p: _usd(p, lambda paid: paid.run_usd and paid.run_usd.value)),
        ("power, typical", lambda p: _power(p, lambda draw: draw.typical_w)),
        ("power, at peak", lambda p: _power(p, lambda draw: draw.peak_w)),
        ("grade", lambda p: short_grade(p.time_to_train_s if timed else p.step_s)),
    )
    titles = [case.label if len(case.label) <= LONGEST_TITLE else "changed" for case in cases]
    columns = (Column(""), *(Column(title, number=True, priority=max(0, at - 1)) for at, title in enumerate(titles)))
    return DocTable(
        columns,
        tuple(
            (title, *(cell(case.answer) for case in cases)) for title, cell in rows if timed or title not in OF_A_RUN
        ),
    )


def _estimate(estimate: Estimate, ladder: numbers.Ladder) -> str:
    return numbers.shown(estimate, ladder).text


def _split(p: Answer) -> str:
    return splits(p) if isinstance(p, Prediction) else numbers.UNKNOWN


def _usd(p: Answer, of: Callable[..., float | None]) -> str:
    usd = of(p.money) if p.money else None
    return numbers.UNKNOWN if usd is None else run_cost.dollars(usd)


def _power(p: Answer, of: Callable[[Draw], float | None]) -> str:
    draw = p.money.owned.draw if p.money else None
    power_w = of(draw) if draw else None
    return numbers.UNKNOWN if power_w is None else numbers.rate(power_w, "W")


def _change(time: Ratio) -> str:
    low, high = (
        numbers.signed_percent(time.low - 1, _places(time)),
        numbers.signed_percent(time.high - 1, _places(time)),
    )
    middle = numbers.signed_percent(time.value - 1, _places(time))
    return f"{middle} ({low.removesuffix(' %')} to {high.removesuffix(' %')})"


def _places(time: Ratio) -> int:
    """Decimals of a percentage that its interval is worth."""
    width = 100 * (time.high - time.low)
    return 0 if width >= 10 else 1 if width >= 1 else 2


def _differences(comparison: Comparison) -> DocTable:
    columns = (
        Column("", wraps=True),
        Column("time to train" if _timed(comparison) else "time of a sample"),
        Column("throughput", number=True, priority=2),
        Column("samples", number=True, priority=3),
        Column("performance per dollar", number=True, priority=1),
        Column("per watt", number=True, priority=4),
    )
    rows = tuple(
        (
            difference.label,
            _change(difference.time),
            f"× {numbers.significant(difference.throughput)}",
            f"× {numbers.significant(difference.samples)}",
            _per_dollar(difference.per_dollar),
            numbers.UNKNOWN if difference.per_watt is None else f"× {numbers.significant(difference.per_watt)}",
        )
        for difference in comparison.differences
    )
    return DocTable(columns, rows)


def _per_dollar(ratio: Ratio | None) -> str:
    if ratio is None:
        return numbers.UNKNOWN
    value, low, high = (numbers.significant(each) for each in (ratio.value, ratio.low, ratio.high))
    return f"× {value} ({low} – {high})"


def _note(comparison: Comparison) -> Note:
    """What common random numbers are worth."""
    difference = comparison.differences[0]
    wide, narrow = (100 * (each.high - each.low) / 2 for each in (difference.unshared, difference.time))
    level = numbers.percent(comparison.interval)
    return Note(
        f"{level} intervals, all sides under the same draws of parameters and the same seeds: the first difference is "
        f"known to ± {numbers.short(narrow)} %; as if nothing were shared it would be ± {numbers.short(wide)} %",
        "",
        Tone.QUIET,
    )


def _shown(difference: CaseDifference) -> tuple[list[tuple[str, float]], float]:
    """Parts worth showing with seconds that they add, and the sum over all parts."""
    longest = max(sum(part.before_s for part in difference.parts), sum(part.after_s for part in difference.parts))
    kept = [part for part in difference.parts if abs(part.difference_s) >= LEAST_SHOWN * longest]
    rest = sum(part.difference_s for part in difference.parts if part not in kept)
    rows = [(NAMES.get(part.part, part.part), part.difference_s) for part in kept]
    whole = sum(part.difference_s for part in difference.parts)
    shown = abs(rest) >= LEAST_SHOWN * longest
    return ([*rows, ("all else", rest)] if shown else rows), whole


def _bars(difference: CaseDifference) -> Bars:
    """What parts add to the run or take from it, against the sum of all moves."""
    rows, whole_s = _shown(difference)
    moved_s = sum(abs(seconds) for _, seconds in rows) or 1.0
    unit = numbers.scale([seconds for _, seconds in rows] or [whole_s], numbers.TIME)
    return Bars(
        tuple(
            Bar(name, abs(seconds) / moved_s, "longer" if seconds > 0 else "shorter", _signed(seconds, unit))
            for name, seconds in rows
        )
    )


def _signed(seconds: float, unit: numbers.Scale) -> str:
    text = unit.text(seconds)
    return text if text.startswith("−") else f"+{text}"


def _reasons(difference: CaseDifference, *, timed: bool) -> Iterator[Block]:
    rows, whole_s = _shown(difference)
    if not rows:
        yield Note("no part of the run differs by 0.1 % of it")
        return
    yield _bars(difference)
    of = ", of runs at their mean samples" if timed else ""
    yield Note(f"{_signed(whole_s, numbers.scale(whole_s, numbers.TIME))}{of}", "in all")


def _causes(difference: CaseDifference) -> Iterator[Block]:
    yield Heading(f"why the difference of {difference.label} is not surer, by share of the variance")
    rows = tuple((CAUSES[cause], numbers.percent(share)) for cause, share in difference.causes.items())
    yield DocTable((Column("cause", wraps=True), Column("share", number=True)), rows)


def _footer(comparison: Comparison) -> Iterator[Note]:
    each = [case.answer.time_to_train_s if _timed(comparison) else case.answer.step_s for case in comparison.sides]
    if any(map(numbers.is_coarse, each)):
        yield Note(
            "some side is more than ×8 beyond what is calibrated: of its times one digit counts", "", Tone.WARNING
        )
    terms = next((case.answer.money.terms for case in comparison.sides if case.answer.money), None)
    if terms is not None:
        yield from run_cost.priced_by(case.answer.money.owned for case in comparison.sides if case.answer.money)
        yield Note(run_cost.terms(terms), "terms", Tone.QUIET)
    yield Note(f"seed {comparison.seed} · {NOT_MLPERF}", "", Tone.QUIET)
