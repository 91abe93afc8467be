"""The family rule: a machine of any power of two, from one rack, two racks and one machine that have files."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated, Any

from podsim.errors import InputError
from podsim.files.file_faults import printable, value_text
from podsim.files.find import FAMILY, data_folder, find
from podsim.files.load import LoadedFile, load
from podsim.files.read import document
from podsim.files.topologies import Parts, alias, finish, gather, over
from podsim.model.fabric import Topology
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Count, Key, Provenance, SourceKind, Whole


@dataclass(frozen=True, slots=True, kw_only=True)
class MachineFamily:
    """Machines named `prefix` and a count of IPUs, cut from or joined of the racks in the file `rack`.

    `note` says how racks are joined beyond `ring_racks`, `links_note` what holds of the links between racks.
    """

    prefix: str
    title: str
    rack: str
    machine: str
    most_racks: Count
    ring_racks: Whole
    servers_per_rack: Count
    note: str = ""
    links_note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FamilyFile:
    """All families."""

    families: Annotated[tuple[MachineFamily, ...], Key("family")]


def families() -> tuple[LoadedFile, tuple[MachineFamily, ...]]:
    """The file of the families, and what it says."""
    file = load(data_folder("topologies") / f"{FAMILY}.toml", "family")
    return file, document(file, FamilyFile).value.families


def member(name: str) -> Parts | None:
    """The machine that a family builds for a name; None where no family has such names.

    Raises InputError: the count is not a power of two, or above what the family joins.
    """
    file, machine_families = families()
    for family in machine_families:
        match = re.fullmatch(re.escape(family.prefix) + r"(\d{1,18})", name)
        if match:
            return _Builder(file, family).build(int(match[1]))
    return None


def member_names() -> tuple[str, ...]:
    """What families build: every prefix with the powers of two that people ask for."""
    return tuple(f"{family.prefix}{1 << power}" for family in families()[1] for power in range(17))


def pod(ipus: int, chip: str) -> Parts:
    """The pod of `ipus` IPUs of a chip: the file of its name or alias, else what its family builds.

    Raises InputError: no family has the chip, or the count is not a power of two or above what the family joins.
    """
    file, family = _of_chip(ipus, chip)
    name = f"{family.prefix}{ipus}"
    if match := find("topologies", name):
        return gather(match.path, match.warnings)
    path = alias(name)
    return gather(path) if path else _Builder(file, family).build(ipus)


def pod_name(ipus: int, chip: str) -> str:
    """The name of the pod of `ipus` IPUs of a chip; InputError where its family has none."""
    return f"{_of_chip(ipus, chip)[1].prefix}{ipus}"


def _of_chip(ipus: int, chip: str) -> tuple[LoadedFile, MachineFamily]:
    """The family of a chip, which has a member of so many IPUs, and its file."""
    file, machine_families = families()
    family = next((family for family in machine_families if _chip(family) == chip), None)
    if family is None:
        raise InputError(
            f'no family of machines has the chip "{printable(chip)}"',
            code="unknown-chip",
            context=[f"families have {', '.join(str(_chip(family)) for family in machine_families)}"],
            hint="--topology takes a machine by name or file",
        )
    check_count(ipus, family.prefix, family.most_racks * finish(_file(family.rack)).value.ipus)
    return file, family


def _chip(family: MachineFamily) -> object:
    return _file(family.machine).tables.get("chip")


def check_count(ipus: int, prefix: str, most: int) -> None:
    """Refuse what is not a power of two from 1 to `most`, with what is near."""
    if ipus < 1:
        raise InputError(f"a machine has at least 1 IPU, not {ipus}", code="bad-pod", hint="for example --pod 64")
    if ipus > most:
        message = f"{ipus:,} IPUs are more than {most:,}, the largest system that Graphcore documents"
        raise InputError(message, code="bad-pod", hint=f"the largest is {prefix}{most}")
    if ipus & (ipus - 1):
        below = 1 << (ipus.bit_length() - 1)
        message = f"{ipus:,} IPUs: not a power of two"
        raise InputError(
            message,
            code="bad-pod",
            hint=f"the nearest machines are {prefix}{below} and {prefix}{2 * below}",
        )


def _file(name: str) -> Parts:
    match = find("topologies", name)
    if not match:
        raise InputError(f'{FAMILY}.toml names "{name}", and there is no such machine', code="bad-family-file")
    return gather(match.path, match.warnings)


@dataclass(frozen=True, slots=True)
class _Builder:
    """Builds the members of one family."""

    loaded: LoadedFile
    family: MachineFamily

    def build(self, ipus: int) -> Parts:
        """The machine of `ipus` IPUs."""
        rack = finish(_file(self.family.rack)).value
        check_count(ipus, self.family.prefix, self.family.most_racks * rack.ipus)
        if ipus > rack.ipus:
            return self._racks(ipus, rack)
        if ipus > rack.ipus_per_machine:
            return self._part_of_rack(ipus, rack)
        level = {"name": "machine", "holds": ipus}
        of, base = rack.ipus_per_machine, _file(self.family.machine)
        machine = finish(base).value.title
        how = AnswerNote.of(NoteCode.PART_OF_MACHINE, caveat=ipus < of, machine=machine, ipus=ipus, of=of)
        title = f"{ipus} IPU{'' if ipus == 1 else 's'} of {machine}" if ipus < of else ""
        return self._change(ipus, base, level, {"servers": 1}, how, title=title)

    def _part_of_rack(self, ipus: int, rack: Topology) -> Parts:
        machines = ipus // rack.ipus_per_machine
        whole = rack.level("rack")
        is_closed = whole is not None and whole.closed and machines == whole.holds
        level = {"name": "rack", "holds": machines, "closed": is_closed}
        hosts = {"servers": 1, "most_servers": max(1, rack.hosts.most_servers * ipus // rack.ipus)}
        how = AnswerNote.of(
            NoteCode.PART_OF_RACK, rack=self.family.rack, machines=machines, of=rack.machines, closed=is_closed
        )
        return self._change(ipus, _file(self.family.rack), level, hosts, how)

    def _racks(self, ipus: int, rack: Topology) -> Parts:
        """Whole racks, joined as the machine of two racks is, or by switches."""
        racks = ipus // rack.ipus
        ring = racks <= self.family.ring_racks
        level = {"name": "pod", "holds": racks, "shape": "ring" if ring else "switch"}
        servers = self.family.servers_per_rack * racks
        hosts = {"servers": servers, "most_servers": max(servers, rack.hosts.most_servers * racks)}
        how = AnswerNote.of(NoteCode.RACKS_JOINED, rack=self.family.rack, racks=racks, ring=ring)
        base = _file(f"{self.family.prefix}{2 * rack.ipus}")
        return self._change(ipus, base, level, hosts, how, assumption="" if ring else self.family.note)

    def _change(
        self,
        ipus: int,
        base: Parts,
        level: Mapping[str, Any],
        hosts: Mapping[str, int],
        how: AnswerNote,
        *,
        assumption: str = "",
        title: str = "",
    ) -> Parts:
        """The machine `base` with another count of members in one level; `assumption` is what is not documented of it.

        Its title is that of the family, unless one is given.

        Its notes are those of one machine, which hold in a rack of any size, and what the family says of links
        between racks; how the racks of `base` are wired is not so here.
        """
        between = self.family.links_note if level["name"] == "pod" else ""
        general = [*_file(self.family.machine).tables.get("notes", []), *([between] if between else [])]
        own = {
            "name": f"{self.family.prefix}{ipus}",
            "title": title or self.family.title.replace("{ipus}", str(ipus)),
            "notes": [how, *([assumption] if assumption else []), *general],
            "level": [dict(level)],
            "hosts": dict(hosts),
        }
        values = {f"level.{level['name']}.{key}": value for key, value in level.items() if key != "name"}
        values |= {f"hosts.{key}": value for key, value in hosts.items()}
        provenance = {path: _provenance(path, value, str(how), assumption) for path, value in values.items()}
        parts = replace(base, loaded=self.loaded, own=own, tables=own, provenance=provenance, faults=(), warnings=())
        return replace(over(base, parts), chip_in=base.chip_in)


def _provenance(path: str, value: object, how: str, assumption: str) -> Provenance:
    """Where a number that the rule makes comes from."""
    text = value if isinstance(value, str) else value_text(value)
    if assumption and path.endswith(".shape"):
        return Provenance(path=path, text=text, kind=SourceKind.ASSUMED, source="", note=assumption)
    return Provenance(path=path, text=text, kind=SourceKind.DERIVED, source="", note=how)
