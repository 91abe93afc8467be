"""Published mappings and configurations by name, and the hosts that published runs have."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from podsim.errors import InputError, nearest
from podsim.model.fabric import Topology
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.training import Preset
from podsim.model.workload import Workload


def with_preset(workload: Workload, name: str | None, topology: Topology) -> tuple[Workload, Preset | None]:
    """The workload with the software of the configuration of that name, or the workload and the preset meant.

    Raises InputError for a name that is neither, and for a configuration on a machine as small as published ones.
    """
    if name is None:
        return workload, None
    large_pod = next((item for item in workload.large_pods if item.name == name), None)
    if large_pod is None:
        return workload, preset(workload, name, topology)
    if topology.ipus <= large_pod.above:
        raise InputError(
            f"configuration {name} of {workload.name} is for machines of more than {large_pod.above:,} IPUs, "
            f"{topology.name} has {topology.ipus:,}",
            code="unknown-preset",
            hint=f"leave out --preset, or --pod {2 * large_pod.above}",
        )
    configurations = tuple(large_pod.of(configuration) for configuration in workload.configurations)
    note = AnswerNote.of(NoteCode.LARGE_POD, caveat=True, name=name, text=large_pod.text, source=large_pod.source)
    return replace(workload, configurations=configurations, notes=(*workload.notes, note)), None


def preset(workload: Workload, name: str, topology: Topology) -> Preset:
    """The published mapping of that name for a machine, or for one as large of the chip whose layouts it shares.

    Raises InputError naming those there are.
    """
    candidates = [item for item in workload.presets if item.name == name]
    for item in candidates:
        if item.topology == topology.name:
            return item
    if (inherited_preset := _inherit(workload, candidates, topology)) is not None:
        return inherited_preset
    if candidates:
        have = ", ".join(item.topology for item in candidates)
        near = min(candidates, key=lambda item: abs(item.replicas * item.ipus_per_replica - topology.ipus))
        raise InputError(
            f"preset {name} of {workload.name} was published for {have}, not for {topology.name}",
            code="unknown-preset",
            hint=f"--topology {shlex.quote(near.topology)}",
        )
    names = {item.name for item in workload.presets} | {item.name for item in workload.large_pods}
    preset_names = ", ".join(sorted(names)) or "none"
    of_machine = sorted({item.name for item in workload.presets if item.topology == topology.name})
    suggestion = nearest(name, names)
    runs = suggestion in of_machine or not suggestion
    first = suggestion or next(iter(of_machine), "")
    usable = f"--preset {shlex.quote(first)}" if first else "leave out --preset"
    hint = usable if runs else f"podsim workload show {shlex.quote(workload.name)}"
    text = f'{workload.name} has no preset "{name}"'
    raise InputError(text, code="unknown-preset", context=[f"known: {preset_names}"], hint=hint)


def _inherit(workload: Workload, candidates: Sequence[Preset], topology: Topology) -> Preset | None:
    """A preset of a machine as large, of the chip whose layouts hold here too."""
    like = topology.chip.layouts_of
    theirs = {configuration.name for configuration in workload.configurations if like in configuration.chips}
    for item in candidates:
        if item.configuration in theirs and item.replicas * item.ipus_per_replica == topology.ipus:
            where = f"{item.locator}; the same on {topology.name} as on {item.topology}"
            return replace(item, topology=topology.name, locator=where)
    return None


class UsualHosts(NamedTuple):
    """Servers of a machine, and what says so."""

    servers: int
    basis: AnswerNote


def usual_hosts(
    workload: Workload, topology: Topology, named_preset: Preset | None, assumed_paths: Collection[str] = ()
) -> UsualHosts:
    """Hosts that published runs have: of the preset, of the same size, else in proportion to the nearest smaller.

    Between two published sizes they are no more than those of both.

    `assumed_paths` are the values of the file of the workload that no source states, such as "preset.comparison.hosts".
    """
    if named_preset is not None:
        return UsualHosts(named_preset.hosts, AnswerNote.of(NoteCode.HOSTS_OF_PRESET, preset=named_preset.name))
    sizes: dict[int, int] = {}
    published_hosts: set[tuple[int, int]] = set()
    for item in workload.presets or workload.hosts_as:
        ipus = item.replicas * item.ipus_per_replica
        sizes[ipus] = max(item.hosts, sizes.get(ipus, 1))
        if f"preset.{item.name}.hosts" not in assumed_paths:
            published_hosts.add((ipus, item.hosts))
    below = [ipus for ipus in sizes if ipus <= topology.ipus]
    if not below:
        basis = AnswerNote.of(NoteCode.HOSTS_OF_MACHINE, machine=topology.name, ipus=topology.ipus)
        return UsualHosts(topology.hosts.servers, basis)
    nearest, above = max(below), min((ipus for ipus in sizes if ipus > topology.ipus), default=None)
    servers = min(topology.hosts.most_servers, max(1, sizes[nearest] * topology.ipus // nearest))
    if nearest != topology.ipus:
        if above is not None:
            servers = min(servers, max(sizes[nearest], sizes[above]))
        basis = AnswerNote.of(
            NoteCode.HOSTS_BETWEEN,
            ipus=topology.ipus,
            smaller=nearest,
            hosts=sizes[nearest],
            larger=above,
            larger_hosts=None if above is None else sizes[above],
        )
        return UsualHosts(servers, basis)
    is_published = (nearest, servers) in published_hosts
    basis = AnswerNote.of(NoteCode.HOSTS_AS_PUBLISHED if is_published else NoteCode.HOSTS_NOT_STATED, ipus=nearest)
    return UsualHosts(servers, basis)
