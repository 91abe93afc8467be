"""Every study writes its page: a title, the answer as a sentence, headings in order, tables and charts with names."""

import html.parser
import re
from itertools import pairwise
from pathlib import Path

import pytest
from slow_cases import slow_but

from podsim.cli.command_line import main

QUESTIONS = {
    "op": "op matmul --m 1024 --k 1024 --n 1024",
    "stencil": "stencil heat-2d --grid 1024x1024",
    "sample": "sample abc-covid19",
    "collective": "collective all-reduce --bytes 100MB --pod 64",
    "topology": "topology show pod64",
    "another machine": "topology show dgx-a100",
    "chip": "chip show bow",
    "infer": "infer bert --pod 16 --rate 2k/s",
    "goodput": "goodput bert --pod 64 --work 30d",
    "compare": "compare bert pod64 bow-pod64",
    "serving": "plan resnet50 --rate 20k/s --p99 10ms --machines m2000,bow-pod4,pod16",
    "scale": "scale bert --pods 16..64",
    "predict": "predict bert --pod 64",
    "phases": "predict resnet50 --topology dgx-a100:64",
    "explain": "explain bert --pod 16",
    "operators": "explain bert --pod 16 --ops",
    "plan": "plan bert --within 10min --machines pod64,bow-pod64",
    "impossible": "plan bert --within 10s --machines pod64",
    "validate": "validate --microbenchmarks",
}
QUICK = ("chip", "collective", "stencil", "topology")


class Outline(html.parser.HTMLParser):
    """Levels of headings, attributes of cells that head rows and columns, and of pictures."""

    def __init__(self) -> None:
        super().__init__()
        self.levels: list[int] = []
        self.scopes: list[str | None] = []
        self.pictures: list[dict[str, str | None]] = []
        self.tags: set[str] = set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if re.fullmatch(r"h[1-6]", tag):
            self.levels.append(int(tag[1]))
        elif tag == "th":
            self.scopes.append(dict(attrs).get("scope"))
        elif tag == "svg":
            self.pictures.append(dict(attrs))


@pytest.mark.parametrize("name", slow_but(QUICK, QUESTIONS))
def test_a_study_has_its_page(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    cover = ["--title", "A study", "--customer", "Someone", "--date", "2026-11-25", "--author", "Somebody"]
    assert main([*QUESTIONS[name].split(), "-q", "-o", "page.html", *cover]) in {0, 1}
    text = Path("page.html").read_text(encoding="utf-8")
    outline = Outline()
    outline.feed(text)
    assert outline.levels[0] == 1
    assert outline.levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(outline.levels))
    assert set(outline.scopes) <= {"row", "col"}
    assert all(picture["role"] == "img" and picture["aria-label"] for picture in outline.pictures)
    assert "script" not in outline.tags
    (sentence,) = re.findall(r'<p class="sentence">([^<]*)</p>', text)
    assert sentence.rstrip().endswith((".", "!"))
    assert "<title>A study</title>" in text
    for part in ("Someone", "2026-11-25", "Somebody", "Method", "podsim predictions are not MLPerf results"):
        assert part in text
    capsys.readouterr()
