"""From a command to the first physics: few calls, each of which does something, and no file opened twice."""

from __future__ import annotations

import os
import re
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import podsim
from podsim.caches.tables import TABLES
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.files import family_rule
from podsim.predicting import training_case
from podsim.scenario import Scenario

MOST_FRAMES = 8


class _LoweredError(Exception):
    """The first call of lowering."""


def frames_of(*words: str) -> list[str]:
    """The functions from a command to the first call of lowering, by module and name."""
    texts: list[str] = []

    def lower(*_: object, **__: object) -> None:
        frame = sys._getframe(1)
        while frame.f_back is not None and "/cli/parser.py" not in frame.f_code.co_filename:
            texts.append(f"{Path(frame.f_code.co_filename).stem}.{frame.f_code.co_name}")
            frame = frame.f_back
        raise _LoweredError

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training_case, "lower", lower)
        patch.setattr("traceback.format_exc", lambda: "")
        main(words)
    assert texts, "lowering was not called"
    return texts[::-1]


@pytest.mark.parametrize(
    "words",
    [
        ("bert", "--pod", "512"),
        ("resnet50", "--pod", "64"),
        ("bert", "--topology", "bow-pod64"),
        ("bert", "--pod", "64", "--preset", "mlperf-v1.1-closed"),
        (
            "bert",
            "--pod",
            "16",
            "--replicas",
            "2",
            "--ipus-per-replica",
            "4",
            "--micro-batch",
            "2",
            "--accumulation",
            "64",
        ),
    ],
)
def test_a_prediction_reaches_the_physics_in_few_calls(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    frames = frames_of("predict", *words)
    capsys.readouterr()
    assert frames[0] == "predict_command.predict"
    assert len(frames) <= MOST_FRAMES, frames


SWEEP = """schema = "podsim.sweep/1"
workload = "bert"
[fixed]
pod = 16
[[axis]]
name = "accumulation"
values = [4, 8]
"""


@pytest.mark.parametrize(
    ("most", "words"),
    [
        (8, ("goodput", "bert", "--pod", "64")),
        (8, ("trace", "bert", "--pod", "16", "-o", "trace.json")),
        (8, ("workload", "map", "bert", "--pod", "64")),
        (9, ("predict", "bert", "--pod", "64", "--fault", "ipu:3=0.9")),
        (9, ("compare", "bert", "pod64", "pod128")),
        (14, ("predict", "bert", "--pod", "32")),  # the search times splits with less available memory as it lists them
        (14, ("predict", "gpt2-medium", "--pod", "64")),
        (10, ("explain", "bert", "--pod", "64")),
        (11, ("scale", "bert", "--pods", "16,64")),
        (12, ("plan", "bert", "--within", "1h")),
        (14, ("sweep", "sweep.toml", "--jobs", "1")),
    ],
)
def test_a_study_adds_few_calls_of_its_own(
    most: int,
    words: tuple[str, ...],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Beside the calls of one prediction: one for each machine, side or point, and one that gathers them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PODSIM_CACHE", "")
    TABLES.clear()
    Path("sweep.toml").write_text(SWEEP, encoding="utf-8")
    frames = frames_of(*words)
    capsys.readouterr()
    assert len(frames) <= most, frames


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """How often each file of podsim's formats is opened."""
    count: Counter[str] = Counter()
    real: Callable[..., int] = os.open

    def watched(path: object, *rest: int, **more: int) -> int:
        if str(path).endswith(".toml"):
            count[os.path.realpath(str(path))] += 1
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", watched)
    return count


@pytest.mark.parametrize(
    ("verb", "flags"),
    [
        ("predict", {"pod": 512}),
        ("predict", {"pod": 4}),
        ("predict", {"topology": "bow-pod256", "changes": ["gw-link.bandwidth=400 Gbit/s"]}),
        ("predict", {"pod": 64, "faults": ["ipu:3=0.9"]}),
        pytest.param(
            "explain", {"pod": 16, "preset": "mlperf-v1.1-closed", "engine": "analytic"}, marks=pytest.mark.slow
        ),
        pytest.param("compare", {"machines": ["pod64", "pod512"], "engine": "analytic"}, marks=pytest.mark.slow),
        ("scale", {"pods": "16,64", "engine": "analytic"}),
        pytest.param("scale", {"pods": "16..128", "engine": "analytic"}, marks=pytest.mark.slow),
    ],
)
def test_a_question_opens_each_file_once(
    verb: str, flags: dict[str, object], opened: Counter[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    getattr(podsim, verb)("bert", **flags)
    assert opened
    assert {Path(path).name: times for path, times in opened.items() if times > 1} == {}


def test_the_next_question_sees_a_file_as_it_is_then(tmp_path: Path) -> None:
    own = tmp_path / "own.toml"
    text = (Path(podsim.__file__).parents[1] / "topologies/pod16.toml").read_text(encoding="utf-8")
    own.write_text(text, encoding="utf-8")
    flags = {"topology": str(own), "preset": None, "engine": "analytic"}
    before = podsim.predict("bert", **flags)
    own.write_text(re.sub(r'^title *= *"', 'title = "my ', text, flags=re.MULTILINE), encoding="utf-8")
    assert podsim.predict("bert", **flags).topology_title == f"my {before.topology_title}"


def test_a_pod_is_not_named_on_the_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """512 IPUs stay a number: no name is taken apart to find how many there are."""
    monkeypatch.setattr(family_rule, "member", lambda name: pytest.fail(f"{name} was read as a name"))
    monkeypatch.setattr("podsim.files.catalog.member", family_rule.member)
    assert podsim.predict("bert", pod=512, engine="analytic").ipus == 512


def test_a_scenario_answers_as_its_flags_do() -> None:
    scenario = Scenario.of("bert", pod=64, micro_batch=3, engine="analytic")
    assert podsim.predict(scenario) == podsim.predict("bert", pod=64, micro_batch=3, engine="analytic")
    faster = replace(scenario, machine=replace(scenario.machine, chip="bow"))
    assert podsim.predict(faster) == podsim.predict("bert", pod=64, chip="bow", micro_batch=3, engine="analytic")


@pytest.mark.slow
def test_a_scenario_is_compared_and_explained_as_its_flags_are() -> None:
    scenario = Scenario.of("bert", pod=64, micro_batch=3, engine="analytic")
    assert podsim.compare(scenario, to=["pod128"]).sides[0].answer.mapping == podsim.predict(scenario).mapping
    predicted = podsim.predict(scenario)
    plain = tuple(replace(candidate, estimate=None) for candidate in predicted.choice.considered)
    choice = replace(predicted.choice, considered=plain)  # what-ifs are compared without intervals of other mappings
    timed = replace(predicted, choice=choice, wall_clock=None)  # and by their time to train
    assert podsim.explain(scenario).prediction == timed


def test_a_verb_refuses_what_it_does_not_look_at() -> None:
    with pytest.raises(InputError, match=r"podsim.explain\(\) does not look at engine.steps") as caught:
        podsim.explain(Scenario.of("bert", pod=64, steps=10))
    assert caught.value.code == "conflicting-flags"
