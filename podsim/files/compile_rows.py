"""`calibration/compile-times.csv`: what is compiled or loaded in each published time before a first step."""

from collections.abc import Iterator
from typing import Final

from podsim.files import csv_rows, find
from podsim.files.applications import applications
from podsim.files.file_faults import Fault, error_of, value_text
from podsim.files.locate import Path as Place
from podsim.model.framework import OTHER_NAMES
from podsim.model.microbenchmark import Microbenchmark
from podsim.model.wall_clock import StartRow
from podsim.units import decimal, whole

WHAT: Final = "compile-rows"
NAME: Final = "compile-times.csv"
HEADER: Final = (
    "row",
    "what",
    "family",
    "network",
    "workload",
    "layers",
    "mode",
    "compiled_on",
    "programs",
    "more_s",
    "left_out",
    "note",
)
KINDS: Final = ("compile", "weights", "load")
MODES: Final = ("train", "infer")
MINUTE_S: Final = 60.0


def rows() -> tuple[StartRow, ...]:
    """The published times with what each covers, in the order of the file; InputError with every fault of it."""
    measured = {row.id: row for row in applications()}
    result, wrong = [], list[Fault]()
    places: dict[Place, int] = {}
    for line, cells in csv_rows.rows(find.data_folder("calibration") / NAME, HEADER, WHAT):
        places[f"line {line}",] = line
        errors = list(_faults(cells, measured))
        wrong += [Fault((f"line {line}", key), message) for key, message in errors]
        if not errors:
            result.append(_row(cells, measured[cells["row"]]))
    if wrong:
        raise error_of(WHAT, NAME, wrong, places)
    return tuple(result)


def _faults(cells: dict[str, str], measured: dict[str, Microbenchmark]) -> Iterator[tuple[str, str]]:
    if cells["row"] not in measured:
        yield "row", f"{value_text(cells['row'])} is no row of applications.csv"
    if cells["what"] not in KINDS:
        yield "what", f"{value_text(cells['what'])} is none of {', '.join(KINDS)}"
    if cells["mode"] not in MODES:
        yield "mode", f"{value_text(cells['mode'])} is none of {', '.join(MODES)}"
    for key in ("family", "network"):
        if not cells[key]:
            yield key, "is missing"
    if not (cells["workload"] or cells["left_out"]):
        yield "workload", "is missing"
    for key in ("compiled_on", "programs", *(("layers",) if cells["layers"] else ())):
        if not whole(cells[key]):
            yield key, f"{value_text(cells[key])} is no whole number above 0"
    more_s = decimal(cells["more_s"])
    if more_s is None or more_s < 0:
        yield "more_s", f"{value_text(cells['more_s'])} is no number of seconds"


def _row(cells: dict[str, str], measured: Microbenchmark) -> StartRow:
    framework = measured.shape.get("framework", "")
    return StartRow(
        id=measured.id,
        what=cells["what"],
        family=cells["family"],
        network=cells["network"],
        workload=cells["workload"],
        framework=OTHER_NAMES.get(framework, framework),
        layers=whole(cells["layers"]) if cells["layers"] else None,
        trains=cells["mode"] == "train",
        compiled_on=whole(cells["compiled_on"]) or 1,
        programs=whole(cells["programs"]) or 1,
        seconds=measured.value * (MINUTE_S if measured.unit == "min" else 1.0) + (decimal(cells["more_s"]) or 0.0),
        left_out=cells["left_out"],
    )
