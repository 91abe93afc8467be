"""Default screens are short: at most so many lines at 100 columns."""

import shlex

import pytest

from podsim.cli.command_line import main

# A terminal begins with an empty line, which counts.
LIMITS = {
    "predict bert --pod 512": 24,
    "predict bert --pod 512 --money": 24,
    "predict bert --pod 1024": 24,
    "predict bert --pod 4096": 24,
    "predict bert --pod 16384": 24,
    "predict bert --pod 64 --money --fault ipu:17=lost": 24,
    "predict bert --pod 64 --money --fault link:ipu4-ipu6=down": 24,
    "predict llama31-8b --pod 256 --chip bow --tokens 300e9 --money": 24,
    "predict resnet50 --pod 16": 24,
    "predict resnet50 --pod 64 --fault ipu:17=lost --set chip.clock=2x": 24,
    "predict bert --pod 64 --hosts 4 --division open --fidelity full --micro-batch 2": 24,
    "plan bert --within 5min": 30,
    "plan resnet50 --within 5min": 30,
    "plan bert --within 5min --budget 3M --max-power 100kW": 30,
    "plan resnet50 --rate 20k/s --p99 10ms": 30,
    "plan bert --within 5min --own examples/inventory.toml --explain": 30,
    "plan resnet50 --rate 20k/s --p99 10ms --budget 3M --max-power 100kW": 30,
    "plan bert --within 5min --against dgx-a100,dgx-h100 --budget 3M --max-power 100kW": 30,
    "plan gpt3-175b": 30,
    "plan llama31-8b --tokens 300e9 --within 90d": 30,
    "plan resnet50 --within 90d --budget 3M --max-power 100kW": 30,
    "plan bert --within 1h --against dgx-a100,dgx-h100": 30,
    "plan gpt3-175b --within 90d --budget 200M": 30,
    "scale bert --pods 16..1024": 35,
    "scale resnet50 --pods 16..1024": 35,
    "scale resnet50 --pods 4,8,16,32,64,128,256,512,1024": 35,
    "scale resnet50 --pods 16..4096": 35,
    "scale resnet50 --pods 16..4096 --set chip.clock=2x": 35,
    "scale bert --pods 64..4096 --set gw-link.bandwidth=2x": 35,
    "scale gpt3-175b --tokens 300e9 --pods 16..1024": 35,
    "compare resnet50 --pod 64 --set chip.clock=2x": 30,
    "compare bert pod64 dgx-a100:64": 30,
    "compare bert pod64 bow-pod64": 30,
    "compare resnet50 pod64 bow-pod64": 30,
    "compare bert pod64 pod128 pod256": 30,
    "compare bert pod16 pod64 pod128 pod256 pod512": 30,
    "compare bert pod64 pod128 dgx-a100:64 bow-pod64": 30,
    "compare bert pod64 pod128 --fault ipu:17=lost": 30,
    "infer resnet50 --pod 4 --rate 10k/s": 24,
    "infer resnet50 --topology bow-2000 --batch 8 --rate 20k/s": 24,
    "infer bert --pod 4": 24,
    "infer resnet50 --pod 4 --batches 1..64 --rate 10k/s": 24,
    "infer bert --pod 16 --batches 1..64": 24,
    "infer bert --topology bow-pod16 --batch 8 --rate 100/s --set chip.clock=2x": 24,
    "infer gpt2-medium --pod 16 --generate 100": 24,
    "scale gpt2-xl --pods 64..8192": 35,
}


# No candidate, or not every machine: exit 1.
NO_ANSWER = {
    "plan gpt2-xl --tokens 20e9 --within 5min": 30,
    "plan gpt2-xl --tokens 20e9 --within 1h --against dgx-a100,dgx-h100": 30,
    "plan gpt3-175b --tokens 300e9 --within 90d --budget 3M --max-power 100kW": 30,
    "plan gpt3-175b --tokens 300e9 --within 1h --against dgx-a100,dgx-h100": 30,
}


@pytest.mark.slow
@pytest.mark.parametrize("line", NO_ANSWER)
def test_a_screen_that_says_no_ends_in_time(line, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split(line)) == 1
    assert len(capsys.readouterr().out.splitlines()) <= NO_ANSWER[line]


@pytest.mark.slow
@pytest.mark.parametrize("line", LIMITS)
def test_a_default_screen_ends_in_time(line, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split(line)) == 0
    assert len(capsys.readouterr().out.splitlines()) <= LIMITS[line]
