"""Edits of a results file between two runs: each is told, and the answer is that of an untouched file."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from test_sweep_killed import SWEEP

import podsim
from podsim.files.results import aside
from podsim.model.sweep import SweepOutcome, SweepQuestion, SweepRefusal
from podsim.studies.documents import answer_document
from podsim.studies.sweep import points

EDITS = int(os.environ.get("SWEEP_EDITS", "10"))  # 100 were tried by hand
POINTS = 40


def digit(lines: list[bytes], at: int, draw: random.Random) -> None:
    places = [place for place, byte in enumerate(lines[at]) if chr(byte).isdigit()]
    place = draw.choice(places)
    other = draw.choice([number for number in b"0123456789" if number != lines[at][place]])
    lines[at] = lines[at][:place] + bytes([other]) + lines[at][place + 1 :]


def byte(lines: list[bytes], at: int, draw: random.Random) -> None:
    place = draw.randrange(len(lines[at]))
    lines[at] = lines[at][:place] + bytes([lines[at][place] ^ draw.randint(1, 255)]) + lines[at][place + 1 :]


def keys_swapped(lines: list[bytes], at: int, draw: random.Random) -> None:
    other = draw.choice([line for line in range(1, len(lines)) if line != at])
    data, two = (lines[line].partition(b'"key":"')[2][:32] for line in (at, other))
    lines[at], lines[other] = lines[at].replace(data, two), lines[other].replace(two, data)


def lines_swapped(lines: list[bytes], at: int, draw: random.Random) -> None:
    other = draw.choice([line for line in range(1, len(lines)) if line != at])
    lines[at], lines[other] = lines[other], lines[at]


def repeated(lines: list[bytes], at: int, draw: random.Random) -> None:
    lines.insert(draw.randrange(1, len(lines) + 1), lines[at])


def removed(lines: list[bytes], at: int, _draw: random.Random) -> None:
    del lines[min(at, len(lines) - 2)]  # without its last line a file is that of a sweep that was killed earlier


def foreign(lines: list[bytes], at: int, draw: random.Random) -> None:
    lines.insert(at, draw.choice([b"# mine\n", b"\n", b"{}\n", b'{"key":"1","answer":{}}\n']))


def shortened(lines: list[bytes], at: int, draw: random.Random) -> None:
    lines[at] = lines[at][: draw.randrange(1, len(lines[at]) - 1)] + b"\n"


EDITORS = [digit, byte, keys_swapped, lines_swapped, repeated, removed, foreign, shortened]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Keys of the points that are computed, by what stands in the place of the prediction."""
    computed: list[str] = []

    def outcome(question: SweepQuestion, folder: str, turn: str) -> SweepOutcome:
        computed.append(points.key(question, points.files_of(turn, folder)))
        return SweepOutcome(key=computed[-1], refusal=SweepRefusal(code="none", message=question.flags["chip.clock"]))

    monkeypatch.setattr(points, "outcome", outcome)
    return computed


@pytest.mark.parametrize("seed", range(EDITS))
def test_an_edit_is_told_and_costs_no_row(seed: int, quick: list[str], tmp_path: Path) -> None:
    draw = random.Random(seed)  # noqa: S311  (no secret)
    file, results = tmp_path / "a.toml", tmp_path / "a.results.jsonl"
    file.write_text(SWEEP.replace(SWEEP.splitlines()[3], f"points = {POINTS}"))
    untouched = podsim.sweep(file, jobs=1)
    quick.clear()
    before = results.read_bytes()
    lines = before.splitlines(keepends=True)
    editor = EDITORS[seed % len(EDITORS)]
    editor(lines, draw.randrange(1, len(lines)), draw)
    assert b"".join(lines) != before
    results.write_bytes(b"".join(lines))
    again = podsim.sweep(file, jobs=1)
    assert again.warnings, editor.__name__
    assert answer_document(again).json() == answer_document(untouched).json()
    assert len(quick) == POINTS - again.stored
    kept = aside(results).read_text().splitlines() if aside(results).exists() else []
    assert bool(kept) == (editor not in {lines_swapped, repeated, removed})
    last = podsim.sweep(file, jobs=1)
    assert (last.stored, last.warnings, last.cut_bytes) == (POINTS, (), 0)
    stored = results.read_bytes().splitlines()
    assert len(stored) == len(set(stored)) == POINTS + 1
