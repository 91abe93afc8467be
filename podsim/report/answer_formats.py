"""An answer as programs read it: JSON, CSV, Parquet, records."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from podsim.report import json_text, records

if TYPE_CHECKING:
    from collections.abc import Callable

    from podsim.report.json_document import JsonDocument
    from podsim.report.json_text import Tree
    from podsim.report.records import Plain


class AnswerDocument(NamedTuple):
    """An answer, or its parts by key, and the document that it is written as, which is loaded when it is."""

    document: Callable[[], JsonDocument]
    answer: object

    def tree(self) -> Tree:
        """What `--json` prints, as Python has it: dictionaries, lists, texts and numbers."""
        return json_text.tree(self.document(), self.answer)

    def json(self) -> str:
        """What `--json` prints."""
        return json_text.text(self.tree())

    def csv(self) -> str:
        """The table of the answer with one header line."""
        from podsim.report import csv_text

        return csv_text.text(self.records())

    def parquet(self) -> bytes:
        """The table of the answer under the same column names; InputError without pyarrow."""
        from podsim.report import parquet

        return parquet.content(self.records())

    def records(self) -> list[dict[str, Plain]]:
        """The table of the answer, a record a row."""
        return records.records(self.tree(), self.document().rows)
