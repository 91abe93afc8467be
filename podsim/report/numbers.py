"""Numbers for people: two or three significant digits, one unit a column, never nan."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from podsim.model.currency import DOLLARS, Currency
from podsim.model.quantity import Estimate
from podsim.units import COUNT_SIZES

NO_VALUE = "–"
COARSE_BEYOND = 8.0  # farther out, a time shows two digits, or as many as tell its ends from it
WHOLE_MULTIPLE = 1e-9  # relative distance from a whole number below which a multiple counts as one
EXACT = 1e-9  # relative distance from the digits shown below which a number is as shown
MOST_PLACES = 4  # more than the usual ones, to tell the ends of a narrow interval from its value

MICRO = re.compile(r"(?<=\d )us\b")  # a unit behind a number
Ladder = Sequence[tuple[float, float, str]]  # from this size on, divide by this, call it that

TIME: Ladder = (
    (3 * 86400.0, 86400.0, "days"),
    (3 * 3600.0, 3600.0, "h"),
    (60.0, 60.0, "min"),
    (1.0, 1.0, "s"),
    (1e-3, 1e-3, "ms"),
    (1e-6, 1e-6, "µs"),
    (0.0, 1e-9, "ns"),
)
STEP_TIME: Ladder = ((1.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (0.0, 1e-6, "µs"))
STEP_TIMES: Ladder = ((10.0, 1.0, "s"), (1e-3, 1e-3, "ms"), (0.0, 1e-6, "µs"))  # a column of many, some of some ms
BYTES: Ladder = ((1e12, 1e12, "TB"), (1e9, 1e9, "GB"), (1e6, 1e6, "MB"), (1e3, 1e3, "kB"), (0.0, 1.0, "B"))
DECIMAL: Ladder = ((0.0, 1.0, ""),)  # digits are the same with any SI prefix
COUNT: Ladder = (*((size, size, unit) for size, unit in COUNT_SIZES), (0.0, 1.0, ""))
_SI: Ladder = (
    (1e15, 1e15, "P"),
    (1e12, 1e12, "T"),
    (1e9, 1e9, "G"),
    (1e6, 1e6, "M"),
    (1e3, 1e3, "k"),
    (0.0, 1.0, ""),
)
_MONEY: Ladder = ((1e9, 1e9, "B"), (1e6, 1e6, "M"), (1e3, 1e3, "k"), (0.0, 1.0, ""))


@dataclass(frozen=True, slots=True)
class Scale:
    """The unit that a column of numbers is shown in."""

    factor: float
    unit: str

    def number(self, value: float | None, figures: int = 3) -> str:
        """`value` in this unit, without the unit."""
        return NO_VALUE if value is None else significant(value / self.factor, figures)

    def text(self, value: float | None, figures: int = 3) -> str:
        """`value` with the unit."""
        return f"{self.number(value, figures)} {self.unit}".rstrip()


def scale(values: float | Iterable[float], ladder: Ladder, figures: int = 3) -> Scale:
    """The unit in which the largest of `values` reads best with so many significant digits."""
    amounts = [values] if isinstance(values, int | float) else list(values)
    largest = max((abs(value) for value in amounts if math.isfinite(value)), default=0.0)
    if largest == 0:
        return next(Scale(factor, unit) for _, factor, unit in ladder if factor == 1.0)
    # 999.7 MB prints as 1,000 with three digits: such a value belongs to the next unit
    rounds_up = 1 - 0.5 * 10**-figures
    for start, factor, unit in ladder:
        if largest >= start * rounds_up:
            return Scale(factor, unit)
    return Scale(ladder[-1][1], ladder[-1][2])


def _places(value: float, figures: int) -> int:
    """Decimals that show `figures` significant digits of `value`; negative rounds before the point."""
    if value == 0:
        return 0
    places = figures - 1 - math.floor(math.log10(abs(value)))
    return places if math.floor(math.log10(abs(round(value, places)))) < figures - places else places - 1


def with_decimals(value: float, places: int) -> str:
    """`value` with that many decimals, thousands apart; negative places round before the point."""
    if not math.isfinite(value):
        return NO_VALUE
    text = f"{round(value, places) + 0.0:,.{max(places, 0)}f}"
    return text.replace("-", "−")


def significant(value: float, figures: int = 3) -> str:
    """`value` with `figures` significant digits."""
    return with_decimals(value, _places(value, figures)) if math.isfinite(value) else NO_VALUE


def short(value: float, figures: int = 2) -> str:
    """`value` with at most `figures` significant digits: 4, 2.5, 260."""
    text = significant(value, figures)
    return text.rstrip("0").rstrip(".") if "." in text else text


def count(value: float, figures: int = 3) -> str:
    """A count: exact below a million, then "3.60 M"."""
    if not math.isfinite(value):
        return NO_VALUE
    return with_decimals(value, 0) if abs(value) < 1e6 else scale(value, COUNT).text(value, figures)


def count_of(number: int, what: str) -> str:
    """A count with its noun: "1 machine", "1,024 machines"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def times(ratio: float) -> str:
    """By how much something is larger: a whole multiple in full, "256×", else two digits, "4.3×"."""
    whole = round(ratio)
    text = f"{whole:,}" if whole and abs(ratio / whole - 1) < WHOLE_MULTIPLE else short(ratio)
    return f"{text}×"


def percent(fraction: float | None, decimals: int = 0) -> str:
    """A fraction as percent; what would round to nothing says so."""
    if fraction is None or not math.isfinite(fraction):
        return NO_VALUE
    if 0 < fraction * 100 < 0.5 * 10**-decimals:
        return f"< {with_decimals(10**-decimals, decimals)} %"
    return f"{with_decimals(fraction * 100, decimals)} %"


def level(interval: float) -> str:
    """The confidence level of intervals, as percent: "90 %", "99.5 %"."""
    return percent(interval, 0 if round(interval * 1000) % 10 == 0 else 1)


def signed_percent(fraction: float | None, decimals: int = 1) -> str:
    """A signed error as percent: "+0.6 %", "−1.3 %"."""
    if fraction is None or not math.isfinite(fraction):
        return NO_VALUE
    text = with_decimals(fraction * 100, decimals)
    return f"{text} %" if text.startswith("−") or fraction == 0 else f"+{text} %"


def longer(fraction: float, decimals: int = 1) -> str:
    """By how much something takes longer: "+0.6 %", and from twice as long on "31 × as long"."""
    return signed_percent(fraction, decimals) if fraction < 1 else f"{short(1 + fraction)} × as long"


def time(seconds: float, figures: int = 3) -> str:
    """A time in the unit in which it reads best."""
    return scale(seconds, TIME, figures).text(seconds, figures)


def with_micro(text: str) -> str:
    """A text of a file or a command line, in which "us" is how µs is typed, as it is printed."""
    return MICRO.sub("µs", text)


def file_quantity(value: float, unit: str, figures: int = 3) -> str:
    """A value of a unit as files state it; seconds in the unit in which they read best: "88.7 µs"."""
    return time(value, figures) if unit == "s" else f"{significant(value, figures)} {unit}".rstrip()


def amount(volume_bytes: float, figures: int = 3) -> str:
    """An amount of data, decimal prefixes."""
    return scale(volume_bytes, BYTES).text(volume_bytes, figures)


def rate(value: float | None, unit: str, figures: int = 3) -> str:
    """A rate with an SI prefix: 12.5 GB/s, 250 TFLOP/s."""
    if value is None or not math.isfinite(value):
        return NO_VALUE
    unit_scale = scale(value, _SI)
    return f"{unit_scale.number(value, figures)} {unit_scale.unit}{unit}"


def rates(values: Iterable[float], unit: str) -> Scale:
    """The SI prefix for a column of rates or amounts of `unit`."""
    result = scale(values, _SI)
    return Scale(result.factor, f"{result.unit}{unit}")


def split_unit(text: str) -> tuple[str, str]:
    """A printed quantity as number and unit, "12.5 GB/s" as "12.5" and "GB/s"."""
    number, _, unit = text.partition(" ")
    return number, unit


@dataclass(frozen=True, slots=True)
class FormattedEstimate:
    """An estimate as it is printed: all three numbers in one unit, with the same decimals."""

    number: str
    low: str
    high: str
    unit: str

    @property
    def text(self) -> str:
        """The value with its unit."""
        return f"{self.number} {self.unit}".rstrip()

    @property
    def interval(self) -> str:
        """The 90 % interval in the same unit."""
        return f"{self.low} – {self.high}"


def is_coarse(estimate: Estimate) -> bool:
    """Whether the value lies so far out that it shows no more digits than its interval needs."""
    return estimate.beyond > COARSE_BEYOND


def format_estimate(estimate: Estimate, ladder: Ladder, *, coarse: bool = False) -> FormattedEstimate:
    """Print an estimate: two or three significant digits, more where its ends need them; two if coarse."""
    return spread(
        estimate.value, estimate.low, estimate.high, scale(estimate.value, ladder), coarse or is_coarse(estimate)
    )


def spread(value: float, low: float, high: float, unit: Scale, coarse: bool = False) -> FormattedEstimate:
    """A value and the ends of its interval in one unit, with decimals that tell them apart."""
    value, low, high = (x / unit.factor for x in (value, low, high))
    if not math.isfinite(value):
        return FormattedEstimate(NO_VALUE, NO_VALUE, NO_VALUE, unit.unit)
    places = _places(value, 2 if coarse else 3)
    most = places + MOST_PLACES
    while low < value < high and places < most and not _distinct(value, low, high, places):
        places += 1
    least, most_text = (with_decimals(end, max(places, _places(end, 2)) if coarse else places) for end in (low, high))
    return FormattedEstimate(with_decimals(value, places), least, most_text, unit.unit)


def _distinct(value: float, low: float, high: float, places: int) -> bool:
    middle = with_decimals(value, places)
    return with_decimals(low, places) != middle != with_decimals(high, places)


def shares(fractions: Sequence[float], decimals: int = 0) -> list[str]:
    """Fractions of one whole as percentages that add up to 100: what rounding takes away goes to the nearest ones."""
    units = [fraction * 100 * 10**decimals for fraction in fractions]
    whole = [math.floor(unit) for unit in units]
    missing = round(math.fsum(units)) - sum(whole)
    nearest = sorted(range(len(units)), key=lambda at: (whole[at] - units[at], at))
    for at in nearest[:missing]:
        whole[at] += 1
    texts = zip(fractions, whole, strict=True)
    return [_share_text(share, unit / 100 / 10**decimals, decimals) for share, unit in texts]


def _share_text(share: float, rounded_share: float, decimals: int) -> str:
    """A share of a whole by its rounded percentage; one that rounds to nothing or to all is marked as more or less."""
    if rounded_share == 1 and share < 1 - 1e-9:
        return f"> {with_decimals(100 - 10**-decimals, decimals)} %"
    return percent(rounded_share or share, decimals)


def round_up(value: float, ladder: Ladder = DECIMAL, figures: int = 3) -> float:
    """The smallest number no less than `value` that shows in full: a limit that is typed as shown holds."""
    return _round_end(value, ladder, figures, math.ceil)


def round_down(value: float, ladder: Ladder = DECIMAL, figures: int = 3) -> float:
    """The largest number no more than `value` that shows in full."""
    return _round_end(value, ladder, figures, math.floor)


def _round_end(value: float, ladder: Ladder, figures: int, whole: Callable[[float], int]) -> float:
    """`value` to the last digit shown, upward or downward; one that shows in full but for rounding is kept."""
    factor = scale(value, ladder).factor
    step = 10.0 ** -_places(value / factor, figures)
    count = value / factor / step
    near = round(count)
    return (near if math.isclose(count, near, rel_tol=EXACT) else whole(count)) * step * factor


def money(usd: float | None, currency: Currency = DOLLARS, figures: int = 3) -> str:
    """An amount of money: $4.31M, $538k, EUR 2.31; "–" where it is not known."""
    if usd is None or not math.isfinite(usd):
        return NO_VALUE
    amount = currency.of(usd)
    unit_scale = scale(amount, _MONEY)
    return f"{currency.sign}{unit_scale.number(amount, figures)}{unit_scale.unit}"
