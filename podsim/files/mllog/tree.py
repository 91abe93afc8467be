"""A folder of any layout to everything its logs and system descriptions say."""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from podsim.errors import InputError
from podsim.files.contents import is_folder, is_plain, open_file
from podsim.files.file_faults import printable
from podsim.files.mllog.events import events
from podsim.files.mllog.lines import READ_ERRORS, lines
from podsim.files.mllog.runs import runs
from podsim.model.mllog import LogRun, LogTree, Remark, SystemFile
from podsim.units import whole

MOST_JSON: Final = 2**20
"""Bytes of a system description; published ones have two thousand."""
MOST_CHIPS: Final = 10_000_000
"""Accelerators of a node, or nodes, that a system description may state."""
MOST_REMARKS: Final = 20
"""Remarks on one file; further ones are counted."""
_SDK: Final = re.compile(r"\bSDK[\s:v-]*(\d+\.\d+)", re.IGNORECASE)


def read(root: Path) -> LogTree:
    """Every log below a folder, or one log; InputError where there is none."""
    if not (is_plain(root) or is_folder(root)):
        raise InputError(
            f"there is no folder {root}", code="no-such-file", hint="docs/how-to/own-logs.md says how logs are laid out"
        )
    result: list[LogRun] = []
    systems: list[SystemFile] = []
    remarks: list[Remark] = []
    files = 0
    for path, why in _files(root):
        name = printable(path.name if path == root else path.relative_to(root).as_posix())
        if why:
            remarks.append(Remark(file=name, line=0, text=why))
            continue
        files += 1
        system = _system(path) if path.suffix == ".json" else None
        if system:
            systems.append(system)
        else:
            _log(path, name, result, remarks)
    if not files and not remarks:
        raise InputError(
            f"{root} holds no files", code="no-logs", hint="docs/how-to/own-logs.md says how logs are laid out"
        )
    if is_plain(root):
        remarks.insert(0, Remark(file=root.name, line=0, text="a file in place of a folder: read as the only log"))
    return LogTree(files=files, runs=_once(result, remarks), systems=tuple(systems), remarks=tuple(remarks))


def _files(root: Path) -> Iterator[tuple[Path, str]]:
    """Files in one order, each with why it is not to be read; links to folders are followed once."""
    if is_plain(root):
        yield root, ""
        return
    visited_folders: set[tuple[int, int]] = set()
    errors: list[OSError] = []
    for folder, inner, names in os.walk(root, followlinks=True, onerror=errors.append):
        yield from ((Path(str(error.filename)), f"cannot be read: {error.strerror}") for error in errors)
        errors.clear()
        state = Path(folder).stat()
        if (state.st_dev, state.st_ino) in visited_folders:
            inner.clear()
            yield Path(folder), "a link to a folder that is read already"
            continue
        visited_folders.add((state.st_dev, state.st_ino))
        inner.sort()
        for name in sorted(names):
            path = Path(folder, name)
            yield path, "" if is_plain(path) else "no plain file, or a link to nothing"
    yield from ((Path(str(error.filename)), f"cannot be read: {error.strerror}") for error in errors)


def _log(path: Path, name: str, result: list[LogRun], remarks: list[Remark]) -> None:
    details: list[Remark] = []
    count = 0

    def say(line: int, text: str) -> None:
        nonlocal count
        count += 1
        if count <= MOST_REMARKS:
            details.append(Remark(file=name, line=line, text=printable(text)))

    presence = _Presence()
    result += runs(presence.to(events(_readable(path, say), say)), name, say)
    if count > MOST_REMARKS:
        details.append(Remark(file=name, line=0, text=f"{count - MOST_REMARKS} more remarks on this file"))
    if not presence.any and not details:
        details.append(Remark(file=name, line=0, text="no :::MLLOG line, no result log"))
    elif not presence.starts and not details:
        details.append(Remark(file=name, line=0, text="no run_start, no run"))
    remarks += details


class _Presence:
    """Whether any event, and any run_start, came by."""

    def __init__(self) -> None:
        self.any = self.starts = False

    def to(self, stream: Iterator[Any]) -> Iterator[Any]:
        """The same stream."""
        for event in stream:
            self.any = True
            self.starts = self.starts or event.key == "run_start"
            yield event


def _readable(path: Path, say: Any) -> Iterator[Any]:
    """Lines up to where the file breaks."""
    number = 0
    try:
        for line in lines(path):
            number = line.number
            yield line
    except READ_ERRORS as error:
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        say(number, f"cannot be read further: {reason}")
    except ValueError as error:
        say(number, str(error))


def _once(result: list[LogRun], remarks: list[Remark]) -> tuple[LogRun, ...]:
    """Runs less copies: a log beside its own archive is one run."""
    unique_runs: dict[tuple[object, ...], LogRun] = {}
    for run in result:
        first = unique_runs.setdefault((run.platform, run.benchmark, run.began_ms, run.clock_s, run.seed), run)
        if first is not run:
            remarks.append(Remark(file=run.file, line=run.line, text=f"the same run as in {first.file}, counted once"))
    return tuple(unique_runs.values())


def _system(path: Path) -> SystemFile | None:
    """A system description as submissions file it; None for any other JSON."""
    try:
        with open_file(path) as file:
            table = json.loads(file.read(MOST_JSON))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(table, dict) or not isinstance(table.get("system_name"), str):
        return None
    software = f"{table.get('framework', '')} {table.get('other_software_stack', '')}"
    sdk = _SDK.search(software)
    return SystemFile(
        name=table["system_name"],
        chip=str(table.get("accelerator_model_name", "")),
        chips=_count(table.get("accelerators_per_node")) * _count(table.get("number_of_nodes", 1)),
        sdk=sdk[1] if sdk else "",
    )


def _count(value: object) -> int:
    """A count of up to `MOST_CHIPS`, also one written as text; 0 for anything else."""
    count = whole(value.strip()) if isinstance(value, str) else value
    if isinstance(count, bool) or not isinstance(count, int):
        return 0
    return count if 0 < count <= MOST_CHIPS else 0
