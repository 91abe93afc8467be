"""An answer as a file: page, picture, table or JSON, by the suffix of its name."""

import shlex
import sys
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, cast

from cyclopts import Parameter

from podsim.cli.console import later, look, put
from podsim.cli.options import OUTPUT, OutputFlags
from podsim.errors import InputError, NotWritten
from podsim.files import write
from podsim.files.contents import is_folder
from podsim.report import answer_file
from podsim.report.answer_formats import AnswerDocument
from podsim.report.handout import Cover
from podsim.studies import documents, notebook

if TYPE_CHECKING:
    from podsim.report.handout import Handout

T = TypeVar("T")
COMMAND: ContextVar[tuple[str, ...]] = ContextVar("COMMAND", default=())  # the words of the command line that runs


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class CoverFlags:
    """What stands on a document to hand over."""

    title: Annotated[str, Parameter(group=OUTPUT, show_default=False)] = ""
    "Title of the document (.html, .pdf, .docx or .pptx)."

    customer: Annotated[str, Parameter(group=OUTPUT, show_default=False)] = ""
    "Whom the document is for."

    date: Annotated[str, Parameter(group=OUTPUT, show_default=False)] = ""
    "Date on the document, as written here; none without it, so that the same question makes the same file."

    author: Annotated[str, Parameter(group=OUTPUT, show_default=False)] = ""
    "Who hands the document over."

    @property
    def first_flag(self) -> str:
        """The first of these flags on the command line; "" without any. One that a settings file sets is none."""
        words = {word.partition("=")[0] for word in COMMAND.get()}
        return next((flag for item in fields(CoverFlags) if (flag := f"--{item.name}") in words), "")

    @property
    def cover(self) -> Cover:
        """What a document says of itself."""
        command = shlex.join(["podsim", *COMMAND.get()])
        return Cover(title=self.title, customer=self.customer, date=self.date, author=self.author, command=command)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True, slots=True)
class ReportFlags(CoverFlags):
    """Where else the answer goes."""

    out: Annotated[str | None, Parameter(group=OUTPUT, name=("--out", "-o"), metavar="FILE")] = None
    "Output file: document, chart, table or JSON by suffix: .html, .pdf, .docx, .pptx, .svg, .png, .csv or .json."

    def check(self, also: tuple[str, ...] = ()) -> None:
        """Raise InputError, before anything is computed, where the file cannot be what it is to be.

        So it does where a flag of a document is given and none is written. `also` are suffixes that this command knows
        beside those that all do.
        """
        if self.out is not None:
            answer_file.check(Path(self.out), also)
        if self.first_flag and (self.out is None or Path(self.out).suffix.lower() not in answer_file.WRITERS):
            raise InputError(
                f"{self.first_flag} is printed on a document, and this command writes none",
                code="conflicting-flags",
                hint=f"add -o answer.html, or omit {self.first_flag}",
            )
        if self.out is None:
            return
        path = Path(self.out)
        if is_folder(path) or not is_folder(path.parent):
            why = "it is a folder" if is_folder(path) else f"there is no folder {path.parent}"
            name = f"{path / 'answer.html'}" if is_folder(path) else path.name
            raise InputError(f"cannot write {self.out}: {why}", code="cannot-write", hint=f"--out {shlex.quote(name)}")
        write.check_writable(path)


def answer_then_raise(ask: Callable[[], T]) -> T:
    """The answer of a verb that writes files; where one could not be written, the error follows the answer."""
    try:
        return ask()
    except NotWritten as error:
        later(error)
        return cast("T", error.answer)


ANY_COVER, ANY_REPORT = CoverFlags(), ReportFlags()


def save(
    flags: ReportFlags,
    output: OutputFlags,
    *,
    report: "Callable[[], Handout]",
    document: AnswerDocument,
) -> None:
    """Write the answer where `--out` says, if it does, and say so on stderr.

    Raises InputError where the file cannot be written, or a picture is wanted of an answer without charts; what it held
    before is then still there.
    """
    if flags.out is None:
        return
    path = Path(flags.out)
    write.write_atomic(path, answer_file.content(path.suffix.lower(), report, document, flags.cover))
    if not output.quiet:
        put(look(sys.stderr, output.color).clean(f"wrote {flags.out}") + "\n", sys.stderr)


def save_answer(flags: ReportFlags, output: OutputFlags, answer: object, question: "dict[str, Any] | None") -> None:
    """Write the answer of a study where `--out` says, its page with the sources that the question names.

    Raises InputError as `save` does.
    """
    save(flags, output, report=lambda: notebook.page(answer, question), document=documents.answer_document(answer))
