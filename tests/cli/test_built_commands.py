"""A command is a folder of two files: its declaration and its function; screen, JSON, help and checks follow."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import podsim
from podsim import studies
from podsim.cli import command
from podsim.cli.command_line import main
from podsim.model.verb import Verb
from podsim.report import fields_document
from podsim.report.doc import Fact, Facts
from podsim.studies.documents import answer_document
from podsim.studies.explain import operators

DECLARATION = '''
"""How full the links of a rack are."""

from typing import Final

from podsim.model import arguments as a
from podsim.model.verb import ASK, Command, Verb

COMMANDS: Final = (Command("rack_load", "how full the links of a rack are", ASK, 99, about="Share of links in use."),)
VERBS: Final = {
    "rack_load": Verb("study", (a.count("links", "Links in use.", high=8, default=2), a.switch("both_ways", "Both.")))
}
'''
FUNCTION = '''
"""How full the links of a rack are."""

from dataclasses import dataclass

from podsim.studies.argument_check import check_arguments


@dataclass(frozen=True)
class RackLoad:
    busy_s: float
    moved_bytes: int
    rate_per_s: float
    links: int
    both: bool
    shares: tuple[float, ...]


@check_arguments
def rack_load(*, links: int = 2, both_ways: bool = False) -> RackLoad:
    """The load of links."""
    return RackLoad(0.0015, 2_000_000, 4e6, links, both_ways, (0.5, 0.25))
'''


@pytest.fixture
def rack_load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A study beside the others."""
    folder = tmp_path / "rack_load"
    folder.mkdir()
    (folder / "__init__.py").write_text(DECLARATION, encoding="utf-8")
    (folder / "study.py").write_text(FUNCTION, encoding="utf-8")
    monkeypatch.setattr(studies, "__path__", [*studies.__path__, str(tmp_path)])
    tables = (studies.folders, studies.verbs, studies.arguments, studies.commands)
    for table in tables:
        table.cache_clear()
    yield
    monkeypatch.undo()
    for table in tables:
        table.cache_clear()
    for name in [name for name in sys.modules if name.startswith("podsim.studies.rack_load")]:
        del sys.modules[name]


@pytest.mark.usefixtures("rack_load")
def test_a_folder_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rack_load", "--links", "4"]) == 0
    screen = capsys.readouterr().out
    assert "RackLoad" in screen
    assert "1.50 ms" in screen
    assert "2.00 MB" in screen
    assert main(["rack_load", "-q"]) == 0
    assert capsys.readouterr().out == "busy 1.50 ms\n"
    assert main(["rack_load", "--links", "4", "--both-ways", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["schema"] == "podsim.rack-load/1"
    assert (answer["links"], answer["both"], answer["shares"]) == (4, True, [0.5, 0.25])


@pytest.mark.usefixtures("rack_load")
def test_it_has_help_a_place_on_the_first_page_and_a_twin(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "how full the links of a rack are" in capsys.readouterr().out
    assert main(["rack_load", "--help"]) == 0
    page = capsys.readouterr().out
    assert "Share of links in use." in page
    assert "--links N" in page
    assert "[default: 2]" in page
    assert "rack_load" in podsim.__all__
    assert podsim.rack_load(links=3).links == 3
    assert "links : " in podsim.rack_load.__doc__


@pytest.mark.usefixtures("rack_load")
def test_its_arguments_are_checked_on_both_sides(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rack_load", "--links", "9"]) == 2
    assert "8" in capsys.readouterr().err
    with pytest.raises(podsim.studies.argument_check.InputError, match="links must be"):
        podsim.rack_load(links=9)


def test_nothing_is_left_of_it() -> None:
    assert "rack_load" not in studies.commands()
    with pytest.raises(AttributeError, match="no attribute 'rack_load'"):
        command.rack_load  # noqa: B018


def test_a_required_argument_comes_without_a_name_unless_it_is_named() -> None:
    kinds = {name: variable.kind.name for name, variable in command.stencil.__signature__.parameters.items()}
    assert kinds["stencil"] == "POSITIONAL_ONLY"
    assert kinds["grid"] == "KEYWORD_ONLY"
    kinds = {name: variable.kind.name for name, variable in command.compare.__signature__.parameters.items()}
    assert kinds["machines"] == "VAR_POSITIONAL"
    assert kinds["fault" if "fault" in kinds else "set"] == "KEYWORD_ONLY"


def test_fields_say_their_units() -> None:
    answer = podsim.stencil("heat-2d", grid="1000x1000")
    doc = fields_document.document(answer)
    (facts,) = [block for group in doc.groups for block in group if isinstance(block, Facts)]
    rows = {row.label: row for row in facts.rows}
    assert isinstance(rows["compute"], Fact)
    assert rows["compute"].unit.endswith("s")
    assert rows["points"].number == "1,000,000"
    assert fields_document.answer(answer).startswith("compute ")
    assert {row.label for row in facts.rows} < {
        row.label
        for group in fields_document.document(answer, verbose=True).groups
        for block in group
        if isinstance(block, Facts)
        for row in block.rows
    }
    assert answer_document(answer).tree()["grid"] == [1000, 1000]


def test_a_verb_is_in_the_module_that_its_study_names() -> None:
    assert studies.verbs()["explain_operators"] == (
        "podsim.studies.explain.operators",
        Verb("operators", operators_of()),
    )
    assert podsim.explain_operators is operators.explain_operators


def operators_of() -> tuple[object, ...]:
    """The arguments that the study declares."""
    return tuple(studies.arguments("explain_operators").values())
