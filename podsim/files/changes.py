"""What-ifs: `--set PATH=VALUE` on numbers of a machine, a workload or the fitted parameters."""

import copy
import math
import shlex
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from podsim import units
from podsim.errors import InputError, did_you_mean, nearest
from podsim.files import inputs
from podsim.files.file_faults import NEW_NAMES, fault_count, printable
from podsim.files.keys import bare, entries, is_array_of_tables, is_table, is_text, member, unit_of
from podsim.files.locate import Path
from podsim.files.provenance import label
from podsim.files.read import Document, Rule, structure
from podsim.files.relative_changes import absolute, current_value, note, number_text
from podsim.model.calibration import ParameterSet
from podsim.model.quantity import Provenance, SourceKind

T = TypeVar("T")
Changes = Mapping[str, str] | Sequence[str]
MOST_LISTED: Final = 120
"""Paths that an error lists one by one."""
HOSTS_PATH: Final = "hosts.servers"
"""The path of the servers that feed a machine, which published runs of a workload state too."""
HOST_LINK: Final = ("gateway.host_bandwidth", "hosts.server_bandwidth")
"""Paths of the bandwidth between a host and a machine."""


@dataclass(frozen=True, slots=True)
class Change:
    """One value that a user puts in place of another."""

    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Leaf:
    """One value of a file that can be changed: its place and its type."""

    path: Path
    annotated: Any


def parse(changes: Changes) -> tuple[Change, ...]:
    """Changes from a mapping or from texts "PATH=VALUE"; InputError for what is neither, empty or set twice."""
    wrong: list[tuple[str, str]] = []
    result: dict[str, Change] = {}
    for path, text in _pairs(changes, wrong):
        if not path or not text:
            wrong.append((f"{path}={text}", "the path is empty" if not path else "the value is empty"))
        elif path in result:
            wrong.append((f"{path}={text}", f"set before, to {result[path].text}"))
        else:
            result[path] = Change(path, text)
    if wrong:
        raise _error(wrong, hint="for example --set gw-link.bandwidth='400 Gbit/s'")
    return tuple(result.values())


def _pairs(changes: Changes, wrong: list[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    if isinstance(changes, Mapping):
        yield from ((path.strip(), _unquote(str(text))) for path, text in changes.items())
        return
    for change in [changes] if isinstance(changes, str) else changes:
        path, equals, text = change.partition("=")
        if equals:
            yield path.strip(), _unquote(text)
        else:
            wrong.append((change, 'there is no "=" in it'))


def _unquote(text: str) -> str:
    text = text.strip()
    is_quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1].strip() if is_quoted else text


def _error(rows: Sequence[tuple[str, str]], *, more: Sequence[str] = (), hint: str = "") -> InputError:
    width = max(len(printable(change)) for change, _ in rows)
    context = [f"{printable(change):<{width}}  {printable(message)}" for change, message in rows]
    return InputError(f"--set has {fault_count(len(rows))}", code="bad-change", context=[*context, *more], hint=hint)


def settable(tables: Mapping[str, Any], cls: type, prefix: str = "") -> dict[str, Leaf]:
    """Every number and choice of bare tables by its path, also those the file leaves out."""
    leaves = _leaves(tables, cls, ())
    return {prefix + label(leaf.path, tables): leaf for leaf in leaves}


def _leaves(raw: Any, annotated_type: Any, path: Path) -> Iterator[Leaf]:
    kind = bare(annotated_type)[0]
    if is_array_of_tables(kind):
        for at, item in enumerate(raw or ()):
            yield from _leaves(item, member(kind), (*path, at))
    elif not is_table(kind):
        if not is_text(kind):
            yield Leaf(path, annotated_type)
    elif raw is not None:
        keys = {key: entry.annotated for key, entry in entries(kind).items()} if isinstance(kind, type) else {}
        for key, inner in (keys or dict.fromkeys(raw, member(kind))).items():
            yield from _leaves(raw.get(key), inner, (*path, key))


def _now(path: str) -> str:
    """A path with the keys of earlier releases by their names of now."""
    return ".".join(NEW_NAMES.get(part, part) for part in path.split("."))


def _near(path: str, paths: Sequence[str]) -> str:
    """What to set in place of an unknown path, "" where nothing is near."""
    of_link = [name for name in HOST_LINK if name in paths]
    if path.startswith("host-link.") and of_link:  # by spelling alone, the link between racks would be nearest
        return f"; the bandwidth of host links is {' and '.join(of_link)}"
    return did_you_mean(path, paths)


def refuse_unknown(strangers: Sequence[Change], paths: Iterable[str]) -> None:
    """Raise where there are changes of paths that do not exist, with what does."""
    paths = list(paths)
    if strangers:
        rows = [(change.path, f"unknown path{_near(_now(change.path), paths)}") for change in strangers]
        near, parent = _around(strangers[0].path, paths)
        nearest_path = nearest(_now(strangers[0].path), paths)
        text = strangers[0].text
        certain = len(strangers) == 1 and units.decimal(text) is None  # a bare number may lack the unit of another path
        hint = f"--set {shlex.quote(f'{nearest_path}={text}')}" if nearest_path and certain else ""
        raise _error(rows, more=[f"what can be set{parent and f' under {parent}'}: {'  '.join(near)}"], hint=hint)


def _around(path: str, paths: Sequence[str]) -> tuple[list[str], str]:
    """The known paths nearest to an unknown one, only beginnings of many, and what they all begin with, if anything."""
    parent = path
    while parent:
        parent = parent.rpartition(".")[0]
        near = [name for name in paths if name.startswith(f"{parent}." if parent else "")]
        if near:
            break
    if len(near) <= MOST_LISTED:
        return near, parent
    depth = parent.count(".") + 2 if parent else 1
    parts = [name.split(".") for name in near]
    return list(dict.fromkeys(".".join(part[:depth]) + (".…" if len(part) > depth else "") for part in parts)), parent


def apply(
    document: Document[T],
    cls: type[T],
    changes: Sequence[Change],
    rule: Rule,
    prefix: str = "",
    leaves: Mapping[str, Leaf] | None = None,
) -> Document[T]:
    """The document with changes, all of paths it has, checked exactly as values of a file are.

    `leaves` are those of its tables, where they are known.
    """
    if not changes:
        return document
    leaves = leaves or settable(document.tables, cls, prefix)
    tables = copy.deepcopy(dict(document.tables))
    provenance = dict(document.provenance)
    wrong: list[tuple[str, str]] = []
    hints: list[str] = []
    replacements: dict[str, tuple[str, str]] = {}
    for change in changes:
        leaf = leaves[change.path]
        unit, old = unit_of(leaf.annotated), current_value(document.tables, document.value, leaf.path)
        try:
            text = absolute(change.text, old, unit.symbol if unit else "")
        except ValueError as error:
            wrong.append((f"{change.path}={change.text}", str(error)))
            hints.append(_with_unit(change, unit.symbol if unit else "", old))
            continue
        if old is not None:
            replacements[change.path] = text, number_text(old)
        _put(tables, leaf.path, _value(text, leaf.annotated))
        path = change.path.removeprefix(prefix)
        provenance[path] = Provenance(
            path=path, text=text, kind=SourceKind.GIVEN, source="", note=note(change.text, old)
        )
    if wrong:
        raise _error(wrong, hint=hints[0] if len(wrong) == 1 else "")
    value, faults = structure(tables, cls, rule)
    if value is None:
        texts = {change.path: change.text for change in changes}
        rows = [_row(prefix + label(fault.path, tables), fault.message, texts) for fault in faults]
        likely = [flag for change in changes if (flag := _likely_flag(change, leaves, document))]
        raise _error(rows, hint=likely[0] if len(rows) == len(likely) == 1 else "")
    changed_paths = frozenset(
        change.path
        for change in changes
        if current_value(None, value, leaves[change.path].path)
        != current_value(None, document.value, leaves[change.path].path)
    )
    for path in sorted(changed_paths & replacements.keys()):
        inputs.record_change(path, *replacements[path])
    return replace(
        document, value=value, tables=tables, provenance=provenance, changed=document.changed | changed_paths
    )


def _likely_flag(change: Change, leaves: Mapping[str, Leaf], document: Document[Any]) -> str:
    """The flag that is probably meant by a change of a quantity; "" where it can be read, or none is likely."""
    leaf = leaves[change.path]
    unit = unit_of(leaf.annotated)
    old = current_value(document.tables, document.value, leaf.path)
    return _with_unit(change, unit.symbol, old) if unit and unit.symbol else ""


def _with_unit(change: Change, unit: str, old: object) -> str:
    """The flag with the unit that is probably meant, which may be that of the value before; "" where none is likely."""
    text = change.text.strip()
    if isinstance(old, str) and (units.decimal(text) or 0.0) > 0:
        instead = units.like(float(text), old)
    else:
        try:
            units.parse(text, unit)
        except ValueError as error:
            instead = getattr(error, "instead", "")
        else:
            return ""
    return f"--set {shlex.quote(f'{change.path}={instead}')}" if instead else ""


def of_prefix(document: Document[T], cls: type[T], changes: Changes, prefix: str, rule: Rule) -> Document[T]:
    """The document with those changes whose path begins with `prefix`; InputError for one of a path it has not."""
    mine = [change for change in parse(changes) if change.path.startswith(prefix)]
    leaves = settable(document.tables, cls, prefix)
    refuse_unknown([change for change in mine if change.path not in leaves], leaves)
    return apply(document, cls, mine, rule, prefix)


def _row(path: str, message: str, texts: Mapping[str, str]) -> tuple[str, str]:
    return (f"{path}={texts[path]}" if path in texts else path), message


def _put(tables: Any, path: Path, value: object) -> None:
    for part in path[:-1]:
        tables = tables[part]
    tables[path[-1]] = value


def _value(text: str, annotated_type: Any) -> Any:
    """The value as a file would hold it: a text where it has a unit or is a choice, else a number, truth or array."""
    unit = unit_of(annotated_type)
    if unit and unit.symbol:
        return text
    try:
        table = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        return text
    return table["value"] if list(table) == ["value"] and not issubclass(_class(annotated_type), str) else text


def _class(annotated_type: Any) -> type:
    kind = bare(annotated_type)[0]
    return kind if isinstance(kind, type) else object


def apply_to_parameters(parameters: ParameterSet, changes: Changes) -> ParameterSet:
    """The parameters with every change that names a fitted one, which keeps its relative error.

    Raises InputError: a value is not a number above 0.
    """
    fitted_parameters = dict(parameters.fitted)
    wrong = []
    for change in parse(changes):
        if change.path not in fitted_parameters:
            continue
        unit = fitted_parameters[change.path].unit
        try:
            text = absolute(change.text, fitted_parameters[change.path].value, unit)
        except ValueError as error:
            wrong.append((f"{change.path}={change.text}", str(error)))
            continue
        value = _number(text, unit)
        if value is None:
            example = f', or with its unit: "{fitted_parameters[change.path].value:g} {unit}"' if unit else ""
            text = f"this parameter must be a finite number above 0{example}"
            wrong.append((f"{change.path}={change.text}", text))
        elif value > 1 and change.path.endswith(".efficiency"):
            wrong.append((f"{change.path}={change.text}", "an efficiency is at most 1"))
        else:
            before = f"{fitted_parameters[change.path].value:.3g} {unit}".rstrip()
            if value != fitted_parameters[change.path].value:
                inputs.record_change(change.path, text, before)
            fitted_parameters[change.path] = replace(fitted_parameters[change.path], value=value)
    if wrong:
        raise _error(wrong)
    return replace(parameters, fitted=fitted_parameters)


def _number(text: str, unit: str) -> float | None:
    """A number as it stands, or a text with the unit that the parameter has; None where it is no such thing."""
    try:
        value = float(text)
    except ValueError:
        try:
            value = units.parse(text, unit)
        except ValueError:
            return None
    return value if math.isfinite(value) and value > 0 else None
