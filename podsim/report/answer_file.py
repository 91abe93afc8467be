"""An answer as the content of a file: page, picture, table or JSON, by the suffix of its name."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.report import evidence
from podsim.report.doc import Doc, Heading
from podsim.report.written import Written

if TYPE_CHECKING:
    from podsim.report.figure import Format

SUFFIXES: Final = (".html", ".svg", ".png", ".pdf", ".csv", ".json")


def check(path: Path, also: tuple[str, ...] = (), flag: str = "--out ") -> None:
    """Raise InputError where the suffix of a file does not say what to write; `also` are further ones."""
    suffixes = (*SUFFIXES, *also)
    if path.suffix.lower() not in suffixes:
        other = shlex.quote(f"{path.stem or 'report'}.html")
        raise InputError(
            f'"{path}" does not say what to write',
            code="bad-value",
            context=[f"known suffixes: {', '.join(suffixes)}"],
            hint=f"{flag}{other}",
        )


def content(suffix: str, report: Callable[[], Doc], written: Written, command: str) -> str | bytes:
    """What a file with that suffix holds; `command` stands below a page.

    Raises InputError where a picture is wanted of an answer without charts.
    """
    if suffix == ".json":
        return written.json()
    if suffix == ".csv":
        return written.csv()
    if suffix == ".parquet":
        return written.parquet()
    if suffix == ".html":
        from podsim.report import page

        return page.html(evidence.with_changes(report()), page.Made(title=_title(report()), command=command))
    from podsim.report import figure

    form: Format = "svg" if suffix == ".svg" else "png" if suffix == ".png" else "pdf"
    drawn = figure.drawn(report())
    if not drawn:
        raise InputError(
            "this answer is one of words and numbers: it has no chart",
            code="nothing-to-draw",
            hint="--out report.html, .csv or .json",
        )
    return figure.picture(drawn, form)


def _title(doc: Doc) -> str:
    """The first heading: what was asked."""
    return next((block.text for group in doc.groups for block in group if isinstance(block, Heading)), "podsim")
