"""Each command of sizing in each form: on screens, piped, as JSON, and as a file of each suffix."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main
from podsim.studies.explain import alternatives, influences

PRESET = "--preset mlperf-v1.1-closed"
SWEEP = """
schema = "podsim.sweep/1"
workload = "resnet50"
[fixed]
engine = "analytic"
ipus-per-replica = 1
micro-batch = 20
accumulation = 8
[[axis]]
name = "pod"
values = [16, 64]
[[axis]]
name = "replicas"
values = [16, 32]
"""
MIX = """
schema = "podsim.mix/1"
[[job]]
workload = "resnet50"
runs_per_month = 200
within = "2 h"
"""
COMMANDS = {
    "predict": (f"predict resnet50 --pod 16 {PRESET} --money", "prediction", 0),
    "predict-comparator": ("predict resnet50 --topology dgx-a100 --money", "prediction", 0),
    "scale": ("scale resnet50 --pods 16..100 --engine analytic", "scale", 0),
    "plan": ("plan resnet50 --within 20min --max-power 30kW --machines pod64,dgx-a100", "plan", 0),
    "plan-no": ("plan resnet50 --within 9min --budget 100k --machines pod64,dgx-a100", "plan", 1),
    "plan-serving": ("plan resnet50 --rate 20k/s --p99 10ms --machines m2000,pod16", "serving_plan", 0),
    "plan-serving-no": ("plan resnet50 --rate 20k/s --p99 0.2ms --machines m2000,pod16", "serving_plan", 1),
    "plan-mix": ("plan --workloads mix.toml --machines pod64", "mix_plan", 0),
    "compare": ("compare resnet50 pod16 dgx-a100 --engine analytic", "compare", 0),
    "explain": (f"explain resnet50 --pod 16 {PRESET} --engine analytic", "explanation", 0),
    "explain-measure": (f"explain resnet50 --pod 16 {PRESET} --engine analytic --measure", "measurements", 0),
    "explain-ops": (f"explain resnet50 --pod 16 {PRESET} --ops", "operators", 0),
    "sweep": ("sweep points.toml --jobs 1", "sweep-report", 0),
}
VERBS = (
    "predict",
    "scale",
    "plan",
    "plan_mix",
    "compare",
    "explain",
    "explain_measurements",
    "explain_operators",
    "sweep",
)
STARTS = {".html": b"<!doctype html>", ".svg": b"<?xml", ".png": b"\x89PNG\r\n", ".pdf": b"%PDF-", ".json": b"{"}
FEWEST_BYTES = {".html": 4000, ".svg": 2000, ".png": 2000, ".pdf": 2000, ".json": 500}


def kept(verb: Callable[..., Any]) -> Callable[..., Any]:
    """The verb, which answers each question once; who watches has no part in the question."""

    @cache
    def answered(question: str) -> list[Any]:
        return []

    def asked(*words: Any, on_progress: object = None, **flags: Any) -> Any:
        content = answered(repr((words, flags)))
        if not content:
            content.append(verb(*words, **flags))
        return content[0]

    return asked


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder with a sweep, in which every answer is computed once."""
    mktemp = tmp_path_factory.mktemp("outputs")
    (mktemp / "points.toml").write_text(SWEEP, encoding="utf-8")
    (mktemp / "mix.toml").write_text(MIX, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(mktemp)
        for verb in VERBS:
            patch.setattr(podsim, verb, kept(getattr(podsim, verb)))
        # All that an explanation asks takes ten seconds.
        levers, splits = influences._of_machine, alternatives._splits
        patch.setattr(influences, "_of_machine", lambda *request: list(levers(*request))[:6])
        patch.setattr(alternatives, "_splits", lambda around: list(splits(around))[:2])
        yield mktemp


@pytest.fixture(params=COMMANDS)
def asked(request: pytest.FixtureRequest, folder: Path) -> tuple[list[str], str, int]:
    """The words of a command, the schema of its JSON and its exit code."""
    words, schema, code = COMMANDS[request.param]
    return words.split(), schema, code


@pytest.mark.parametrize(("width", "verbose"), [(60, False), (60, True), (100, True)])
def test_no_line_is_wider_than_the_screen(asked, width, verbose, monkeypatch, capsys):
    words, _, code = asked
    monkeypatch.setenv("COLUMNS", str(width))
    assert main([*words, *(["-v"] if verbose else [])]) == code
    out, err = capsys.readouterr()
    lines = [*out.splitlines(), *err.splitlines()]
    assert len(lines) > 5
    assert [line for line in lines if len(line) > width] == []


def test_piped_is_a_hundred_wide_without_colour(asked, capsys):
    words, _, code = asked
    assert main(words) == code
    shown = capsys.readouterr().out
    assert "\x1b" not in shown
    assert 60 < max(map(len, shown.splitlines())) <= 100


def test_json_is_of_its_schema_and_has_no_numbers_that_json_lacks(asked, capsys):
    words, schema, code = asked

    def refuse(text: str) -> None:
        pytest.fail(f"{text} is no JSON")

    assert main([*words, "--json"]) == code
    document = json.loads(capsys.readouterr().out, parse_constant=refuse)
    assert document["schema"] == f"podsim.{schema}/1"
    assert len(document) > 5


@pytest.mark.parametrize("suffix", slow_but([".html", ".json"], STARTS))
def test_a_file_of_each_suffix(asked, suffix, tmp_path, capsys):
    words, _, code = asked
    path = tmp_path / f"answer{suffix}"
    assert main([*words, "-q", "-o", str(path)]) == code
    out, err = capsys.readouterr()
    assert (out.count("\n"), err) == (1, "")
    written = path.read_bytes()
    assert written.startswith(STARTS[suffix])
    assert len(written) > FEWEST_BYTES[suffix]
    if suffix == ".html":
        page = written.decode()
        assert page.rstrip().endswith("</html>")
        assert not re.search(r"""(src|href)=["'](?!#)|url\((?!#)|@import|<script""", page)
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_a_table_has_a_header_and_rows_of_as_many_cells(asked, tmp_path, capsys):
    words, _, code = asked
    path = tmp_path / "answer.csv"
    assert main([*words, "-q", "-o", str(path)]) == code
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    assert len(rows) > 1
    assert {len(row) for row in rows} == {len(rows[0])}
    assert len(set(rows[0])) == len(rows[0]) > 5


def test_a_sweep_is_written_as_parquet_too(folder, tmp_path, capsys):
    path = tmp_path / "answer.parquet"
    assert main([*COMMANDS["sweep"][0].split(), "-q", "-o", str(path)]) == 0
    assert path.read_bytes().startswith(b"PAR1")


@pytest.mark.parametrize(
    "words",
    [
        "scale resnet50 --pods 16 --engine analytic",
        "plan resnet50 --machines dgx-a100",
        "compare resnet50 pod16 pod16 --engine analytic",
    ],
)
def test_a_picture_of_an_answer_without_charts_is_refused(words, folder, tmp_path, capsys):
    path = tmp_path / "answer.svg"
    assert main([*words.split(), "-q", "-o", str(path)]) == 2
    assert "nothing-to-draw" in capsys.readouterr().err
    assert not path.exists()
    assert main([*words.split(), "-q", "-o", str(path.with_suffix(".html"))]) == 0
