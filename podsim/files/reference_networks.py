"""The shipped workload whose software configuration a user's network takes: the published network nearest to it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from podsim.files.configurations import general as general_configuration
from podsim.model.network_kind import NetworkKind
from podsim.model.sums import sum_in_order
from podsim.model.training import Benchmark, Convergence, Schedule, SoftwareConfiguration
from podsim.model.workload import Kind, LayerUnit, Pass, Workload
from podsim.workloads import families

if TYPE_CHECKING:
    from collections.abc import Mapping

    from podsim.model.family import GeneralConfiguration, WorkloadFile
    from podsim.model.quantity import Provenance

SAME: Final = 0.02  # share by which parameters and arithmetic of one network differ from format to format
GENERAL: Final = "no configuration is published"  # how the note begins that a reference network makes untrue
NEAR: Final = 2.0  # factor within which a configuration of a language model still suits another


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A shipped workload, how far it is from the user's network, and where its configuration is from."""

    workload: Workload
    same: bool
    parameters: float  # of the user's network over its own
    flop: float
    provenance: dict[str, Provenance]

    @property
    def basis(self) -> str:
        """Why its configuration is taken, for the screen."""
        title = self.workload.title
        if self.same:
            return f"configuration: as {title}, the same network (parameters and FLOP within {100 * SAME:.0f} %)"
        return (
            f"configuration: as {title}, the nearest network with a published one "
            f"({self.parameters:.2g}× its parameters, {self.flop:.2g}× its FLOP)"
        )


def kind(units: tuple[LayerUnit, ...]) -> NetworkKind | None:
    """What kind of network a chain is: by where its arithmetic is, and what its input is looked up in."""
    operators = [each for unit in units for each in unit.operators]
    convolved = sum_in_order(each.flop(Pass.FORWARD) for each in operators if each.kind is Kind.CONVOLUTION)
    if convolved > 0.5 * _forward_flop(units):
        return NetworkKind.CONVOLUTIONAL
    if any(each.kind is Kind.SOFTMAX for each in operators):
        text = any(each.kind is Kind.GATHER for each in operators)
        return NetworkKind.LANGUAGE if text else NetworkKind.VISION_TRANSFORMER
    return None


def reference(units: tuple[LayerUnit, ...], general: GeneralConfiguration) -> Reference | None:
    """The published network nearest in parameters and arithmetic a row, of the same kind; None where none is near.

    One whose attention is alike all through goes before one whose attention changes from stage to stage, and the other
    way round, whatever their sizes: ViT with half its layers stays a ViT.
    A language model takes the configuration of one within a factor of two, and one that streams its weights in phases
    or has an encoder and a decoder only of the same network: how such a model is split follows its width.
    """
    from podsim.files import catalog

    own = kind(units)
    alike = _is_uniform(units)
    nearest: tuple[tuple[bool, float], Reference] | None = None
    for name in general.networks_of(own):
        document = catalog.workload(name)
        reference = _compared(units, document.value, document.provenance)
        away = max(abs(math.log(reference.parameters)), abs(math.log(reference.flop)))
        far = own is NetworkKind.LANGUAGE and (_of_its_width(reference.workload) or away > math.log(NEAR))
        rank = _is_uniform(document.value.units) != alike, away
        if (reference.same or not far) and (nearest is None or rank < nearest[0]):
            nearest = rank, reference
    return nearest[1] if nearest else None


def _is_uniform(units: tuple[LayerUnit, ...]) -> bool:
    """Whether attention has one shape all through, where there is any."""
    return len({each.shape for unit in units for each in unit.operators if each.kind is Kind.SOFTMAX}) <= 1


def _of_its_width(workload: Workload) -> bool:
    """Whether a configuration suits no other network than its own."""
    phased = all(configuration.schedule is Schedule.PHASED for configuration in workload.configurations)
    return phased or any(unit.once for unit in workload.units)


def _compared(units: tuple[LayerUnit, ...], other: Workload, provenance: Mapping[str, Provenance]) -> Reference:
    parameters = max(1, sum(unit.parameters for unit in units)) / other.parameters
    flop = _forward_flop(units) / _forward_flop(other.units)
    return Reference(
        workload=other,
        same=max(abs(parameters - 1), abs(flop - 1)) <= SAME,
        parameters=parameters,
        flop=flop,
        provenance={path: provenance for path, provenance in provenance.items() if path.startswith("configuration.")},
    )


def _forward_flop(units: tuple[LayerUnit, ...]) -> float:
    products = (Kind.MATMUL, Kind.CONVOLUTION)
    return max(
        1.0,
        sum_in_order(each.flop(Pass.FORWARD) for unit in units for each in unit.operators if each.kind in products),
    )


def completed(
    file: WorkloadFile, convergence: Convergence | None, stated: set[str]
) -> tuple[Workload, Mapping[str, Provenance]]:
    """The workload of a file that lacks configurations, a benchmark or both, and where what it lacks is from."""
    usual = general_configuration()
    like = None if file.configurations else reference(families.chain(file), usual.value)
    workload = families.build(file, convergence, usual.value)
    known = {"benchmark": bool(file.benchmark), "configuration": bool(file.configurations or like)}
    lacking = {
        path: provenance for path, provenance in usual.provenance.items() if not known.get(path.partition(".")[0], True)
    }
    if like is None:
        return workload, lacking
    return configured(workload, like, stated), lacking | like.provenance


def configured(workload: Workload, like: Reference, stated: set[str]) -> Workload:
    """The workload with the software configuration of its reference network, but for what is stated.

    Of the same network that is all of it, published mappings included; of another one how state is stored, the
    optimizer and the precision.
    """
    other, notes = like.workload, [note for note in workload.notes if not note.startswith(GENERAL)]
    taken: dict[str, Any] = {name: getattr(other, name) for name in ("optimizer", "precision") if name not in stated}
    if like.same:
        taken |= {} if "row_size" in stated else {"row_bytes": other.row_bytes}
        taken |= {"presets": other.presets, "large_pods": other.large_pods}
        taken |= {"same_as": other} if other.points else {}
        taken |= {} if "minimum" in stated else {"minimum": other.minimum}
    if "benchmark" not in stated:
        taken["benchmark"] = _benchmark(like, workload.benchmark)
    return replace(workload, configurations=_configurations(workload.units, like), notes=(*notes, like.basis), **taken)


def _benchmark(like: Reference, own: Benchmark) -> Benchmark:
    """No length, and the global batch at which the rate of the reference network was published.

    Without one published mappings say it, by the size of the machine; without those the largest reference run does.
    """
    other, theirs = like.workload, like.workload.benchmark
    batch = theirs.global_batch
    if batch is None and other.points and not other.presets:
        batch = other.points[-1].batch
    if batch is None and not like.same:
        batch = own.global_batch
    return replace(own, global_batch=batch, global_batch_tokens=theirs.global_batch_tokens)


def _configurations(units: tuple[LayerUnit, ...], like: Reference) -> tuple[SoftwareConfiguration, ...]:
    """Its configurations; a published split of layers stays where the units are the same, else it is even."""
    groups = Counter(unit.group for unit in units)

    def placed(configuration: SoftwareConfiguration) -> Counter[str]:
        table: Counter[str] = Counter()
        for stage in configuration.layout:
            table.update(stage.units)
        return table

    return tuple(
        each if like.same and placed(each) == groups else replace(each, layout=())
        for each in like.workload.configurations
    )
