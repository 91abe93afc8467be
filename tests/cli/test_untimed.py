"""A model without a length of its run: throughput and step everywhere, and no length that was made up."""

import json
import math
import shlex
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main
from podsim.studies.scale import unknown_length_report as untimed_scaling

GPT2 = {"model_type": "gpt2", "n_positions": 256, "vocab_size": 50257, "n_embd": 256, "n_layer": 4, "n_head": 4}
LENGTH = "run length not specified; add one: --samples 1e9, --tokens 20e9 or --law chinchilla"
QUESTIONS = {
    "predict": "--pod 4 --engine analytic",
    "scale": "--pods 4..8 --engine analytic",
    "explain": "--pod 4 --engine analytic",
    "compare": "pod4 pod8 --engine analytic",
}


@pytest.fixture
def own(tmp_path: Path) -> str:
    path = tmp_path / "config.json"
    path.write_text(json.dumps(GPT2), encoding="utf-8")
    return str(path)


def screen(capsys: pytest.CaptureFixture[str], words: str) -> str:
    assert main(shlex.split(words)) == 0
    return " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("verb", slow_but(["predict"], QUESTIONS))
def test_a_model_without_a_length_is_answered(
    verb: str, own: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, page = f"{verb} {shlex.quote(own)} {QUESTIONS[verb]}", tmp_path / "page.html"
    assert LENGTH in screen(capsys, words)
    assert LENGTH in screen(capsys, f"{words} -v")
    assert "nan" not in screen(capsys, f"{words} -q -o {shlex.quote(str(page))}").casefold()
    shown = page.read_text(encoding="utf-8")
    assert "run length not specified" in shown
    assert ">nan" not in shown.casefold()
    assert '"value": 1000000000.0' not in screen(capsys, f"{words} --json")


def test_throughput_and_efficiency_stand_in_place_of_times(own: str) -> None:
    report = podsim.scale(own, pods="4..16", engine="analytic")
    assert not report.has_length
    alone = podsim.predict(own, pod=8, engine="analytic")
    row = report.rows[1]
    assert row.prediction is not None
    assert row.prediction.throughput_samples_per_s == alone.throughput_samples_per_s
    assert math.isnan(row.prediction.time_to_train_s.value)
    assert row.prediction.length_flags == alone.length_flags
    assert report.rows[0].efficiency == 1
    assert "samples/s on 4 IPUs" in untimed_scaling.answer(report)


def test_a_step_is_explained(own: str) -> None:
    explanation = podsim.explain(own, pod=4, engine="analytic")
    assert explanation.waterfall[-1].until_s == pytest.approx(explanation.prediction.timeline.step_s, rel=1e-9)
    names = [influence.name for influence in explanation.influences]
    assert "samples to converge" not in names
    assert "start-up and checkpoints" not in names
    double = next(alternative for alternative in explanation.alternatives if alternative.name == "twice the batch")
    assert double.change is not None
    mapping = explanation.prediction.mapping
    split = {"replicas": mapping.replicas, "ipus_per_replica": mapping.ipus_per_replica}
    larger = podsim.predict(
        own, pod=4, engine="analytic", micro_batch=mapping.micro_batch, accumulation=2 * mapping.accumulation, **split
    )
    rates = [prediction.throughput_samples_per_s.value for prediction in (explanation.prediction, larger)]
    assert double.change == pytest.approx(rates[0] / rates[1] - 1, abs=1e-6)


def test_times_of_a_sample_are_compared(own: str) -> None:
    comparison = podsim.compare(own, ("pod4", "pod8"), engine="analytic")
    difference = comparison.differences[0]
    assert difference.time.value == pytest.approx(1 / difference.throughput, rel=1e-9)
    assert difference.samples == 1
    step_s = comparison.sides[0].answer.step_s.value
    whole = sum(part.after_s for part in difference.parts)
    assert whole == pytest.approx(step_s * difference.time.value, rel=1e-6)


def test_a_map_ranks_by_throughput(own: str) -> None:
    mappings = podsim.mappings(own, pod=4)
    assert mappings.by == "throughput"
    assert not mappings.timed
    rates = [advice.throughput_samples_per_s for advice in mappings.advised]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("verb", ["scale --pods 4..8", "compare pod4 pod8"])
def test_what_a_run_costs_takes_its_length(verb: str, own: str, capsys: pytest.CaptureFixture[str]) -> None:
    name, *rest = verb.split()
    assert main([name, own, *rest, "--engine", "analytic", "--kwh-price", "0.2"]) == 2
    assert "a training cost needs the length of the run" in capsys.readouterr().err


def test_a_plan_takes_a_length(own: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", own, "--within", "1h"]) == 2
    assert "--samples 1e9" in capsys.readouterr().err
