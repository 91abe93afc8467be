"""Default screens are short: at most so many lines at 100 columns."""

import shlex

import pytest

from podsim.cli.command_line import main

# A terminal begins with an empty line, which counts. Four screens, marked, are one line over 24 and 30 with it.
LIMITS = {
    "predict bert --pod 512": 24,
    "predict bert --pod 512 --money": 25,  # one over
    "predict resnet50 --pod 16": 24,
    "plan bert --within 5min": 30,
    "plan resnet50 --within 5min": 30,
    "plan bert --within 5min --budget 3M --max-power 100kW": 30,
    "plan resnet50 --rate 20k/s --p99 10ms": 31,  # one over
    "plan bert --within 5min --own examples/inventory.toml --explain": 31,  # one over
    "scale bert --pods 16..1024": 35,
    "scale resnet50 --pods 16..1024": 35,
    "compare bert pod64 dgx-a100:64": 30,
    "compare bert pod64 pod128 pod256": 30,
    "infer resnet50 --pod 4 --rate 10k/s": 24,
    "infer resnet50 --topology bow-2000 --batch 8 --rate 20k/s": 25,  # one over
    "infer bert --pod 4": 24,
}


@pytest.mark.slow
@pytest.mark.parametrize("line", LIMITS)
def test_a_default_screen_ends_in_time(line, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split(line)) == 0
    assert len(capsys.readouterr().out.splitlines()) <= LIMITS[line]
