"""Machine files: `chip` and `extends` resolved, then read as one."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from podsim.caches.tables import TABLES, Table
from podsim.errors import InputError
from podsim.files.contents import mentions, resolve_path
from podsim.files.file_faults import Fault, path_text, value_text
from podsim.files.file_rules import topology_faults
from podsim.files.find import Kind, files, find, names, own_name, unknown_name
from podsim.files.keys import entries
from podsim.files.load import LoadedFile, load
from podsim.files.merge import in_proportion, merge, own_index
from podsim.files.provenance import DEFAULTS, BareTables, unwrap
from podsim.files.read import Document, read, structure
from podsim.model.chip import Chip
from podsim.model.fabric import Topology
from podsim.model.quantity import Provenance

NOT_INHERITED: Final = ("name", "title")
OWN_KEYS: Final = ("extends", "aliases")  # of the file, not of the machine

_MACHINE_FILES: Final = TABLES.add("machine files", Table[object, BareTables](64))
_MACHINES: Final = TABLES.add("machines", Table[str, Topology](64))


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """A machine before it is structured: bare tables, where they came from, the machine it extends."""

    loaded: LoadedFile
    own: Mapping[str, Any]
    tables: Mapping[str, Any]
    provenance: Mapping[str, Provenance]
    faults: tuple[Fault, ...] = ()
    warnings: tuple[str, ...] = ()
    base: "Parts | None" = None
    chip_in: Path | None = None  # the file that names the chip; None where a caller did


def chip_document(name: str, *, near: Path | None = None) -> Document[Chip]:
    """The chip of a name, or of a path seen from the file `near`; InputError where there is none or it has faults."""
    match = find("chips", name, near=near)
    if not match:
        raise unknown_name("chips", name, names("chips"))
    return replace(read(match.path, Chip, "chip"), warnings=match.warnings)


def alias(name: str) -> Path | None:
    """The machine file that has `name` among its `aliases`."""
    for path in files("topologies"):
        try:
            # Only a file that mentions the name is worth parsing.
            if mentions(path, f'"{name}"') and name in load(path, "topology").tables["aliases"]:
                return path
        except (LookupError, TypeError, InputError):
            continue  # a broken file has no aliases; it is reported when it is asked for itself
    return None


def gather(path: Path, warnings: tuple[str, ...] = (), inside: tuple[Path, ...] = ()) -> Parts:
    """The tables of a machine file over those of the files it extends.

    Raises InputError: a file cannot be read, extends itself, or extends a machine that does not exist.
    """
    file = load(path, "topology")
    if slips := list(_slips(file)):
        raise file.error(*slips)
    extends, aliases = file.tables.pop("extends", None), file.tables.pop("aliases", [])
    own = own_name(path)
    bare_tables = _MACHINE_FILES.remember((file.text, own), lambda: unwrap(file.tables, Topology, own))
    if wrong := list(_text_faults(extends, aliases)):
        raise file.error(*wrong, *bare_tables.faults)
    parts = Parts(
        loaded=file,
        own=bare_tables.tables,
        tables=bare_tables.tables,
        provenance=bare_tables.provenance,
        faults=tuple(bare_tables.faults),
        warnings=warnings,
        chip_in=path,
    )
    return over(_base(file, extends, inside), parts) if isinstance(extends, str) else parts


def _slips(file: LoadedFile) -> Iterator[Fault]:
    """Keys that are nearly `extends` or `aliases`: without the machine it extends all else would seem to be missing."""
    known_keys = {*entries(Topology), *DEFAULTS, *OWN_KEYS}
    for key in sorted(file.tables.keys() - known_keys):
        for near in get_close_matches(key, known_keys, n=1):
            if near in OWN_KEYS:
                yield Fault((key,), f'unknown key; did you mean "{near}"?')


def _text_faults(extends: object, aliases: object) -> Iterator[Fault]:
    if extends is not None and not isinstance(extends, str):
        yield Fault(("extends",), f"must be the name of a machine, not {value_text(extends)}")
    if not isinstance(aliases, list) or not all(isinstance(alias, str) for alias in aliases):
        yield Fault(("aliases",), f"must be an array of names, not {value_text(aliases)}")


def _base(file: LoadedFile, name: str, inside: tuple[Path, ...]) -> Parts:
    match = find("topologies", name, near=file.path)
    if not match:
        raise _at(file, "extends", "topologies", name)
    chain = (*inside, file.path)
    if resolve_path(match.path) in [resolve_path(path) for path in chain]:
        circle = " → ".join(path.name for path in (*chain, match.path))
        raise file.error(Fault(("extends",), f"a file cannot extend itself: {circle}"))
    base = gather(match.path, match.warnings, chain)
    if base.faults:
        finish(base)
    return base


def _at(file: LoadedFile, key: str, kind: Kind, name: str) -> InputError:
    """An unknown name, said at the line of the file that gives it."""
    error = unknown_name(kind, name, names(kind))
    return file.error(Fault((key,), "; ".join((error.message, *error.context))))


def over(base: Parts, parts: Parts) -> Parts:
    """What a machine changes, put over the machine it extends; hosts it does not state are in proportion."""
    excluded_keys = NOT_INHERITED if "level" not in parts.own else (*NOT_INHERITED, "notes")  # notes tell of the levels
    below = {key: value for key, value in base.tables.items() if key not in excluded_keys}
    own = {"title": parts.own.get("name", ""), **parts.own}
    provenance = dict(base.provenance)
    if hosts := in_proportion(base.tables, merge(below, own), _own_hosts(own)):
        below["hosts"] = hosts.table
        provenance |= hosts.provenance
    return replace(
        parts,
        tables=merge(below, own),
        provenance={**provenance, **parts.provenance},
        warnings=(*base.warnings, *parts.warnings),
        base=base,
        chip_in=parts.chip_in if "chip" in own else base.chip_in,
    )


def _own_hosts(own: Mapping[str, Any]) -> Collection[str]:
    """What the tables of a machine file say of its hosts, by key."""
    hosts = own.get("hosts")
    return hosts.keys() if isinstance(hosts, dict) else ()


def _with_chip(parts: Parts, name: str) -> Parts:
    """The machine with its chip in place of the chip's name."""
    here = parts.chip_in == parts.loaded.path
    if here and not find("chips", name):
        raise _at(parts.loaded, "chip", "chips", name)
    chip = chip_document(name, near=parts.chip_in)
    new = {f"chip.{path}": replace(provenance, path=f"chip.{path}") for path, provenance in chip.provenance.items()}
    return replace(
        parts,
        tables={**parts.tables, "chip": chip.tables},
        provenance={**parts.provenance, **new},
        warnings=(*parts.warnings, *chip.warnings),
    )


def finish(parts: Parts) -> Document[Topology]:
    """The machine itself.

    Raises InputError with every fault, each at its line of the file it stands in.
    """
    chip = parts.tables.get("chip")
    if isinstance(chip, str):
        parts = _with_chip(parts, chip)
    own = _economics_of_user(parts)
    content, faults = repr((parts.tables, sorted(own))), list[Fault]()
    value = _MACHINES.get(content)
    if value is None:
        value, faults = structure(parts.tables, Topology, topology_faults)
        value = value and with_economics(value, own)
    if value is None or parts.faults:
        if parts.base:
            finish(parts.base)
        raise parts.loaded.error(*parts.faults, *_at_home(_with_chip_in_one(faults, parts), parts))
    return Document(
        value=_MACHINES.keep(content, value),
        path=str(parts.loaded.path),
        text=parts.loaded.text,
        tables=parts.tables,
        provenance=parts.provenance,
        warnings=parts.warnings,
    )


def with_economics(value: Topology, by_hand: Collection[str]) -> Topology:
    """The machine with the keys of its economics that the user states, in a file or with `--set`."""
    if not by_hand:
        return value
    return replace(value, economics=replace(value.economics, by_hand=tuple(sorted(by_hand))))


def _economics_of_user(parts: Parts) -> Collection[str]:
    """Keys of `[economics]` that a file of the user's states, above the first that podsim ships."""
    result: set[str] = set()
    layer: Parts | None = parts
    while layer is not None and own_name(layer.loaded.path):
        result |= set(layer.own.get("economics", {}))
        layer = layer.base
    return result


def _with_chip_in_one(faults: Sequence[Fault], parts: Parts) -> Sequence[Fault]:
    """The faults, with what a chip lacks that stands in a file with `extends` in one, which says what to do."""
    missing = [fault for fault in faults if fault.path[:1] == ("chip",) and fault.message == "is missing"]
    if not (missing and parts.base and isinstance(parts.own.get("chip"), dict)):
        return faults
    names = ", ".join(str(fault.path[1]) for fault in missing)
    advice = 'to change a number of the chip there is, use --set chip.clock="1.5 GHz"'
    whole = Fault(("chip",), f"is a chip of its own, without {names}; {advice}")
    return [whole, *(fault for fault in faults if fault not in missing)]


def _at_home(faults: Iterable[Fault], parts: Parts) -> Iterator[Fault]:
    """Faults of merged tables under the paths of the file that extends; the files below it are sound."""
    for fault in faults:
        if not parts.base or fault.path[:1] != ("level",) or len(fault.path) == 1:
            yield fault
            continue
        at = own_index(list(parts.base.tables["level"]), list(parts.own.get("level", [])), int(fault.path[1]))
        if at is None:
            yield Fault(("extends",), f"{path_text(fault.path)}: {fault.message}")
        else:
            yield Fault(("level", at, *fault.path[2:]), fault.message)
