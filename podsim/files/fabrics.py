"""Generic fabrics by name, name and size, or path."""

import copy
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from podsim.errors import InputError
from podsim.files import changes as what_if
from podsim.files import find
from podsim.files.changes import Changes
from podsim.files.file_faults import Fault, path_text, unknown_choice
from podsim.files.load import LoadedFile, load
from podsim.files.read import Document, document, structure
from podsim.model.fabric import Attach, GenericFabric, GenericLevel, Shape
from podsim.model.limits import LEVELS, RANKS, SIDES
from podsim.model.quantity import Provenance, SourceKind

_SIZED_NAME: Final = re.compile(r"(.+)-(\d{1,9}(?:x\d{1,9})*)", re.ASCII)


DIRECT: Final = (Shape.FULL, Shape.RING, Shape.LINE)
"""Shapes whose members are joined without a middle, so that each may have links out of its group."""


def fabric(name: str, changes: Changes = ()) -> Document[GenericFabric] | None:
    """The generic fabric of a name ("ring"), of a name with sizes ("ring-1024") or a path; None where there is none.

    Raises InputError: faults in the file, sizes that do not suit its levels, a change of a path that it does not have.
    """
    fabric = _by_name(name)
    request = what_if.parse(changes)
    if fabric is None or not request:
        return fabric
    leaves = what_if.settable(fabric.tables, GenericFabric)
    what_if.refuse_unknown([change for change in request if change.path not in leaves], leaves)
    return what_if.apply(fabric, GenericFabric, request, fabric_faults)


def _by_name(name: str) -> Document[GenericFabric] | None:
    if result := find.find("fabrics", name):
        return replace(of_file(load(result.path, "fabric")), warnings=result.warnings)
    match = _SIZED_NAME.fullmatch(name)
    base = find.find("fabrics", match[1]) if match else None
    if match is None or base is None or find.is_path(name):
        return None
    sizes = [int(part) for part in match[2].split("x")]
    return replace(_with_sizes(of_file(load(base.path, "fabric")), name, sizes), warnings=base.warnings)


def of_file(file: LoadedFile) -> Document[GenericFabric]:
    """The fabric that a loaded file describes."""
    return document(file, GenericFabric, fabric_faults)


def _with_sizes(base: Document[GenericFabric], name: str, sizes: list[int]) -> Document[GenericFabric]:
    """A fabric with other sizes: one for each level and side, innermost first, or the ranks in all."""
    numbers = _extents(base.value, name, sizes)
    tables = copy.deepcopy(dict(base.tables))
    provenance = dict(base.provenance)
    tables["name"] = name
    for level, extents in zip(tables["level"], numbers, strict=True):
        key = "sides" if level["shape"] == Shape.TORUS else "holds"
        level[key] = extents if key == "sides" else extents[0]
        path = f"level.{level['name']}.{key}"
        text = ", ".join(map(str, extents))
        provenance[path] = Provenance(
            path=path, text=text, kind=SourceKind.DERIVED, source="", note=f"from the name {name}"
        )
    value, faults = structure(tables, GenericFabric, fabric_faults)
    if value is None:
        context = [f"{path_text(fault.path)}: {fault.message}" for fault in faults]
        raise InputError(f"{name} cannot be built", code="bad-fabric-size", context=context)
    return replace(base, value=value, tables=tables, provenance=provenance)


def _extents(fabric: GenericFabric, name: str, sizes: list[int]) -> list[list[int]]:
    """Members along each side of each level."""
    sides = [len(level.extents) for level in fabric.levels]
    if len(sizes) == sum(sides):
        parts = iter(sizes)
        return [[next(parts) for _ in range(count)] for count in sides]
    each = "x".join("N" * sum(sides))
    hint = f"sizes are the ranks in all, or one for each dimension: {name.rpartition('-')[0]}-{each}"
    if len(sizes) > 1:
        raise InputError(f"{name}: {len(sizes)} sizes for {sum(sides)} dimensions", code="bad-fabric-size", hint=hint)
    outer = fabric.levels[-1]
    inside = fabric.endpoints // outer.members
    side = round((sizes[0] / inside) ** (1 / sides[-1]))
    if side < 1 or side ** sides[-1] * inside != sizes[0]:
        power = ("multiple", "square", "cube")[sides[-1] - 1] if sides[-1] <= 3 else f"power of {sides[-1]}"
        message = f"{name}: {sizes[0]:,} ranks are no {power}" + (f" of {inside}" if power == "multiple" else "")
        message += f" times {inside}" if power != "multiple" and inside > 1 else ""
        raise InputError(message, code="bad-fabric-size", hint=hint)
    return [*(list(level.extents) for level in fabric.levels[:-1]), [side] * sides[-1]]


def fabric_faults(fabric: GenericFabric | None, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything wrong with a generic fabric whose parts are each right; unknown links even where they are not."""
    links = tables.get("link")
    levels = tables.get("level")
    for at, level in enumerate(levels if isinstance(levels, list) else ()):
        for key in ("link", "hub"):
            name = level.get(key) if isinstance(level, dict) else None
            if isinstance(links, dict) and isinstance(name, str) and name not in links:
                yield Fault(("level", at, key), unknown_choice(name, list(links)))
    if fabric and all({level.link, level.hub or level.link} <= set(fabric.links) for level in fabric.levels):
        yield from _whole(fabric)


def _whole(fabric: GenericFabric) -> Iterator[Fault]:
    if not fabric.levels:
        yield Fault(("level",), "a fabric has at least one level")
    names = [level.name for level in fabric.levels]
    yield from (
        Fault(("level", at, "name"), f'"{name}" is there twice') for at, name in enumerate(names) if name in names[:at]
    )
    yield from _spread(fabric.levels)
    sides = max((len(level.extents) for level in fabric.levels), default=0)
    excess = LEVELS.excess(len(names)) or SIDES.excess(sides) or RANKS.excess(fabric.endpoints)
    if excess:
        yield Fault(("level",), excess)
    elif fabric.levels and len(set(names)) == len(names):
        yield from _overrides(fabric)


def _spread(levels: Sequence[GenericLevel]) -> Iterator[Fault]:
    for at, level in enumerate(levels):
        inside = levels[at - 1] if 0 < at == len(levels) - 1 else None
        if level.attach is Attach.SPREAD and (inside is None or inside.shape not in DIRECT):
            yield Fault(("level", at, "attach"), f'"spread" is for the outermost level, over a {" or ".join(DIRECT)}')


def _overrides(fabric: GenericFabric) -> Iterator[Fault]:
    from podsim.topology.edges import link_keys

    overridden_keys: set[object] = set()
    for at, override in enumerate(fabric.overrides):
        try:
            keys = link_keys(fabric, override.name)
        except ValueError as error:
            yield Fault(("override", at, "name"), str(error))
            continue
        if overridden_keys.intersection(keys):
            yield Fault(("override", at, "name"), f"a link of {override.name} is overridden twice")
        overridden_keys.update(keys)
