"""What a call in Python asks and reads, kept as the command line keeps it, so that both write the same document."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from podsim.files import find, inputs
from podsim.model.argument import Argument, ArgumentKind
from podsim.studies import arguments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

COMMANDS: Final[Mapping[str, str]] = {
    "mappings": "workload mappings",
    "explain_operators": "explain",
    "explain_measurements": "explain",
    "predict_comparator": "predict",
    "plan_mix": "plan",
    "trace_collective": "trace",
    "trace_diff": "trace",
    "calibrate_own": "calibrate",
}
"""Commands of another name than their verb."""
FLAGS: Final[Mapping[str, str]] = {"changes": "set", "faults": "fault"}
"""Flags of another name than their keyword."""
ARGUMENTS: Final[Mapping[str, Mapping[str, str]]] = {
    "mappings": {"workload": "name"},
    "collective": {"collective": "what"},
    "trace_collective": {"collective": "what"},
}
"""Arguments without a flag that have another name there, by verb."""
SWITCHES: Final = {"explain_operators": "ops", "explain_measurements": "measure"}
"""Flags of the command line that stand for a verb of their own."""
NO_QUESTION: Final = (ArgumentKind.CALLBACK, ArgumentKind.WARNING, ArgumentKind.ANSWER)
NAMED_FILES: Final = ("workload", "topology", "chip", "file", "name", "old", "new")


@contextmanager
def asking(verb: str, table: Mapping[str, Any]) -> Iterator[inputs.Ledger | None]:
    """Keep what a verb is asked and reads; None where somebody further out keeps it, as the command line does."""
    if inputs.current() is not None:
        yield None
        return
    with inputs.recording() as record:
        record.verb, record.question = COMMANDS.get(verb, verb), dict(table)
        names = {**FLAGS, **ARGUMENTS.get(verb, {})}
        flags = dict(sorted((names.get(name, name), value) for name, value in _given_flags(arguments(verb), table)))
        if verb in SWITCHES:
            flags[SWITCHES[verb]] = True
        record.named = frozenset(name for name in flags if name in NAMED_FILES and find.is_path(str(flags[name])))
        record.flags = {
            name: str(value).rpartition("/")[2] if name in record.named else value for name, value in flags.items()
        }
        yield record


def _given_flags(declared: Mapping[str, Argument], table: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Flags that are not at their default, in the types of JSON and by keyword."""
    for name, value in table.items():
        argument = declared.get(name)
        if argument is None or argument.kind in NO_QUESTION or value is None or value == argument.default:
            continue
        if argument.kind is ArgumentKind.CHANGES and isinstance(value, dict):
            yield name, [f"{path}={text}" for path, text in value.items()]
        else:
            yield name, list(value) if isinstance(value, tuple) else value
