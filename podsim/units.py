"""Quantities as files print them, to SI floats and back: the only place that converts."""

import itertools
import math
import re
from typing import Final

PREFIXES: Final = {
    "": 1.0,
    "k": 1e3,
    "K": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "m": 1e-3,
    "u": 1e-6,
    "µ": 1e-6,
    "n": 1e-9,
}
BASES: Final = (
    "bit/s",
    "FLOP/s",
    "samples/s",
    "images/s",
    "B/s",
    "B/cycle",
    "cycles",
    "FLOP",
    "Hz",
    "bit",
    "USD",
    "B",
    "W",
    "J",
    "s",
)
COUNT_SIZES: Final = ((1e15, "P"), (1e12, "T"), (1e9, "B"), (1e6, "M"))
FIXED_UNITS: Final = {
    "min": (60.0, "s"),
    "h": (3600.0, "s"),
    "d": (86400.0, "s"),
    "week": (7 * 86400.0, "s"),
    "y": (365.25 * 86400.0, "s"),
}
WORDS: Final = {
    "second": "s",
    "sec": "s",
    "minute": "min",
    "hour": "h",
    "hr": "h",
    "day": "d",
    "week": "week",
    "year": "y",
    "watt": "W",
}
"""Units in words, which take an s."""
MULTIPLES: Final = {
    "k": 1e3,
    "thousand": 1e3,
    "m": 1e6,
    "mn": 1e6,
    "million": 1e6,
    "b": 1e9,
    "bn": 1e9,
    "billion": 1e9,
    "t": 1e12,
    "tn": 1e12,
    "trillion": 1e12,
}
"""What follows a count, whatever its case but for the letter m."""
WHAT: Final = {
    "s": "a time",
    "Hz": "a frequency",
    "B": "an amount of data",
    "B/s": "a data rate",
    "FLOP/s": "a compute rate",
    "FLOP": "a count of FLOP",
    "W": "a power",
    "USD": "a price",
    "samples/s": "a throughput",
    "cycles": "a cycle count",
    "B/cycle": "bytes per cycle",
    "J": "an energy",
}
EXAMPLE: Final = {
    "s": "2 us",
    "Hz": "1.325 GHz",
    "B": "624 KiB",
    "B/s": '16 GB/s" or "100 Gbit/s',
    "FLOP/s": "250 TFLOP/s",
    "W": "1.0 kW",
    "USD": "32450 USD",
    "samples/s": "4810 samples/s",
    "cycles": "150 cycles",
    "B/cycle": "4 B/cycle",
}
LARGEST: Final = 2**53
"""Largest whole number of a file: floats, in which all arithmetic ends, hold no longer each one above it."""
# A fraction of a byte or a binary kilosecond is a slip of the shift key: "mB/s" would be a billionth of "MB/s".
_SMALL: Final = {"m", "u", "µ", "n"}
_SMALL_BASES: Final = {"s", "W", "J", "Hz"}
_BINARY_BASES: Final = {"B", "B/s", "bit", "bit/s", "B/cycle"}
_WHOLE: Final = r"\d{1,3}(?:,\d{3})+|\d+(?:_\d+)*"
_NUMBER: Final = re.compile(
    rf"^\s*([+-]?(?:inf|nan|(?:(?:{_WHOLE})(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?))(?![\d,._])\s*(.*?)\s*$", re.ASCII
)
_DECIMAL: Final = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_AMBIGUOUS: Final = re.compile(r"([kKMGTPmgtp]?)(?:(bps|b/s|Bps)|b)", re.ASCII)
_PART: Final = re.compile(r"(\d+(?:\.\d+)?)\s*([a-z]+)\s*", re.ASCII)
_RELATIVE: Final = re.compile(r"\s*(?:(\d+(?:\.\d+)?|\.\d+)\s*[x×]|([+-]\d+(?:\.\d+)?)\s*%)\s*")
_BARE: Final = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*", re.ASCII)
_MINUTES: Final = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*m\s*", re.ASCII)
_CLOCK: Final = re.compile(r"\s*(\d{1,2}):([0-5]\d)\s*", re.ASCII)
_NO_LAST_UNIT: Final = re.compile(r"\s*(\d+\s*(h|m|min)\s*\d+)\s*", re.ASCII)
_DOLLARS: Final = re.compile(r"\$?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([kKM]?)\s*(?:USD)?", re.ASCII)
_PER: Final = {"s": 1.0, "min": 60.0, "h": 3600.0}


class UnitError(ValueError):
    """A quantity that cannot be read: why, with an example, and in `instead` what was probably meant.

    Parameters: `reason`, without the example; `examples`, what can be written, each as it is typed; `instead`, "" where
    nothing is likely.
    """

    def __init__(self, reason: str, *examples: str, instead: str = "") -> None:
        quoted_examples = [f'"{example}"' for example in examples]
        most = ", ".join(quoted_examples[:-1])
        example_list = f"{most} or {quoted_examples[-1]}" if most else "".join(quoted_examples)
        super().__init__(f"{reason}; write for example {example_list}" if example_list else reason)
        self.reason, self.examples, self.instead = reason, examples, instead


def parse(text: str, unit: str) -> float:
    """Return `text` ("100 Gbit/s") as an SI float of `unit` ("B/s"); raise ValueError with what is allowed."""
    parts = _compound(text) if unit == "s" else None
    if parts is not None:
        return parts
    number, symbol = _split(text, unit)
    if not symbol:
        raise _unreadable(f'"{text}" needs a unit', unit)
    factor, base = _factor(symbol, text, unit)
    if base != unit:
        raise ValueError(f'"{text}" is {WHAT[base]} ({base}), and must be {WHAT.get(unit, unit)} ({unit})')
    value = number * factor
    if not math.isfinite(value):
        raise ValueError(f'"{text}" is not a finite number')
    return value


def duration(text: str) -> float:
    """Seconds of a time as people plan with it: "5m" is five minutes, which `parse` refuses for "5 ms" is near [s]."""
    if _BARE.fullmatch(text):
        instead = f"{text.strip()} min" if float(text) > 0 else ""
        raise UnitError(f'"{text}" needs a unit', instead, instead=instead)
    if clock := _CLOCK.fullmatch(text):
        readings = f"{clock[1]}h{clock[2]}min", f"{clock[1]}min{clock[2]}s"
        raise UnitError(f'"{text}" may mean {readings[0]} or {readings[1]}; write the one meant', instead=readings[0])
    if unitless_tail := _NO_LAST_UNIT.fullmatch(text):
        instead = f"{unitless_tail[1]}{'min' if unitless_tail[2] == 'h' else 's'}"
        raise UnitError(f'the last number of "{text}" needs a unit', instead, instead=instead)
    minutes = _MINUTES.fullmatch(text)
    return parse(f"{minutes[1]} min" if minutes else text, "s")


def count(text: str) -> float:
    """The number of a count such as "46,200,000", "3M", "300bn" or "20k"; ValueError for any other text."""
    number, symbol = _split(text, "")
    if not symbol:
        return number
    if symbol == "m":
        raise ValueError(
            f'"{text}" may mean {number:g} million or {number:g} minutes; write "{number:g}M" for the count'
        )
    factor = MULTIPLES.get(symbol.lower())
    if factor is None or not math.isfinite(number * factor):
        raise UnitError(f'"{text}" is not a count', "20k", "3M", "300B")
    return number * factor


def share(text: str) -> float:
    """The share of a text such as "0.9" or "90 %"; ValueError for any other text."""
    number, symbol = _split(text, "")
    if symbol not in ("", "%"):
        raise UnitError(f'"{text}" is not a share', "0.9", "90%")
    return number / 100 if symbol else number


def factor(text: str) -> float | None:
    """The factor of a text such as "2x", "+20%" or "-10%"; None where it is none, ValueError where 90% may be two."""
    match = _RELATIVE.fullmatch(text)
    if match:
        return float(match[1]) if match[1] else 1 + float(match[2]) / 100
    share = _NUMBER.match(text)
    if share and share[2] == "%":
        number = share[1]
        part = f"{float(number.replace(',', '').replace('_', '')) / 100:.12g}"
        raise ValueError(f'"{text}" may mean {part}x, +{number}% or {part}; write the one meant')
    return None


def whole(text: str) -> int | None:
    """The count that ASCII digits write, up to 2**53, which floats hold exactly; None for any other text."""
    if not (text.isascii() and text.isdigit() and len(text) <= len(str(LARGEST))):
        return None
    count = int(text)
    return count if count <= LARGEST else None


def decimal(text: str) -> float | None:
    """The finite number that a text writes in ASCII, such as "1.5e-3"; None for any other text."""
    if not _DECIMAL.fullmatch(text.strip()):
        return None
    value = float(text)
    return value if math.isfinite(value) else None


def dollars(text: str) -> float:
    """US dollars of an amount such as "3M", "250k" or "149,000"; ValueError for any other text [USD]."""
    match = _DOLLARS.fullmatch(text.strip())
    value = float(match[1].replace(",", "")) * PREFIXES[match[2]] if match else math.nan
    if not math.isfinite(value):
        raise UnitError(f'"{text}" is not an amount of US dollars', "3M", "250k", "149000")
    return value


def per_second(text: str) -> float:
    """Requests a second of a rate such as "500/s" or "30k/min"; ValueError for any other text [1/s]."""
    try:
        number, symbol = split_unit(text)
    except ValueError:
        number, symbol = math.nan, ""
    prefix, slash, time = symbol.partition("/")
    if not slash or time not in _PER or prefix not in ("", "k", "M"):
        instead = f"{text.strip()}/s" if math.isfinite(number) and symbol in ("", "k", "M") else ""
        raise UnitError(f'"{text}" needs a unit of time', "500/s", "30k/min", instead=instead)
    return number * PREFIXES[prefix] / _PER[time]


def like(number: float, old: str) -> str:
    """A number with the unit of a text; where it would be over a hundred times off with that of another prefix.

    The text is a quantity such as "1.325 GHz", of which 1850 is probably megahertz.
    """
    value, symbol = _split(old, "")
    factor, base = _factor(symbol, old, "")
    far = {
        unit: abs(math.log(number * size / (value * factor)))
        for unit in (symbol, *(f"{prefix}{base}" for prefix in PREFIXES if prefix != "K"))
        if value > 0 and (exact := _exact(unit)) and exact[1] == base
        for size in (exact[0],)
    }
    unit = symbol if far.get(symbol, 0.0) <= math.log(100) else min(far, key=lambda unit: far[unit])
    return f"{number:.12g} {unit}"


def si(text: str) -> float:
    """The number of a text such as "1500 MHz" in the SI unit of its own unit; raise ValueError where it has none."""
    number, symbol = _split(text, "")
    return number * _factor(symbol, text, "")[0]


def spell(value: float, unit: str) -> str:
    """Return `value` as a text that `parse` turns back into the same float, for example "2.5e-06 s"."""
    return f"{value!r} {unit}"


def count_text(value: float, figures: int = 3) -> str:
    """A count in millions or billions, "31.6 B": texts of answers, which no screen writes in its own way."""
    size, unit = next(((size, unit) for size, unit in COUNT_SIZES if abs(value) >= size), (1.0, ""))
    if abs(value / size) >= 10**figures:
        return f"{value / size:,.0f} {unit}".rstrip()
    return f"{value / size:.{figures}g} {unit}".rstrip()


def split_unit(text: str) -> tuple[float, str]:
    """The number of a text and whatever follows it, "100 Gbit/s" as 100.0 and "Gbit/s"; ValueError where none does."""
    return _split(text, "")


def _split(text: str, unit: str) -> tuple[float, str]:
    match = _NUMBER.match(text)
    if not match:
        raise _unreadable(f'"{text}" is not a quantity', unit)
    return float(match[1].replace(",", "").replace("_", "")), match[2]


def _unreadable(reason: str, unit: str) -> UnitError:
    """The error for a text that is no quantity of a unit, with an example where one is known."""
    return UnitError(reason, EXAMPLE[unit]) if unit in EXAMPLE else UnitError(f"{reason}; write a number and {unit}")


def _compound(text: str) -> float | None:
    """Seconds of a time in two parts or more, such as "1h30m", each unit smaller than the one before; else None."""
    parts = _PART.findall(text)
    sizes = [_per_part(unit) for _, unit in parts]
    if len(parts) < 2 or 0.0 in sizes or _PART.sub("", text).strip():
        return None
    if any(later >= size for size, later in itertools.pairwise(sizes)):
        raise UnitError(f'"{text}" has its units in no order', "1h30min")
    return math.fsum(float(number) * size for (number, _), size in zip(parts, sizes, strict=True))


def _per_part(unit: str) -> float:
    """Seconds of a unit within a time of several, where m is minutes; 0 for what is none."""
    own = _in_words(unit)
    return {"m": 60.0, "s": 1.0}.get(own) or FIXED_UNITS.get(own, (0.0, ""))[0]


def _in_words(symbol: str) -> str:
    """A unit in words by its symbol; others as they are."""
    word = symbol.lower()
    return WORDS.get(word) or WORDS.get(word.removesuffix("s"), "min" if word == "mins" else symbol)


def _factor(symbol: str, text: str, unit: str) -> tuple[float, str]:
    own = _in_words(symbol)
    if own in FIXED_UNITS:
        return FIXED_UNITS[own]
    if own == "m" and unit == "s":
        number = text.replace(symbol, "").strip()
        raise UnitError(
            f'"{text}" may mean "{number} min" or "{number} ms"; write the one meant', instead=f"{number} min"
        )
    if doubt := _AMBIGUOUS.fullmatch(own):
        prefix = "k" if doubt[1] in ("k", "K") else doubt[1].upper()
        bits, byte = ("bit/s", "B/s") if doubt[2] else ("bit", "B")
        instead = text.replace(symbol, f" {prefix}{bits}").replace("  ", " ")
        raise UnitError(f'"{symbol}" may mean {prefix}{bits} or {prefix}{byte}; write the one meant', instead=instead)
    result = _exact(own) or _whatever_case(own, text)
    if result is None:
        raise _unreadable(f'"{symbol}" in "{text}" is not a unit podsim knows', unit)
    return result


def _whatever_case(symbol: str, text: str) -> tuple[float, str] | None:
    """The one unit that a text means but for its case, "100 kw"; ValueError where it may mean two."""
    small = symbol.lower()
    near = [
        f"{prefix}{base}"
        for base in BASES
        if small.endswith(base.lower())
        for prefix in PREFIXES
        if f"{prefix}{base}".lower() == small and prefix != "K" and _exact(f"{prefix}{base}")
    ]
    if len(near) > 1 or any(unit[0] != symbol[0] and unit[0] in "mM" for unit in near):
        large = next((unit for unit in near if unit[0] == "M"), near[0])  # a millihertz is no clock
        instead = text.replace(symbol, f" {large}").replace("  ", " ")
        raise UnitError(f'"{symbol}" in "{text}" may mean {" or ".join(near)}; write the one meant', instead=instead)
    return _exact(near[0]) if near else None


def _exact(symbol: str) -> tuple[float, str] | None:
    """Factor and base of a unit as BASES and PREFIXES spell it; None where it is none."""
    for base in BASES:
        prefix = symbol.removesuffix(base)
        if prefix == symbol or prefix not in PREFIXES:
            continue
        if (prefix in _SMALL and base not in _SMALL_BASES) or (prefix.endswith("i") and base not in _BINARY_BASES):
            continue
        if base in ("bit/s", "bit"):
            return PREFIXES[prefix] / 8, "B" + base[3:]
        return PREFIXES[prefix], "samples/s" if base == "images/s" else base
    return None
