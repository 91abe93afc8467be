"""From what a workload file says to the operators of the model."""

import re
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from typing import Final

from podsim.model.family import FAMILIES, GeneralConfiguration, WorkloadFile
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.training import Convergence
from podsim.model.workload import Gather, LayerUnit, Workload

INDEX_BYTES: Final = 4  # of an index into a table, as the submissions send token ids
INPUT_BYTES: Final = 2  # of any other input
IMAGE: Final = re.compile(r"[\d,]+ x [\d,]+")
TOKENS: Final = re.compile(r"[\d,]+ tokens")


def build(file: WorkloadFile, convergence: Convergence | None, general: GeneralConfiguration | None = None) -> Workload:
    """The workload of a file, with the operators of its family, and `general` configuration where it states none."""
    units_of_file = chain(file)
    benchmark = file.benchmark or (general.benchmark if general else None)
    assert benchmark is not None, "a file without one is built with general configuration"
    return Workload(
        name=file.name,
        title=file.title or file.name,
        sample=file.sample,
        row=_row_text(file),
        samples_per_row=file.samples_per_row,
        packing=file.packing,
        units=units_of_file,
        precision=file.precision,
        optimizer=file.optimizer,
        row_bytes=_input_bytes(units_of_file) if file.row_bytes is None else file.row_bytes,
        benchmark=benchmark,
        convergence=convergence,
        configurations=file.configurations or (general.configurations if general else ()),
        presets=file.presets,
        large_pods=file.large_pods,
        minimum=file.minimum,
        row_tokens=file.transformer.sequence if file.transformer else None,
        decodes=file.transformer is not None and file.transformer.head == "lm",
        notes=(*(replace(note, caveat=True) for note in file.notes), *_assumption_notes(file)),
    )


def _row_text(file: WorkloadFile) -> str:
    """What a row is, "packed row of 512 tokens" or "image of 224 x 224", with the size that it has after a what-if."""
    if file.transformer is not None and len(TOKENS.findall(file.row)) == 1:
        return TOKENS.sub(f"{file.transformer.sequence:,} tokens", file.row)
    sizes = (getattr(getattr(file, name), "image", None) for name in FAMILIES)
    image = next((size for size in sizes if isinstance(size, int)), None)
    return file.row if image is None else IMAGE.sub(f"{image:,} x {image:,}", file.row)


def chain(file: WorkloadFile) -> tuple[LayerUnit, ...]:
    """The units of a file, of its family or stated."""
    family = next(name for name in FAMILIES if getattr(file, name) is not None)
    return units(family, getattr(file, family))


def _input_bytes(chain: tuple[LayerUnit, ...]) -> float:
    """Host input of a row where a file does not state it [B]: what the operators read that need no gradient of it."""
    entering = [operator for operator in chain[0].operators if not operator.input_gradient] or chain[0].operators[:1]
    return float(
        sum(
            operator.shape.inputs * (INDEX_BYTES if isinstance(operator.shape, Gather) else INPUT_BYTES)
            for operator in entering
        )
    )


def _assumption_notes(file: WorkloadFile) -> Iterator[AnswerNote]:
    """What a file leaves out that an answer needs."""
    if not file.benchmark:
        yield AnswerNote.of(NoteCode.LENGTH_NOT_STATED)
    if not file.configurations:
        yield AnswerNote.of(NoteCode.CONFIGURATION_GENERAL)
    if file.row_bytes is None:
        yield AnswerNote.of(NoteCode.ROW_INPUT, index_bytes=INDEX_BYTES, other_bytes=INPUT_BYTES)


def units(family: str, size: object) -> tuple[LayerUnit, ...]:
    """The chain of units of a family of these sizes, built by the module of its name: only that one is loaded."""
    layer_units: tuple[LayerUnit, ...] = import_module(f"podsim.workloads.{family}").units(size)
    return layer_units
