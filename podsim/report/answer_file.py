"""An answer as the content of a file: page, picture, table or JSON, by the suffix of its name."""

import shlex
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from podsim.errors import InputError
from podsim.report import evidence
from podsim.report.answer_formats import AnswerDocument

if TYPE_CHECKING:
    from podsim.report.handout import Cover, Handout

WRITERS: Final = {
    ".html": ("page", "html"),
    ".pdf": ("pdf", "pdf"),
    ".docx": ("text_document", "docx"),
    ".pptx": ("slides", "pptx"),
}
"""Module and function that write each kind of document, loaded when one is asked for."""
PACKAGES: Final = {
    ".pdf": ("weasyprint", "WeasyPrint"),
    ".docx": ("docx", "python-docx"),
    ".pptx": ("pptx", "python-pptx"),
}
"""What writes each kind of document but a page: an extra."""
SUFFIXES: Final = (*WRITERS, ".svg", ".png", ".csv", ".json")


def check(path: Path, also: tuple[str, ...] = (), flag: str = "--out ") -> None:
    """Raise InputError where the suffix of a file does not say what to write; `also` are further ones.

    So it does, code `missing-package`, for a document whose package is not installed.
    """
    suffixes = (*SUFFIXES, *also)
    if path.suffix.lower() not in suffixes:
        other = shlex.quote(f"{path.stem or 'report'}.html")
        raise InputError(
            f'"{path}" does not say what to write',
            code="bad-value",
            context=[f"known suffixes: {', '.join(suffixes)}"],
            hint=f"{flag}{other}",
        )
    _check_installed(path.suffix.lower(), flag)


def _check_installed(suffix: str, flag: str) -> None:
    """Raise InputError where the package that writes such a document is not installed."""
    package, name = PACKAGES.get(suffix, ("", ""))
    if package and find_spec(package) is None:
        raise InputError(
            f"a {suffix} file needs {name}, which is not installed",
            code="missing-package",
            hint=f'pip install "podsim[documents]", or {flag}report.html',
        )


def content(suffix: str, report: "Callable[[], Handout]", document: AnswerDocument, cover: "Cover") -> str | bytes:
    """What a file with that suffix holds; `cover` stands on a document.

    Raises InputError where a picture is wanted of an answer without charts, or a document whose packages are not
    installed.
    """
    if suffix == ".json":
        return document.json()
    if suffix == ".csv":
        return document.csv()
    if suffix == ".parquet":
        return document.parquet()
    handout = evidence.with_record(report())
    if suffix in WRITERS:
        return _document(suffix, handout, cover)
    from podsim.report import figure

    drawings = figure.drawables(handout.blocks)
    if not drawings:
        raise InputError(
            "this answer is one of words and numbers: it has no chart",
            code="nothing-to-draw",
            hint="--out report.html, .pdf, .docx, .csv or .json",
        )
    return figure.picture(drawings, "svg" if suffix == ".svg" else "png")


def _document(suffix: str, handout: "Handout", cover: "Cover") -> str | bytes:
    """The handout as a document of that suffix."""
    module, function = WRITERS[suffix]
    content: str | bytes = getattr(import_module(f"podsim.report.{module}"), function)(handout, cover)
    return content
