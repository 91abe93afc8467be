"""Machines side by side as a document."""

from collections.abc import Callable, Iterable, Iterator

from podsim.model.comparator import ComparatorPrediction
from podsim.model.comparison import Comparison, Difference, InfeasibleSide, Ratio
from podsim.model.money import Draw
from podsim.model.prediction import Prediction
from podsim.model.quantity import Estimate
from podsim.report import numbers
from podsim.report.doc import NOT_MLPERF, Bar, Bars, Block, Column, Doc, Heading, Note, Table, Tone
from podsim.report.views import caveats, comparator, money, untimed
from podsim.report.views.grades import CAUSES, short_grade
from podsim.report.views.lengths import aim
from podsim.report.views.phases import batches, splits
from podsim.report.views.prediction import PARTS, chips

Answer = Prediction | ComparatorPrediction
NAMES = {**{part.value: title for part, title in PARTS.items()}, **comparator.PARTS, "start": "start-up"}
OF_A_RUN = ("time to train", "samples to converge", "price, USD", "a run, USD", "power, typical", "power, at peak")
LONGEST_TITLE = 20  # a longer label stands below the sides, with its difference
LEAST_SHOWN = 0.001  # of the longer run; parts that move less are in JSON


def answer(found: Comparison) -> tuple[str, ...]:
    """A line a difference: "DGX A100: +3.7 % (−19.1 to +27.2)"; then the sides that do not fit."""
    alone = found.sides if not found.differences else ()
    return (
        *(f"{side.label}: {_headline(side.answer)}" for side in alone),
        *(f"{one.label}: {_change(one.time)}" for one in found.differences),
        *(f"{one.label}: no, {one.message}" for one in found.infeasible),
    )


def _timed(found: Comparison) -> bool:
    """Whether the length of the run is known; without one the time of a sample is compared."""
    return all(not isinstance(side.answer, Prediction) or side.answer.timed for side in found.sides)


def _headline(p: Answer) -> str:
    if isinstance(p, Prediction) and not p.timed:
        return f"{_estimate(p.throughput_samples_per_s, numbers.COUNT)} samples/s"
    return _estimate(p.time_to_train_s, numbers.TIME)


def _aim(found: Comparison) -> str:
    first = found.sides[0].answer
    return aim(first) if isinstance(first, Prediction) else f"target {found.target}"


def document(found: Comparison, *, verbose: bool = False, extra: Iterable[tuple[Block, ...]] = ()) -> Doc:
    """The sides, the difference of each to the first, and where it comes from; `verbose` adds why it is not sure.

    `extra` comes before the last lines.
    """
    first = found.sides[0].label
    against = f" against {_others(found)}" if found.differences else ""
    groups: list[tuple[Block, ...]] = [
        (Heading(f"{found.workload_title}, {_aim(found)}: {first}{against}"),),
        (_sides(found), *_flags(found)),
    ]
    if found.differences:
        groups.append((Heading(f"over {first}"), _differences(found), _said(found)))
    groups += [tuple(_refusal(one)) for one in found.infeasible]
    whole = "of the run" if _timed(found) else f"in the time of as many samples as a step of {first} has"
    groups += [
        (Heading(f"where {one.label} differs from {first}, {whole}"), *_reasons(one, timed=_timed(found)))
        for one in found.differences
    ]
    if verbose:
        groups += [tuple(_causes(one)) for one in found.differences]
        groups += [
            (Heading(f"assumed of {side.label}"), *(Note(line, "·") for line in side.answer.assumptions))
            for side in found.sides
        ]
    assumed = {side.label: side.answer.assumptions for side in found.sides}
    groups.append(tuple(caveats.of_several(assumed, verbose=verbose)))
    groups += extra
    groups.append(tuple(_footer(found)))
    return Doc(tuple(group for group in groups if group))


def _refusal(one: InfeasibleSide) -> Iterator[Block]:
    """Why a side has no answer, and what would work."""
    yield Heading(f"no answer for {one.label}")
    yield Note(one.message, "", Tone.WARNING)
    yield from (Note(line, "·") for line in one.context)
    if one.hint:
        yield Note(one.hint, "hint")


def _others(found: Comparison) -> str:
    names = [side.label for side in found.sides[1:]]
    return names[0] if len(names) == 1 else f"{len(names)} others"


def _flags(found: Comparison) -> Iterator[Note]:
    """The flags that would give a time to train."""
    first = found.sides[0].answer
    if isinstance(first, Prediction):
        yield from untimed.notes(first)


def _sides(found: Comparison) -> Table:
    """A row a quantity, a column a side: the last sides leave first."""
    sides, timed = found.sides, _timed(found)
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
    )  # fmt: skip
    titles = [side.label if len(side.label) <= LONGEST_TITLE else "changed" for side in sides]
    columns = (Column(""), *(Column(title, number=True, priority=max(0, at - 1)) for at, title in enumerate(titles)))
    return Table(columns, tuple(
        (title, *(cell(side.answer) for side in sides)) for title, cell in rows if timed or title not in OF_A_RUN
    ))  # fmt: skip


def _estimate(found: Estimate, ladder: numbers.Ladder) -> str:
    return numbers.shown(found, ladder).text


def _split(p: Answer) -> str:
    return splits(p) if isinstance(p, Prediction) else numbers.UNKNOWN


def _usd(p: Answer, of: Callable[..., float | None]) -> str:
    usd = of(p.money) if p.money else None
    return numbers.UNKNOWN if usd is None else money.dollars(usd)


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


def _differences(found: Comparison) -> Table:
    columns = (
        Column("", wraps=True),
        Column("time to train" if _timed(found) else "time of a sample"),
        Column("throughput", number=True, priority=2),
        Column("samples", number=True, priority=3),
        Column("performance per dollar", number=True, priority=1),
        Column("per watt", number=True, priority=4),
    )
    rows = tuple(
        (
            one.label, _change(one.time), f"× {numbers.significant(one.throughput)}",
            f"× {numbers.significant(one.samples)}", _per_dollar(one.per_dollar),
            numbers.UNKNOWN if one.per_watt is None else f"× {numbers.significant(one.per_watt)}",
        )
        for one in found.differences
    )  # fmt: skip
    return Table(columns, rows)


def _per_dollar(found: Ratio | None) -> str:
    if found is None:
        return numbers.UNKNOWN
    value, low, high = (numbers.significant(each) for each in (found.value, found.low, found.high))
    return f"× {value} ({low} – {high})"


def _said(found: Comparison) -> Note:
    """What common random numbers are worth."""
    one = found.differences[0]
    wide, narrow = (100 * (each.high - each.low) / 2 for each in (one.unshared, one.time))
    level = numbers.percent(found.interval)
    return Note(
        f"{level} intervals, all sides under the same draws of parameters and the same seeds: the first difference is "
        f"known to ± {numbers.short(narrow)} %; as if nothing were shared it would be ± {numbers.short(wide)} %",
        "", Tone.QUIET,
    )  # fmt: skip


def _shown(one: Difference) -> tuple[list[tuple[str, float]], float]:
    """Parts worth showing with seconds that they add, and the sum over all parts."""
    longest = max(sum(part.before_s for part in one.parts), sum(part.after_s for part in one.parts))
    kept = [part for part in one.parts if abs(part.difference_s) >= LEAST_SHOWN * longest]
    rest = sum(part.difference_s for part in one.parts if part not in kept)
    rows = [(NAMES.get(part.part, part.part), part.difference_s) for part in kept]
    whole = sum(part.difference_s for part in one.parts)
    shown = abs(rest) >= LEAST_SHOWN * longest
    return ([*rows, ("all else", rest)] if shown else rows), whole


def _bars(one: Difference) -> Bars:
    """What parts add to the run or take from it, against the sum of all moves."""
    rows, whole_s = _shown(one)
    moved_s = sum(abs(seconds) for _, seconds in rows) or 1.0
    unit = numbers.scale([seconds for _, seconds in rows] or [whole_s], numbers.TIME)
    return Bars(tuple(
        Bar(name, abs(seconds) / moved_s, "longer" if seconds > 0 else "shorter", _signed(seconds, unit))
        for name, seconds in rows
    ))  # fmt: skip


def _signed(seconds: float, unit: numbers.Scale) -> str:
    text = unit.text(seconds)
    return text if text.startswith("−") else f"+{text}"


def _reasons(one: Difference, *, timed: bool) -> Iterator[Block]:
    rows, whole_s = _shown(one)
    if not rows:
        yield Note("no part of the run differs by 0.1 % of it")
        return
    yield _bars(one)
    of = ", of runs at their mean samples" if timed else ""
    yield Note(f"{_signed(whole_s, numbers.scale(whole_s, numbers.TIME))}{of}", "in all")


def _causes(one: Difference) -> Iterator[Block]:
    yield Heading(f"why the difference of {one.label} is not surer, by share of the variance")
    rows = tuple((CAUSES[cause], numbers.percent(share)) for cause, share in one.causes.items())
    yield Table((Column("cause", wraps=True), Column("share", number=True)), rows)


def _footer(found: Comparison) -> Iterator[Note]:
    each = [side.answer.time_to_train_s if _timed(found) else side.answer.step_s for side in found.sides]
    if any(map(numbers.is_coarse, each)):
        yield Note(
            "some side is more than ×8 beyond what is calibrated: of its times one digit counts", "", Tone.WARNING
        )
    terms = next((side.answer.money.terms for side in found.sides if side.answer.money), None)
    if terms is not None:
        yield from money.priced_by(side.answer.money.owned for side in found.sides if side.answer.money)
        yield Note(money.terms(terms), "terms", Tone.QUIET)
    yield Note(f"seed {found.seed} · {NOT_MLPERF}", "", Tone.QUIET)
