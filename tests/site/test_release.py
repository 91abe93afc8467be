"""What stands in the way of a release, and the table of predictions that moved."""

from __future__ import annotations

import json
import re
import tomllib

import pytest
import release
from file_kinds import ROOT

CITATION = "version: 0.2.0\ndate-released: 2027-01-31\n"
CHANGELOG = "## [Unreleased]\n\n## [0.2.0] - 2027-01-31\n"


def test_matching_metadata_is_ready() -> None:
    assert [*release.metadata_faults("0.2.0", CITATION, CHANGELOG)] == []


@pytest.mark.parametrize(
    ("version", "citation", "changelog", "fault"),
    [
        (
            "0.3.0",
            CITATION,
            CHANGELOG + "## [0.3.0] - 2027-01-31\n",
            "CITATION.cff has version 0.2.0, pyproject.toml 0.3.0",
        ),
        ("0.2.0", CITATION, "## [Unreleased]\n", "CHANGELOG.md has no heading ## [0.2.0] - DATE"),
        ("0.2.0", "version: 0.2.0\n", CHANGELOG, "CITATION.cff has date-released none, CHANGELOG.md 2027-01-31"),
    ],
)
def test_what_differs_is_named(version: str, citation: str, changelog: str, fault: str) -> None:
    assert [*release.metadata_faults(version, citation, changelog)] == [fault]


def test_the_repository_is_cited_by_its_version() -> None:
    version = tomllib.loads(release.text("pyproject.toml"))["project"]["version"]
    assert [*release.metadata_faults(version, release.text("CITATION.cff"), release.text("CHANGELOG.md"))] == []


def test_a_prediction_that_moved_is_in_the_table() -> None:
    before = {"prediction": [{"workload": "bert", "topology": "pod64", "step": "1.0 s", "time_to_train": "540 s"}]}
    after = {"prediction": [{"workload": "bert", "topology": "pod64", "step": "1.1 s", "time_to_train": "540 s"}]}
    assert "| bert pod64 | step | 1.0 s | 1.1 s | +10.0% |" in release.table(before, after, "v1")
    assert release.table(before, before, "v1") == "No frozen prediction differs from v1.\n"
    assert "| bert pod64 | step |  | 1.1 s | new |" in release.table({}, after, "v1")


def test_the_frozen_predictions_have_the_times_of_the_table() -> None:
    frozen = tomllib.loads(release.text(release.FROZEN))
    assert all(set(release.TIMES) <= prediction.keys() for prediction in frozen["prediction"])
    names = [release._name(prediction) for prediction in frozen["prediction"]]
    assert len(names) == len(set(names))


def test_the_container_runs_podsim_as_a_user() -> None:
    lines = [line for line in (ROOT / "Dockerfile").read_text(encoding="utf-8").splitlines() if line[0] != "#"]
    assert len(lines) <= 10
    assert lines[-1] == 'ENTRYPOINT ["podsim"]'
    assert any(line.startswith("USER ") for line in lines)
    needed = tomllib.loads(release.text("pyproject.toml"))["project"]["requires-python"].removeprefix(">=")
    images = re.findall(r"^FROM python:3\.(\d+)", "\n".join(lines), re.MULTILINE)
    assert images
    assert all(int(minor) >= int(needed.split(".")[1]) for minor in images)


def test_the_development_container_makes_what_the_makefile_makes() -> None:
    stated = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text(encoding="utf-8"))
    target = stated["postCreateCommand"].removeprefix("make ").replace(".venv", "$(VENV)")
    assert f"{target}:" in (ROOT / "Makefile").read_text(encoding="utf-8")
