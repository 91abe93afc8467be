"""Traces: the file that viewers open, and the screen beside it."""

import json
from collections import defaultdict
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from podsim import api
from podsim.cli.app import main
from podsim.errors import InputError
from podsim.model.chip import Chip
from podsim.model.program import Part
from podsim.model.tile_plan import Cohort, Superstep, TilePlan
from podsim.model.trace import LinkLoad, Trace, TraceLevel
from podsim.model.workload import Pass
from podsim.predicting import tracing
from podsim.report import chrome_trace
from podsim.report.terminal import Look, render
from podsim.report.views import trace as view
from podsim.tiles.supersteps import total


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


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


@pytest.mark.parametrize("engine", ["des", "analytic"])
@pytest.mark.parametrize("line", ["bert --pod 16", "resnet50 --pod 64", "bert --pod 128 --fidelity folded"])
def test_a_step_is_drawn_from_its_start_to_its_end(line: str, engine: str, tmp_path: Path) -> None:
    path = tmp_path / "step.json"
    assert main(["trace", *line.split(), "--engine", engine, "-o", str(path), "-q"]) == 0
    spans = check_format(path.read_text(encoding="utf-8"))
    workload, _, pod = line.split()[:3]
    step_s = api.predict(workload, pod=int(pod), engine=engine).timeline.step_s  # type: ignore[arg-type]
    assert min(span["ts"] for span in spans) == 0
    assert max(span["ts"] + span["dur"] for span in spans) == pytest.approx(step_s * 1e6, abs=1e-3)


def test_every_micro_batch_of_every_stage_is_there() -> None:
    trace = api.trace("bert", preset="mlperf-v1.1-closed", topology="pod16")
    mapping = api.predict("bert", preset="mlperf-v1.1-closed", topology="pod16").mapping
    for stage in mapping.stages:
        for what in ("forward", "backward"):
            named = [span for span in trace.spans if span.name == f"{what} {stage.index}"]
            assert len(named) == mapping.accumulation
            assert {span.group.split()[1] for span in named} == {str(stage.ipu)}


@pytest.fixture(scope="module")
def folded() -> Trace:
    return api.trace("bert", pod=16)


@pytest.fixture(scope="module")
def full() -> Trace:
    return api.trace("bert", pod=16, fidelity="full")


def test_full_fidelity_shows_every_replica(folded: Trace, full: Trace) -> None:
    assert {span.group for span in folded.spans} < {span.group for span in full.spans}
    assert len({span.group for span in full.spans if span.group.startswith("IPU")}) == 16
    assert full.length_s == pytest.approx(folded.length_s, rel=1e-9)
    assert (folded.shown, full.shown) == ("one of 4 equal replicas", "all 4 replicas")


def test_links_of_a_folded_step_carry_what_they_carry_in_full(folded: Trace, full: Trace) -> None:
    def carried(trace: Trace, link: LinkLoad) -> tuple[float, float, float]:
        drawn = sum(rate * (after - at) for (at, rate), (after, _) in pairwise(link.changes))
        return link.moved_bytes, link.busy_s, drawn

    of_ipus = {link.name: carried(full, link) for link in full.links if link.kind == "ipu-link"}
    assert {link.name for link in folded.links if link.kind == "ipu-link"} == set(of_ipus)
    for link in folded.links:
        moved_bytes, _, drawn = carried(folded, link)
        assert drawn == pytest.approx(moved_bytes, rel=1e-6)
        if link.name in of_ipus:
            assert carried(folded, link) == pytest.approx(of_ipus[link.name], rel=1e-6)


def test_machine_collectives_and_hosts_have_tracks_of_their_own(folded: Trace) -> None:
    tracks = {(span.group, span.track) for span in folded.spans}
    assert {("machine", "steps"), ("machine", "transfers"), ("hosts", "input"), ("hosts", "streaming memory")} < tracks
    gather = [span for span in folded.spans if span.details.get("phase") == "all-gather"]
    assert {span.group for span in gather} == {"collectives"}
    moving = [span for span in gather if span.details["steps"]]
    assert moving
    assert all(span.details["algorithm"] and span.details["bytes"] for span in moving)
    assert {use.group for use in folded.busy} == {span.group for span in folded.spans}


def test_of_too_many_spans_those_in_the_middle_are_left_out(folded: Trace) -> None:
    few = api.trace("bert", pod=16, most_spans=300)
    assert len(few.spans) == 300
    assert check_format(chrome_trace.text(few))
    assert sum(len(link.changes) for link in few.links) <= 300
    assert (few.length_s, few.busy) == (folded.length_s, folded.busy)
    (gap,) = (span for span in few.spans if span.track == "left out")
    assert gap.details["spans"] == len(folded.spans) - 299
    assert any("left out" in note for note in few.notes)
    assert max(span.end_s for span in few.spans) == max(span.end_s for span in folded.spans)


def test_a_pipeline_without_barriers_is_cut_too() -> None:
    few = api.trace("bert", pod=16, schedule="1f1b", most_spans=300)
    assert len(few.spans) == 300
    assert check_format(chrome_trace.text(few))


def test_steps_follow_each_other(folded: Trace) -> None:
    two = api.trace("resnet50", pod=4, steps=2)
    steps = [span for span in two.spans if span.name.startswith("step ")]
    assert [span.start_s for span in steps] == [0.0, two.step_s]
    assert two.length_s == pytest.approx(2 * two.step_s)
    assert check_format(chrome_trace.text(two))


def test_steps_with_noise_share_their_luck_with_a_prediction() -> None:
    from podsim.predicting import noise

    few, more, loud = (
        api.trace("resnet50", pod=16, steps=steps, noise_scale=scale, seed=3)
        for steps, scale in ((2, 1.0), (4, 1.0), (4, 3.0))
    )
    predicted = api.predict("resnet50", pod=16, steps=noise.DRAWN, seed=3).noise
    assert predicted is not None

    def lengths(trace: Trace) -> list[float]:
        return [span.end_s - span.start_s for span in trace.spans if span.name.startswith("step ")]

    assert lengths(more)[:2] == pytest.approx(lengths(few))
    assert len({round(length, 9) for length in lengths(more)}) == 4
    offset = few.step_s - predicted.in_fit_s
    added, thrice = ([length - offset for length in lengths(one)] for one in (more, loud))
    assert thrice == pytest.approx([3 * each for each in added], rel=1e-6)
    assert check_format(chrome_trace.text(more))


def test_a_step_beyond_every_engine_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tracing, "MOST_TASKS", 150)
    code, out, err = run(capsys, "trace", "bert", "--pod", "16", "--most-spans", "120")
    assert (code, out) == (2, "")
    assert err.startswith("error: too-large-to-draw\n")


@pytest.mark.parametrize(
    "line",
    [
        "all-reduce --topology ring-16",
        "all-reduce --topology ring-16 --fidelity full --algorithm ring",
        "all-to-all --topology ring-with-half-speed-link",
        "all-reduce --pod 64",
        "all-reduce --topology ring-1024 --algorithm ring --most-spans 5000",
    ],
)
def test_a_collective_is_drawn_with_its_links(line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "collective.json"
    code, out, err = run(capsys, "collective", *line.split(), "--bytes", "1 MiB", "-o", str(path), "--json")
    assert (code, err) == (0, "")
    text = path.read_text(encoding="utf-8")
    spans = check_format(text)
    steps = [span for span in spans if "steps" in span["args"]]
    found = json.loads(out)
    assert sum(span["args"]["steps"] for span in steps) >= sum(leg["steps"] for leg in found["phases"])
    assert max(span["ts"] + span["dur"] for span in spans) == pytest.approx(found["time_s"] * 1e6, abs=2e-3)
    loads = [event["args"]["share"] for event in json.loads(text)["traceEvents"] if event["ph"] == "C"]
    assert max(loads) == pytest.approx(1)


def test_a_collective_that_cannot_be_written_leaves_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = ["collective", "all-reduce", "--topology", "ring-16", "--bytes", "1 MiB", "-o"]
    code, out, err = run(capsys, *line, str(tmp_path))
    assert (code, out) == (2, "")
    assert err.startswith("error: cannot-write\n")
    assert not list(tmp_path.iterdir())
    assert not list(tmp_path.parent.glob(f".{tmp_path.name}.*"))


def test_the_same_question_gives_the_same_bytes(capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "trace", "resnet50", "--pod", "4", "-o", "-")
    assert first == run(capsys, "trace", "resnet50", "--pod", "4", "-o", "-")
    assert check_format(first[1])
    assert first[2] == ""


def test_the_screen_says_who_is_busy_and_where_the_file_went(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "step.json"
    code, out, err = run(capsys, "trace", "bert", "--pod", "16", "-o", str(path))
    assert (code, err) == (0, "")
    assert "one of 4 equal replicas" in out
    assert "IPU 0 (stages 0, 4)" in out
    assert "most loaded links" in out
    assert "ui.perfetto.dev" in out
    assert path.exists()


def test_json_has_the_spans_in_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "trace", "resnet50", "--pod", "4", "--json")[1])
    assert found["schema"] == "podsim.trace/1"
    assert (found["level"], found["workload"], found["topology"]) == ("pod", "resnet50", "m2000")
    assert max(span["end_s"] for span in found["spans"]) == pytest.approx(found["length_s"])


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("trace brt --pod 16", "unknown-workload", 'did you mean "bert"?'),
        ("trace bert", "no-machine", "give one of --pod and --topology"),
        ("trace bert --pod 16 --stage 2", "conflicting-flags", "--stage goes with --level tile"),
        ("trace bert --pod 16 --level tile --steps 2", "conflicting-flags", "without noise"),
        ("trace bert --pod 16 --steps 101", "bad-value", "at most 100, not 101"),
        ("trace bert --pod 16 --steps 0", "bad-value", "must be at least 1"),
        ("trace bert --pod 16 --most-spans 9", "bad-value", "at least 101"),
        ("trace bert --pod 16 --noise-scale 2000", "bad-value", "noise scale"),
        ("trace bert --pod 16 --set noise.ipu.jitter=0.1", "bad-change", "changes nothing here"),
        ("collective all-reduce --pod 16 --bytes 1kB -o --json", "bad-value", "--out wants a file, not --json"),
        ("trace bert --pod 16 --level tiles", "bad-value", 'invalid value "tiles" for --level'),
        ("trace bert --pod 16 --stage -1 --level tile", "bad-value", "must be at least 0, not -1"),
        ("trace bert --pod 4 -o --json", "bad-value", "--out wants a file, not --json"),
        ("trace bert --pod 4 -o no/such/folder/x.json", "cannot-write", "no/such/folder/x.json"),
    ],
)
def test_what_cannot_be_traced_exits_2(line: str, code: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys, *line.split())
    assert (exit_code, out) == (2, "")
    assert err.startswith(f"error: {code}\n")
    assert said in " ".join(err.split())


# --- the tiles of one stage -----------------------------------------------------------------------------------------


def plan(name: str) -> TilePlan:
    return TilePlan(
        operator=name,
        method="AMP 1x1",
        splits={"rows": 2, "outputs": 736},
        supersteps=(
            Superstep(name="inputs", phase="input", cohorts=(Cohort(tiles=1472, receive_bytes=4_000.0),)),
            Superstep(
                name="multiply",
                phase="multiply",
                cohorts=(Cohort(tiles=1000, compute_cycles=9_000.0), Cohort(tiles=400, compute_cycles=5_000.0)),
                repeat=2,
            ),
        ),
        flop=1e9,
        sram_bytes_per_tile={"weights": 1e5},
        tiles_used=1472,
    )


PLANS = [("query", Pass.FORWARD, plan("query")), ("output", Pass.FORWARD, plan("output")),
         ("query", Pass.WEIGHT_GRADIENT, plan("query"))]  # fmt: skip


@pytest.fixture(scope="module")
def traced() -> Trace:
    machine, workload, named = api._asked_of("bert", "pod16", chip=None, preset=None, sdk=None, hosts=None, changes=())
    question = api._question(
        machine, workload, named, division="closed", samples=None, engine="des", fidelity="folded", seed=0
    )
    mapping = api.predict("bert", pod=16).mapping
    return tracing.stage(question, mapping, 2, PLANS)


def test_supersteps_of_a_stage_follow_each_other(traced: Trace, gc200: Chip) -> None:
    one_s = total(PLANS[0][2].supersteps, gc200).total / gc200.clock_hz
    assert traced.level is TraceLevel.TILE
    assert traced.length_s == pytest.approx(3 * one_s, rel=1e-9)
    operators = [span for span in traced.spans if span.track == "operators"]
    assert [span.name for span in operators] == ["query", "output", "query"]
    assert [span.start_s for span in operators] == pytest.approx([0, one_s, 2 * one_s])
    supersteps = [span for span in traced.spans if span.track == "supersteps"]
    assert [span.name for span in supersteps] == ["inputs", "multiply"] * 3
    assert check_format(chrome_trace.text(traced))


def test_equal_tiles_have_a_track_of_their_own(traced: Trace) -> None:
    computing = [span for span in traced.spans if span.part is Part.COMPUTE]
    assert {span.track for span in computing} == {"equal tiles 1", "equal tiles 2"}
    assert {span.details["tiles"] for span in computing} == {"0 to 999", "1000 to 1399"}
    assert {span.group for span in traced.spans} == {"IPU 2 (stage 2)"}


@pytest.mark.parametrize("width", [60, 100, 160])
def test_the_screen_of_a_stage_ranks_its_operators(traced: Trace, width: int) -> None:
    text = render(view.document(traced, "stage.json"), Look(width))
    assert all(len(line) <= width for line in text.splitlines())
    assert "operators by time" in text
    assert text.index("  output ") < text.index("  query ")
    assert "wrote stage.json" in text


def test_a_stage_that_is_not_there_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    mapping = api.predict("bert", pod=16).mapping
    assert tracing.stage_number(mapping, 4) == 4
    assert tracing.stage_number(mapping, None) in range(1, 5)
    code, out, err = run(capsys, "trace", "bert", "--pod", "16", "--level", "tile", "--stage", "9")
    assert (code, out) == (2, "")
    assert "stages 0 to 4" in err


def test_full_fidelity_runs_every_tile_of_a_stage(gc200: Chip) -> None:
    """The same length as with equal tiles folded, and a track a tile; a stage of too many spans is refused."""
    folded, full = (
        api.trace("bert", pod=16, level="tile", stage=0, fidelity=fidelity) for fidelity in ("folded", "full")
    )
    assert full.length_s == pytest.approx(folded.length_s, rel=1e-9)
    tracks = {span.track for span in full.spans if span.part}
    assert tracks == {f"tile {tile}" for tile in range(gc200.tiles)}
    with pytest.raises(InputError, match="tile by tile") as caught:
        api.trace("bert", pod=16, level="tile", fidelity="full")
    assert caught.value.code == "too-large-to-draw"


@pytest.mark.parametrize("name", ["x.csv", "x.html", "trace.v2.CSV"])
def test_a_trace_under_the_name_of_another_format_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["trace", "bert", "--pod", "16", "-o", str(tmp_path / name)]) == 2
    err = capsys.readouterr().err
    assert "a trace is JSON" in err
    assert "json" in err.split("hint:")[1]
    assert not (tmp_path / name).exists()
