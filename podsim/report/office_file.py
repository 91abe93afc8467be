"""What text documents and slides share: clean texts, and the same bytes for the same answer."""

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from podsim.report import figure
from podsim.report.doc import Bars, Block, Chart, Heading
from podsim.report.escape import escape_text
from podsim.report.handout import Cover, Handout, Section

DATE: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""When a file says it was made: a real date would make the same answer another file."""
EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The first date that an entry of an archive can have."""
PROPERTIES: Final = "docProps/core.xml"
MADE_AT: Final = re.compile(rb"(<dcterms:(?:created|modified)[^>]*>)[^<]*")
PICTURE_INK: Final = "#1b1f24"
NARROWEST, WIDEST = 5, 34  # letters of a column of a table; longer texts fold


def say_of_itself(properties: Any, handout: Handout, cover: Cover) -> None:  # noqa: ANN401  (of two packages)
    """Set title, author and dates of a document, the dates to the same one always."""
    properties.title = escape_text(cover.title or handout.subject)[:255]
    properties.author = escape_text(cover.author or "podsim")[:255]
    properties.subject = escape_text(handout.subject)[:255]
    properties.comments = ""
    properties.last_modified_by = ""
    properties.created = properties.modified = DATE.replace(tzinfo=None)
    properties.revision = 1


def save_archive(write: Callable[[io.BytesIO], None]) -> bytes:
    """What a package writes as an archive, with the same date on each of its entries."""
    buffer = io.BytesIO()
    write(buffer)
    return _without_dates(buffer.getvalue())


def _without_dates(archive: bytes) -> bytes:
    """The same archive without the time at which it was made; so are workbooks in it, which charts keep numbers in."""
    result = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as old, zipfile.ZipFile(result, "w") as new:
        for entry in old.infolist():
            content = old.read(entry)
            if entry.filename.endswith(".xlsx"):
                content = _without_dates(content)
            elif entry.filename == PROPERTIES:
                content = MADE_AT.sub(rb"\g<1>" + DATE.strftime("%Y-%m-%dT%H:%M:%SZ").encode(), content)
            undated_entry = zipfile.ZipInfo(entry.filename, EARLIEST)
            undated_entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(undated_entry, content)
    return result.getvalue()


def drawing(section: Section) -> tuple[str, Chart | Bars] | None:
    """The first chart or bars of a section with its title; None where it has none."""
    title = heading(section)
    for block in section:
        if isinstance(block, Chart):
            return block.title, block
        if isinstance(block, Bars) and block.rows:
            return title, block
    return None


def heading(section: Section) -> str:
    """The heading of a section, "" without one."""
    return next((block.text for block in section if isinstance(block, Heading)), "")


def picture(block: Chart | Bars, *, width_in: float = figure.WIDTH_IN) -> io.BytesIO:
    """A drawing as PNG."""
    return io.BytesIO(figure.picture([("", block)], "png", ink=PICTURE_INK, width_in=width_in))


def column_shares(rows: Sequence[Sequence[str]]) -> tuple[float, ...]:
    """The share of the width that each column of a table gets: as its texts are long, none too wide nor too narrow."""
    columns = zip(*rows, strict=True)
    lengths = [min(max(NARROWEST, *map(len, column)), WIDEST) for column in columns]
    return tuple(length / sum(lengths) for length in lengths)


def describe(shape: Any, block: Block, title: str) -> None:  # noqa: ANN401  (of two packages)
    """Give a picture the text for who cannot see it."""
    assert isinstance(block, Chart | Bars), "what is drawn"
    shape.set("descr", escape_text(figure.describe(block, title)))
