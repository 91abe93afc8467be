"""Errors of values say what was probably meant: a line that runs, on screen and under --json."""

from __future__ import annotations

import json
import shlex

import pytest

from podsim.cli.command_line import main

HINTS = {
    "predict bert --pod 64 --set chip.clok=2GHz": "--set chip.clock=2GHz",
    "predict bert --pod 64 --set gw-link.bandwidth=400Gb/s": "--set 'gw-link.bandwidth=400 Gbit/s'",
    "predict bert --pod 64 --set gw-link.bandwidth=400": "--set 'gw-link.bandwidth=400 GB/s'",
    "predict bert --pod 64 --set chip.clock=1500mhz": "--set 'chip.clock=1500 MHz'",
    "predict bert --pod 64 --fault ipu:99=lost": "--fault ipu:63=lost",
    "predict bert --pod 64 --fault machine:16=lost": "--fault machine:15=lost",
    "predict bert --pod 64 --preset foo": "--preset mlperf-v1.0-closed",
    "plan bert --within 1h30": "podsim plan bert --within 1h30min",
    "plan bert --within=1:30 --budget 3M": "podsim plan bert --within=1h30min --budget 3M",
    "plan bert --within 5min --max-power 3": "podsim plan bert --within 5min --max-power '3 kW'",
    "infer bert --pod 16 --rate 20k": "podsim infer bert --pod 16 --rate 20k/s",
    "scale bert --pods dgx-a100:64": "podsim predict bert --topology dgx-a100:64",
    "predict bert --pod 64 --set chip.clock=1850": "--set 'chip.clock=1850 MHz'",
    "predict bert --pod 64 --preset mlperf-v2.0-close": "podsim workload show bert",
}


@pytest.mark.parametrize("line", HINTS)
def test_the_hint_is_what_was_meant(line, capsys):
    assert main([*shlex.split(line), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["hint"].removesuffix(" --json") == HINTS[line]


@pytest.mark.parametrize(
    "line",
    [
        "predict bert --pod 64 --set chip.clock=-1",  # below zero with a unit is no clock either
        "predict bert --pod 64 --set chip.tiles=abc",
        "predict bert --pod 64 --set chip.clok=1",  # without the unit that the clock needs
        "predict bert --pod 64 --fault rack:1=lost",  # nothing is left without the one rack
    ],
)
def test_what_cannot_be_guessed_has_no_hint(line, capsys):
    assert main([*line.split(), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["hint"] == ""


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("plan bert --within 3 parsec", "podsim plan --help"),  # the unit is a word of its own
        ("compare bert --pod 64 --to-preset mlperf-v1.1-close", "--to-preset mlperf-v1.1-closed"),
        ("compare bert --pod 64 --preset nope --to pod128", "--preset mlperf-v1.0-closed"),
    ],
)
def test_a_hint_is_of_the_flag_at_fault(line, hint, capsys):
    assert main([*line.split(), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["hint"] == hint


def test_a_value_of_a_settings_file_is_not_corrected_on_the_command_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "podsim.toml").write_text('[plan]\nwithin = "1h30"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    assert main(["plan", "bert", "--json"]) == 2
    error = json.loads(capsys.readouterr().err)
    assert "1h30min" in error["message"]
    assert error["hint"] == "podsim plan --help"


def test_a_batch_is_proposed_only_where_it_fits(capsys):
    """100 rows at once fit at no batch: a hint of 6,400 led to another refusal."""
    line = ["predict", "gpt2-xl", "--pod", "64", "--tokens", "1B"]
    assert main([*line, "--micro-batch", "100", "--json"]) == 1
    error = json.loads(capsys.readouterr().err)
    assert error["code"] == "does-not-fit"
    flags = error["hint"].removesuffix(" fits").split()
    assert flags[0].startswith("--")
    assert main([*line, *flags]) == 0


def test_a_network_that_cannot_be_served_comes_with_what_can(capsys):
    """A precision of fewer bytes was proposed on a chip that has none, and larger machines that hold it no better."""
    assert main(["infer", "llama31-8b", "--pod", "16", "--json"]) == 1
    assert "--" not in json.loads(capsys.readouterr().err)["hint"]
    assert main(["infer", "gpt2-xl", "--pod", "4", "--precision", "32", "--json"]) == 1
    flags = json.loads(capsys.readouterr().err)["hint"].removesuffix(" fits").split()
    assert main(["infer", "gpt2-xl", "--pod", "4", *flags]) == 0


@pytest.mark.parametrize(("out", "name"), [("{}/nowhere/x.html", "x.html"), ("{}/d.html", "{}/d.html/answer.html")])
def test_a_place_that_cannot_be_written_comes_with_one_that_can(out, name, tmp_path, capsys):
    (tmp_path / "d.html").mkdir()
    assert main(["predict", "bert", "--pod", "64", "--out", out.format(tmp_path), "--json"]) == 2
    assert json.loads(capsys.readouterr().err)["hint"] == f"--out {name.format(tmp_path)}"


def test_a_machine_without_ipus_names_what_it_is_known_to_train(capsys):
    assert main(["infer", "gpt2-xl", "--topology", "tpu-v4"]) == 2
    assert "of bert, resnet50\n" in (message := capsys.readouterr().err)
    assert "hint: podsim predict bert --topology tpu-v4" in message


def test_a_rate_above_every_batch_size_says_what_each_can_do(capsys):
    assert main(shlex.split("infer resnet50 --pod 4 --batches 1,4 --rate 900k/s --json")) == 1
    error = json.loads(capsys.readouterr().err)
    assert error["message"] == "900,000 requests/s exceed the capacity at every batch size compared"
    first, second, needed = error["context"]
    assert (first.partition(":")[0], second.partition(":")[0]) == ("batch 1", "batch 4")
    assert needed.startswith("at batch 4 about ")
    assert error["hint"].startswith("--batch 4 --pod ")
    pod = error["hint"].split()[3]
    assert main(shlex.split(f"infer resnet50 --batches 1,4 --rate 900k/s --batch 4 --pod {pod} -q")) == 0


def test_a_larger_batch_size_than_those_compared_is_named(capsys):
    assert main(shlex.split("infer resnet50 --topology bow-2000 --batches 1,2 --rate 60k/s --json")) == 1
    hint = json.loads(capsys.readouterr().err)["hint"]
    assert hint.startswith("--batch 32 or --batch 2 --rate ")
    assert main(shlex.split("infer resnet50 --topology bow-2000 --batches 1,2 --rate 60k/s --batch 32 -q")) == 0


@pytest.mark.parametrize(
    ("line", "label"),
    [
        ("--global-batch 9216 --require 'step<1s'", "Step time"),
        ("--global-batch 9216", "Global batch"),
    ],
)
def test_what_was_asked_for_stays_on_a_short_screen(line, label, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    more = "--rent-per-hour 60 --set chip.clock=+5% --fault ipu:9=0.8 --hosts 8 --overlap"
    main(shlex.split(f"predict bert --pod 256 {more} {line}"))
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(f"  {label} ") for line in lines)
    assert not any(line.startswith("  Run overhead ") for line in lines)


@pytest.mark.parametrize(
    "line", ["predict bert --pod 64 --micro-batch 1000", "predict bert --pod 64 --micro-batch 300"]
)
def test_a_mapping_that_is_said_to_fit_does(line, capsys):
    assert main([*line.split(), "--json"]) == 1
    flags = json.loads(capsys.readouterr().err)["hint"].partition(": fits with")[0]
    assert main(shlex.split(f"predict bert --pod 64 {flags} -q")) == 0


def test_a_command_for_ipus_alone_does_not_propose_another_machine(capsys):
    assert main([*["collective", "all-reduce", "--bytes", "1MB", "--pod", "dgx-a100:64", "--json"]]) == 2
    assert "--topology" not in json.loads(capsys.readouterr().err)["hint"]


def test_flags_that_override_have_a_line_below_the_title(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    assert main(shlex.split("predict bert --pod 64 --hosts 2 --sdk 3.0 --micro-batch 2 --fidelity full")) == 0
    _, second, *_ = capsys.readouterr().out.strip().splitlines()
    assert second.split(maxsplit=1) == ["Override", "--hosts 2 --sdk 3.0 --fidelity full --micro-batch 2"]


def test_what_is_left_of_a_machine_has_the_evidence_of_a_healthy_one(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(shlex.split("predict bert --pod 64 --fault ipu:17=lost")) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  Evidence"))
    assert "as for a healthy machine of 32 IPUs: time to train within calibration" in line
    assert main(shlex.split("predict bert --pod 64 --fault ipu:17=0.5")) == 0
    (line,) = (line for line in capsys.readouterr().out.splitlines() if line.startswith("  Evidence"))
    assert "healthy" not in line
    assert "assumed" in line
