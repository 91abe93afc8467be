"""What one object cannot know about itself: rules over a whole file, one function a rule."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, Final, cast

from podsim.errors import did_you_mean
from podsim.files.fabrics import fabric_faults
from podsim.files.file_faults import Fault, unknown_choice, value_text
from podsim.files.keys import entries
from podsim.files.reference_points import reference_faults
from podsim.model.calibration import CalibrationPoint
from podsim.model.fabric import Duplex, Topology
from podsim.model.family import FAMILIES, WorkloadFile
from podsim.model.limits import IPUS, LAYERS, LEVELS, OPERATORS, TILES, WIDTH, layers
from podsim.model.operator_list import GivenUnit
from podsim.topology.wiring import connection_faults

SAMPLES_APART: Final = 0.05
"""Relative: packed rows hold up to 2 % more samples than the nominal global batch, an epoch may end inside a step."""
PARTS_APART: Final = 0.02
"""Relative: medians of parts beside means of the whole; published points add up within 1 %."""
SCORE_APART: Final = 1e-3
_LEVEL: Final = re.compile(r"level (\S+): (.*)", re.DOTALL)


def topology_faults(topology: Topology | None, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything wrong with a machine whose parts are each right; unknown links even where they are not."""
    if topology:
        large = list(_not_too_large(topology))
        yield from large or _connection_faults(topology, tables)
    else:
        yield from _links_known(tables)


def _links_known(tables: Mapping[str, Any]) -> Iterator[Fault]:
    links = tables.get("link")
    for at, level in _tables(tables, "level"):
        link = level.get("link")
        if isinstance(links, dict) and isinstance(link, str) and link not in links:
            yield Fault(("level", at, "link"), unknown_choice(link, list(links)))


def _tables(tables: Mapping[str, Any], key: str) -> list[tuple[int, dict[str, Any]]]:
    members = tables.get(key)
    return [
        (at, item) for at, item in enumerate(members if isinstance(members, list) else ()) if isinstance(item, dict)
    ]


def _not_too_large(topology: Topology) -> Iterator[Fault]:
    counts = (
        (("level",), LEVELS, len(topology.levels)),
        (("level",), IPUS, topology.ipus),
        (("chip", "tiles"), TILES, topology.chip.tiles),
    )
    yield from (Fault(path, excess) for path, limit, count in counts if (excess := limit.excess(count)))


def _connection_faults(topology: Topology, tables: Mapping[str, Any]) -> Iterator[Fault]:
    if topology.fabric:
        yield from _stated_fabric_faults(topology, tables)
        return
    for name, link in topology.links.items():
        if link.duplex is not Duplex.FULL:
            text = "half duplex is for stated fabrics; links of a pod have a rate each way"
            yield Fault(("link", name, "duplex"), text)
    places = {level.name: at for at, level in enumerate(topology.levels)}
    for text in connection_faults(topology):
        match = _LEVEL.fullmatch(text)
        if match and match[1] in places:
            yield Fault(("level", places[match[1]]), match[2])
        else:
            yield Fault(("level",), text)


def _stated_fabric_faults(topology: Topology, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Faults of the stated fabric that joins the IPUs of a machine, whose only level is that of its gateways."""
    if [level.name for level in topology.levels] != ["machine"]:
        yield Fault(("level",), "a stated fabric joins all IPUs: the only other level is machine, behind a gateway")
    for fault in fabric_faults(topology.stated_fabric, {**tables, "level": tables["fabric"]}):
        yield Fault(("fabric", *fault.path[1:]) if fault.path[0] == "level" else fault.path, fault.message)


def workload_faults(file: WorkloadFile | None, tables: Mapping[str, Any]) -> Iterator[Fault]:
    """Everything wrong with a workload whose parts are each right; unknown configurations even where they are not."""
    yield from _configurations_known(tables)
    if file:
        yield from _different("configuration", [configuration.name for configuration in file.configurations])
        yield from _different("preset", [f"{preset.name} on {preset.topology}" for preset in file.presets])
        names = [item.name for item in file.large_pods] + sorted({preset.name for preset in file.presets})
        yield from _different("configuration", names)
        yield from _layouts_in_replica(file)
        yield from _sizes(file)
        yield from _units(file.unit or ())
        if file.reference:
            yield from reference_faults(file.reference)


def _sizes(file: WorkloadFile) -> Iterator[Fault]:
    """More layers than any model has, or a size beyond any: seen before operators are built of them."""
    family = next(name for name in FAMILIES if getattr(file, name) is not None)
    if family == "unit":
        return
    sizes = getattr(file, family)
    counts = tuple(layers(family, sizes))
    excess = LAYERS.excess(sum(count for _, count in counts))
    if excess:
        largest, _ = max(counts, key=lambda pair: pair[1])
        yield Fault((family, largest), excess)
    for entry in entries(cast("Hashable", type(sizes))).values():
        value = getattr(sizes, entry.name)
        every = [item for item in (value if isinstance(value, tuple) else (value,)) if isinstance(item, int)]
        if not excess and (beyond := WIDTH.excess(max(every, default=0))):
            yield Fault((family, entry.key), beyond)


def _units(units: Sequence[GivenUnit]) -> Iterator[Fault]:
    """Unknown operations, blocks that repeat unlike, and more operators in all than any model has."""
    if not units:
        return
    from podsim.tiles.vector import OPERATIONS

    for at, unit in enumerate(units):
        before = units[at - 1] if at else unit
        if unit.block and unit.block == before.block and unit.repeat != before.repeat:
            yield Fault(("unit", at, "repeat"), f'units of block "{unit.block}" that repeat together repeat alike')
        for place, operator in enumerate(unit.operators):
            for key in ("operations", "back_operations"):
                for word in getattr(operator, key) or ():
                    if word not in OPERATIONS:
                        here = ("unit", at, "operator", place, key)
                        yield Fault(here, f"no operation {value_text(word)}" + did_you_mean(word, OPERATIONS))
    if excess := OPERATORS.excess(sum(unit.repeat * len(unit.operators) for unit in units)):
        yield Fault(("unit",), excess)


def _configurations_known(tables: Mapping[str, Any]) -> Iterator[Fault]:
    names = [
        configuration["name"]
        for _, configuration in _tables(tables, "configuration")
        if isinstance(configuration.get("name"), str)
    ]
    for at, preset in _tables(tables, "preset"):
        configuration = preset.get("configuration")
        if isinstance(configuration, str) and configuration not in names:
            yield Fault(("preset", at, "configuration"), unknown_choice(configuration, names))


def _layouts_in_replica(file: WorkloadFile) -> Iterator[Fault]:
    for at, configuration in enumerate(file.configurations):
        most = max(configuration.ipus_per_replica, default=0)
        for place, stage in enumerate(configuration.layout):
            if stage.ipu >= most:
                yield Fault(
                    ("configuration", at, "layout", place, "ipu"), f"{stage.ipu} of {most} IPUs; the first is 0"
                )


def points_faults(points: Sequence[CalibrationPoint]) -> Iterator[Fault]:
    """Everything wrong with calibration points whose parts are each right."""
    yield from _different("point", [point.id for point in points])
    for at, point in enumerate(points):
        for key, value in (("step", point.step_s), ("train", point.train_s)):
            if not value > 0:
                yield Fault(("point", at, key), f"must be above 0, not {value}")
        yield from (Fault(("point", at, key), text) for key, text in _contradictions(point))
        mapping = (point.replicas, point.ipus_per_replica, point.micro_batch, point.accumulation)
        if any(mapping) and not all(mapping):
            yield Fault(
                ("point", at), "states part of a mapping: replicas, ipus_per_replica, micro_batch, accumulation"
            )


def _contradictions(point: CalibrationPoint) -> Iterator[tuple[str, str]]:
    """What a point says twice and not alike: key and message."""
    trained_samples = point.steps * point.global_batch
    if _apart(point.samples_to_converge, trained_samples) > SAMPLES_APART:
        yield (
            "samples_to_converge",
            f"{point.samples_to_converge:,.0f}, but steps x global_batch is {trained_samples:,.0f}",
        )
    stepped_s = point.steps * point.step_s
    if point.train_s > 0 and stepped_s > point.train_s * (1 + PARTS_APART):
        yield "train", f"{point.train_s:g} s, but steps x step is {stepped_s:g} s"
    evaluated_s = point.first_evaluation_s + max(0.0, point.evaluations - 1) * point.each_evaluation_s
    minutes = (point.startup_s + point.train_s + evaluated_s + point.graph_switch_s) / 60
    if _apart(point.minutes, minutes) > PARTS_APART:
        yield "minutes", f"{point.minutes:g}, but its parts add up to {minutes:.4g}"
    normalised_minutes = point.minutes * point.normalisation
    if _apart(point.score_minutes, normalised_minutes) > SCORE_APART:
        yield "score_minutes", f"{point.score_minutes:g}, but minutes x normalisation is {normalised_minutes:.6g}"


def _apart(stated_value: float, value: float) -> float:
    return abs(stated_value - value) / value if value > 0 else 0.0


def _different(key: str, names: Sequence[str]) -> Iterator[Fault]:
    earlier_names = set()
    for at, name in enumerate(names):
        if name in earlier_names:
            yield Fault((key, at), f'"{name}" is there twice')
        earlier_names.add(name)
