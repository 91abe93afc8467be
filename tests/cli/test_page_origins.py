"""Pages say which numbers are assumed and why, and the titles of the documents behind the others."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from slow_cases import slow_but

from podsim.cli.command_line import main
from podsim.model.quantity import Provenance, Source, SourceKind
from podsim.report.doc import DocTable
from podsim.report.views import provenance_view as view

MIX = str(Path(__file__).parents[2] / "examples" / "mix.toml")
QUESTIONS = {
    "predict": ("predict", "resnet50", "--pod", "16", "--engine", "analytic"),
    "plan": ("plan", "resnet50", "--machines", "pod16,dgx-a100:16"),
    "mix": ("plan", "--workloads", MIX, "--machines", "pod128"),
    "scale": ("scale", "resnet50", "--pods", "16,64", "--engine", "analytic"),
    "compare": ("compare", "resnet50", "pod16", "dgx-a100", "--engine", "analytic"),
    "explain": ("explain", "resnet50", "--pod", "16", "--engine", "analytic"),
}


def page(words: tuple[str, ...], folder: Path) -> str:
    path = folder / "page.html"
    assert main([*words, "-q", "-o", str(path)]) == 0
    return " ".join(re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8")).split())


@pytest.mark.parametrize("name", slow_but([*QUESTIONS][:2], QUESTIONS))
def test_every_page_has_assumed_numbers_and_titles(name: str, tmp_path: Path) -> None:
    text = page(QUESTIONS[name], tmp_path)
    assert "gw-link.efficiency 0.9 not published; 11 of 12.5 GB/s after framing" in text
    assert "MLPerf Training v1.1 results: logs, code and system descriptions MLCommons" in text
    assert "Documents that these numbers are from" in text


def test_the_page_of_a_plan_grades_every_machine(tmp_path: Path) -> None:
    text = page(("plan", "resnet50", "--machines", "pod16,pod128"), tmp_path)
    evaluation = text[text.index("Candidates") : text.index("Terms")]
    assert "Evidence" in evaluation
    assert len(re.findall(r"within calibration|extrapolated|measured", evaluation)) == len(
        re.findall(r"pod\d+", evaluation)
    )


def test_a_machine_of_a_file_has_its_numbers_on_the_page(tmp_path: Path) -> None:
    """The answer calls it by the name in the file, which is no name that podsim knows."""
    own = tmp_path / "own.toml"
    own.write_text('schema = "podsim.topology/1"\nname = "ours"\nextends = "pod16"\ntitle = "Ours"\n', encoding="utf-8")
    assert "gw-link.efficiency" in page(("plan", "resnet50", "--machines", str(own)), tmp_path)


def test_numbers_of_configurations_and_presets_that_an_answer_does_not_use_stay_away(tmp_path: Path) -> None:
    text = page(("predict", "resnet50", "--pod", "16", "--engine", "analytic"), tmp_path)
    assert "residual_cnn.checkpoint_blocks" in text
    assert not re.findall(r"configuration\.pytorch|preset\.\d+", text)
    text = page(("predict", "resnet50", "--topology", "pod16", "--preset", "pytorch", "--engine", "analytic"), tmp_path)
    assert "configuration.pytorch-v3.3.moment_bytes" in text
    assert set(re.findall(r"preset\.\d+", text)) == {"preset.11"}


def value(text: str, source: str = "", kind: SourceKind = SourceKind.ASSUMED) -> Provenance:
    return Provenance(path="a", text=text, kind=kind, source=source, note="why")


def test_a_number_that_all_share_stands_once() -> None:
    each = {"one": {"a": value("1"), "b": value("2")}, "two": {"a": value("1"), "b": value("3")}}
    (table,) = (block for block in view.assumed_of_several("machines", each) if isinstance(block, DocTable))
    assert table.rows == (("a", "1", "why", "all"), ("b", "2", "why", "one"), ("b", "3", "why", "two"))


def test_what_is_given_and_what_is_assumed_stand_apart() -> None:
    values = {"a": value("1", kind=SourceKind.GIVEN), "b": value("2"), "c": value("3", "doc", SourceKind.DATASHEET)}
    heading, given, assumed = view.provenance_blocks("machine mine", values)
    assert heading.text == "machine mine, 3 values: 1 datasheet, 1 given, 1 assumed"
    assert (given.columns[0].title, given.rows) == ("Given", (("a", "1", "why"),))
    assert (assumed.columns[0].title, assumed.rows) == ("Assumed", (("b", "2", "why"),))
    _, given, assumed = view.assumed_of_several("machines", {"mine": values})
    assert (given.rows, assumed.rows) == ((("a", "1", "why"),), (("b", "2", "why"),))


def test_titles_are_of_values_and_prices() -> None:
    known = {"doc": Source(id="doc", title="A document", publisher="someone", url="")}
    (table,) = (
        block
        for block in view.titles([value("1", "doc"), value("2", "own")], ["doc, 2020-07"], known)
        if isinstance(block, DocTable)
    )
    assert table.rows == (("doc", "A document", "someone", "1 value, prices"), ("own", "–", "–", "1 value"))
