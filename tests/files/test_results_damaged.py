"""Lines of a results file that are not as podsim wrote them: told, kept beside, and recomputed."""

import errno
import json
import os
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_results import HEADER, OUTCOMES, answer, three_points

from podsim.errors import InputError
from podsim.files import result_lines
from podsim.files.result_lines import Header, Result, seal
from podsim.files.results import Results, aside
from podsim.model.sweep import SweepOutcome


@pytest.fixture
def path(tmp_path):
    return three_points(tmp_path)


def resumed(path, header=HEADER):
    """(outcomes, warnings) of a file that is opened again, and its set-aside lines."""
    with Results(path, header) as results:
        result = dict(results.stored), results.warnings
    with Results(path, header) as results:
        assert (dict(results.stored), results.warnings) == (result[0], ()), "what was set aside is told once"
    kept = aside(path)
    return *result, [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []


def other_line(text):
    return seal({"line": 2, "of": HEADER.of, "key": "d4", "point": {}, **text})


@pytest.mark.parametrize(
    "line",
    [
        b"no json\n",
        b"7\n",
        b"\n",
        b"\xff\n",
        b'{"key":"d4"}\n',
        other_line({}),
        other_line({"answer": {"topology": "x"}}),
        other_line({"refusal": {"code": "x"}}),
        seal({"schema": "podsim.sweep-results/3"}),
        Result(number=5, of="0" * 32, point={}, outcome=OUTCOMES[0]).line(),
        b"[" * 100_000 + b"\n",
        b'{"key":"e5","refusal":{"code":"x","message":""}}\n',
    ],
)
def test_a_line_that_is_no_result_of_this_file_is_set_aside(path, line):
    path.write_bytes(path.read_bytes() + line)
    stored, warnings, kept = resumed(path)
    assert list(stored.values()) == OUTCOMES
    assert warnings[0].startswith(f"line 5 of {path}: ")
    assert [(item["line"], item["text"].encode(errors="surrogateescape") + b"\n") for item in kept] == [(5, line)]


def test_an_edited_digit_is_set_aside(path):
    """The report's case: a value outside its own interval."""
    path.write_bytes(path.read_bytes().replace(b'"time_to_train_s":61.5', b'"time_to_train_s":91.5'))
    stored, warnings, kept = resumed(path)
    assert list(stored) == ["b2", "c3"]
    assert warnings == (
        f"line 2 of {path}: its checksum does not match; it is set aside and not used",
        f"{aside(path)} keeps what is set aside; points without a result are recomputed",
    )
    assert '"time_to_train_s":91.5' in kept[0]["text"]


def test_swapped_keys_are_set_aside(path):
    path.write_bytes(path.read_bytes().replace(b'"a1"', b'"-"').replace(b'"c3"', b'"a1"').replace(b'"-"', b'"c3"'))
    stored, _, kept = resumed(path)
    assert (list(stored), [item["line"] for item in kept]) == (["b2"], [2, 4])


def test_one_key_twice_counts_once_where_both_are_equal_and_not_at_all_where_they_differ(path):
    same = Result(number=5, of=HEADER.of, point={"pod": "16"}, outcome=OUTCOMES[0])
    path.write_bytes(path.read_bytes() + same.line())
    with Results(path, HEADER) as results:
        assert (list(results.stored.values()), results.warnings) == (OUTCOMES, ())
    other = Result(number=6, of=HEADER.of, point={"pod": "16"}, outcome=SweepOutcome(key="a1", answer=answer(62.0)))
    path.write_bytes(path.read_bytes() + other.line())
    stored, warnings, kept = resumed(path)
    assert list(stored) == ["b2", "c3"]
    assert [item["line"] for item in kept] == [2, 5, 6]
    assert "contradicts another line of its key a1" in warnings[0]


def test_a_damaged_header_is_set_aside_where_the_results_show_what_they_are_of(path):
    path.write_bytes(path.read_bytes().replace(b'"podsim":"1.0"', b'"podsim":"1.1"'))
    stored, warnings, _ = resumed(path)
    assert list(stored.values()) == OUTCOMES
    assert len(warnings) == 2
    assert path.read_bytes().startswith(HEADER.line())


def test_a_damaged_header_of_another_sweep_is_refused_and_left_alone(path):
    path.write_bytes(path.read_bytes().replace(b'"podsim":"1.0"', b'"podsim":"1.1"'))
    before = path.read_bytes()
    with pytest.raises(InputError, match="its first line is damaged") as raised:
        Results(path, Header(podsim="1.0", code="c0de", sweep="other"))
    assert raised.value.code == "other-results"
    assert path.read_bytes() == before
    assert not aside(path).exists()


def test_lines_of_windows_are_all_set_aside(path):
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    stored, warnings, kept = resumed(path)
    assert (stored, len(kept)) == ({}, 4)
    assert len(warnings) == 5


def test_of_many_lines_ten_are_named(path):
    path.write_bytes(path.read_bytes() + b"x\n" * 5000)
    _, warnings, kept = resumed(path)
    assert (len(warnings), len(kept)) == (12, 5000)
    assert warnings[10] == f"4,990 more lines of {path} are set aside"


def test_a_link_and_the_mode_stay_where_the_file_is_written_again(path, tmp_path):
    path.chmod(0o640)
    link = tmp_path / "link.jsonl"
    link.symlink_to(path)
    path.write_bytes(path.read_bytes() + b"x\n")
    with Results(link, HEADER) as results:
        results.store(SweepOutcome(key="d4", answer=answer()), {})
    assert link.is_symlink()
    assert path.stat().st_mode & 0o777 == 0o640
    assert [name.name for name in tmp_path.iterdir() if name.name.startswith(".")] == []
    with Results(path, HEADER) as results:
        assert (list(results.stored), results.warnings) == (["a1", "b2", "c3", "d4"], ())


def test_a_file_that_is_written_again_stays_locked(path):
    path.write_bytes(path.read_bytes() + b"x\n")
    with Results(path, HEADER), pytest.raises(InputError) as raised:
        Results(path, HEADER)
    assert raised.value.code == "results-in-use"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to root")
def test_where_nothing_can_be_set_aside_the_file_stays_as_it_is(path):
    path.write_bytes(path.read_bytes() + b"x\n")
    before = path.read_bytes()
    path.parent.chmod(0o500)
    with pytest.raises(InputError) as raised:
        Results(path, HEADER)
    path.parent.chmod(0o700)
    assert raised.value.code == "cannot-write"
    assert path.read_bytes() == before


@pytest.mark.parametrize("error", [errno.EACCES, errno.ENOSPC, errno.EROFS])
def test_where_the_file_cannot_be_written_again_it_stays_as_it_is(path, monkeypatch, error):
    path.write_bytes(path.read_bytes() + b"x\n")
    before = path.read_bytes()

    def refuse(*_):
        raise OSError(error, os.strerror(error))

    monkeypatch.setattr("pathlib.Path.replace", refuse)
    with pytest.raises(InputError) as raised:
        Results(path, HEADER)
    assert raised.value.code == "cannot-write"
    assert path.read_bytes() == before
    assert {name.name for name in path.parent.iterdir()} == {path.name, aside(path).name}


def test_begun_anew_lines_of_somebody_else_are_kept_beside(path):
    path.write_bytes(path.read_bytes() + b"my remark\n")
    with Results(path, HEADER, anew=True) as results:
        assert not aside(path).exists()
        results.store(OUTCOMES[0], {})
        assert f"line 5 of {path}" in results.warnings[0]
    assert json.loads(aside(path).read_text())["text"] == "my remark"


@st.composite
def edits(draw):
    """A change of a results file: a function of its bytes."""
    kind = draw(st.sampled_from(["byte", "delete", "insert", "swap", "repeat", "drop", "split"]))
    place, other = draw(st.floats(0, 1, exclude_max=True)), draw(st.floats(0, 1, exclude_max=True))
    data = draw(st.binary(min_size=1, max_size=3))

    def edit(raw):
        lines = raw.splitlines(keepends=True)
        at, line, second = int(place * len(raw)), int(place * len(lines)), int(other * len(lines))
        if kind in {"byte", "delete", "insert"}:
            new = {"byte": bytes([raw[at] ^ (data[0] or 1)]), "delete": b"", "insert": data + raw[at : at + 1]}[kind]
            return raw[:at] + new + raw[at + 1 :]
        if kind == "split":
            return raw[:at] + b"\n" + raw[at:]
        if kind == "swap":
            lines[line], lines[second] = lines[second], lines[line]
        elif kind == "repeat":
            lines.insert(second, lines[line])
        else:
            del lines[line]
        return b"".join(lines)

    return edit


MANY = [SweepOutcome(key=f"{number:032x}", answer=answer(60.5 + number / 64)) for number in range(9)]


def is_refused(path):
    """Whether a file is taken for that of another sweep, or of none."""
    try:
        Results(path, HEADER).__exit__(None, None, None)
    except InputError as error:
        return {"bad-results-file": True, "other-results": True}[error.code]
    return False


@settings(max_examples=2 * settings.default.max_examples)
@given(changes=st.lists(edits(), min_size=1, max_size=3))
def test_any_edit_is_noticed_and_costs_no_row(changes):
    """What is believed is what was written; whatever else is there is told, and kept beside or recomputed."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.results.jsonl"
        with Results(path, HEADER) as results:
            for outcome in MANY:
                results.store(outcome, {"pod": "16"})
        before = path.read_bytes()
        raw = before
        for change in changes:
            raw = change(raw) if raw else raw
        path.write_bytes(raw)
        if is_refused(path):
            assert path.read_bytes() == raw
            return
        path.write_bytes(raw)
        with Results(path, HEADER) as results:
            assert [outcome for outcome in results.stored.values() if outcome not in MANY] == []
            flag = bool(results.warnings or results.cut_bytes)
            assert flag or before.startswith(raw), "lines that are missing at the end look like a sweep cut short"
            for outcome in MANY:
                if outcome.key not in results.stored:
                    results.store(outcome, {"pod": "16"})
        with Results(path, HEADER) as results:
            assert (results.warnings, results.cut_bytes) == ((), 0)
            assert sorted(results.stored.values(), key=lambda outcome: outcome.key) == MANY
        lines = path.read_bytes().splitlines()
        assert len(lines) == len(set(lines)) == len(MANY) + 1


@pytest.mark.slow
def test_ten_thousand_lines_are_checked_quickly(tmp_path):
    header, lines = HEADER.line(), []
    for number in range(10_000):
        outcome = SweepOutcome(key=f"{number:032x}", answer=answer(60.5))
        lines.append(Result(number=number + 2, of=HEADER.of, point={"pod": "16"}, outcome=outcome).line())
    began_s = time.process_time()
    contents = result_lines.contents(header + b"".join(lines), HEADER)
    assert time.process_time() - began_s < 2.0, "0.5 s of an idle core"
    assert contents.is_clean
    assert len(contents.results) == 10_000


@pytest.mark.parametrize("text", ["my notes\n", 'schema = "podsim.sweep/1"\n', "{}\n"])
def test_a_file_of_the_user_gets_no_lines_that_were_set_aside(path, text):
    """Neither the results nor the file beside change; once it is moved away, the sweep goes on."""
    beside = aside(path)
    beside.write_text(text, encoding="utf-8")
    path.write_bytes(path.read_bytes() + b"no json\n")
    before = path.read_bytes()
    with pytest.raises(InputError, match="holds what podsim did not set aside"):
        Results(path, HEADER).__enter__()
    assert (beside.read_text(encoding="utf-8"), path.read_bytes()) == (text, before)
    beside.unlink()
    assert resumed(path)[2][0]["text"] == "no json"
