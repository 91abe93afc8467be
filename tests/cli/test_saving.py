"""`-o FILE`: a page, a picture, a table or JSON by its suffix, whole or not at all."""

import json
from pathlib import Path

import pytest

import podsim
from podsim.cli.app import main

QUESTION = ["predict", "bert", "--pod", "16", "--engine", "analytic"]
STARTS = {
    ".html": b"<!doctype",
    ".svg": b"<?xml",
    ".png": b"\x89PNG",
    ".pdf": b"%PDF",
    ".csv": b"schema,",
    ".json": b"{",
}


@pytest.mark.parametrize("suffix", STARTS)
def test_each_suffix(suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / f"answer{suffix}"
    assert main([*QUESTION, "-o", str(path)]) == 0
    out, err = capsys.readouterr()
    assert "time to train" in out
    assert err == f"wrote {path}\n"
    assert path.read_bytes().startswith(STARTS[suffix])
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_the_file_is_what_stdout_would_be(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answer.JSON"
    assert main([*QUESTION, "--json", "-o", str(path)]) == 0
    assert capsys.readouterr().out == path.read_text(encoding="utf-8")


def test_the_page_names_the_command_that_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "answer.html"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    assert f"podsim predict bert --pod 16 --engine analytic -q -o {path}" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("answer.txt", ".html, .svg"),
        ("answer", "known suffixes"),
        ("none/answer.html", "no folder"),
        ("a.html", "a folder"),
    ],
)
def test_a_file_that_cannot_be_is_refused_before_anything_runs(
    name: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.html").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(podsim.api, "predict", lambda *_, **__: pytest.fail("it ran"))
    assert main([*QUESTION, "-o", name]) == 2
    assert said in capsys.readouterr().err
    assert [found.name for found in tmp_path.iterdir()] == ["a.html"]


def test_an_answer_draws_itself_in_a_notebook() -> None:
    drawn = podsim.predict("bert", pod=16, engine="analytic")._repr_html_()
    assert drawn
    assert "time to train" in drawn
    with pytest.raises(TypeError, match="no answer"):
        podsim.api.drawing.drawn(7)


def test_json_and_pages_agree(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    assert main([*QUESTION, "-q", "-o", str(path)]) == 0
    header, row = (line.split(",") for line in path.read_text(encoding="utf-8").splitlines()[:2])
    assert header[:2] == ["schema", "podsim"]
    assert row[0] == json.loads(json.dumps("podsim.prediction/1"))
