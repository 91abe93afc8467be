"""The rules of the Trace Event Format, as viewers need them."""

import json
from collections import defaultdict
from itertools import pairwise
from typing import Any

import pytest

from podsim.report.digits import round_floats


def check_format(text: str) -> list[dict[str, Any]]:
    """The complete events of a file in the Trace Event Format; an assertion fails where a viewer would stumble."""
    document = json.loads(text, parse_constant=pytest.fail)
    assert isinstance(document["traceEvents"], list)
    assert document["displayTimeUnit"] in {"ms", "ns"}
    named: dict[str, dict[tuple[int, int], str]] = {"process_name": {}, "thread_name": {}}
    order: set[tuple[str, int, int]] = set()
    by_kind: dict[str, list[dict[str, Any]]] = {"X": [], "C": []}
    for event in document["traceEvents"]:
        assert type(event["pid"]) is type(event["tid"]) is int
        assert isinstance(event["name"], str)
        assert event["name"]
        assert isinstance(event["args"], dict)
        assert event["args"] == round_floats(event["args"])
        assert event["ts"] >= 0
        if event["ph"] != "M":
            by_kind[event["ph"]].append(event)
            assert isinstance(event["cat"], str)
            continue
        at = event["pid"], event["tid"]
        if event["name"] in named:
            assert isinstance(event["args"]["name"], str)
            assert at not in named[event["name"]]
            named[event["name"]][at] = event["args"]["name"]
        else:
            assert event["name"] in {"process_sort_index", "thread_sort_index"}
            assert isinstance(event["args"]["sort_index"], int)
            assert (event["name"], *at) not in order
            order.add((event["name"], *at))
    spans, counters = by_kind["X"], by_kind["C"]
    assert {(event["pid"], 0) for event in (*spans, *counters)} == set(named["process_name"])
    assert {(span["pid"], span["tid"]) for span in spans} == set(named["thread_name"])
    assert len(set(named["process_name"].values())) == len(named["process_name"])
    tracks = [(pid, name) for (pid, _), name in named["thread_name"].items()]
    assert len(set(tracks)) == len(tracks)
    check_nesting(spans)
    check_counters(counters)
    return spans


def check_nesting(spans: list[dict[str, Any]]) -> None:
    """Spans of a track lie in each other or apart, in the whole nanoseconds that Perfetto cuts times down to."""
    tracks = defaultdict(list)
    for span in spans:
        assert span["dur"] >= 0
        start = int(span["ts"] * 1000)
        tracks[span["pid"], span["tid"]].append((start, -(start + int(span["dur"] * 1000))))
    for on_track in tracks.values():
        assert on_track == sorted(on_track)
        open_until: list[int] = []
        for start, negative_end in on_track:
            while open_until and open_until[-1] <= start:
                open_until.pop()
            assert not open_until or -negative_end <= open_until[-1]
            open_until.append(-negative_end)


def check_counters(counters: list[dict[str, Any]]) -> None:
    """Each counter has a value from the start, moves in time, never exceeds its link, and ends at nothing."""
    links = defaultdict(list)
    for event in counters:
        assert all(type(value) is float for value in event["args"].values())
        assert 0 <= event["args"]["share"] <= 1 + 1e-9
        links[event["pid"], event["name"]].append(event)
    for changes in links.values():
        times = [int(event["ts"] * 1000) for event in changes]
        assert times[0] == 0
        assert all(before < after for before, after in pairwise(times))
        assert changes[-1]["args"] == {"bytes_per_s": 0.0, "share": 0.0}
