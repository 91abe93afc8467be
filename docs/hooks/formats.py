"""Pages of the file formats, `docs/reference/formats/KIND.md`, made of the classes that files fill."""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Any, Final, Literal, get_args, get_origin

from file_kinds import ELSEWHERE, KINDS, REQUIRED, ROOT, WHOLE_TABLE, Key, Place, classes, inner, keys, meanings, owner

from podsim.files.keys import bare, is_array_of_tables, member, unit_of
from podsim.files.load import SCHEMAS
from podsim.model.note import AnswerNote

FOLDER: Final = ROOT / "docs" / "reference" / "formats"
MADE: Final = "<!-- Written by `make schemas` from the classes that read such files and docs/keys/{kind}.toml. -->"
HEAD: Final = "| key | meaning | type | unit | range | default |\n|---|---|---|---|---|---|"


def documents() -> dict[str, str]:
    """The text of each page by the name of its file."""
    return {f"{kind}.md": page(kind) for kind in KINDS}


def page(kind: str) -> str:
    """The page of one kind of file."""
    stated = meanings(kind)
    parts = [MADE.format(kind=kind), f"# {SCHEMAS[kind]}", stated.text, _schema_note(kind)]
    for cls, places in classes(KINDS[kind]).items():
        if owner(cls) != kind:
            continue
        parts.append(f"## {', '.join(dict.fromkeys(heading(kind, place) for place in places))} {{#{anchor(cls)}}}")
        parts += [text.strip() for text in [stated.about.get(cls.__name__, "")] if text]
        parts.append("\n".join([HEAD, *(row(kind, cls, key) for key in keys(cls))]))
        parts += [text.strip() for text in [stated.after.get(cls.__name__, "")] if text]
    return "\n\n".join(parts) + "\n"


def kinds() -> str:
    """A table of all kinds of files, for the page that says what they have in common."""
    lines = [f"| [{SCHEMAS[kind]}](formats/{kind}.md) | {_first_sentence(kind)} |" for kind in KINDS]
    return "\n".join(["| kind | what it is |", "|---|---|", *lines])


def _first_sentence(kind: str) -> str:
    """The first sentence about a kind, without links, whose targets are those of its own page."""
    text = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", " ".join(meanings(kind).text.split()))
    return re.split(r"(?<=[.:]) (?=[A-Z])", text)[0].rstrip(":")


def _schema_note(kind: str) -> str:
    place = f"podsim/schemas/inputs/{kind}.json"
    if kind in WHOLE_TABLE:
        return f"The file needs no `schema`. Its JSON Schema is `{place}`."
    return f'The file begins with `schema = "{SCHEMAS[kind]}"`. Its JSON Schema is `{place}`.'


def anchor(cls: type) -> str:
    """What the heading of a class is linked by."""
    return cls.__name__.lower()


def heading(kind: str, place: Place) -> str:
    """A table as a file writes it: `[amp]`, `[[level]]`, `[link.NAME]`."""
    if not place.path:
        return "`[NAME]`" if kind in WHOLE_TABLE else "The file"
    name = ".".join(place.path) + ".NAME" * _named(place.annotated)
    return f"`[[{name}]]`" if is_array_of_tables(bare(place.annotated)[0]) else f"`[{name}]`"


def _named(annotated: Any) -> int:
    """How many keys of its own choice a file writes before the table: of `[samples.WORKLOAD.OPTIMIZER]` two."""
    kind = bare(annotated)[0]
    return 1 + _named(member(kind)) if get_origin(kind) is Mapping else 0


def row(kind: str, cls: type, key: Key) -> str:
    """The line of a key."""
    if (cls.__name__, key.name) in ELSEWHERE:
        cells = [f"{ELSEWHERE[cls.__name__, key.name]}: {key.meaning}", "text", "", "", "required"]
    else:
        annotated = key.entry.annotated
        cells = [key.meaning, words(kind, annotated), unit(annotated), bounds(annotated), default(key.default)]
    return "| " + " | ".join([f"`{key.name}`", *cells]) + " |"


def words(kind: str, annotated: Any) -> str:
    """What stands at a key."""
    here = bare(annotated)[0]
    if get_origin(here) is tuple:
        return f"array of {words(kind, member(here))}"
    if get_origin(here) is Mapping:
        return f"table of {words(kind, member(here))}"
    if cls := inner(annotated):
        home = owner(cls)
        return f"[table]({'' if home == kind else home + '.md'}#{anchor(cls)})"
    choices = get_args(here) if get_origin(here) is Literal else here if issubclass(here, StrEnum) else ()
    if choices:
        return "one of " + ", ".join(f"`{choice}`" for choice in choices)
    carried = unit_of(annotated)
    if carried and carried.symbol:
        return "quantity"
    return {str: "text", AnswerNote: "text", bool: "true or false", int: "whole number", float: "number"}[here]


def unit(annotated: Any) -> str:
    """The unit that a quantity is kept in; a file may write any of its kind."""
    here = bare(annotated)[0]
    if get_origin(here) in (tuple, Mapping):
        return unit(member(here))
    carried = unit_of(annotated)
    return carried.symbol if carried else ""


def bounds(annotated: Any) -> str:
    """The values that are taken."""
    here = bare(annotated)[0]
    if get_origin(here) in (tuple, Mapping):
        return bounds(member(here))
    carried = unit_of(annotated)
    if not carried:
        return ""
    return ("≥ 1" if here is int else "> 0") if carried.positive else "≥ 0"


def default(value: Any) -> str:
    """What holds where a key is left out."""
    if value is REQUIRED:
        return "required"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, StrEnum):
        return f"`{value}`"
    return f"`{value}`" if isinstance(value, int | float) or (isinstance(value, str) and value) else "none"
