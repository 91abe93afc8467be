"""A trace in the Trace Event Format that ui.perfetto.dev and chrome://tracing open.

Source: "Trace Event Format", Google, the JSON object form: complete events (X) in microseconds, counter events (C),
metadata events (M). Perfetto keeps whole nanoseconds of what it reads and drops a span that laps over the end of
another on its track (src/trace_processor/importers/json), so times are whole nanoseconds here already.
"""

import json
import math
from collections.abc import Iterator
from typing import Any

from podsim.model.trace import LinkLoad, Trace, TraceSpan
from podsim.report.digits import round_floats
from podsim.report.version import version

Event = dict[str, Any]
_NS = 1e9
LINKS = "links"


def text(trace: Trace) -> str:
    """The whole file: one process a group, one thread a track, in the order of their spans; links as counters."""
    document = {
        "traceEvents": list(_events(trace)),
        "displayTimeUnit": "ns",
        "otherData": {
            "podsim": version(),
            "workload": trace.workload,
            "topology": trace.topology,
            "chip": trace.chip,
            "level": trace.level.value,
            "shown": trace.shown,
            "steps": trace.steps,
            "step_s": round_floats(trace.step_s),
            "parts_s": {part.value: round_floats(seconds) for part, seconds in trace.parts_s.items()},
            "segments": [
                {"name": each.name, "times": each.times, "seconds": round_floats(each.seconds)}
                for each in trace.segments
            ],
            "notes": [str(note) for note in trace.notes],
            **({"faults": list(trace.faults)} if trace.faults else {}),
        },
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def _events(trace: Trace) -> Iterator[Event]:
    groups: dict[str, int] = {}
    tracks: dict[tuple[str, str], int] = {}
    for span in trace.spans:
        groups.setdefault(span.group, len(groups) + 1)
        tracks.setdefault((span.group, span.track), len(tracks) + 1)
    changing_links = [link for link in trace.links if link.changes]
    if changing_links:
        groups[LINKS] = len(groups) + 1
    for group, pid in groups.items():
        yield _meta("process_name", pid, 0, {"name": group})
        yield _meta("process_sort_index", pid, 0, {"sort_index": pid})
    for (group, track), tid in tracks.items():
        yield _meta("thread_name", groups[group], tid, {"name": track})
        yield _meta("thread_sort_index", groups[group], tid, {"sort_index": tid})
    for span in trace.spans:
        yield _complete(span, groups[span.group], tracks[span.group, span.track])
    for link in changing_links:
        yield from _counters(link, groups[LINKS])


def _meta(name: str, pid: int, tid: int, args: Event) -> Event:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "ts": 0, "args": args}


def _complete(span: TraceSpan, pid: int, tid: int) -> Event:
    start, end = round(span.start_s * _NS), round(span.end_s * _NS)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.part.value if span.part else "operator",
        "pid": pid,
        "tid": tid,
        "ts": _us(start),
        "dur": _us(end - start),
        "args": round_floats(dict(span.details)),
    }


def _counters(link: LinkLoad, pid: int) -> Iterator[Event]:
    """The load of a link whenever it changes; of changes within a nanosecond the last."""
    name = f"{link.kind} {link.name}"
    for at, rate in {round(at_s * _NS): rate for at_s, rate in link.changes}.items():
        args = round_floats({"bytes_per_s": rate, "share": rate / link.bytes_per_s})
        yield {"ph": "C", "name": name, "cat": LINKS, "pid": pid, "tid": 0, "ts": _us(at), "args": args}


def _us(ns: int) -> float:
    """Microseconds that come to as many nanoseconds again when a reader cuts off what is beyond."""
    value = ns / 1000
    return value if int(value * 1000) >= ns else math.nextafter(value, math.inf)
