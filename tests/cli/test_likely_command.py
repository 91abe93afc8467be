"""A flag as another tool names it, a machine without a flag: the error's hint is the command that was meant."""

from __future__ import annotations

import json
import shlex
from importlib.resources import files

import pytest

from podsim.cli.command_line import main
from podsim.cli.likely_command import COUNTS, OTHER_NAMES, PLACES, likely_command

WORDS = json.loads(files("podsim.cli").joinpath("words.json").read_text())
FLAGS = {flag for entry in WORDS.values() for flag in entry["flags"]}


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        ("predict bert --ipus 512", "predict bert --pod 512"),
        ("predict bert --gpus=512 --json", "predict bert --pod=512 --json"),
        ("predict bert 512", "predict bert --pod 512"),
        ("predict bert pod512 -v", "predict bert --topology pod512 -v"),
        ("plan bert pod64", "plan bert --machines pod64"),
        ("plan bert --deadline 5m", "plan bert --within 5m"),
        ("plan bert --deadline=5min", "plan bert --within=5min"),
        ("plan bert --time 5m --price 2M", "plan bert --within 5m --budget 2M"),
        ("plan resnet50 --qps 20k/s --latency 10ms", "plan resnet50 --rate 20k/s --p99 10ms"),
        ("infer bert --machine pod16 --batch-size 4", "infer bert --topology pod16 --batch 4"),
        ("predict bert --machine pod16 --batch-size 4096", "predict bert --topology pod16 --global-batch 4096"),
        ("scale bert --machines pod16,pod64", "scale bert --topologies pod16,pod64"),
        ("scale bert --pod 64", "scale bert --pods 64"),
        ("scale bert --pod 64 --seed 1 --pod 256", "scale bert --seed 1 --pods 64,256"),
        ("plan bert --machine pod64 --machine pod128", "plan bert --machines pod64,pod128"),
        ("predict bert --pod 64 --pod 256 --json", "compare bert pod64 pod256 --json"),
        ("compare bert --pod 64 --pod 256", "compare bert pod64 pod256"),
        ("predict bert --pods 16", "predict bert --pod 16"),
        ("collective all-reduce --pod 16 --size 64MiB", "collective all-reduce --pod 16 --bytes 64MiB"),
        ("predict --out 512 bert 16", "predict --out 512 bert --pod 16"),
        ("predict bert dgx-a100:64", "predict bert --topology dgx-a100:64"),
        ("predict bert --pod dgx-a100:64", "predict bert --topology dgx-a100:64"),
        ("predict bert --pod bow-pod64", "predict bert --topology bow-pod64"),
        ("explain bert dgx-a100:64", "predict bert --topology dgx-a100:64"),
        ("trace bert dgx-a100:64 -o t.json", "predict bert --topology dgx-a100:64"),
        ("workload map bert dgx-a100:64", "predict bert --topology dgx-a100:64"),
        ("infer bert --pod dgx-h100:8", "predict bert --topology dgx-h100:8"),
        ("plan bert dgx-a100:64", "plan bert --machines dgx-a100:64"),
        ("scale bert --pods dgx-a100:64", "predict bert --topology dgx-a100:64"),
        ("scale bert --pods 16..64,dgx-a100:64", "scale bert --pods 16..64 --against dgx-a100:64"),
        ("scale bert --pods pod16,pod64", "scale bert --topologies pod16,pod64"),
    ],
)
def test_the_command_that_was_meant(line: str, meant: str) -> None:
    assert likely_command(shlex.split(line)) == f"podsim {meant}"


@pytest.mark.parametrize(
    "line",
    [
        "predict bert --pod 512",  # nothing to correct
        "plan bert --deadline wall-clock",
        "plan bert --deadline soon",
        "predict bert --nodes 4",  # no flag of podsim means this
        "predict bert --pods 16..64",  # a range is for scale, which answers something else
        "predict bert --machine",  # its value is missing
        "predict bert --machine --json",
        "predict bert resnet50",
        "predict bert dgx-a100:x",
        "predict bert --pod nope:64",
        "op matmul --machine pod4",  # an operator runs on a chip
        "predictt bert --ipus 4",
        "",
    ],
)
def test_no_command_is_guessed_where_none_is_likely(line: str) -> None:
    assert likely_command(shlex.split(line)) == ""


def test_every_other_name_leads_to_a_flag_and_hides_none() -> None:
    assert {flag for names in OTHER_NAMES.values() for flag in names} <= FLAGS
    assert set(PLACES) | set(COUNTS) <= FLAGS
    for name, flags in OTHER_NAMES.items():
        shared = [
            path for path, entry in WORDS.items() if f"--{name}" in entry["flags"] and set(flags) & set(entry["flags"])
        ]
        assert not shared, f"{name} is a flag beside {flags} in {shared}"


def test_the_hint_takes_the_place_of_a_guess_by_letters(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "bert", "--ipus", "512"]) == 2
    assert capsys.readouterr().err == (
        "error: unknown-flag\n  × unknown flag --ipus\n  hint: podsim predict bert --pod 512\n"
    )
