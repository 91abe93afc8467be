"""Answers that were saved with `--json`."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError
from podsim.files import inputs
from podsim.files.faults import printable, shown

MOST_BYTES: Final = 2**28
_SCHEMA: Final = re.compile(r"podsim\.([a-z-]+)/(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Saved:
    """One saved answer: what it is ("prediction"), the version of its schema, and all of it."""

    name: str
    what: str
    schema: str
    body: dict[str, Any]

    @property
    def inputs(self) -> dict[str, Any]:
        """What it rests on; {} where it does not say."""
        found = self.body.get("inputs")
        return found if isinstance(found, dict) else {}

    def part(self, key: str) -> dict[str, Any]:
        """A table of what it rests on; {} where it has none."""
        found = self.inputs.get(key)
        return found if isinstance(found, dict) else {}


def read(path: Path) -> Saved:
    """The answer that a file holds; InputError where it cannot be read or is no document of podsim's."""
    name = printable(path.name)
    try:
        with path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
    except FileNotFoundError:
        raise InputError(f"there is no file {printable(str(path))}", code="no-such-file") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{name} cannot be read: {reason}", code="bad-saved-answer") from None
    body = _body(raw, name)
    inputs.read("saved", name, raw.decode("utf-8-sig"))
    schema = body.get("schema")
    match = _SCHEMA.fullmatch(schema) if isinstance(schema, str) else None
    if match is None:
        raise InputError(
            f"{name} is JSON, but no answer of podsim's: schema is {shown(schema)}", code="bad-saved-answer",
            hint="podsim predict … --json > old.json",
        )  # fmt: skip
    return Saved(name=name, what=match[1], schema=str(schema), body=body)


def _body(raw: bytes, name: str) -> dict[str, Any]:
    hint = "podsim predict … --json > old.json"
    if len(raw) > MOST_BYTES:
        raise InputError(f"{name} is larger than any answer of podsim's", code="bad-saved-answer")
    try:
        body = json.loads(raw.decode("utf-8-sig"))
    except (UnicodeDecodeError, RecursionError, ValueError) as error:
        raise InputError(f"{name} is not JSON", code="bad-saved-answer", context=[str(error)], hint=hint) from None
    if not isinstance(body, dict):
        raise InputError(f"{name} is JSON, but no answer of podsim's", code="bad-saved-answer", hint=hint)
    return body
