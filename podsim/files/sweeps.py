"""Sweep files: a question with axes, checked as far as that needs no machine."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from podsim.errors import did_you_mean
from podsim.files.file_faults import Fault, unknown_choice
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document
from podsim.model.argument import Argument, ArgumentKind
from podsim.model.arguments import FLAGS as EVERY_FLAG
from podsim.model.sweep import Design, Spacing, SweepAxis, SweepFile
from podsim.units import split_unit

NAMES: Final = (
    "pod",
    "topology",
    "chip",
    "hosts",
    "preset",
    "replicas",
    "ipus_per_replica",
    "micro_batch",
    "accumulation",
    "global_batch",
    "schedule",
    "prefetch",
    "framework",
    "io_tiles",
    "overlap",
    "samples",
    "division",
    "sdk",
    "engine",
    "fidelity",
    "seed",
)
FLAGS: Final[Mapping[str, Argument]] = {name: EVERY_FLAG[name] for name in NAMES}
"""Flags that a sweep may fix or vary, by keyword; any other name with a dot is a path of `--set`."""
TRUTHS: Final = ("true", "false")


def _fault(flag: Argument, text: str) -> str:
    """What is wrong with the value of a flag, "" where nothing is."""
    choices = TRUTHS if flag.kind is ArgumentKind.SWITCH else flag.words
    if choices:
        return "" if text in choices else unknown_choice(text, choices)
    try:
        flag.parse(text)
    except ValueError as error:
        return str(error)
    return ""


def _is_whole(name: str) -> bool:
    return name in FLAGS and FLAGS[name].kind is ArgumentKind.WHOLE


def sweep(path: Path) -> Document[SweepFile]:
    """The sweep that a file describes; InputError with all its faults."""
    return of_file(load(path, "sweep"))


def of_file(file: LoadedFile) -> Document[SweepFile]:
    """The sweep that a loaded file describes."""
    return document(replace(file, tables=_texts(file.tables)), SweepFile, faults)


def _texts(tables: Mapping[str, Any]) -> dict[str, Any]:
    """Values as they would follow `--set PATH=`, and flags under their keywords, however the file writes them."""
    texts = dict(tables)
    if isinstance(texts.get("fixed"), dict):
        texts["fixed"] = {_keyword(name): _text(value) for name, value in _flat(texts["fixed"])}
    if isinstance(texts.get("axis"), list):
        texts["axis"] = [_axis(axis) if isinstance(axis, dict) else axis for axis in texts["axis"]]
    return texts


def _flat(table: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _axis(axis: Mapping[str, Any]) -> dict[str, Any]:
    table = {key: _text(value) if key in {"from", "to"} else value for key, value in axis.items()}
    if isinstance(table.get("name"), str):
        table["name"] = _keyword(table["name"])
    if isinstance(table.get("values"), list):
        table["values"] = [_text(value) for value in table["values"]]
    return table


def _keyword(name: str) -> str:
    keyword = name.replace("-", "_")
    return keyword if keyword in FLAGS else name


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else value


def faults(file: SweepFile | None, _tables: object) -> Iterator[Fault]:
    """What makes no sweep of a file whose parts are each right."""
    if file is None:
        return
    fixed_values = file.fixed or {}
    names = [axis.name for axis in file.axes]
    if not names:
        yield Fault(("axis",), "there is none, so nothing varies")
    for name, value in fixed_values.items():
        yield from _of_value(("fixed", name), name, (value,))
    for at, axis in enumerate(file.axes):
        if axis.name in fixed_values or axis.name in names[:at]:
            yield Fault(
                ("axis", at, "name"), f"{axis.name} is {'fixed' if axis.name in fixed_values else 'there twice'}"
            )
        yield from _of_axis(axis, at, file.design)
    if len({"pod", "topology"} & {*fixed_values, *names}) != 1:
        yield Fault(("fixed",), 'one of "pod" and "topology" is needed, here or as an axis')
    if (file.points is None) != (file.design is Design.GRID):
        yield Fault(("points",), "a grid has as many as its axes give" if file.points else "is missing: how many")


def _of_value(path: tuple[str | int, ...], name: str, values: tuple[str, ...]) -> Iterator[Fault]:
    if name not in FLAGS:
        if "." not in name:
            yield Fault(path, "neither a flag nor a path of --set" + did_you_mean(name, FLAGS))
        return
    for wrong in filter(None, (_fault(FLAGS[name], value) for value in values)):
        yield Fault(path, wrong)


def _of_axis(axis: SweepAxis, at: int, design: Design) -> Iterator[Fault]:
    path = ("axis", at, "values")
    ends = (axis.first, axis.last)
    if axis.name not in FLAGS and "." not in axis.name:
        yield from _of_value(("axis", at, "name"), axis.name, ())
        return
    if axis.values:
        yield from _of_value(path, axis.name, axis.values)
        if any(end is not None for end in ends) or axis.count:
            yield Fault(path, '"values" or "from" and "to", not both')
        if len(set(axis.values)) < len(axis.values):
            yield Fault(path, "a value is there twice")
        return
    if axis.first is None or axis.last is None:
        yield Fault(path, 'no value: give a list of them, or "from" and "to"')
        return
    flag = FLAGS.get(axis.name)
    if flag and flag.kind not in (ArgumentKind.WHOLE, ArgumentKind.NUMBER):
        yield Fault(("axis", at, "from"), f'{axis.name} is no number: "values" lists what it takes')
        return
    yield from _of_value(path, axis.name, (axis.first, axis.last) if axis.whole else ())
    if (axis.count is None) != (design is not Design.GRID):
        why = "goes with a grid" if axis.count else "is missing: how many steps, ends included"
        yield Fault(("axis", at, "count"), why)
    yield from _of_ends(axis, at)


def _of_ends(axis: SweepAxis, at: int) -> Iterator[Fault]:
    assert axis.first is not None and axis.last is not None, "checked before"  # noqa: PT018
    try:
        (low, unit), (high, other) = split_unit(axis.first), split_unit(axis.last)
    except ValueError as error:
        yield Fault(("axis", at, "from"), str(error))
        return
    if unit != other:
        yield Fault(("axis", at, "to"), f"is in {other or 'no unit'}, the beginning in {unit or 'no unit'}")
    if not low < high:
        yield Fault(("axis", at, "to"), "must be above the beginning")
    if axis.spacing is Spacing.LOG and low <= 0:
        yield Fault(("axis", at, "from"), "must be above 0 where steps are equal factors")
    if _is_whole(axis.name) and not axis.whole:
        yield Fault(("axis", at, "whole"), f"{axis.name} takes whole numbers: whole = true")
