"""What the check of the built site finds: broken links and fragments, and what would be fetched from elsewhere."""

from __future__ import annotations

import json
from pathlib import Path

import check_site
import pytest

SOUND = (
    '<h2 id="a">A</h2><a href="#a">a</a><a href="other/">b</a><a href="https://example.org/x">c</a><img src="p.svg">'
)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A site of two pages, sound but for its search."""
    (tmp_path / "other").mkdir()
    (tmp_path / "search").mkdir()
    (tmp_path / "index.html").write_text(SOUND, encoding="utf-8")
    (tmp_path / "other/index.html").write_text('<a href="..#a">back</a>', encoding="utf-8")
    (tmp_path / "p.svg").write_text("<svg/>", encoding="utf-8")
    monkeypatch.setattr(check_site, "SITE", tmp_path)
    monkeypatch.setattr(check_site, "_search_faults", lambda: iter(()))
    return tmp_path


def test_a_sound_site_has_no_faults(site: Path) -> None:
    assert [*check_site.faults()] == []
    assert check_site.main() == 0


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ('<a href="#b">b</a>', "other/index.html: no anchor #b"),
        ('<a href="../#b">b</a>', "other/index.html: no anchor ../#b"),
        ('<a href="third/">b</a>', "other/index.html: no page third/"),
        ('<img src="q.png">', "other/index.html: no page q.png"),
        (
            '<script src="https://cdn.example/x.js"></script>',
            "other/index.html: fetched from elsewhere: https://cdn.example/x.js",
        ),
        (
            '<link rel="stylesheet" href="//fonts.example/f.css">',
            "other/index.html: fetched from elsewhere: //fonts.example/f.css",
        ),
    ],
)
def test_a_fault_is_found(site: Path, html: str, fault: str) -> None:
    (site / "other/index.html").write_text(html, encoding="utf-8")
    assert [*check_site.faults()] == [fault]
    assert check_site.main() == 1


def test_a_style_that_fetches_is_found(site: Path) -> None:
    (site / "style.css").write_text("@font-face { src: url(https://fonts.example/f.woff) }", encoding="utf-8")
    assert [*check_site.faults()] == ["style.css: fetches from elsewhere"]


def test_the_search_has_to_find_its_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("lunr", reason="podsim[docs] is not installed")
    (tmp_path / "search").mkdir()
    documents = [{"location": "explanation/model/#eq-15", "title": "Schedule", "text": "the bubble of a pipeline"}]
    (tmp_path / "search/search_index.json").write_text(json.dumps({"docs": documents}), encoding="utf-8")
    monkeypatch.setattr(check_site, "SITE", tmp_path)
    monkeypatch.setattr(check_site, "WORDS", {"bubble": "explanation/model/", "GW-Link": "glossary/"})
    assert [*check_site._search_faults()] == ['the search for "GW-Link" does not find glossary/, but nothing']
