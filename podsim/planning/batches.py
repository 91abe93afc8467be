"""The global batch of a step where no flag gives one: that of a published recipe, else the nearest that divides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.training import ROUNDING_DOUBT, Division

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.model.mapping import Mapping
    from podsim.model.training import Preset
    from podsim.model.workload import Workload

FINEST: Final = 0.05  # share of an accumulation by which others around it differ
GLOBAL_BATCHES_TRIED: Final = 3  # batches near that of the recipe to try where it does not divide


def recipes(workload: Workload, topology: Topology, *, own_length: bool = False) -> tuple[float, ...]:
    """Published global batches in samples, the first to be kept where it divides.

    That of the benchmark, to which its length belongs, and the tokens of a step that the paper of the model states,
    which come first where the run has a length of its own (`own_length`). Where a workload states neither, the batch
    of the published mapping nearest to the machine in size. Reference points and laws choose the batch themselves.
    """
    if workload.points:
        return ()
    benchmark = workload.benchmark
    of_paper = (
        benchmark.global_batch_tokens and workload.row_tokens and benchmark.global_batch_tokens / workload.row_tokens
    )
    global_batches = [float(benchmark.global_batch or 0), (of_paper or 0.0) * workload.samples_per_row]
    recipes = tuple(batch for batch in (global_batches[::-1] if own_length else global_batches) if batch)
    if not recipes and workload.presets:
        return (_batch(min(reversed(workload.presets), key=lambda preset: _away(preset, topology)), workload),)
    return recipes


def _batch(preset: Preset, workload: Workload) -> float:
    return preset.micro_batch * preset.accumulation * preset.replicas * workload.samples_per_row


def _away(preset: Preset, topology: Topology) -> tuple[bool, float, bool]:
    size = preset.replicas * preset.ipus_per_replica
    return preset.division is not Division.CLOSED, abs(math.log(size / topology.ipus)), preset.topology != topology.name


def accumulation(batch: float, rows_samples: float) -> tuple[int, bool]:
    """Micro-batches per step nearest to a batch, and whether they come near enough to it to keep its recipe."""
    nearest = max(1, round(batch / rows_samples))
    return nearest, abs(nearest * rows_samples / batch - 1) <= ROUNDING_DOUBT


def between(counts: Sequence[int], at: int) -> list[int]:
    """Accumulations between `at` and the counts on either side of it, ascending; steps are `FINEST` of it or more."""
    ascending_counts = sorted(counts)
    place = ascending_counts.index(at)
    first, last = ascending_counts[max(place - 1, 0)], ascending_counts[min(place + 1, len(ascending_counts) - 1)]
    step = max(1, round(FINEST * at))
    return [count for count in range(at % step or step, last, step) if first < count != at]


def nearest(global_batches: Iterable[float], batch: float) -> tuple[float, ...]:
    """Batches that divide, the nearest to the published one first."""
    return tuple(sorted(global_batches, key=lambda value: (abs(math.log(value / batch)), value))[:GLOBAL_BATCHES_TRIED])


def note(workload: Workload, mapping: Mapping, topology: Topology) -> AnswerNote | None:
    """Where the batch of a mapping that was searched for is from; None where it is that of benchmark and paper."""
    published_global_batches, benchmark, batch = recipes(workload, topology), workload.benchmark, mapping.global_batch
    if not published_global_batches:
        return None
    if benchmark.global_batch and not workload.recipe and _near(batch, benchmark.global_batch):
        unlike = [size for size in published_global_batches if not _near(batch, size)]
        tokens = benchmark.global_batch_tokens
        return AnswerNote.of(NoteCode.GLOBAL_BATCH_UNLIKE_PAPER, batch=batch, tokens=tokens) if unlike else None
    if not any(_near(batch, value) for value in published_global_batches):
        too_large = (
            batch < published_global_batches[0]
            and accumulation(published_global_batches[0], mapping.micro_batch * mapping.replicas)[1]
        )
        return AnswerNote.of(
            NoteCode.GLOBAL_BATCH_TOO_LARGE if too_large else NoteCode.GLOBAL_BATCH_DOES_NOT_DIVIDE,
            batch=batch,
            reference_global_batch=published_global_batches[0],
            recipe=workload.recipe,
            title=topology.title,
        )
    if workload.recipe:
        return AnswerNote.of(NoteCode.GLOBAL_BATCH_OF_RECIPE, batch=batch, recipe=workload.recipe)
    if benchmark.global_batch_tokens:
        return AnswerNote.of(NoteCode.GLOBAL_BATCH_OF_PAPER, batch=batch, tokens=benchmark.global_batch_tokens)
    return AnswerNote.of(NoteCode.GLOBAL_BATCH_OF_NEAREST_MAPPING, batch=batch)


def _near(batch: float, recipe: float) -> bool:
    return abs(batch / recipe - 1) <= ROUNDING_DOUBT
