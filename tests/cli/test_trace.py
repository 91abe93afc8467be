"""Traces: the file that viewers open, and the screen beside it."""

import json
from itertools import pairwise
from pathlib import Path

import pytest
from cli.trace_format import check_format

import podsim
from podsim.cli.command_line import main
from podsim.model.trace import LinkLoad, Trace
from podsim.predicting import tracing
from podsim.report import chrome_trace


def run(capsys: pytest.CaptureFixture[str], *argv: str) -> tuple[int, str, str]:
    code = main(argv)
    out, err = capsys.readouterr()
    return code, out, err


@pytest.mark.parametrize("engine", ["des", "analytic"])
@pytest.mark.parametrize("line", ["bert --pod 16", "resnet50 --pod 64", "bert --pod 128 --fidelity folded"])
def test_a_step_is_drawn_from_its_start_to_its_end(line: str, engine: str, tmp_path: Path) -> None:
    path = tmp_path / "step.json"
    assert main(["trace", *line.split(), "--engine", engine, "-o", str(path), "-q"]) == 0
    spans = check_format(path.read_text(encoding="utf-8"))
    workload, _, pod = line.split()[:3]
    step_s = podsim.predict(workload, pod=int(pod), engine=engine).timeline.step_s  # type: ignore[arg-type]
    assert min(span["ts"] for span in spans) == 0
    assert max(span["ts"] + span["dur"] for span in spans) == pytest.approx(step_s * 1e6, abs=1e-3)


def test_every_micro_batch_of_every_stage_is_there() -> None:
    trace = podsim.trace("bert", preset="mlperf-v1.1-closed", topology="pod16")
    mapping = podsim.predict("bert", preset="mlperf-v1.1-closed", topology="pod16").mapping
    for stage in mapping.stages:
        for what in ("forward", "backward"):
            named = [span for span in trace.spans if span.name.startswith(f"{what} {stage.index}, micro-batch ")]
            assert len(named) == mapping.accumulation
            assert {span.group.split()[1] for span in named} == {str(stage.ipu)}


@pytest.fixture(scope="module")
def folded() -> Trace:
    return podsim.trace("bert", pod=16)


@pytest.fixture(scope="module")
def full() -> Trace:
    return podsim.trace("bert", pod=16, fidelity="full")


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
    few = podsim.trace("bert", pod=16, most_spans=300)
    assert len(few.spans) == 300
    assert check_format(chrome_trace.text(few))
    assert sum(len(link.changes) for link in few.links) <= 300
    assert (few.length_s, few.busy) == (folded.length_s, folded.busy)
    (gap,) = (span for span in few.spans if span.track == "left out")
    assert gap.details["spans"] == len(folded.spans) - 299
    assert any("left out" in note for note in map(str, few.notes))
    assert max(span.end_s for span in few.spans) == max(span.end_s for span in folded.spans)


def test_a_pipeline_without_barriers_is_cut_too() -> None:
    few = podsim.trace("bert", pod=16, schedule="1f1b", most_spans=300)
    assert len(few.spans) == 300
    assert check_format(chrome_trace.text(few))


def test_steps_follow_each_other(folded: Trace) -> None:
    two = podsim.trace("resnet50", pod=4, steps=2)
    steps = [span for span in two.spans if span.name.startswith("step ")]
    assert [span.start_s for span in steps] == [0.0, two.step_s]
    assert two.length_s == pytest.approx(2 * two.step_s)
    assert check_format(chrome_trace.text(two))


def test_steps_with_noise_share_their_luck_with_a_prediction() -> None:
    from podsim.predicting import noisy_steps

    few, more, loud = (
        podsim.trace("resnet50", pod=16, steps=steps, noise_scale=scale, seed=3)
        for steps, scale in ((2, 1.0), (4, 1.0), (4, 3.0))
    )
    predicted = podsim.predict("resnet50", pod=16, steps=noisy_steps.DRAWS, seed=3).noise
    assert predicted is not None

    def lengths(trace: Trace) -> list[float]:
        return [span.end_s - span.start_s for span in trace.spans if span.name.startswith("step ")]

    assert lengths(more)[:2] == pytest.approx(lengths(few))
    assert len({round(length, 9) for length in lengths(more)}) == 4
    offset = few.step_s - predicted.in_fit_s
    added, thrice = ([length - offset for length in lengths(trace)] for trace in (more, loud))
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
    result = json.loads(out)
    assert sum(span["args"]["steps"] for span in steps) >= sum(leg["steps"] for leg in result["phases"])
    assert max(span["ts"] + span["dur"] for span in spans) == pytest.approx(result["time_s"] * 1e6, abs=2e-3)
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
    assert "Most loaded links" in out
    assert "ui.perfetto.dev" in out
    assert path.exists()


def test_json_has_the_spans_in_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    result = json.loads(run(capsys, "trace", "resnet50", "--pod", "4", "--json")[1])
    assert result["schema"] == "podsim.trace/1"
    assert (result["level"], result["workload"], result["topology"]) == ("pod", "resnet50", "m2000")
    assert max(span["end_s"] for span in result["spans"]) == pytest.approx(result["length_s"])


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("trace brt --pod 16", "unknown-workload", 'did you mean "bert"?'),
        ("trace bert", "no-machine", "neither --pod nor --topology is given"),
        ("trace bert --pod 16 --stage 2", "conflicting-flags", "--stage goes with --level tile"),
        ("trace bert --pod 16 --level tile --steps 2", "conflicting-flags", "without noise"),
        ("trace bert --pod 16 --steps 101", "bad-value", "at most 100, not 101"),
        ("trace bert --pod 16 --steps 0", "bad-value", "must be at least 1"),
        ("trace bert --pod 16 --most-spans 9", "bad-value", "at least 101"),
        ("trace bert --pod 16 --noise-scale 2000", "bad-value", "--noise-scale: must be from 0 to 1,000"),
        ("trace bert --pod 16 --set noise.ipu.jitter=0.1", "bad-change", "changes nothing here"),
        ("collective all-reduce --pod 16 --bytes 1kB -o --json", "bad-value", "--out must be a file, not --json"),
        ("trace bert --pod 16 --level tiles", "bad-value", 'invalid value "tiles" for --level'),
        ("trace bert --pod 16 --stage -1 --level tile", "bad-value", "must be at least 0, not -1"),
        ("trace bert --pod 4 -o --json", "bad-value", "--out must be a file, not --json"),
        ("trace bert --pod 4 -o no/such/folder/x.json", "cannot-write", "no/such/folder/x.json"),
    ],
)
def test_what_cannot_be_traced_exits_2(line: str, code: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    exit_code, out, err = run(capsys, *line.split())
    assert (exit_code, out) == (2, "")
    assert err.startswith(f"error: {code}\n")
    assert said in " ".join(err.split())
