"""Files to bare TOML tables, with one clear message where that cannot be done."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podsim.caches.tables import TABLES
from podsim.errors import InputError, did_you_mean
from podsim.files import inputs
from podsim.files.contents import text_of
from podsim.files.file_faults import Fault, error_of, path_text, printable, value_text
from podsim.files.locate import Path as Place
from podsim.files.locate import line_of, lines
from podsim.model.limits import ENTRIES, FILE_BYTES, KEY_PARTS

SCHEMAS: Final = {
    "chip": "podsim.chip/1",
    "topology": "podsim.topology/1",
    "family": "podsim.family/1",
    "fabric": "podsim.fabric/1",
    "workload": "podsim.workload/1",
    "convergence": "podsim.convergence/1",
    "points": "podsim.points/1",
    "parameters": "podsim.parameters/1",
    "frameworks": "podsim.frameworks/1",
    "compile-times": "podsim.compile_times/1",
    "sdk": "podsim.sdk/1",
    "frozen": "podsim.frozen/1",
    "noise": "podsim.noise/1",
    "failures": "podsim.failures/1",
    "sampler": "podsim.sampler/1",
    "comparator": "podsim.comparator/1",
    "laws": "podsim.laws/1",
    "claims": "podsim.claims/1",
    "readings": "podsim.readings/1",
    "mix": "podsim.mix/1",
    "inventory": "podsim.inventory/1",
    "phases": "podsim.phases/1",
    "losses": "podsim.losses/1",
    "prices": "podsim.prices/1",
    "sweep": "podsim.sweep/1",
    "configurations": "podsim.configurations/1",
    "tensor-parallel": "podsim.tensor_parallel/1",
    "scenario": "podsim.scenario/1",
    "sources": "podsim.sources/1",
}
_KINDS: Final = {schema: name for name, schema in SCHEMAS.items()}
_LONG_KEY: Final = re.compile(rf"""(?<![\w"'-])(?:(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*){{{KEY_PARTS}}}""")
_TOO_DEEP: Final = "is not TOML that podsim reads: it nests too deep"
_PLACE: Final = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadedFile:
    """One file as it is written: what it calls itself, its text, its tables without `schema`."""

    path: Path
    what: str
    text: str
    tables: dict[str, Any]

    def error(self, *faults: Fault) -> InputError:
        """All faults of the file as one error."""
        return error_of(self.what, self.path.name, faults, lines(self.text))


def load(path: Path, what: str = "") -> LoadedFile:
    """Read the file `path`, which has to be a `what` file if that is given.

    Raises InputError: the file cannot be read, is not UTF-8 or TOML, or its `schema` is missing or another one.
    """
    code = f"bad-{what or 'input'}-file"
    text = text_of(path, code, FILE_BYTES)
    if not text.strip():
        raise InputError(f"{path.name} is empty", code=code)
    tables = dict(tables_of(text, path.name, code))
    schema = tables.pop("schema", SCHEMAS["sources"] if what == "sources" else None)
    result = _KINDS.get(schema) if isinstance(schema, str) else None
    if not result or (what and result != what):
        fault = Fault(("schema",), _wrong_schema(schema, result, what))
        raise error_of(what or "input", path.name, [fault], lines(text))
    inputs.read(result, path.name, text)
    return LoadedFile(path=path, what=result, text=text, tables=tables)


def tables_of(text: str, name: str, code: str) -> Mapping[str, Any]:
    """The tables of a TOML text; InputError with the line where it is none."""
    try:
        return _parse(text)
    except _RefusedError as error:
        raise InputError(f"{name} {error}", code=code, context=error.context) from None


class _RefusedError(Exception):
    """What is wrong with a text, to follow the name of its file, and the line."""

    def __init__(self, message: str, *context: str) -> None:
        super().__init__(message)
        self.context = context


@TABLES.function("parsed files", 64)  # those that a machine extends are read again and again, and never changed
def _parse(text: str) -> Mapping[str, Any]:
    if long := _LONG_KEY.search(text):
        at = text.count("\n", 0, long.start()) + 1
        raise _RefusedError(_TOO_DEEP, f"{at}  a key of {KEY_PARTS} parts or more")
    try:
        tables = tomllib.loads(text)
    except RecursionError:
        raise _RefusedError(_TOO_DEEP) from None
    except ValueError as error:
        reason = str(error)
    else:
        _refuse_long(tables, text)
        return tables
    place = _PLACE.search(reason)
    line = place[1] if place and place[1] else str(text.rstrip("\n").count("\n") + 1)
    where = (
        f"line {line}, column {place[2]}" if place and place[2] else f"line {line}, the end of the file (cut short?)"
    )
    reason = printable(_PLACE.sub("", reason))
    raise _RefusedError(f"is not valid TOML: {where}: {reason[:1].lower()}{reason[1:]}")


def _refuse_long(tables: Mapping[str, Any], text: str) -> None:
    """Raise where an array or a table has more entries than any file needs, before anything is made of them."""
    waiting: list[tuple[Place, Any]] = [((), tables)]
    while waiting:
        place, here = waiting.pop()
        if excess := ENTRIES.excess(len(here)):
            at = line_of(lines(text, until=place), place)
            raise _RefusedError("is too long", f"{at}  {path_text(place) or 'the file'}: {excess}")
        members = here.items() if isinstance(here, dict) else enumerate(here)
        waiting += [((*place, key), inner) for key, inner in members if isinstance(inner, dict | list)]


def _wrong_schema(schema: object, text: str | None, what: str) -> str:
    target = f'"{SCHEMAS[what]}"' if what else "one of " + ", ".join(f'"{choice}"' for choice in SCHEMAS.values())
    if schema is None:
        return f"is missing; a {what or 'podsim'} file begins with schema = {target}"
    if text:
        return f'"{schema}" makes it a {text} file; a {what} file ({target}) is needed here'
    if not isinstance(schema, str):
        return f"must be a text, not {value_text(schema)}"
    return f"{value_text(schema)} is not known" + (did_you_mean(schema, SCHEMAS.values()) or f"; {target} is needed")


def text_field(file: LoadedFile, key: str) -> str | None:
    """Take the text at `key` out of the tables; InputError where it is something else."""
    value: Mapping[str, Any] | object = file.tables.pop(key, None)
    if value is not None and not isinstance(value, str):
        raise file.error(Fault((key,), f"must be a text, not {value_text(value)}"))
    return value
