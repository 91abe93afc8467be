"""The results file of a sweep: what is stored stays, a torn line is cut, nothing of another sweep is taken."""

import errno
import fcntl
import os

import pytest

from podsim.errors import InputError
from podsim.files.result_lines import Header
from podsim.files.results import Results
from podsim.model.quantity import Grade
from podsim.model.sweep import SweepAnswer, SweepOutcome, SweepRefusal

HEADER = Header(podsim="1.0", code="c0de", sweep="5eed")


def answer(time_s=61.5):
    return SweepAnswer(
        topology="pod16",
        chip="gc200",
        ipus=16,
        hosts=1,
        sdk="2.3",
        replicas=4,
        ipus_per_replica=4,
        micro_batch=2,
        accumulation=192,
        global_batch=3072,
        time_to_train_s=time_s,
        time_to_train_low_s=60.0,
        time_to_train_high_s=63.0,
        time_to_train_grade=Grade.MEASURED,
        step_s=0.1,
        step_low_s=0.09,
        step_high_s=0.11,
        throughput_samples_per_s=30720.0,
        samples_to_converge=1e6,
        mfu=0.3,
        memory=0.95,
        limited_by="compute × all",
        breakdown_s={"compute": 0.06, "exchange": 0.04},
    )


OUTCOMES = [
    SweepOutcome(key="a1", answer=answer()),
    SweepOutcome(key="b2", refusal=SweepRefusal(code="does-not-fit", message="×")),
    SweepOutcome(key="c3", answer=answer(0.1 + 0.2)),
]


def three_points(folder):
    """A file with three points."""
    three_points = folder / "a.results.jsonl"
    with Results(three_points, HEADER) as results:
        for outcome in OUTCOMES:
            results.store(outcome, {"pod": "16"})
    return three_points


@pytest.fixture
def path(tmp_path):
    return three_points(tmp_path)


def test_what_was_stored_is_read_back(path):
    before = path.read_bytes()
    with Results(path, HEADER) as results:
        assert list(results.stored.values()) == OUTCOMES
        assert results.cut_bytes == 0
        assert results.warnings == ()
    assert path.read_bytes() == before


def test_a_point_whose_line_is_there_is_stored_where_a_signal_comes_while_it_is_synced(tmp_path, monkeypatch):
    monkeypatch.setattr("podsim.files.results.SYNC_EVERY_S", 0.0)

    def interrupted(_descriptor):
        raise KeyboardInterrupt

    path = tmp_path / "a.results.jsonl"
    with Results(path, HEADER) as results:
        results.store(OUTCOMES[0], {"pod": "16"})
        monkeypatch.setattr(os, "fsync", interrupted)
        with pytest.raises(KeyboardInterrupt):
            results.store(OUTCOMES[1], {"pod": "16"})
        assert list(results.stored) == [outcome.key for outcome in OUTCOMES[:2]]
        monkeypatch.undo()
    with Results(path, HEADER) as results:
        assert list(results.stored) == [outcome.key for outcome in OUTCOMES[:2]]


def test_a_file_cut_anywhere_loses_only_its_last_line(path):
    whole = path.read_bytes()
    ends = [at + 1 for at, byte in enumerate(whole) if byte == ord("\n")]
    at_ends = {end + near for end in ends[:-1] for near in (-1, 0, 1)}
    for size in sorted({*range(0, len(whole), 41), *at_ends, len(whole) - 1}):
        path.write_bytes(whole[:size])
        with Results(path, HEADER) as results:
            kept = sum(end <= size for end in ends)
            assert list(results.stored.values()) == OUTCOMES[: max(kept - 1, 0)]
            assert results.cut_bytes == size - max([end for end in ends if end <= size], default=0)
            results.store(OUTCOMES[2], {})
        with Results(path, HEADER) as results:
            assert results.cut_bytes == 0
            assert results.stored["c3"] == OUTCOMES[2]


@pytest.mark.parametrize(
    ("other", "said"),
    [
        (Header(podsim="0.9", code="01d", sweep="5eed"), "another version of podsim"),
        (Header(podsim="1.0", code="c0de", sweep="other"), "another sweep"),
    ],
)
def test_results_of_something_else_are_refused_and_left_alone(path, other, said):
    before = path.read_bytes()
    with pytest.raises(InputError, match=said) as raised:
        Results(path, other)
    assert raised.value.code == "other-results"
    assert "--anew" in raised.value.hint
    assert path.read_bytes() == before


@pytest.mark.parametrize("lines", [b"", b'{"key":"a1","point":{},"refusal":{"code":"x","message":""}}\n'])
def test_the_format_without_checksums_is_refused(tmp_path, lines):
    path = tmp_path / "a.results.jsonl"
    before = b'{"schema":"podsim.sweep-results/1","podsim":"1.0","code":"c0de","sweep":"5eed"}\n' + lines
    path.write_bytes(before)
    with pytest.raises(InputError, match="another version") as raised:
        Results(path, HEADER)
    assert "podsim.sweep-results/1; this version reads podsim.sweep-results/2" in raised.value.context[0]
    assert "--results FILE" in raised.value.hint
    assert path.read_bytes() == before


def test_a_file_that_is_extended_keeps_what_it_has(path):
    before, wider = path.read_bytes(), Header(podsim="1.0", code="c0de", sweep="wider")
    with Results(path, wider, extend=True) as results:
        assert set(results.stored) == {"a1", "b2", "c3"}
    assert path.read_bytes().startswith(before)
    with Results(path, wider) as results:
        assert set(results.stored) == {"a1", "b2", "c3"}
    with pytest.raises(InputError, match="another sweep"):
        Results(path, HEADER)


def test_a_file_that_is_begun_anew_keeps_nothing_once_there_is_a_point(path):
    """Before that the old points stay: a scheduler that does not answer costs nobody what was computed."""
    before, other = path.read_bytes(), Header(podsim="2", code="n", sweep="n")
    with Results(path, other, anew=True) as results:
        assert results.stored == {}
        assert path.read_bytes() == before
        results.store(SweepOutcome(key="z9", refusal=SweepRefusal(code="none", message="")), {})
    with Results(path, other) as results:
        assert (set(results.stored), results.cut_bytes) == ({"z9"}, 0)


@pytest.mark.parametrize("anew", [False, True])
@pytest.mark.parametrize("text", ['{"mine": 1}\n', "notes without an end", '{"schema":"podsim.sweep/1"}\n', "\n"])
def test_a_file_of_something_else_is_not_touched(tmp_path, text, anew):
    path = tmp_path / "notes.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="holds no results"):
        Results(path, HEADER, anew=anew)
    assert path.read_text() == text


@pytest.mark.parametrize("name", [".", "none/a.jsonl", "pipe"])
def test_what_cannot_be_a_results_file(tmp_path, name):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError) as raised:
        Results(tmp_path / name, HEADER)
    assert raised.value.code == "cannot-write"


def test_two_sweeps_do_not_write_one_file(path):
    with Results(path, HEADER), pytest.raises(InputError) as raised:
        Results(path, HEADER)
    assert raised.value.code == "results-in-use"
    Results(path, HEADER).__exit__(None, None, None)


def test_a_folder_that_cannot_lock_says_so(path, monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", refuse)
    with pytest.raises(InputError, match="No locks"):
        Results(path, HEADER)


def test_a_disk_that_fills_up_leaves_whole_lines(path, monkeypatch):
    """The system takes 20 bytes of a line and refuses the rest."""
    before, write = path.read_bytes(), os.write
    with Results(path, HEADER) as results:
        left = [20]

        def little(descriptor, data):
            if not left[0]:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            taken = write(descriptor, data[: left[0]])
            left[0] -= taken
            return taken

        monkeypatch.setattr(os, "write", little)
        with pytest.raises(InputError, match="No space left") as raised:
            results.store(SweepOutcome(key="d4", answer=answer()), {})
        assert raised.value.context == ("3 points are stored and stay",)
        assert path.read_bytes() == before


def test_a_file_that_is_removed_meanwhile_is_missed(path, monkeypatch):
    monkeypatch.setattr("podsim.files.results.SYNC_EVERY_S", 0.0)
    with Results(path, HEADER) as results:
        path.unlink()
        with pytest.raises(InputError, match="removed or replaced"):
            results.store(SweepOutcome(key="d4", answer=answer()), {})
