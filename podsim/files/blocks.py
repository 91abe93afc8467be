"""Training blocks of single published runs from `calibration/blocks.csv`, and what noise they bound."""

import csv
from dataclasses import fields
from pathlib import Path
from typing import Final

from podsim.errors import InputError, MissingParameter
from podsim.files import find, inputs
from podsim.files.contents import is_there, text_of
from podsim.files.file_faults import Fault, error_of, value_text
from podsim.files.locate import Path as Place
from podsim.model.calibration import RunBlocks
from podsim.units import decimal, whole

HEADER: Final = tuple(field.name for field in fields(RunBlocks))


def published_blocks() -> tuple[RunBlocks, ...]:
    """The blocks of every published run, in the order of the file; MissingParameter where there is no such file."""
    path = find.data_folder("calibration") / "blocks.csv"
    if not is_there(path):
        raise MissingParameter(f"there are no training blocks: no {path.name}", hint="calibration/README.md")
    return read(path)


def read(path: Path) -> tuple[RunBlocks, ...]:
    """The runs of one file; InputError with every fault of it."""
    text = text_of(path, "bad-blocks-file")
    try:
        rows = list(csv.reader(text.splitlines(), strict=True))
    except csv.Error as error:
        raise InputError(f"{path.name} cannot be read: {error}", code="bad-blocks-file") from None
    inputs.read("blocks", path.name, text)
    if not rows or tuple(rows[0]) != HEADER:
        raise InputError(
            f"{path.name} begins with other columns", code="bad-blocks-file", context=[f"wanted: {', '.join(HEADER)}"]
        )
    blocks, faults = [], []
    places: dict[Place, int] = {}
    for line, cells in enumerate(rows[1:], start=2):
        places[f"line {line}",] = line
        try:
            blocks.append(_run(cells))
        except ValueError as error:
            faults.append(Fault((f"line {line}",), str(error)))
    if faults:
        raise error_of("blocks", path.name, faults, places)
    return tuple(blocks)


def _run(cells: list[str]) -> RunBlocks:
    if len(cells) != len(HEADER):
        raise ValueError(f"has {len(cells)} cells, not {len(HEADER)}")
    row = dict(zip(HEADER, cells, strict=True))
    return RunBlocks(
        point=row["point"],
        run=_run_number(row["run"]),
        init_s=_seconds(row["init_s"]),
        blocks_s=tuple(_seconds(text) for text in row["blocks_s"].split(";")),
        source=row["source"],
        locator=row["locator"],
    )


def _run_number(text: str) -> int:
    number = whole(text)
    if number is None:
        raise ValueError(f"run is {value_text(text)}, not a whole number")
    return number


def _seconds(text: str) -> float:
    value = decimal(text)
    if value is None or value <= 0:
        raise ValueError(f"{value_text(text)} is not a number of seconds above 0")
    return value
