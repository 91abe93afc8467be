"""No command overwrites what it reads, or one of its outputs with another."""

import shutil
from pathlib import Path

import pytest

from podsim.cli.command_line import main

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "tests/cases/falcon.json", "config.json")
    shutil.copy(ROOT / "tests/cases/sweeps/splits.toml", "a.toml")
    Path("old.json").write_text("{}", encoding="utf-8")
    Path("link.json").symlink_to("config.json")
    Path("hard.json").hardlink_to("config.json")
    Path("podsim.toml").write_text("[trace]\npod = 16\n", encoding="utf-8")
    Path("settings.json").symlink_to("podsim.toml")
    Path("settings-hard.json").hardlink_to("podsim.toml")
    return tmp_path


@pytest.mark.parametrize(
    "command",
    [
        "predict config.json --pod 64 --samples 1e5 -o config.json",
        "predict config.json --pod 64 --samples 1e5 -o ./config.json",
        "predict link.json --pod 64 --samples 1e5 -o config.json",
        "predict config.json --pod 64 --samples 1e5 -o hard.json",
        "workload import config.json -o config.json",
        "predict bert --pod 16 -o settings.json",
        "trace bert -o settings.json",
        "explain bert --pod 16 -o settings-hard.json",
        "plan bert --prices old.json -o old.json",
        "trace config.json --pod 64 -o config.json",
        "sweep a.toml --results r.json -o r.json",
        "sweep a.toml --results a.toml",
        "calibrate --logs . --out config.json --points-out config.json",
    ],
)
def test_an_output_that_is_an_input_is_refused_before_anything_runs(
    command: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(command.split()) == 2
    assert "error: conflicting-flags" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_a_variable_that_names_no_command_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PODSIM_PERDICT_POD", "64")
    assert main(["predict", "bert", "--pod", "16", "-q"]) == 2
    assert 'podsim has no command perdict; did you mean "predict"?' in " ".join(capsys.readouterr().err.split())


def test_a_file_of_an_odd_name_hides_no_other(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "topologies").mkdir()
    (folder / "topologies" / "1².toml").write_text("x", encoding="utf-8")
    assert main(["topology", "list"]) == 0
    assert "pod16" in capsys.readouterr().out
