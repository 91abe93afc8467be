"""What an answer is outside Python: a line, a table, a JSON document, a page, a file."""

from collections.abc import Mapping
from functools import singledispatch
from importlib import import_module
from os import PathLike
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

from podsim.errors import InputError

T = TypeVar("T")
LONGEST_LINE: Final = 300
"""Characters of the text by which Python shows an answer."""
_PLAIN: Final = (str, int, float, bool)


class Forms(Protocol):
    """How answers of one type look; the floor of views knows."""

    def line(self, answer: object) -> str:
        """The answer in a few words, "5.7 min (5.2 – 6.2)"."""

    def page(self, answer: object) -> str | None:
        """HTML for a notebook; None where there is no view."""

    def tree(self, answer: object) -> dict[str, Any]:
        """The JSON document, as Python has it."""

    def records(self, answer: object) -> list[dict[str, Any]]:
        """The table of the answer, a record a row."""

    def save(self, answer: object, path: Path, cover: Mapping[str, str]) -> None:
        """Write the answer to a file, by its suffix; `cover` has title, customer, date and author of a document."""


@singledispatch
def forms(answer: object) -> Forms | None:  # noqa: ARG001  (a view that is registered looks at it)
    """How an answer looks: `podsim.studies.notebook` registers it, so that no floor below knows views."""
    return None


class Writable:
    """What shows itself in a notebook, saves itself and is a table or a document."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """HTML for a notebook; None lets it fall back to text."""
        answer_forms = forms(self)
        return answer_forms.page(self) if answer_forms else None

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints, as Python has it."""
        return _forms_of(self).tree(self)

    def to_frame(self) -> Any:  # noqa: ANN401  (a pandas.DataFrame, where pandas is installed)
        """The table of the answer as a pandas.DataFrame, the rows and columns of its CSV file.

        Raises InputError, code `missing-package`, where pandas is not installed.
        """
        try:
            pandas = import_module("pandas")
        except ImportError:
            raise InputError(
                "a data frame needs pandas, which is not installed", code="missing-package", hint="pip install pandas"
            ) from None
        return pandas.DataFrame(_forms_of(self).records(self))

    def save(
        self, path: "str | PathLike[str]", *, title: str = "", customer: str = "", date: str = "", author: str = ""
    ) -> None:
        """Write the answer to a file by its suffix, as `-o` does: a document, a picture, a table or JSON.

        `title`, `customer`, `date` and `author` stand on the first page of a document. Raises InputError where the
        suffix is another, the file cannot be written, or `path` is no path.
        """
        if not isinstance(path, str | PathLike):
            raise InputError(
                f"save() takes a path, not {type(path).__name__}", code="bad-value", hint='answer.save("answer.html")'
            )
        cover = {"title": title, "customer": customer, "date": date, "author": author}
        _forms_of(self).save(self, Path(path), cover)


class Displayable(Writable):
    """An answer that shows, saves and spells itself."""

    __slots__ = ("_ledger",)

    def __repr__(self) -> str:
        """The answer in a line: what was asked and what came of it."""
        answer_forms = forms(self)
        return cut(f"{type(self).__name__}({_about(self)}{answer_forms.line(self) if answer_forms else _fields(self)})")


def _forms_of(answer: Writable) -> Forms:
    answer_forms = forms(answer)
    if answer_forms is None:
        raise InputError(f"a {type(answer).__name__} has no form outside Python", code="bad-value")
    return answer_forms


def _about(answer: object) -> str:
    """What was asked: "bert on pod64: ", as far as the answer has it."""
    workload, machine = (getattr(answer, name, None) for name in ("workload", "topology"))
    texts = [text for text in (workload, machine) if isinstance(text, str) and text]
    return f"{' on '.join(texts)}: " if texts else ""


def _fields(answer: object) -> str:
    """Plain fields of what no view is registered for."""
    names = getattr(type(answer), "__dataclass_fields__", {})
    values = ((name, getattr(answer, name)) for name in names)
    return ", ".join(f"{name}={value!r}" for name, value in values if isinstance(value, _PLAIN))


def cut(text: str) -> str:
    """A text on one line, of at most `LONGEST_LINE` characters."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 2]}…)"


class Listing(Writable, tuple[T, ...]):  # noqa: SLOT001  (a tuple has no room for the slot of its question)
    """Several things of one kind; Python shows how many and their names."""

    def __repr__(self) -> str:
        """Their number and names."""
        return cut(f"Listing({len(self)}: {', '.join(str(getattr(item, 'name', item)) for item in self)})")


class ByName(Writable, dict[str, T]):
    """Things by name; Python shows how many and their names."""

    __slots__ = ("_ledger",)

    def __repr__(self) -> str:
        """Their number and names."""
        return cut(f"ByName({len(self)}: {', '.join(self)})")


def ledger(answer: object) -> Any:  # noqa: ANN401  (a ledger of the floor of files)
    """What was read and asked for an answer; None where it was not recorded."""
    return getattr(answer, "_ledger", None)


def keep(answer: object, record: object) -> None:
    """Keep with an answer what was read and asked for it, unless it has one."""
    if isinstance(answer, Writable) and ledger(answer) is None:
        object.__setattr__(answer, "_ledger", record)
