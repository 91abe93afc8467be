"""What a structuring error says is wrong with a file, with fields under their file keys."""

from difflib import get_close_matches

from cattrs.errors import (
    AttributeValidationNote,
    BaseValidationError,
    ForbiddenExtraKeysError,
    IterableValidationNote,
)

from podsim.files.file_faults import MOST_SHOWN, NEW_NAMES, Fault
from podsim.files.keys import Entry, entries
from podsim.files.locate import Path
from podsim.files.provenance import DEFAULTS


def from_error(error: Exception, path: Path = ()) -> list[Fault]:
    """The faults of a structuring error, with fields under their file keys."""
    if not isinstance(error, BaseValidationError):
        return [_locate(error, path)]
    cls = error.cl if hasattr(error.cl, "__dataclass_fields__") else None
    if cls is None:
        return [fault for inner in error.exceptions for fault in from_error(inner, (*path, *_index(inner)))]
    return _of_class(error, cls, path)


def _of_class(error: BaseValidationError, cls: type, path: Path) -> list[Fault]:
    by_name = {entry.name: entry for entry in entries(cls).values()}
    missing: list[Entry] = []
    extra: set[str] = set()
    faults: list[Fault] = []
    for inner in error.exceptions:
        entry = by_name.get(_field(inner))
        if isinstance(inner, ForbiddenExtraKeysError):
            extra |= inner.extra_fields
        elif isinstance(inner, KeyError) and entry:
            missing.append(entry)
        else:
            faults += from_error(inner, (*path, entry.key) if entry else path)
    return faults + _key_faults(cls, path, missing, extra)


def _key_faults(cls: type, path: Path, missing: list[Entry], extra: set[str]) -> list[Fault]:
    """Unknown and missing keys; an unknown key near a missing one is one slip, and so one fault."""
    faults = []
    names = [entry.key for entry in missing]
    known_keys = dict.fromkeys((*entries(cls), *DEFAULTS))
    for key in sorted(extra)[:MOST_SHOWN]:
        now = NEW_NAMES.get(key, key)
        near = [now] if now in entries(cls) else get_close_matches(key, names, n=1)
        near = near or get_close_matches(key, known_keys, n=1)
        names = [name for name in names if name not in near]
        hint = f'; did you mean "{near[0]}"?' if near else f"; known here: {', '.join(known_keys)}"
        faults.append(Fault((*path, key), "unknown key" + hint))
    if len(extra) > MOST_SHOWN:
        faults += [Fault((*path, key), "unknown key") for key in sorted(extra)[MOST_SHOWN:]]
    return faults + [Fault((*path, key), "is missing") for key in names]


def _locate(error: Exception, path: Path) -> Fault:
    """A plain error; the "key: message" of a `__post_init__` points at its key."""
    text = str(error)
    key, colon, rest = text.partition(": ")
    if colon and not getattr(error, "__notes__", ()) and all(part.isidentifier() for part in key.split(".")):
        return Fault((*path, *key.split(".")), rest)
    return Fault(path, text)


def _field(error: Exception) -> str:
    notes = (note.name for note in getattr(error, "__notes__", ()) if isinstance(note, AttributeValidationNote))
    return next(notes, "")


def _index(error: Exception) -> Path:
    notes = (note.index for note in getattr(error, "__notes__", ()) if isinstance(note, IterableValidationNote))
    return tuple(notes)[:1]
