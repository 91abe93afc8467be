"""Machines whose IPUs stand at the ranks of a stated fabric: the file of the fabric and what a pod has beside links."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from podsim.errors import InputError
from podsim.files.changes import Change
from podsim.files.fabrics import fabric
from podsim.files.family_rule import pod
from podsim.files.load import load
from podsim.files.read import Document
from podsim.files.topologies import Parts
from podsim.model.fabric import GenericFabric, Topology
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode

SIZES = "level."
"""How paths of a fabric's sizes begin; they decide which hosts it has."""


def parts(name: str, changes: Sequence[Change], chip: str | None) -> Parts | None:
    """The machine of a stated fabric's name or path, with those `changes` that are about its sizes.

    None where there is no such fabric. Its gateways and hosts are those of the smallest pod that has as many IPUs.
    Raises InputError: faults in the file, or more ranks than pods have IPUs.
    """
    sizes = {change.path: change.text for change in changes if change.path.startswith(SIZES)}
    document = fabric(name, sizes)
    if document is None:
        return None
    ranks, stands = document.value.endpoints, chip or document.value.chip
    base = pod(1 << (ranks - 1).bit_length(), "bow" if stands == "bow" else "gc200")
    tables = _tables(document, base)
    fabric_provenance = {_path(path): replace(item, path=_path(path)) for path, item in document.provenance.items()}
    pod_provenance = {path: item for path, item in base.provenance.items() if not path.startswith("link.")}
    return Parts(
        loaded=load(Path(document.path), "fabric"),
        own=document.tables,
        tables={**tables, "chip": document.value.chip},
        provenance={**pod_provenance, **fabric_provenance},
        warnings=document.warnings,
    )


def refuse(topology: Topology, what: str) -> None:
    """InputError where a machine is a stated fabric, on which `what` has no known order of its IPUs."""
    if topology.fabric:
        raise InputError(
            f"{topology.name} is a stated fabric: {what} are timed on the IPU-Links of a rack",
            code="not-on-stated-fabric",
            hint="--pod 16, or podsim predict, which takes stated fabrics",
        )


def _path(path: str) -> str:
    """Levels of the fabric are `fabric.NAME` beside the machine's own level."""
    return "fabric." + path.removeprefix(SIZES) if path.startswith(SIZES) else path


def _tables(document: Document[GenericFabric], base: Parts) -> dict[str, Any]:
    levels = base.tables["level"]
    inside = next(level for level in levels if level["name"] == "machine")
    assumption = AnswerNote.of(NoteCode.STATED_FABRIC, fabric=document.value.name, pod=str(base.tables["name"]))
    return {
        **base.tables,
        "name": document.tables["name"],
        "title": document.tables["title"],
        "level": [{**inside, "link": document.tables["level"][0]["link"]}],
        "link": document.tables["link"],
        "fabric": document.tables["level"],
        "override": document.tables.get("override", []),
        "notes": [*document.value.notes, assumption],
    }
