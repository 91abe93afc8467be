"""Logs that are cut short, packed, mixed or broken: what is wrong is said with its line, what is good is read."""

import bz2
import gzip
import json
import lzma
import os
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.errors import InputError
from podsim.files.mllog import lines as reading
from podsim.files.mllog import tree
from podsim.files.mllog.events import events
from podsim.files.mllog.lines import Line
from podsim.files.mllog.runs import runs


def event(key, value=None, at_s=0.0, **metadata):
    """One line as mlperf-logging writes it."""
    table = {"namespace": "", "time_ms": 1e12 + 1e3 * at_s, "event_type": "INTERVAL_START", "key": key, "value": value}
    return ":::MLLOG " + json.dumps({**table, "metadata": metadata or None})


SAID = [event("submission_platform", "IPU-POD16"), event("submission_benchmark", "bert"), event("seed", 7)]
RUN = [
    *SAID,
    event("run_start", at_s=10),
    event("block_start", at_s=12),
    event("block_stop", at_s=20),
    event("eval_start", at_s=20),
    event("eval_accuracy", 0.7, at_s=21, epoch_num=4000),
    event("eval_stop", at_s=22),
    event("run_stop", at_s=22, status="success"),
]


def read(tmp_path, content, name="result_0.txt"):
    """The runs of one file, and its remarks as line and text."""
    data = content if isinstance(content, bytes) else "\n".join(content).encode()
    (tmp_path / name).write_bytes(data)
    result = tree.read(tmp_path)
    return result.runs, [(remark.line, remark.text) for remark in result.remarks]


def test_a_run_is_read(tmp_path):
    (run,), remarks = read(tmp_path, ["2021-05-01 booting", *RUN])
    assert remarks == []
    assert (run.platform, run.benchmark, run.seed, run.status, run.init_s, run.clock_s) == (
        "IPU-POD16",
        "bert",
        7,
        "success",
        10.0,
        12.0,
    )
    assert [(span.start_s, span.stop_s) for span in run.blocks] == [(2.0, 10.0)]
    (evaluation,) = run.evaluations
    assert (evaluation.span.length_s, evaluation.quality, evaluation.epoch_num) == (2.0, 0.7, 4000)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_packed_log_is_unpacked_by_what_it_is(tmp_path, pack):
    """Whatever it is called."""
    result, remarks = read(tmp_path, pack("\n".join(RUN).encode()), "log.txt")
    assert len(result) == 1
    assert remarks == []


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress], ids=["gz", "bz2", "xz"])
def test_a_packed_log_that_is_cut_short_is_said(tmp_path, pack):
    noise = [f"step {random.Random(at).random()}" for at in range(4000)]  # noqa: S311
    data = pack("\n".join([*RUN, *noise, *RUN]).encode())
    _, remarks = read(tmp_path, data[: len(data) // 2])
    assert any("cannot be read further" in text for _, text in remarks)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "latin-1"])
def test_encodings(tmp_path, encoding):
    text = event("submission_org", "Zürich").replace("\\u00fc", "ü")
    (run,), remarks = read(tmp_path, "\r\n".join([text, *RUN]).encode(encoding))
    assert run.organisation == "Zürich"
    assert remarks == []


def test_lines_of_any_length_take_bounded_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LONGEST", 4096)
    huge = event("weights", "x" * 100_000)
    result, remarks = read(tmp_path, ["y" * 200_000, *RUN[:5], huge, *RUN[5:]])
    assert len(result) == 1
    assert remarks == [(7, "longer than 4,096 characters, left out")]


def test_a_file_without_end_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "MOST_BYTES", 10_000)
    _, remarks = read(tmp_path, gzip.compress(b"\n".join([b"0" * 100] * 1000)))
    assert any("the rest is not read" in text for _, text in remarks)


BROKEN = {
    "cut off": ([*RUN[:-1], RUN[-1][:40]], 0, (10, "cut off inside its JSON")),
    "no run_stop": (RUN[:-1], 0, (4, "no run_stop: cut short or killed")),
    "no run_start": ([*SAID, *RUN[-1:]], 0, (4, "run_stop without a run_start")),
    "run_start twice": ([*RUN[:4], event("run_start", at_s=10.2), *RUN[4:]], 1, (5, "run_start again")),
    "killed, then again": ([*RUN[:6], *RUN], 1, (4, "no run_stop before the run_start of line 10")),
    "clock backwards": ([*RUN[:6], event("eval_start", at_s=5), *RUN[7:]], 0, (7, "clock runs backwards by 15 s")),
    "no training": ([*RUN[:4], RUN[-1]], 0, (4, "no block and no epoch")),
    "stop alone": ([*RUN[:4], event("block_stop", at_s=11), *RUN[4:]], 1, (5, "block_stop without a start")),
    "start twice": ([*RUN[:5], event("block_start", at_s=13), *RUN[5:]], 1, (6, "block_start again before its stop")),
    "no time": ([*RUN, ':::MLLOG {"key": "seed", "value": 1}'], 1, (11, "time_ms is missing")),
    "time is text": ([*RUN, ':::MLLOG {"key": "seed", "time_ms": "now"}'], 1, (11, 'time_ms is "now", no time')),
    "no key": ([*RUN, ':::MLLOG {"time_ms": 5}'], 1, (11, "no key")),
    "no object": ([*RUN, ":::MLLOG [1]"], 1, (11, "no JSON")),
    "no quality": ([*RUN[:7], event("eval_accuracy", "NaN", at_s=21), *RUN[8:]], 1, (8, "eval_accuracy is no number")),
    "another system": ([*SAID, event("submission_platform", "POD64"), *RUN[3:]], 1, (4, 'is "POD64" here and was')),
    "impossible batch": ([event("global_batch_size", -4), *RUN], 1, (1, "global_batch_size is no number that can be")),
}


@pytest.mark.parametrize("what", BROKEN)
def test_what_is_wrong_is_said_with_its_line(tmp_path, what):
    content, count, (line, words) = BROKEN[what]
    result, remarks = read(tmp_path, content)
    assert len(result) == count
    assert any(at == line and words in text for at, text in remarks), remarks


def test_an_aborted_run_is_no_success(tmp_path):
    (run,), _ = read(tmp_path, [*RUN[:-1], event("run_stop", at_s=22, status="aborted")])
    assert not run.reached_target


def test_a_run_below_its_target_is_no_success_whatever_it_says(tmp_path):
    (run,), _ = read(tmp_path, [event("target_accuracy", 0.72), *RUN])
    assert not run.reached_target


def test_a_process_that_logs_a_little_late_does_no_harm(tmp_path):
    result, remarks = read(tmp_path, [*RUN[:6], event("eval_start", at_s=19.5), *RUN[7:]])
    assert len(result) == 1
    assert remarks == []


def test_runs_of_one_file_keep_what_their_own_submission_says(tmp_path):
    later = [line.replace("IPU-POD16", "IPU-POD64") for line in RUN]
    result, remarks = read(tmp_path, [*RUN, *later])
    assert [run.platform for run in result] == ["IPU-POD16", "IPU-POD64"]
    assert remarks == []


def test_a_log_beside_its_archive_is_one_run(tmp_path):
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress("\n".join(RUN).encode()))
    result, remarks = read(tmp_path, RUN)
    assert len(result) == 1
    assert remarks == [(4, "the same run as in a.txt.gz, counted once")]


def test_any_layout_in_one_order(tmp_path):
    for name in ("b/deep/2.log", "b/1", "a/x.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("\n".join([event("seed", len(name)), *RUN]))
    (tmp_path / "c.bin").write_bytes(random.Random(1).randbytes(5000))  # noqa: S311
    (tmp_path / "d.txt").write_text("nothing")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe")
    result = tree.read(tmp_path)
    assert [run.file for run in result.runs] == ["a/x.txt", "b/1", "b/deep/2.log"]
    assert [(remark.where, remark.text) for remark in result.remarks] == [
        ("c.bin", "no :::MLLOG line, no result log"),
        ("d.txt", "no :::MLLOG line, no result log"),
        ("gone", "no plain file, or a link to nothing"),
        ("pipe", "no plain file, or a link to nothing"),
        ("loop", "a link to a folder that is read already"),
    ]


def test_an_unreadable_file_is_said(tmp_path, monkeypatch):
    """Made by hand, since a superuser may read everything."""

    def refuse(path):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(tree, "lines", refuse)
    _, remarks = read(tmp_path, RUN)
    assert remarks == [(0, "cannot be read further: Permission denied")]


def test_a_file_in_place_of_a_folder_is_the_only_log(tmp_path):
    path = tmp_path / "result_0.txt"
    path.write_text("\n".join(RUN))
    result = tree.read(path)
    assert len(result.runs) == 1
    assert "a file in place of a folder" in result.remarks[0].text


@pytest.mark.parametrize(("name", "code"), [("empty", "no-logs"), ("nowhere", "no-such-file")])
def test_nothing_to_read(tmp_path, name, code):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError) as refused:
        tree.read(tmp_path / name)
    assert refused.value.code == code


def test_remarks_on_one_file_are_counted_beyond_twenty(tmp_path):
    _, remarks = read(tmp_path, [*RUN, *[":::MLLOG {"] * 50])
    assert len(remarks) == 21
    assert remarks[-1] == (0, "30 more remarks on this file")


def test_system_descriptions_are_read(tmp_path):
    described = {
        "system_name": "my-rack",
        "accelerator_model_name": "Bow IPU",
        "accelerators_per_node": 64,
        "number_of_nodes": "2",
        "other_software_stack": "Poplar SDK 2.5.1",
    }
    (tmp_path / "my-rack.json").write_text(json.dumps(described))
    (tmp_path / "other.json").write_text("[1]")
    result = tree.read(tmp_path)
    assert [(s.name, s.chip, s.chips, s.sdk) for s in result.systems] == [("my-rack", "Bow IPU", 128, "2.5")]


@settings(max_examples=settings.default.max_examples // 2)
@given(
    st.lists(st.sampled_from(RUN) | st.text('{}":key 1', max_size=20).map(lambda text: f":::MLLOG {text}"), max_size=40)
)
def test_no_order_of_lines_is_too_much(written):
    text = []
    numbered = (Line(number, text, cut=False) for number, text in enumerate(written, 1))
    for run in runs(
        events(numbered, lambda *details: text.append(details)), "log", lambda *details: text.append(details)
    ):
        assert run.clock_s > 0
        assert all(span.length_s >= 0 and span.start_s >= 0 for span in (*run.blocks, *run.epochs))


@pytest.mark.parametrize(
    ("stated", "chips"),
    [
        ("64", 64),
        (64, 64),
        ("\u00b2", 0),
        ("\u0664", 0),
        (True, 0),
        (-4, 0),
        (1e3, 0),
        (10**400, 0),
        ("9" * 5000, 0),
        (None, 0),
        ([64], 0),
        ("6_4", 0),
    ],
)
def test_accelerators_of_a_system_are_a_count_or_unknown(tmp_path, stated, chips):
    described = {"system_name": "my-rack", "accelerators_per_node": stated, "number_of_nodes": 1}
    (tmp_path / "system.json").write_text(json.dumps(described))
    result = tree.read(tmp_path)
    assert [system.chips for system in result.systems] == [chips]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("gradient_accumulation_steps", 1e308),
        ("gradient_accumulation_steps", 10**400),
        ("global_batch_size", 1e17),
        ("seed", 1e300),
        ("opt_base_learning_rate", "1e400"),
        ("gradient_accumulation_steps", "1_000"),
    ],
)
def test_a_number_that_no_run_has_is_ignored_with_a_remark(tmp_path, key, value):
    _, remarks = read(tmp_path, [event(key, value), *RUN])
    assert any(f"{key} is no number that can be" in text for _, text in remarks)
