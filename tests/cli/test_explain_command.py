"""Which flags `podsim explain` takes together."""

import json

import pytest

from podsim.cli.command_line import main

ASKED = ("explain", "bert", "--pod", "16", "--engine", "analytic")
FAULT = ("--fault", "link:ipu4-ipu6=down")


def test_faults_are_explained_on_the_screen_in_a_line_and_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, *FAULT]) == 0
    screen = capsys.readouterr().out
    assert "  Faults  link:ipu4-ipu6=down" in screen
    assert "healthy → with faults" in screen
    assert main([*ASKED, *FAULT, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["inputs"]["flags"]["fault"] == [FAULT[1]]
    assert document["faults"]["time_to_train_s"] == document["time_to_train_s"]["value"]
    assert "faults repaired" in [item["name"] for item in document["alternatives"]]


@pytest.mark.parametrize(
    ("flag", "why"), [("--ops", "--ops looks at one micro-batch"), ("--measure", "--measure ranks")]
)
def test_other_rankings_take_no_faults(flag: str, why: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED[:4], flag, *FAULT]) == 2
    assert why in capsys.readouterr().err


def test_a_fault_that_is_none_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*ASKED, "--fault", "ipu:16=0.5"]) == 2
    assert "pod16 has IPUs 0 to 15" in capsys.readouterr().err
