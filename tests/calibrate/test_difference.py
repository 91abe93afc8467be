"""`podsim diff`: what moved is found by path, and the input that did it by putting it back alone."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.report.terminal import Look, render
from podsim.studies.diff.report import document
from podsim.studies.diff.result import ChangedValue, Difference, InputChange

QUESTION = ("predict", "bert", "--pod", "16", "--preset", "mlperf-v1.1-closed", "--engine", "analytic", "--json")


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    return saved()


def saved(*more: str) -> dict[str, Any]:
    """What podsim says, as --json has it."""
    import contextlib
    import io

    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        assert main([*QUESTION, *more]) == 0
    table: dict[str, Any] = json.loads(out.getvalue())
    return table


def slow(answer: dict[str, Any], factor: float) -> None:
    """Make the step of an answer longer, with its interval."""
    answer["step_s"] *= factor
    answer["step_interval_s"] = {end: factor * value for end, value in answer["step_interval_s"].items()}


def diff(folder: Path, old: object, new: object) -> Difference:
    for name, body in (("old.json", old), ("new.json", new)):
        (folder / name).write_text(json.dumps(body), encoding="utf-8")
    return podsim.diff(folder / "old.json", folder / "new.json")


def causes(difference: Difference) -> dict[str, InputChange]:
    return {cause.what: cause for cause in difference.causes}


def test_an_answer_and_itself_are_identical(tmp_path: Path, answer: dict[str, Any]) -> None:
    difference = diff(tmp_path, answer, answer)
    assert (difference.moved, difference.causes, difference.remainder) == ((), (), ())


def test_a_flag_that_did_it_alone_leaves_no_remainder(tmp_path: Path, answer: dict[str, Any]) -> None:
    other = saved("--set", "program.stretch=1.2")
    difference = diff(tmp_path, answer, other)
    (cause,) = difference.causes
    assert (cause.what, cause.old, cause.new) == ("--set program.stretch", "–", "1.2")
    assert cause.effects[1] == pytest.approx(other["step_s"] / answer["step_s"])
    assert difference.remainder == pytest.approx((1, 1, 1))
    assert [figure.name for figure in difference.headline] == ["time to train", "step", "global batch"]


def test_an_answer_of_this_podsim_is_predicted_again_as_it_was(tmp_path: Path, answer: dict[str, Any]) -> None:
    """The fitted numbers keep their errors, which the mean time to train hangs on."""
    difference = diff(tmp_path, saved("--interval", "0.5"), answer)
    assert difference.notes == ()


def test_two_parameters_are_told_apart(tmp_path: Path, answer: dict[str, Any]) -> None:
    """The old answer is what podsim says with other fitted numbers, as a calibration before would have had them."""
    old = saved("--set", "program.stretch=1.1", "--set", "sharding.weight=0.003")
    del old["inputs"]["flags"]["set"]
    old["inputs"]["parameters"] |= {"program.stretch": 1.1, "sharding.weight": 0.003}
    old["inputs"]["files"]["parameters parameters.toml"] = "0" * 16
    difference = diff(tmp_path, old, answer)
    by_input = causes(difference)
    assert [*by_input] == ["parameter program.stretch", "parameter sharding.weight", "file parameters parameters.toml"]
    stretch = saved("--set", "program.stretch=1.1")
    assert by_input["parameter program.stretch"].effects[1] == pytest.approx(answer["step_s"] / stretch["step_s"])
    assert difference.remainder == pytest.approx((1, 1, 1), abs=1e-3)
    assert difference.notes == ()


def test_what_nothing_carries_is_the_remainder(tmp_path: Path, answer: dict[str, Any]) -> None:
    old = copy.deepcopy(answer)
    slow(old, 1 / 1.1)
    old["inputs"]["files"]["workload bert.toml"] = "0" * 16
    old["inputs"]["parameters"]["program.stretch"] *= 1.01
    difference = diff(tmp_path, old, answer)
    by_input = causes(difference)
    assert by_input["file workload bert.toml"].why == "only its digest is carried"
    effect = by_input["parameter program.stretch"].effects[1]
    assert effect < 1
    assert difference.remainder[1] == pytest.approx(1.1 / effect)


def test_files_that_are_not_those_of_the_new_answer_are_named(tmp_path: Path, answer: dict[str, Any]) -> None:
    old, new = copy.deepcopy(answer), copy.deepcopy(answer)
    new["inputs"]["files"]["chip gc200.toml"] = "0" * 16
    slow(new, 2)
    (note,) = diff(tmp_path, old, new).notes
    assert str(note).endswith("chip gc200.toml")


def test_another_podsim_and_an_old_answer_are_told(tmp_path: Path, answer: dict[str, Any]) -> None:
    old = {**answer, "podsim": "0.0.1", "schema": "podsim.prediction/0", "step_s": 1.0}
    difference = diff(tmp_path, old, answer)
    assert causes(difference)["podsim"].old == "0.0.1"
    assert "podsim.prediction/0" in str(difference.notes[0])
    del old["inputs"]
    assert any("does not list its inputs" in note for note in map(str, diff(tmp_path, old, answer).notes))


@pytest.mark.parametrize(
    "flags",
    [
        {},
        {"workload": "bert"},
        {"workload": "bert", "pod": "x"},
        {"workload": 3, "pod": 16, "what": 1},
        {"workload": "bert", "pod": 16, "set": 3},
        {"workload": "bert", "pod": 16, "set": [3]},
    ],
)
def test_a_question_that_cannot_be_asked_again_is_a_note(
    tmp_path: Path, answer: dict[str, Any], flags: dict[str, object]
) -> None:
    new = copy.deepcopy(answer)
    slow(new, 2)
    new["inputs"]["flags"] = flags
    assert "cannot be reproduced here" in str(diff(tmp_path, answer, new).notes[0])


def test_members_of_lists_are_found_by_id(tmp_path: Path) -> None:
    table = {"schema": "podsim.validation/1", "points": [{"id": "a", "error": 1.0}, {"id": "b", "error": 2.0}]}
    other = {"schema": "podsim.validation/1", "points": [{"id": "b", "error": 3.0}]}
    moved = {item.path: (item.old, item.new, item.change) for item in diff(tmp_path, table, other).moved}
    assert moved == {"points[a]": ({"id": "a", "error": 1.0}, None, None), "points[b].error": (2.0, 3.0, 0.5)}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("not json", "is not JSON"),
        ("[1, 2]", "not a saved answer of podsim"),
        ('{"schema": "other/1"}', "not a saved answer of podsim"),
        ('{"schema": 7}', "not a saved answer of podsim"),
        ('{"schema": "podsim.prediction/1", "evaluations": 1' + "0" * 400 + "}", "whole number of 401 digits"),
        ('{"schema": "podsim.prediction/1", "evaluations": 1e999}', "no finite number"),
        ('{"schema": "podsim.prediction/1", "evaluations": NaN}', "no finite number"),
        ("[" * 100_000, "nests too deep"),
        ("\udcff", "not UTF-8 text"),
    ],
    ids=["text", "list", "schema", "number", "digits", "infinite", "nan", "deep", "bytes"],
)
def test_what_is_no_answer_is_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "old.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(InputError, match=said) as error:
        podsim.diff(path, path)
    assert error.value.code == "bad-saved-answer"


def test_answers_of_different_verbs_are_refused(tmp_path: Path, answer: dict[str, Any]) -> None:
    with pytest.raises(InputError) as error:
        diff(tmp_path, {"schema": "podsim.goodput/1"}, answer)
    assert error.value.code == "different-answers"


def test_the_hint_of_answers_of_different_verbs_is_a_command(tmp_path: Path, answer: dict[str, Any]) -> None:
    plan = {"schema": "podsim.plan/2", "inputs": {"verb": "plan", "flags": {"workload": "bert", "within": "5 min"}}}
    with pytest.raises(InputError) as error:
        diff(tmp_path, plan, answer)
    assert error.value.message == (
        "old.json is an answer of podsim plan, new.json one of podsim predict: podsim diff compares two answers of the "
        "same command"
    )
    assert error.value.hint == 'podsim.plan("bert")'
    with pytest.raises(InputError) as error:
        diff(tmp_path, answer, plan)
    assert error.value.hint == 'podsim.plan("bert")'  # the plan names no machine, so the prediction is planned
    with pytest.raises(InputError) as error:
        diff(tmp_path, {"schema": "podsim.prediction/2", "inputs": {"verb": "predict", "flags": {}}}, plan)
    assert error.value.hint == "help(podsim.predict)"


def test_comparisons_with_another_machine_are_compared_by_place(tmp_path: Path) -> None:
    def compared(*machines: str) -> dict[str, Any]:
        return podsim.compare("bert", list(machines), engine="analytic").to_dict()

    moved = diff(tmp_path, compared("pod16", "pod64"), compared("pod16", "pod32"))
    assert [figure.name for figure in moved.headline] == ["case 1", "case 2"]
    (machines,) = moved.causes
    assert machines.what == "machines"
    assert machines.effects[0] == pytest.approx(1.0)
    assert machines.effects[1] == pytest.approx(1 + moved.headline[1].change)


def test_answers_of_infer_are_attributed_in_their_units(tmp_path: Path) -> None:
    old, new = (podsim.infer("resnet50", pod=4, batch=batch, requests=500).to_dict() for batch in (1, 4))
    moved = diff(tmp_path, old, new)
    assert [figure.name for figure in moved.headline] == ["max throughput", "unloaded latency", "P99 latency"]
    assert causes(moved)["--batch"].effects == pytest.approx([1 + figure.change for figure in moved.headline])
    text = render(document(moved), Look(100))
    assert "requests/s" in text.split("unloaded latency")[1]


def edited(answer: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """The answer with another value at a dotted path, without it for Ellipsis."""
    other = copy.deepcopy(answer)
    *outer, key = path.split("/")
    here = other
    for part in outer:
        here = here[int(part)] if isinstance(here, list) else here[part]
    if value is ...:
        del here[key]
    else:
        here[key] = value
    return other


EDITS = [
    *(("mapping", value, "mapping: must be a table") for value in (None, [16, 4], "x")),
    ("mapping", {}, "mapping.replicas: is missing"),
    ("mapping/replicas", "16", "mapping.replicas: must be a whole number"),
    ("mapping/accumulation", 0, "mapping.accumulation: must be above 0"),
    ("mapping/micro_batch", 2.5, "mapping.micro_batch: must be a whole number"),
    ("step_s", "fast", "step_s: must be a number"),
    ("step_s", True, "step_s: must be a number"),
    ("step_s", ..., "step_s: is missing"),
    ("step_s", -1.0, "step_s: must be above 0"),
    ("step_s", 1e6, "does not contain its value"),
    ("time_to_train_s", ..., "time_to_train_s: is missing"),
    ("time_to_train_s", 5.0, "time_to_train_s: must be a table"),
    ("time_to_train_s/value", 1.0, "time_to_train_s: the interval"),
    ("time_to_train_s/low", ..., "time_to_train_s.low: is missing"),
    ("time_to_train_s/high", "9", "time_to_train_s.high: must be a number"),
    ("throughput_samples_per_s/value", None, "throughput_samples_per_s.value: must be a number, not null"),
    ("breakdown_s/compute", "1", "breakdown_s.compute: a "),
    ("training_s", "12", "training_s: must be a number"),
    ("memory/capacity_bytes", True, "memory.capacity_bytes: must be a number"),
    ("memory/ipus/0/used_bytes", "12", "memory.ipus[0].used_bytes: must be a number"),
    ("steps", "12", "steps: a "),
    ("workload", 3, "workload: a "),
    ("podsim", 3, "podsim: must be a text"),
    ("inputs", [], "inputs: must be a table"),
    ("inputs/flags", [], "inputs.flags: must be a table"),
    ("inputs/parameters", ..., "inputs.parameters: is missing"),
    ("inputs/parameters/collective.efficiency", "high", "inputs.parameters.collective.efficiency: must be a number"),
    ("inputs/files/chip gc200.toml", 7, "inputs.files.chip gc200.toml: must be a text"),
]


@pytest.mark.parametrize("side", ["old.json", "new.json"])
@pytest.mark.parametrize(("path", "value", "said"), EDITS)
def test_an_edited_answer_is_refused_with_file_and_key(
    tmp_path: Path, answer: dict[str, Any], path: str, value: object, said: str, side: str
) -> None:
    other = edited(answer, path, value)
    with pytest.raises(InputError) as error:
        diff(tmp_path, *((other, answer) if side == "old.json" else (answer, other)))
    assert error.value.code == "bad-saved-answer"
    assert side in error.value.message
    assert said in " ".join(error.value.context)


def test_all_faults_of_a_saved_answer_are_told_at_once(tmp_path: Path, answer: dict[str, Any]) -> None:
    other = edited(edited(answer, "step_s", "x"), "training_s", "y")
    with pytest.raises(InputError, match=r"old\.json was edited or is damaged: it has 2 errors") as error:
        diff(tmp_path, other, answer)
    assert len(error.value.context) == 2


def test_a_key_that_is_there_twice_is_refused(tmp_path: Path, answer: dict[str, Any]) -> None:
    path = tmp_path / "old.json"
    path.write_text(json.dumps(answer)[:-1] + ', "step_s": 2.0}', encoding="utf-8")
    with pytest.raises(InputError, match='key "step_s" is there twice'):
        podsim.diff(path, path)


def test_a_change_beyond_floats_is_none() -> None:
    assert ChangedValue(path="a", old=1e-300, new=1e300).change is None
    assert ChangedValue(path="a", old=2, new=3).change == 0.5
