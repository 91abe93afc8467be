"""One file to one value of the model: all faults at once, with line numbers and provenance."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from podsim.caches.tables import TABLES, Table
from podsim.files.file_faults import Fault
from podsim.files.find import own_name
from podsim.files.load import LoadedFile, load
from podsim.files.provenance import unwrap
from podsim.model.displayable import Displayable
from podsim.model.quantity import Provenance, SourceKind

T = TypeVar("T")
Rule = Callable[[Any, Mapping[str, Any]], Iterable[Fault]]
"""What one object cannot know: faults of a value (None where it has others) and its bare tables."""
MOST_KNOWN: Final = 64
"""Files whose values stay in memory: every prediction reads a dozen, most of them the same each time."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Document(Displayable, Generic[T]):
    """A value with the file it came from, the provenance of its numbers by dotted path, and what to warn of.

    `tables` is what the file says without provenance, with the files it extends: what `--set` changes. `changed` are
    the paths at which `--set` put another value than was there.
    """

    value: T
    path: str
    text: str
    tables: Mapping[str, Any]
    provenance: Mapping[str, Provenance]
    warnings: tuple[str, ...] = ()
    changed: frozenset[str] = frozenset()

    def __repr__(self) -> str:
        """What it is, its name and its file: of the value itself each number would be listed."""
        name = getattr(self.value, "name", "")
        return f"Document({' '.join(filter(None, (type(self.value).__name__, name)))} of {Path(self.path).name})"

    @property
    def assumed_paths(self) -> frozenset[str]:
        """Paths of numbers without a published source: those that are assumed, and those that the user gave."""
        unpublished_kinds = SourceKind.ASSUMED, SourceKind.GIVEN
        return frozenset(path for path, item in self.provenance.items() if item.kind in unpublished_kinds)


def no_rule(_value: object, _tables: Mapping[str, Any]) -> Iterable[Fault]:
    """Nothing to check over a whole file."""
    return ()


def read(path: Path, cls: type[T], what: str, rule: Rule = no_rule, *, alone: bool = True) -> Document[T]:
    """The `cls` that the `what` file `path` describes; not `alone` where the rule looks at other files.

    Raises InputError with every fault of the file.
    """
    return document(load(path, what), cls, rule, alone=alone)


_DOCUMENTS: Final = TABLES.add("documents", Table[object, tuple[Mapping[str, Any], Document[Any]]](MOST_KNOWN))


def document(file: LoadedFile, cls: type[T], rule: Rule = no_rule, *, alone: bool = True) -> Document[T]:
    """The `cls` that a loaded file describes; what was read before from the same text is not read again.

    Unless the rule looks at other files, which may have changed: the file then does not stand `alone`.
    """
    if not alone:
        return _read(file, cls, rule)
    key = file.path, file.what, file.text, cls, rule
    tables, document = _DOCUMENTS.get(key, ({}, None))
    if document is None or tables != file.tables:  # some callers change tables first
        document = _read(file, cls, rule)
        _DOCUMENTS.keep(key, (file.tables, document))
    return document


def _read(file: LoadedFile, cls: type[T], rule: Rule) -> Document[T]:
    bare_tables = unwrap(file.tables, cls, own_name(file.path))
    value, faults = structure(bare_tables.tables, cls, rule)
    if value is None or bare_tables.faults:
        raise file.error(*bare_tables.faults, *faults)
    return Document(
        value=value,
        path=str(file.path),
        text=file.text,
        tables=bare_tables.tables,
        provenance=bare_tables.provenance,
    )


def structure(tables: Mapping[str, Any], cls: type[T], rule: Rule) -> tuple[T | None, list[Fault]]:
    """The value of bare tables where they and the rule find no fault, else the faults."""
    value, faults = of_tables(tables, cls)
    faults = [*faults, *rule(value, tables)]
    return (None if faults else value), faults


def of_tables(tables: Mapping[str, Any], cls: type[T]) -> tuple[T | None, list[Fault]]:
    """The value of bare tables, or their faults; what structures them is loaded with the first file: help has none."""
    from podsim.files.structure import structure

    return structure(tables, cls)
