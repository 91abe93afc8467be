"""A trace in the Trace Event Format that ui.perfetto.dev and chrome://tracing open.

Source: "Trace Event Format", Google, the JSON object form: complete events (X) in microseconds, metadata events (M).
"""

import json
from collections.abc import Iterator
from typing import Any

from podsim.model.trace import Trace, TraceSpan
from podsim.report.version import version

Event = dict[str, Any]
_PS = 1e12


def text(trace: Trace) -> str:
    """The whole file: one process a group, one thread a track, in the order in which they first appear."""
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
        },
    }
    return json.dumps(document, allow_nan=False, separators=(",", ":")) + "\n"


def _events(trace: Trace) -> Iterator[Event]:
    groups: dict[str, int] = {}
    tracks: dict[tuple[str, str], int] = {}
    for span in trace.spans:
        groups.setdefault(span.group, len(groups) + 1)
        tracks.setdefault((span.group, span.track), len(tracks) + 1)
    for group, pid in groups.items():
        yield _meta("process_name", pid, 0, {"name": group})
        yield _meta("process_sort_index", pid, 0, {"sort_index": pid})
    for (group, track), tid in tracks.items():
        yield _meta("thread_name", groups[group], tid, {"name": track})
        yield _meta("thread_sort_index", groups[group], tid, {"sort_index": tid})
    for span in trace.spans:
        yield _complete(span, groups[span.group], tracks[span.group, span.track])


def _meta(name: str, pid: int, tid: int, args: Event) -> Event:
    return {"ph": "M", "name": name, "pid": pid, "tid": tid, "ts": 0, "args": args}


def _complete(span: TraceSpan, pid: int, tid: int) -> Event:
    # whole picoseconds, so that a span still ends where the next one starts
    start, end = round(span.start_s * _PS), round(span.end_s * _PS)
    return {
        "ph": "X",
        "name": span.name,
        "cat": span.part.value if span.part else "operator",
        "pid": pid,
        "tid": tid,
        "ts": start / 1e6,
        "dur": (end - start) / 1e6,
        "args": dict(span.details),
    }
