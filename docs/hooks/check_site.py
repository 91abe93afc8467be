"""Check the built site: links and fragments lead somewhere, nothing is fetched, the search finds words."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urldefrag, urlsplit

SITE: Final = Path(__file__).resolve().parents[2] / "build" / "site"
LINKS: Final = {"a": "href", "area": "href"}
RESOURCES: Final = {"link": "href", "script": "src", "img": "src", "iframe": "src", "source": "src", "object": "data"}
FETCHED: Final = {"stylesheet", "icon", "preload", "preconnect", "dns-prefetch", "manifest"}
WORDS: Final[Mapping[str, str]] = {
    "bubble": "explanation/model/",
    "GW-Link": "glossary/",
    "Perfetto": "how-to/architects/",
    "sram": "reference/formats/chip/",
}
"""What a reader looks for, and a page that has to be among what the search finds."""


class PageLinks(HTMLParser):
    """The links, resources and anchors of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []
        self.resources: list[str] = []
        self.anchors: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to and what it is called."""
        stated = {name: value or "" for name, value in attrs}
        self.anchors |= {stated[name] for name in ("id", "name") if name in stated}
        if tag in LINKS and LINKS[tag] in stated:
            self.links.append(stated[LINKS[tag]])
        fetched = tag != "link" or FETCHED.intersection(stated.get("rel", "").split())
        if tag in RESOURCES and RESOURCES[tag] in stated and fetched:
            self.resources.append(stated[RESOURCES[tag]])


def read(path: Path) -> PageLinks:
    """What a page refers to."""
    parser = PageLinks()
    parser.feed(path.read_text(encoding="utf-8"))
    return parser


def faults() -> Iterator[str]:
    """Everything that is wrong with the site, a line each."""
    pages = {path: read(path) for path in sorted(SITE.rglob("*.html"))}
    if not pages:
        yield f"there is no site in {SITE}: make site"
        return
    for path, page in pages.items():
        name = path.relative_to(SITE).as_posix()
        yield from (f"{name}: fetched from elsewhere: {url}" for url in page.resources if urlsplit(url).netloc)
        for url in (*page.links, *page.resources):
            if wrong := _broken(path, url, pages):
                yield f"{name}: {wrong}"
    yield from _style_faults()
    yield from _search_faults()


def _broken(path: Path, url: str, pages: Mapping[Path, PageLinks]) -> str:
    """What is wrong with a link within the site, "" where nothing is."""
    target, fragment = urldefrag(url)
    if urlsplit(url).scheme or urlsplit(url).netloc:
        return ""
    base = SITE if target.startswith("/") else path.parent
    place = (base / unquote(target).lstrip("/")).resolve() if target else path
    place = place / "index.html" if place.is_dir() else place
    if not place.is_file():
        return f"no page {url}"
    if fragment and place in pages and unquote(fragment) not in pages[place].anchors:
        return f"no anchor {url}"
    return ""


def _style_faults() -> Iterator[str]:
    for path in sorted(SITE.rglob("*.css")):
        if "url(http" in (text := path.read_text(encoding="utf-8")) or "url(//" in text or '@import "http' in text:
            yield f"{path.relative_to(SITE)}: fetches from elsewhere"


def _search_faults() -> Iterator[str]:
    """Words that the index of the site does not find where they have to be found."""
    from lunr import lunr

    index = json.loads((SITE / "search" / "search_index.json").read_text(encoding="utf-8"))
    fields = [{"field_name": "title", "boost": 10}, {"field_name": "text"}]
    engine = lunr(ref="location", fields=fields, documents=index["docs"])
    for word, page in WORDS.items():
        result = [match["ref"] for match in engine.search(word.lower())]
        if not any(place.startswith(page) for place in result):
            yield f'the search for "{word}" does not find {page}, but {", ".join(result[:5]) or "nothing"}'


def main() -> int:
    """Print what is wrong; the return value is the exit code."""
    wrong = [*faults()]
    for line in wrong:
        sys.stderr.write(f"{line}\n")
    sys.stderr.write(f"{len(wrong)} faults\n" if wrong else "links, resources and search of the site: sound\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
