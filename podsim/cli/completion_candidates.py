"""What may follow on a command line: `podsim --complete`, which a shell asks at every press of the tabulator key.

The words of commands and flags are read from `words.json`; building the parser would take three times as long.
"""

import json
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from podsim.files import find
from podsim.files.contents import text_of
from podsim.model.limits import FILE_BYTES

FILES: Final = "files"
POWERS: Final = range(2, 13)
"""Pods that are offered have 4 to 4,096 IPUs; any other power of two has a name too."""
_TABLE: Final = Path(__file__).with_name("words.json")


def page(words: Sequence[str]) -> str:
    """The candidates for the last word after the others, a line each; "" where the shell should offer files."""
    *before, last = words or ("",)
    flag, equals, value = last.partition("=")
    if equals and flag.startswith("--"):
        matches = [f"{flag}={name}" for name in _after([*before, flag]) if name.startswith(value)]
    else:
        head, comma, tail = last.rpartition(",")
        matches = [f"{head}{comma}{name}" for name in _after(before, last) if name.startswith(tail)]
    return "".join(f"{name}\n" for name in matches)


def _after(before: Sequence[str], last: str = "") -> Sequence[str]:
    """What may follow some words, where a beginning is there already."""
    table = _table()
    path, place, flag = "", 0, ""
    for word in before:
        entry = table[path]
        if flag:
            flag = ""
        elif word.startswith("-"):
            flag = word if entry["flags"].get(word) is not None else ""
        elif word in entry["commands"]:
            path = f"{path} {word}".strip()
        else:
            place += 1
    entry = table[path]
    if flag:
        return _values(entry["flags"][flag])
    if last.startswith("-"):
        return sorted(entry["flags"])
    places = entry["places"]
    return [*entry["commands"], *(_values(places[min(place, len(places) - 1)]) if places else ())]


def command_entry(words: Sequence[str]) -> tuple[Sequence[str], Mapping[str, Any]]:
    """The words that name a command, and its `flags`, `places` and `commands`; no words where they name none."""
    table, path = _table(), list[str]()
    for word in words:
        if word not in table[" ".join(path)]["commands"]:
            break
        path.append(word)
    return path, table[" ".join(path)]


def _table() -> Mapping[str, Any]:
    table: Mapping[str, Any] = json.loads(_text(_TABLE))
    return table


def _values(kind: object) -> Sequence[str]:
    """The choices of a flag, or the names that it takes; none where the shell should offer files, or nothing."""
    if isinstance(kind, list):
        return kind
    return names(str(kind)) if kind and kind != FILES else ()


def names(kind: str) -> Sequence[str]:
    """Names of files of a kind, with what stands in them where they hold several; none is read in full."""
    if kind == "samplers":
        return sorted(path.stem for path in (find.data_folder("calibration") / "samplers").glob("*.toml"))
    if kind == "comparators":
        return _texts("comparators/*.toml", "machine", "name")
    if kind == "topologies":
        pods = [f"{prefix}{1 << power}" for prefix in _texts("family.toml", "family", "prefix") for power in POWERS]
        return [*dict.fromkeys((*find.names("topologies"), *pods, *_texts("comparators/*.toml", "machine", "name")))]
    if kind == "workloads":
        phases = (path.stem for path in find.folders("workloads")[-1].glob("phases/*.toml"))
        return [*find.names("workloads"), *sorted(phases)]
    return find.names("chips")


def _texts(pattern: str, array: str, key: str) -> list[str]:
    """A text of each table in an array of the shipped files, without a look at anything else in them."""
    texts = [_text(path) for path in sorted(find.data_folder("topologies").glob(pattern))]
    return [str(table[key]) for text in texts for table in tomllib.loads(text)[array]]


def _text(path: Path) -> str:
    return text_of(path, "bad-input-file", FILE_BYTES)
