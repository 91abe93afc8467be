"""`answer.save("page.html")` writes the page that `-o page.html` writes, with its tables of sources of numbers."""

from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.cli.command_line import main

OWN = 'schema = "podsim.topology/1"\nname = "ours"\nextends = "pod16"\ntitle = "Ours"\n'
QUESTIONS = {
    "predict": ("predict", ("bert",), {"pod": 16}, "predict bert --pod 16"),
    "what-if": (
        "predict",
        ("bert",),
        {"topology": "own.toml", "changes": {"chip.clock": "1.5GHz"}},
        "predict bert --set chip.clock=1.5GHz --topology own.toml",
    ),
    "another chip": ("predict", ("bert",), {"topology": "dgx-a100"}, "predict bert --topology dgx-a100"),
    "plan": (
        "plan",
        ("bert",),
        {"machines": "pod16,own.toml", "within": "40m"},
        "plan bert --machines pod16,own.toml --within 40m",
    ),
    "scale": ("scale", ("bert",), {"pods": "4..16"}, "scale bert --pods 4..16"),
    "compare": ("compare", ("bert", ["pod4", "pod16"]), {"overlap": True}, "compare bert pod4 pod16 --overlap"),
    "explain": ("explain", ("bert",), {"pod": 4}, "explain bert --pod 4"),
}
QUICK = ("compare", "plan", "predict", "scale")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a machine of one's own."""
    monkeypatch.chdir(tmp_path)
    Path("own.toml").write_text(OWN, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize("name", slow_but(QUICK, QUESTIONS))
def test_python_writes_the_page_of_the_command_line(folder, name):
    verb, positional, keywords, line = QUESTIONS[name]
    answer = getattr(podsim, verb)(*positional, **keywords)
    before = answer.to_dict()
    answer.save("page.html")
    own = Path("page.html").read_bytes()
    assert main([*line.split(), "-o", "page.html"]) == 0
    assert own.decode() == Path("page.html").read_text(encoding="utf-8")
    assert answer.to_dict() == before
    if name != "another chip":
        assert b"Documents that these numbers are from" in own


def test_an_answer_without_its_question_has_a_page_without_sources(folder):
    import pickle

    answer = pickle.loads(pickle.dumps(podsim.predict("bert", pod=16)))  # noqa: S301  (made here)
    answer.save("page.html")
    text = Path("page.html").read_text(encoding="utf-8")
    assert "Where a step goes" in text
    assert "Documents that these numbers are from" not in text


def test_a_page_whose_machine_is_gone_says_which_file(folder):
    answer = podsim.predict("bert", topology="own.toml")
    Path("own.toml").unlink()
    with pytest.raises(podsim.InputError, match=r"own\.toml"):
        answer.save("page.html")
    answer.save("answer.json")
