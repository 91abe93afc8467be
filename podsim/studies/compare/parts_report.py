"""What makes one machine of a comparison quicker than another: the parts of a run that change, and its doubts."""

import math
from collections.abc import Iterator, Sequence

from podsim.model.prediction import Prediction
from podsim.model.program import PART_NAMES
from podsim.report import numbers
from podsim.report.doc import Bar, Bars, Block, Column, DocTable, Fact, Facts, Heading, Note, label
from podsim.report.views.grades_view import CAUSES
from podsim.studies.compare.result import CaseDifference, Comparison
from podsim.studies.predict import comparator_report as comparator

MANY = 4  # cases from which on each has a row, and the short screen no causes
NAMES = {**{part.value: title for part, title in PART_NAMES.items()}, **comparator.PARTS, "start": "start-up"}
LEAST_SHOWN = 0.001  # of the longer run; parts that move less are in JSON
APART = 0.05  # of the sum of the parts, from which the change of the mean time is told apart from it
MOST_CAUSES = 3  # parts of a run named on the short screen


def in_full(comparison: Comparison, *, timed: bool) -> Iterator[tuple[Block, ...]]:
    """Every part of the run that moves, and the sources of uncertainty, for each difference."""
    first = comparison.sides[0].label
    whole = "time to train" if timed else f"time of the samples of a step of {first}"
    for difference in comparison.differences:
        heading = Heading(f"{label(whole)} of {difference.label} vs {first}, by part")
        yield heading, *_reasons(difference, timed=timed)
    for difference in comparison.differences:
        yield tuple(_causes(difference))


def in_short(comparison: Comparison, *, timed: bool) -> Iterator[Block]:
    """The parts of the run that move most, a line for each difference; of many cases `--verbose` has them."""
    if not comparison.differences or len(comparison.sides) >= MANY:
        return
    facts = []
    title = "Largest changes" if timed else "Largest changes, for the same samples"
    means = [case.answer.time_to_train_s.value for case in comparison.sides]
    alone = len(comparison.differences) == 1
    most = MOST_CAUSES if alone else MOST_CAUSES - 1  # so that each stays in a line
    first, *others = (isinstance(side.answer, Prediction) for side in comparison.sides)
    for difference, mean_s, of_ipus in zip(comparison.differences, means[1:], others, strict=True):
        by_parts = first and of_ipus  # logs of other machines time none apart
        rows, whole_s = _main_parts(difference)
        longest = sorted(rows, key=lambda row: -abs(row[1]))[:most]
        unit = numbers.scale([whole_s, *(seconds for _, seconds in longest)], numbers.TIME)
        places = _decimals([whole_s / unit.factor])
        parts = [f"{name} {_time_change(seconds, unit, places)}" for name, seconds in longest]
        apart = abs(mean_s - means[0] - whole_s) > APART * abs(whole_s)
        if timed:  # as in the table; what parts of an average run add up to stands in the verbose screen
            change = _time_change(mean_s - means[0], unit, places)
            text = f"{'Time to train' if alone else 'Time'} {change}{'; in one run ' if apart else ': '}"
        else:
            text = f"Time for the same samples {_time_change(whole_s, unit, places)}: "
        total = f"{text}{', '.join(parts)}" if parts else "No part changes by 0.1 %"
        total = total if by_parts else text.partition(";")[0].removesuffix(": ")
        facts.append(Fact(title if alone else difference.label, "", remark=total))
    yield Facts(tuple(facts))


def _main_parts(difference: CaseDifference) -> tuple[list[tuple[str, float]], float]:
    """Parts worth showing with seconds that they add, and the sum over all parts."""
    longest = max(sum(part.before_s for part in difference.parts), sum(part.after_s for part in difference.parts))
    main_parts = [part for part in difference.parts if abs(part.difference_s) >= LEAST_SHOWN * longest]
    rest = sum(part.difference_s for part in difference.parts if part not in main_parts)
    rows = [(NAMES.get(part.part, part.part), part.difference_s) for part in main_parts]
    whole = sum(part.difference_s for part in difference.parts)
    has_other_row = abs(rest) >= LEAST_SHOWN * longest
    return ([*rows, ("other", rest)] if has_other_row else rows), whole


def _bars(difference: CaseDifference) -> Bars:
    """What parts add to the run (to the right of zero) or take from it (to the left), against the sum of all moves."""
    rows, whole_s = _main_parts(difference)
    moved_s = sum(abs(seconds) for _, seconds in rows) or 1.0
    zero_s = max([-seconds for _, seconds in rows if seconds < 0], default=0.0)
    unit = numbers.scale([seconds for _, seconds in rows] or [whole_s], numbers.TIME)
    places = _decimals([seconds / unit.factor for _, seconds in rows] or [whole_s / unit.factor])
    return Bars(
        tuple(
            Bar(
                label(name),
                abs(seconds) / moved_s,
                _direction(seconds / unit.factor, places),
                _time_change(seconds, unit, places),
                start=(zero_s + min(seconds, 0.0)) / moved_s,
                falls=seconds < 0,
            )
            for name, seconds in rows
        )
    )


def _direction(change: float, places: int) -> str:
    """Whether a part takes longer or less; "" where no digit of it is shown."""
    if abs(change) < 0.5 * 10**-places:
        return ""
    return "longer" if change > 0 else "shorter"


def _decimals(sizes: Sequence[float]) -> int:
    """Decimals that show three digits of the largest, so that parts and their sum have the same."""
    largest = max(map(abs, sizes))
    return max(0, 2 - math.floor(math.log10(largest))) if largest else 0


def _time_change(seconds: float, unit: numbers.Scale, places: int) -> str:
    """A signed time with its unit: "−0.58 min"."""
    text = f"{numbers.with_decimals(seconds / unit.factor, places)} {unit.unit}"
    return text if text.startswith("−") else f"+{text}"


def _reasons(difference: CaseDifference, *, timed: bool) -> Iterator[Block]:
    rows, whole_s = _main_parts(difference)
    if not rows:
        yield Note("no part of the run changes by 0.1 %")
        return
    yield _bars(difference)
    of = " for an average run" if timed else ""
    unit = numbers.scale([whole_s, *(seconds for _, seconds in rows)], numbers.TIME)
    places = _decimals([seconds / unit.factor for _, seconds in rows])
    yield Note(f"{_time_change(whole_s, unit, places)}{of}", "Total")


def _causes(difference: CaseDifference) -> Iterator[Block]:
    yield Heading(f"Sources of uncertainty of the change to {difference.label}, share of the variance")
    shares = numbers.shares(list(difference.causes.values()))
    rows = tuple((CAUSES[cause], share) for cause, share in zip(difference.causes, shares, strict=True))
    yield DocTable((Column("Source", wraps=True), Column("Share", number=True)), rows)
