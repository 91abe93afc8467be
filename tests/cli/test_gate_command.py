"""`podsim predict --require`: exit codes, lines and JSON of a gate."""

import json
from dataclasses import replace

import pytest

from podsim.cli.command_line import main
from podsim.model.requirement import RequirementCheck
from podsim.report.views import requirements_view

POD = ("predict", "bert", "--pod", "64", "--engine", "analytic")


@pytest.mark.parametrize(
    ("limits", "code"),
    [
        (("time_to_train<1h@0.9",), 0),
        (("time_to_train<1h@0.9", "throughput>1k/s", "power<1MW", "cost<1k"), 0),
        (("time_to_train<1min@0.9",), 1),
        (("time_to_train<1h", "throughput>1M/s"), 1),
        (("time_to_train<1kg",), 2),
    ],
)
def test_the_exit_code_is_the_verdict(limits, code, capsys):
    assert main([*POD, "-q", *(word for limit in limits for word in ("--require", limit))]) == code
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    if code == 2:
        assert not lines
        assert "--require cannot be read" in printed.err
        return
    verdicts = [line.split()[0] for line in lines[1:]]
    assert len(verdicts) == len(limits)
    assert ("FAIL" in verdicts) == bool(code)


def test_a_malformed_requirement_is_refused_before_anything_is_computed(capsys, monkeypatch):
    monkeypatch.setattr("podsim.predict", None)
    assert main([*POD, "--require", "time<1h"]) == 2
    assert "they are time_to_train" in capsys.readouterr().err


def test_verdicts_are_first_on_the_screen_and_what_would_hold_is_said(capsys):
    assert main([*POD, "--require", "time_to_train<1min@0.9"]) == 1
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert lines[1].startswith("FAIL  time_to_train<1min@0.9: chance")
    assert len(lines) <= 24
    nearest = lines[1].rpartition("; ")[2].removesuffix(" would pass")
    assert main([*POD, "--require", nearest]) == 0


def test_json_has_the_verdicts(capsys):
    assert main([*POD, "--json", "--require", "time_to_train<1min@0.9"]) == 1
    (item,) = json.loads(capsys.readouterr().out)["requirements"]
    assert (item["quantity"], item["limit"], item["required_chance"], item["is_met"]) == (
        "time_to_train",
        60.0,
        0.9,
        False,
    )
    assert item["chance"] < 0.01
    main([*POD, "--json"])
    assert "requirements" not in json.loads(capsys.readouterr().out)


def test_phases_are_held_to_a_limit_together(capsys):
    words = ["predict", "bert-large-full", "--pod", "64", "--engine", "analytic", "--require", "time_to_train<1h"]
    assert main([*words, "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [item["is_met"] for item in document["requirements"]] == [False]


def test_machines_without_ipus_are_refused(capsys):
    assert main(["predict", "bert", "--topology", "dgx-a100", "--require", "time_to_train<1h"]) == 2
    assert "no IPUs" in capsys.readouterr().err


def test_the_command_that_goes_on_needs_no_requirement(capsys):
    main([*POD, "--require", "time_to_train<1h"])
    printed = capsys.readouterr().out
    assert "podsim explain bert" in printed
    assert "--require" not in printed


CHECK = RequirementCheck(
    requirement="step<1s@0.9",
    quantity="step",
    limit=1.0,
    required_chance=0.9,
    is_met=True,
    chance=0.9999,
    at_chance=0.5,
    nearest="step<501ms@0.9",
)


def test_a_line_claims_no_more_than_99_percent():
    assert requirements_view.line(CHECK) == "PASS step<1s@0.9: chance > 99 %; step<501ms@0.9 would pass too"


def test_there_is_a_row_for_each_requirement_and_none_without():
    assert not [*requirements_view.blocks(())]
    (facts,) = requirements_view.blocks([CHECK, replace(CHECK, is_met=False)])
    assert [row.label for row in facts.rows] == ["PASS", "FAIL"]
    assert facts.rows[1].remark == "step<1s@0.9: chance > 99 %; step<501ms@0.9 would pass"


@pytest.mark.parametrize(("limit", "code"), [("p99<1s", 0), ("p99<1us", 1), ("p99<1kg", 2)])
def test_the_exit_code_of_a_served_workload(limit, code, capsys):
    words = ["infer", "resnet50", "--pod", "4", "--requests", "2000", "--engine", "analytic", "--require", limit]
    assert main(words) == code
    printed = capsys.readouterr().out
    assert ("PASS" in printed, "FAIL" in printed) == (code == 0, code == 1)
