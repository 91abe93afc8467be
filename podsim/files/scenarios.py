"""Scenarios as files: the flags of one question in tables, for `podsim.read_scenario`."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from podsim.files.file_faults import Fault
from podsim.files.load import SCHEMAS, LoadedFile, load
from podsim.files.read import Document, document
from podsim.files.write import leaf_text, write_atomic
from podsim.model.arguments import FLAGS
from podsim.scenario import PART_OF, Scenario


def scenario(path: Path) -> Scenario:
    """The scenario that a file describes; InputError with every fault and its line."""
    return of_loaded(load(path, "scenario")).value


def of_loaded(file: LoadedFile) -> Document[Scenario]:
    """The scenario of a file that was read; InputError with every fault of the file."""
    return document(file, Scenario, faults)


def faults(_scenario: Scenario | None, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Values that the flags of the same names do not take."""
    for name, argument in FLAGS.items():
        part = PART_OF[name]
        table = tables.get(part, {}) if part else tables
        if not isinstance(table, Mapping) or name not in table:
            continue
        try:
            argument.check(table[name])
        except ValueError as error:
            yield Fault((part, name) if part else (name,), str(error))


def text(scenario: Scenario) -> str:
    """The scenario as TOML, without what is at its default; `scenario` reads the same back."""
    flags = scenario.flags()
    lines = [f'schema = "{SCHEMAS["scenario"]}"']
    for part in ("", *asdict(scenario)):
        own = [name for name in flags if PART_OF[name] == part]
        if part and own:
            lines += ["", f"[{part}]"]
        lines += [f"{name} = {_value(flags[name])}" for name in own]
    return "\n".join(lines) + "\n"


def write(scenario: Scenario, path: Path) -> None:
    """Write the file of a scenario; InputError where it cannot be written."""
    write_atomic(path, text(scenario))


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return f"[{', '.join(leaf_text(item) for item in value)}]"
    return leaf_text(value)
