"""`podsim diff` attributes: each changed input is reverted on its own, what is left is named interaction."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.files import answer_files
from podsim.studies.diff import headlines, report
from podsim.studies.diff import question as changed_inputs
from podsim.studies.diff.result import Headline, InputChange


def diff(folder: Path, old, new):
    for name, answer in (("old.json", old), ("new.json", new)):
        answer.save(folder / name)
    return podsim.diff(folder / "old.json", folder / "new.json")


def by_input(difference):
    return {cause.what: cause for cause in difference.causes}


def predicted(**flags):
    return podsim.predict("bert", pod=64, engine="analytic", **flags)


def test_each_set_is_an_input_of_its_own_with_its_effect_in_units(tmp_path):
    old = predicted(changes=["ipu-link.bandwidth=0.5x"])
    new = predicted(changes=["ipu-link.bandwidth=0.5x", "chip.clock=2x", "collective.efficiency=0.5x"])
    difference = diff(tmp_path, old, new)
    causes = by_input(difference)
    assert [*causes] == ["--set chip.clock", "--set collective.efficiency"]
    assert (causes["--set chip.clock"].old, causes["--set chip.clock"].new) == ("–", "2x")
    time, step, batch = difference.headline
    alone = predicted(changes=["ipu-link.bandwidth=0.5x", "collective.efficiency=0.5x"])
    factor, *_ = causes["--set chip.clock"].effects
    assert time.effect(factor) == pytest.approx(new.time_to_train_s.value - alone.time_to_train_s.value)
    assert (time.unit, step.unit, batch.unit) == ("s", "s", "samples")
    assert batch.old == batch.new
    total = math.fsum(time.effect(cause.effects[0]) for cause in difference.causes) + difference.interaction[0]
    assert total == pytest.approx(time.new - time.old)
    assert difference.interaction[0] != 0


def test_a_changed_value_of_one_path_is_put_back_to_its_old_one(tmp_path):
    difference = diff(tmp_path, predicted(changes=["chip.clock=1.5 GHz"]), predicted(changes=["chip.clock=2 GHz"]))
    (cause,) = difference.causes
    assert (cause.what, cause.old, cause.new) == ("--set chip.clock", "1.5 GHz", "2 GHz")
    assert difference.interaction == pytest.approx((0, 0, 0), abs=1e-6)


def test_a_machine_named_in_another_way_is_one_input(tmp_path):
    old, new = predicted(), podsim.predict("bert", topology="bow-pod64", engine="analytic", overlap=True)
    difference = diff(tmp_path, old, new)
    assert [*by_input(difference)] == ["machine", "--overlap"]
    assert by_input(difference)["machine"].new == "--topology bow-pod64"
    assert all(cause.effects for cause in difference.causes)


def test_a_workload_is_put_back(tmp_path):
    difference = diff(
        tmp_path, podsim.predict("bert", pod=16, samples=1e6), podsim.predict("resnet50", pod=16, samples=1e6)
    )
    (cause,) = difference.causes
    assert (cause.what, cause.old, cause.new) == ("workload", "bert", "resnet50")
    assert cause.effects[0] == pytest.approx(1 + difference.headline[0].change)


def test_a_plan_says_what_moves_the_recommendation(tmp_path):
    old = podsim.plan("bert", within="5 min", machines="pod64,pod128")
    new = podsim.plan("bert", within="10 min", budget="2M", machines="pod64,pod128")
    difference = diff(tmp_path, old, new)
    assert difference.chosen == ("none, closest IPU-POD128", "IPU-POD64")
    causes = by_input(difference)
    assert [*causes] == ["--budget", "--within"]
    assert causes["--budget"].effects == (1, 1)
    assert causes["--within"].why == "without this change, the recommendation is none, closest IPU-POD128"
    assert [figure.unit for figure in difference.headline] == ["s", "USD"]


def test_a_scaling_has_a_time_for_each_machine(tmp_path):
    old, new = (podsim.scale("bert", pods="4..32", **flags) for flags in ({}, {"changes": {"chip.clock": "2x"}}))
    difference = diff(tmp_path, old, new)
    assert [figure.name for figure in difference.headline] == ["pod4", "pod8", "pod16", "pod32"]
    (cause,) = difference.causes
    assert cause.effects == pytest.approx([1 + figure.change for figure in difference.headline])


def test_a_scaling_has_a_time_for_each_competitor(tmp_path):
    old, new = (podsim.scale("bert", pods="16..32", **flags) for flags in ({"against": "dgx-a100:64"}, {}))
    difference = diff(tmp_path, old, new)
    assert [figure.name for figure in difference.headline] == ["pod16", "pod32"]
    assert [(single.name, single.new) for single in difference.singles] == [("dgx-a100:64", None)]
    (cause,) = difference.causes
    assert cause.what == "--against"


def test_a_comparison_has_a_time_for_each_side(tmp_path):
    old, new = (
        podsim.compare("bert", ["pod16", "pod64"], **flags) for flags in ({}, {"overlap": True, "global_batch": 4608})
    )
    difference = diff(tmp_path, old, new)
    assert [figure.name for figure in difference.headline] == ["IPU-POD16", "IPU-POD64"]
    assert [*by_input(difference)] == ["--global-batch", "--overlap"]
    assert all(cause.effects for cause in difference.causes)


def test_a_third_alternative_is_added_by_the_input_that_asks_for_it(tmp_path):
    old, new = (podsim.compare("bert", ["pod16", "pod64"], **flags) for flags in ({}, {"changes": ["chip.clock=2x"]}))
    difference = diff(tmp_path, old, new)
    (third,) = difference.singles
    assert (third.name, third.old, third.new) == (
        "chip.clock=2x",
        None,
        pytest.approx(new.sides[2].answer.time_to_train_s.value),
    )
    (cause,) = difference.causes
    assert (cause.effects, cause.why) == ((1, 1), "adds chip.clock=2x")
    assert report.answer(difference) == "IPU-POD16 0.00 %, IPU-POD64 0.00 %; chip.clock=2x added; 1 input differs"
    back = podsim.diff(tmp_path / "new.json", tmp_path / "old.json")
    assert (back.singles[0].old, back.singles[0].new) == (third.new, None)
    assert back.causes[0].why == "removes chip.clock=2x"
    rows = [row for group in report.document(back).groups for block in group for row in getattr(block, "rows", ())]
    assert any(row[0] == "chip.clock=2x" and row[2:] == ("–", "removed") for row in rows)


def test_comparisons_of_machines_and_of_changes_are_attributed(tmp_path):
    old = podsim.compare("bert", ["pod16", "bow-pod16"])
    new = podsim.compare("bert", pod=16, changes=["chip.clock=2x"])
    difference = diff(tmp_path, old, new)
    assert [figure.name for figure in difference.headline] == ["IPU-POD16"]
    assert [(single.name, single.new is None) for single in difference.singles] == [
        ("Bow Pod16", True),
        ("chip.clock=2x", False),
    ]
    causes = by_input(difference)
    assert (causes["machine"].old, causes["machine"].new) == ("pod16 bow-pod16", "--pod 16")
    assert (causes["machine"].effects, causes["machine"].why) == ((1,), "removes Bow Pod16")
    assert "only one machine is named" in causes["--set chip.clock"].why


def test_another_value_of_one_change_is_compared_in_its_place(tmp_path):
    old, new = (podsim.compare("bert", pod=16, changes=[f"chip.clock={factor}"]) for factor in ("2x", "3x"))
    difference = diff(tmp_path, old, new)
    assert [figure.labels for figure in difference.headline] == [("IPU-POD16",) * 2, ("chip.clock=2x", "chip.clock=3x")]
    (cause,) = difference.causes
    assert cause.effects[1] == pytest.approx(1 + difference.headline[1].change)
    assert not difference.singles


def test_machines_without_one_in_common_are_added_and_removed(tmp_path):
    old, new = (podsim.scale("bert", pods=pods) for pods in ("4..8", "16..32"))
    difference = diff(tmp_path, old, new)
    assert not difference.headline
    (cause,) = difference.causes
    assert cause.why == "adds pod16, pod32; removes pod4, pod8"
    assert report.answer(difference) == "pod16, pod32 added; pod4, pod8 removed; 1 input differs"
    rows = [
        row for group in report.document(difference).groups for block in group for row in getattr(block, "rows", ())
    ]
    assert [row[0] for row in rows] == ["pod4", "pod8", "pod16", "pod32", "--pods"]


def test_the_screen_has_no_path_of_json_until_it_is_verbose(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    diff(tmp_path, predicted(), predicted(changes=["chip.clock=2x"]))
    assert main(["diff", "old.json", "new.json"]) == 0
    screen = capsys.readouterr().out
    assert "--set chip.clock" in screen
    assert "interaction" in screen
    assert " min (" in screen
    assert "_s." not in screen
    assert "breakdown" not in screen
    assert main(["diff", "old.json", "new.json", "--verbose"]) == 0
    assert "breakdown_s.compute" in capsys.readouterr().out
    assert main(["diff", "old.json", "new.json", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [figure["figure"] for figure in document["headline"]] == ["time to train", "step", "global batch"]
    assert len(document["interaction"]) == 3


def test_figures_of_what_is_no_answer_are_none():
    assert headlines.figures("goodput", {"time_to_train_s": 3}) == {}
    assert headlines.figures("prediction", {"time_to_train_s": None, "step_s": True}) == {}
    assert headlines.figures("scale", {"machines": 3}) == {}
    assert headlines.recommendation("plan", {}) == "none"


def test_a_list_of_faults_is_taken_apart(tmp_path):
    bodies = [
        {"schema": "podsim.prediction/0", "inputs": {"flags": {"fault": faults}}}
        for faults in (["ipu:3=0.5", "ipu:4=0.5"], ["ipu:4=0.50", "ipu:5=0.5"])
    ]
    for name, body in zip("ab", bodies, strict=True):
        (tmp_path / f"{name}.json").write_text(json.dumps(body), encoding="utf-8")
    items = list(changed_inputs.changed_inputs(*(answer_files.read(tmp_path / f"{name}.json") for name in "ab")))
    assert [(item.what, item.old, item.new) for item in items] == [
        ("--fault ipu:3", "0.5", "–"),
        ("--fault ipu:5", "–", "0.5"),
    ]
    assert items[0].flags == {"fault": ["ipu:4=0.50", "ipu:5=0.5", "ipu:3=0.5"]}


@pytest.mark.parametrize(("factor", "text"), [(0.25, "−7,680 samples"), (2.0, "+1,280 samples")])
def test_a_change_of_samples_has_one_sign(factor, text):
    figure = Headline(name="global batch", unit="samples", old=10_240.0, new=2_560.0)
    (effect,) = report._effects(InputChange(what="--pod", old="256", new="64", effects=(factor,)), (figure,))
    assert effect.startswith(text)
