"""Answers that were saved with `--json`."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError
from podsim.files import inputs, saved_checks
from podsim.files.contents import text_of
from podsim.files.file_faults import MOST_SHOWN, Fault, fault_count, path_text, printable, value_text

HINT: Final = "podsim predict bert --pod 64 --json > old.json"
MOST_BYTES: Final = 2**28
MOST_DIGITS: Final = 300
"""Digits of a whole number, which has to fit a float."""
_SCHEMA: Final = re.compile(r"podsim\.([a-z_-]+)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedAnswer:
    """One saved answer: what it is ("prediction"), the version of its schema, and all of it."""

    name: str
    what: str
    schema: str
    body: dict[str, Any]

    @property
    def inputs(self) -> dict[str, Any]:
        """Its inputs; {} where it names none."""
        result = self.body.get("inputs")
        return result if isinstance(result, dict) else {}

    def part(self, key: str) -> dict[str, Any]:
        """A table of its inputs; {} where it has none."""
        result = self.inputs.get(key)
        return result if isinstance(result, dict) else {}


def read(path: Path) -> SavedAnswer:
    """The answer that a file holds; InputError where it cannot be read or is no document of podsim's."""
    name, body = table(path)
    schema = body.get("schema")
    match = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        raise InputError(
            f"{name} is JSON, but not a saved answer of podsim: {_schema_text(schema)}",
            code="bad-saved-answer",
            hint=HINT,
        )
    if match[2] == "1":  # keys of an earlier version may have been others
        _refuse(name, list(saved_checks.faults(body, match[1])))
    return SavedAnswer(name=name, what=match[1], schema=str(schema), body=body)


def table(path: Path, hint: str = HINT) -> tuple[str, dict[str, Any]]:
    """The name of a file and the table of JSON that it holds; InputError where it cannot be read or is none."""
    name = printable(path.name)
    text = text_of(path, "bad-saved-answer", MOST_BYTES)
    body = _body(text, name, hint)
    inputs.read("saved", name, text)
    return name, body


def _refuse(name: str, faults: Sequence[Fault]) -> None:
    """Raise one InputError with all faults of a file, under the keys that have them."""
    if faults:
        texts = list(dict.fromkeys(f"{path_text(fault.path) or 'the file'}: {fault.message}" for fault in faults))
        more = [f"and {len(texts) - MOST_SHOWN:,} more"] if len(texts) > MOST_SHOWN else []
        raise InputError(
            f"{name} was edited or is damaged: it has {fault_count(len(texts))}",
            code="bad-saved-answer",
            context=[*map(printable, texts[:MOST_SHOWN]), *more],
            hint=f"save it again: {HINT}",
        )


def _body(text: str, name: str, hint: str) -> dict[str, Any]:
    try:
        body = json.loads(text, parse_int=_whole, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_once)
    except RecursionError:
        raise InputError(f"{name} nests too deep", code="bad-saved-answer", hint=hint) from None
    except json.JSONDecodeError as error:
        raise InputError(f"{name} is not JSON", code="bad-saved-answer", context=[str(error)], hint=hint) from None
    except ValueError as error:
        raise InputError(
            f"{name} is not a saved answer of podsim: {error}", code="bad-saved-answer", hint=hint
        ) from None
    if not isinstance(body, dict):
        raise InputError(f"{name} is JSON, but not a saved answer of podsim", code="bad-saved-answer", hint=hint)
    return body


def _schema_text(schema: object) -> str:
    """What is wrong with the schema of a JSON file that is not an answer."""
    return "it has no schema" if schema is None else f"its schema is {value_text(schema)}"


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A table of JSON; ValueError where a key is there twice."""
    once: dict[str, Any] = {}
    for key, value in pairs:
        if key in once:
            raise ValueError(f"key {value_text(key)} is there twice")
        once[key] = value
    return once


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"it holds a whole number of {len(text):,} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"it holds {value_text(text)}, which is no finite number")
    return value
