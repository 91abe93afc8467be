"""Lines to events: whatever follows `:::MLLOG` and is a JSON object with a key and a time."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from podsim.files.file_faults import value_text
from podsim.files.mllog.lines import Line
from podsim.units import decimal

MARK: Final = ":::MLLOG"
_JSON: Final = json.JSONDecoder()
MOST: Final = 1e18
"""Largest number that an event may state: samples, tokens, steps and seeds of real runs are far smaller."""
LATEST_MS: Final = 1e14
"""Milliseconds since 1970 that a log may state: the year 5138."""
Say = Callable[[int, str], None]
"""Told of a line number and what is wrong there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event of mlperf-logging, as its line has it."""

    key: str
    value: Any
    time_ms: float
    line: int
    metadata: Mapping[str, Any]

    def number(self, name: str) -> float | None:
        """A number of the metadata; None where there is none."""
        return number(self.metadata.get(name))


def number(value: object) -> float | None:
    """A number of at most `MOST`, also one written as text; None for anything else."""
    plain_value = decimal(value) if isinstance(value, str) else value
    if isinstance(plain_value, bool) or not isinstance(plain_value, int | float) or not abs(plain_value) <= MOST:
        return None  # NaN is not at most anything
    return float(plain_value)


def events(lines: Iterable[Line], say: Say) -> Iterator[Event]:
    """The events in the lines, in their order; `say` hears of each that cannot be read."""
    for line in lines:
        at = line.text.find(MARK)
        if at >= 0 and line.cut:
            say(line.number, f"longer than {len(line.text):,} characters, left out")
            continue
        while at >= 0:
            event = _event(line, at + len(MARK))
            if isinstance(event, str):
                say(line.number, event)
            else:
                yield event
            at = line.text.find(MARK, at + len(MARK))


def _event(line: Line, at: int) -> Event | str:
    """The event whose JSON begins there, or what is wrong with it."""
    rest = line.text[at:].lstrip()
    try:
        table, _ = _JSON.raw_decode(rest)
    except (ValueError, RecursionError):
        whole = rest.rstrip().endswith("}")
        return "no JSON after :::MLLOG" if whole or not rest.startswith("{") else "cut off inside its JSON"
    if not isinstance(table, dict):
        return "what follows :::MLLOG is no JSON object"
    key, time_ms, metadata = table.get("key"), number(table.get("time_ms")), table.get("metadata")
    if not isinstance(key, str):
        return "the event has no key"
    if time_ms is None or not 0 < time_ms <= LATEST_MS:
        stated_time = table.get("time_ms")
        return f"{key}: time_ms is {'missing' if stated_time is None else value_text(str(stated_time))}, no time"
    result = metadata if isinstance(metadata, dict) else {}
    return Event(key=key, value=table.get("value"), time_ms=time_ms, line=line.number, metadata=result)
