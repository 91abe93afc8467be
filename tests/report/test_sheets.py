"""What was looked up has the forms of any answer: a screen, a document, a table, a file."""

from __future__ import annotations

import json

import pytest
from parts_of_documents import headings

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.studies.look_up import sheets

LOOK_UPS = {
    "topology show pod64": lambda: podsim.show_topology("pod64"),
    "topology show switch-of-rings-64": lambda: podsim.show_topology("switch-of-rings-64"),
    "topology show dgx-a100": lambda: podsim.show_topology("dgx-a100"),
    "chip show gc200": lambda: podsim.show_chip("gc200"),
    "workload show bert": lambda: podsim.show_workload("bert"),
    "topology list": podsim.list_topologies,
    "chip list": podsim.list_chips,
    "workload list": podsim.list_workloads,
}


@pytest.mark.parametrize("line", LOOK_UPS)
def test_the_document_in_python_is_that_of_the_command(line, capsys):
    assert main([*line.split(), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    made = json.loads(json.dumps(LOOK_UPS[line]().to_dict()))
    assert {**made, "inputs": None} == {**printed, "inputs": None}
    assert made["inputs"]["files"] == printed["inputs"]["files"]


@pytest.mark.parametrize("line", LOOK_UPS)
def test_it_is_saved_by_suffix_and_shown_in_a_notebook(line, tmp_path):
    answer = LOOK_UPS[line]()
    assert len(repr(answer)) <= 300
    assert "<table" in answer._repr_html_() or "<dl" in answer._repr_html_()
    answer.save(tmp_path / "a.json")
    answer.save(tmp_path / "a.csv")
    answer.save(tmp_path / "a.html", title="Looked up")
    assert json.loads((tmp_path / "a.json").read_text())["schema"].startswith("podsim.")
    assert len((tmp_path / "a.csv").read_text().splitlines()) >= 2
    assert "Looked up" in (tmp_path / "a.html").read_text()


def test_a_list_has_a_row_for_each():
    chips = podsim.list_chips()
    names = [row["name"] for row in chips.to_dict()["chips"]]
    assert names == [chip.name for chip in chips] == [*sheets.answer(chips)]
    assert sheets.document(chips).groups


def test_what_was_kept_for_the_next_call_has_no_question():
    first = podsim.show_chip("gc200")
    assert first is not podsim.show_chip("gc200")
    assert first.value is podsim.show_chip("gc200").value


def test_charts_are_of_the_whole_document():
    chip = podsim.show_chip("gc200")
    assert len(headings(sheets.document(chip, verbose=True))) >= len(headings(sheets.document(chip)))


@pytest.mark.parametrize("thing", ["pod64", 3])
def test_what_was_not_looked_up_has_no_sheet(thing):
    with pytest.raises(InputError, match="was not looked up"):
        sheets.sheet(thing)
