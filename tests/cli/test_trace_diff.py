"""`podsim trace --diff`: what got longer between two traces, from either kind of file."""

import json

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.model.trace import TraceLevel
from podsim.studies import documents
from podsim.studies.trace import difference_report
from podsim.studies.trace.difference_result import TraceDifference, TraceTotals
from podsim.studies.trace.json_keys import DIFFERENCE
from podsim.studies.trace.two_traces import trace_diff

MACHINE = {"topology": "pod16", "preset": "mlperf-v1.1-closed", "engine": "analytic"}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("traces")
    for name, changes in (("old", ()), ("new", ("ipu-link.bandwidth=8 GB/s",))):
        podsim.trace("bert", changes=changes, **MACHINE).save(folder / f"{name}.json")
    slower = podsim.trace("bert", changes=["ipu-link.bandwidth=8 GB/s"], **MACHINE)
    (folder / "new-answer.json").write_text(json.dumps(slower.to_dict()), encoding="utf-8")
    podsim.trace("bert", level="tile", **MACHINE).save(folder / "stage.json")
    return folder


def test_slower_links_lengthen_what_goes_over_them(files):
    difference = podsim.trace_diff(files / "old.json", files / "new.json")
    changes = {change.name: change.change_s for change in difference.parts}
    assert changes["transfer"] > 0
    assert changes["all_reduce"] > 0
    assert changes["compute"] == 0
    assert sum(changes.values()) == pytest.approx(difference.change_s, rel=1e-6)
    assert sum(change.change_s for change in difference.segments) == pytest.approx(difference.change_s, rel=1e-6)
    sizes = [abs(change.change_s) for change in difference.parts]
    assert sizes == sorted(sizes, reverse=True)


def test_totals_are_those_of_the_answers(files):
    difference = podsim.trace_diff(files / "old.json", files / "new.json")
    old = podsim.predict("bert", **MACHINE).timeline
    assert difference.old.step_s == pytest.approx(old.step_s, rel=1e-9)
    assert difference.old.parts_s["compute"] == pytest.approx(old.breakdown_s["compute"], rel=1e-9)


def test_both_kinds_of_file_say_the_same(files):
    for_viewers = podsim.trace_diff(files / "old.json", files / "new.json")
    answers = podsim.trace_diff(files / "old.json", files / "new-answer.json")
    assert [(one.name, one.times) for one in for_viewers.parts] == [(one.name, one.times) for one in answers.parts]
    assert [one.change_s for one in for_viewers.segments] == pytest.approx([one.change_s for one in answers.segments])


def test_the_command_prints_parts_and_what_runs_in_a_row_with_totals(files, capsys):
    assert main(["trace", "--diff", str(files / "old.json"), str(files / "new.json")]) == 0
    shown = capsys.readouterr().out
    assert "gradient all-reduce" in shown
    assert "micro-batches through the pipeline" in shown
    assert shown.count("Total") == 2
    assert main(["trace", "--diff", str(files / "old.json"), str(files / "new.json"), "--json"]) == 0
    body = json.loads(capsys.readouterr().out)
    assert body["schema"] == "podsim.trace_diff/1"
    assert body["change_s"] == pytest.approx(body["new"]["step_s"] - body["old"]["step_s"], rel=1e-6)


def test_a_trace_does_not_differ_from_itself(files, capsys):
    path = str(files / "old.json")
    assert main(["trace", "--diff", path, path, "-q"]) == 0
    assert "; most by" not in capsys.readouterr().out
    assert difference_report.answer(trace_diff(path, path)).endswith("0.0 %")


def test_other_levels_and_other_files_are_refused(files, tmp_path):
    with pytest.raises(InputError, match="level pod and the other level tile"):
        podsim.trace_diff(files / "old.json", files / "stage.json")
    other = tmp_path / "other.json"
    for text, said in (
        ("{}", "no trace"),
        ('{"traceEvents": [], "otherData": {"podsim": "0.1.0"}}', "has no totals"),
        ('{"traceEvents": [], "otherData": []}', "has no totals"),
        ('{"schema": "podsim.trace/1", "segments": 3}', "has no totals"),
        ("[", "is not JSON"),
    ):
        other.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=said):
            podsim.trace_diff(files / "old.json", other)


@pytest.mark.parametrize(
    "words", [["trace"], ["trace", "bert", "--diff", "a", "b"], ["trace", "--diff", "a", "b", "--pod", "16"]]
)
def test_one_trace_or_two(words, capsys):
    assert main(words) == 2
    assert "--diff" in capsys.readouterr().err


def test_what_one_trace_has_alone_changes_by_all_of_it():
    totals = {"file": "a", "workload": "bert", "topology": "pod16", "level": TraceLevel.POD}
    old = TraceTotals(
        **totals, step_s=3.0, parts_s={"compute": 3.0}, segments_s={"micro-batches": 3.0}, times={"micro-batches": 5}
    )
    new = TraceTotals(
        **totals,
        step_s=4.0,
        parts_s={"compute": 2.5, "sync": 1.5},
        segments_s={"micro-batches": 4.0},
        times={"micro-batches": 6},
    )
    difference = TraceDifference(old=old, new=new)
    assert [(one.name, one.old_s, one.change_s) for one in difference.parts] == [
        ("sync", 0.0, 1.5),
        ("compute", 3.0, -0.5),
    ]
    assert documents.of(difference) is DIFFERENCE
    (segment,) = difference.segments
    assert (segment.times, segment.change_s, difference.change_s) == ((5, 6), 1.0, 1.0)
    assert difference_report.answer(difference) == "3.00 s → 4.00 s, +33.3 %; most by sync, +1.50 s"
