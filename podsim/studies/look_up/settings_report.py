"""Which flags are set and where, as a document and as JSON."""

from collections.abc import Sequence
from dataclasses import dataclass

from podsim.report.doc import Block, Column, Doc, DocTable, Heading, Note, Tone


@dataclass(frozen=True, slots=True)
class Row:
    """One flag of one command: its values, where they come from, and what stands before it ("" where it holds)."""

    command: str
    flag: str
    values: tuple[str, ...]
    origin: str
    displaced_by: str


def line(row: Row) -> str:
    """One flag in a line: "predict --pod 64  podsim.toml:2"."""
    return f"{row.command} {row.flag} {' '.join(row.values)}  {row.origin}"


def _origin(row: Row) -> str:
    return f"{row.origin}, displaced by {row.displaced_by}" if row.displaced_by else row.origin


def document(rows: Sequence[Row], files: Sequence[str]) -> Doc:
    """The flags as a table, and the files that were read."""
    blocks: list[Block] = [Heading("Flags that are set, and where")]
    if rows:
        columns = (
            Column("Command"),
            Column("Flag"),
            Column("Value", wraps=True),
            Column("Origin", wraps=True),
        )
        table = tuple((row.command, row.flag, ", ".join(row.values), _origin(row)) for row in rows)
        blocks.append(DocTable(columns, table))
    else:
        blocks.append(Note("none: no variable and no podsim.toml sets any"))
    read = ", ".join(files) or "none"
    return Doc(
        (
            tuple(blocks),
            (
                Note(read, "files read", Tone.QUIET),
                Note("flag > variable > podsim.toml upward from here > the user's > default", "", Tone.QUIET),
            ),
        )
    )
