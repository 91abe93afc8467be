"""The global batch of a step where no flag gives one: that of a published recipe, else the nearest that divides."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from podsim.model.training import ROUNDED, Division

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.model.mapping import Mapping
    from podsim.model.training import Preset
    from podsim.model.workload import Workload

TRIED: Final = 3  # batches near that of the recipe to try where it does not divide


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
    stated = [float(benchmark.global_batch or 0), (of_paper or 0.0) * workload.samples_per_row]
    recipes = tuple(batch for batch in (stated[::-1] if own_length else stated) if batch)
    if not recipes and workload.presets:
        return (_batch(min(reversed(workload.presets), key=lambda preset: _away(preset, topology)), workload),)
    return recipes


def _batch(preset: Preset, workload: Workload) -> float:
    return preset.micro_batch * preset.accumulation * preset.replicas * workload.samples_per_row


def _away(preset: Preset, topology: Topology) -> tuple[bool, float, bool]:
    size = preset.replicas * preset.ipus_per_replica
    return preset.division is not Division.CLOSED, abs(math.log(size / topology.ipus)), preset.topology != topology.name


def accumulation(batch: float, rows_samples: float) -> tuple[int, bool]:
    """Micro-batches a step nearest to a batch, and whether they come near enough to it to keep its recipe."""
    nearest = max(1, round(batch / rows_samples))
    return nearest, abs(nearest * rows_samples / batch - 1) <= ROUNDED


def nearest(missed: Iterable[float], batch: float) -> tuple[float, ...]:
    """Batches that divide, the nearest to the published one first."""
    return tuple(sorted(missed, key=lambda value: (abs(math.log(value / batch)), value))[:TRIED])


def note(workload: Workload, mapping: Mapping, topology: Topology) -> str:
    """Where the batch of a mapping that was searched for is from; "" where it is that of the file's own benchmark."""
    known, benchmark, batch = recipes(workload, topology), workload.benchmark, mapping.global_batch
    own = benchmark.global_batch and not workload.recipe and _near(batch, benchmark.global_batch)
    if not known or own:
        return ""
    return f"global batch {batch:,}: {_basis(workload, mapping, topology, known)}"


def _basis(workload: Workload, mapping: Mapping, topology: Topology, known: tuple[float, ...]) -> str:
    batch, tokens = mapping.global_batch, workload.benchmark.global_batch_tokens
    if not any(_near(batch, value) for value in known):
        number = f"{known[0]:,.0f}"
        recipe = f"{number}, {workload.recipe}," if workload.recipe else f"the published batch of {number}"
        if batch < known[0] and accumulation(known[0], mapping.micro_batch * mapping.replicas)[1]:
            return (
                f"the activations of {recipe.rstrip(',')} do not fit the streaming memory of {topology.title}; "
                "set another with --global-batch"
            )
        return (
            f"{recipe} does not divide over the replicas of {topology.title}, this is the nearest that does; "
            "set another with --global-batch"
        )
    if workload.recipe:
        return f"{workload.recipe}; set another with --global-batch"
    if tokens:
        return f"the {tokens:,.0f} tokens per step of the model's paper"
    return "as in the published mapping nearest in size; set another with --global-batch"


def _near(batch: float, recipe: float) -> bool:
    return abs(batch / recipe - 1) <= ROUNDED
