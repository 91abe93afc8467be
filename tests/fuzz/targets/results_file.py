"""The results file of a sweep, edited; a sweep that goes on from it answers as before, or says what is wrong."""

import shutil
from functools import cache
from pathlib import Path

from fuzz import mutate
from fuzz.choices import Choices
from fuzz.judge import Violation, judged
from fuzz.scratch import folder

import podsim
from podsim.model.sweep import SweepReport

SWEEP = """
schema = "podsim.sweep/1"
workload = "resnet50"
[fixed]
engine = "analytic"
ipus-per-replica = 1
micro-batch = 20
accumulation = 8
[[axis]]
name = "pod"
values = [4, 16]
[[axis]]
name = "replicas"
values = [4, 16]
"""


@cache
def seed() -> tuple[Path, str, SweepReport]:
    """The sweep, its results, and what it says."""
    path = folder() / "sweep.toml"
    path.write_text(SWEEP, encoding="utf-8")
    report = podsim.sweep(path, results=folder() / "sound.jsonl", jobs=1)
    return path, (folder() / "sound.jsonl").read_text(encoding="utf-8"), report


def one_input(data: bytes) -> str:
    """Lines lost, twice, exchanged, or with another digit or letter."""
    draw = Choices(data)
    path, text, sound = seed()
    for _ in range(draw.below(3)):
        text = draw.of(
            (
                with_another_digit,
                mutate.without_a_line,
                mutate.with_a_line_twice,
                mutate.with_an_odd_letter,
                mutate.cut_short,
            )
        )(text, draw)
    results = folder() / "edited.jsonl"
    results.write_text(text, encoding="utf-8", errors="replace")

    def ask() -> object:
        report = podsim.sweep(path, results=results, jobs=1)
        if report.rows != sound.rows:
            shutil.copy(results, folder() / "believed.jsonl")
            raise Violation("an edited result is believed")
        return None

    return judged(ask)


def with_another_digit(text: str, draw: Choices) -> str:
    """One digit another."""
    digits = [at for at, letter in enumerate(text) if letter.isdigit()]
    if not digits:
        return text
    at = draw.of(digits)
    return text[:at] + str((int(text[at]) + 1 + draw.below(9)) % 10) + text[at + 1 :]
