"""Quantities as files print them, to SI floats and back: the only place that converts."""

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
FIXED: Final = {"min": (60.0, "s"), "h": (3600.0, "s"), "d": (86400.0, "s"), "y": (365.25 * 86400.0, "s")}
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
    "B/cycle": "bytes a cycle",
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
_AMBIGUOUS: Final = re.compile(r"^([kKMGTP]?)(bps|b/s|Bps)$")
_DOLLARS: Final = re.compile(r"\$?\s*((?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?)\s*([kKM]?)\s*(?:USD)?", re.ASCII)
_PER: Final = {"s": 1.0, "min": 60.0, "h": 3600.0}


def parse(text: str, unit: str) -> float:
    """Return `text` ("100 Gbit/s") as an SI float of `unit` ("B/s"); raise ValueError with what is allowed."""
    number, spelled = _split(text, unit)
    if not spelled:
        raise ValueError(f'"{text}" needs a unit; write {_example(unit)}')
    if doubt := _AMBIGUOUS.match(spelled):
        raise ValueError(f'"{spelled}" may mean {doubt[1]}bit/s or {doubt[1]}B/s; write the one meant')
    factor, base = _factor(spelled, text, unit)
    if base != unit:
        raise ValueError(f'"{text}" is {WHAT[base]} ({base}); this field wants {WHAT.get(unit, unit)} ({unit})')
    value = number * factor
    if not math.isfinite(value):
        raise ValueError(f'"{text}" is not a finite number')
    return value


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
        raise ValueError(f'"{text}" is not an amount of US dollars; write for example "3M", "250k" or "149000"')
    return value


def per_second(text: str) -> float:
    """Requests a second of a rate such as "500/s" or "30k/min"; ValueError for any other text [1/s]."""
    try:
        number, spelled = parted(text)
    except ValueError:
        number, spelled = math.nan, ""
    prefix, slash, time = spelled.partition("/")
    if not slash or time not in _PER or prefix not in ("", "k", "M"):
        raise ValueError(f'"{text}" is not a number of requests in a time; write for example "500/s" or "30k/min"')
    return number * PREFIXES[prefix] / _PER[time]


def si(text: str) -> float:
    """The number of a text such as "1500 MHz" in the SI unit of its own unit; raise ValueError where it has none."""
    number, spelled = _split(text, "")
    return number * _factor(spelled, text, "")[0]


def spell(value: float, unit: str) -> str:
    """Return `value` as a text that `parse` turns back into the same float, for example "2.5e-06 s"."""
    return f"{value!r} {unit}"


def counted(value: float, figures: int = 3) -> str:
    """A count with a prefix, "31.6 G": texts of answers, which no screen writes in its own way."""
    size = next((size for size in ("P", "T", "G", "M") if abs(value) >= PREFIXES[size]), "")
    return f"{value / PREFIXES[size]:.{figures}g} {size}".rstrip()


def parted(text: str) -> tuple[float, str]:
    """The number of a text and whatever follows it, "100 Gbit/s" as 100.0 and "Gbit/s"; ValueError where none does."""
    return _split(text, "")


def _split(text: str, unit: str) -> tuple[float, str]:
    match = _NUMBER.match(text)
    if not match:
        raise ValueError(f'"{text}" is not a quantity; write {_example(unit)}')
    return float(match[1].replace(",", "").replace("_", "")), match[2]


def _example(unit: str) -> str:
    return f'for example "{EXAMPLE[unit]}"' if unit in EXAMPLE else f"a number and {unit}"


def _factor(spelled: str, text: str, unit: str) -> tuple[float, str]:
    if spelled in FIXED:
        return FIXED[spelled]
    for base in BASES:
        prefix = spelled.removesuffix(base)
        if prefix == spelled or prefix not in PREFIXES:
            continue
        if (prefix in _SMALL and base not in _SMALL_BASES) or (prefix.endswith("i") and base not in _BINARY_BASES):
            continue
        if base in ("bit/s", "bit"):
            return PREFIXES[prefix] / 8, "B" + base[3:]
        return PREFIXES[prefix], "samples/s" if base == "images/s" else base
    raise ValueError(f'"{spelled}" in "{text}" is not a unit podsim knows; write {_example(unit)}')
