"""The shipped workload whose software configuration a user's network takes: the published network nearest to it."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from podsim.files.configurations import general as general_configuration
from podsim.model.family import NetworkKind
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.sums import sum_in_order
from podsim.model.training import Benchmark, Convergence, Schedule, SoftwareConfiguration
from podsim.model.workload import Gather, Kind, LayerUnit, Matmul, Pass, Workload
from podsim.workloads import families

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from podsim.files.read import Document
    from podsim.model.family import GeneralConfiguration, WorkloadFile
    from podsim.model.quantity import Provenance

    Catalog = Callable[[str], Document[Workload]]

SAME: Final = 0.02  # share by which parameters and arithmetic of one network differ from format to format
NEAR: Final = 2.0  # times its size up to which a configuration of a language model still suits another


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """What of a chain of units tells how large its network is, whatever the length of a row."""

    parameters: int
    flop: float  # products and convolutions of one row forward; of a language model those with weights, a token
    tokens: int  # of a row of a language model; 0 of any other network
    next_token: bool  # whether every token of a row is predicted, as decoders do and encoders do not
    uniform: bool  # whether attention has one shape all through, where there is any
    once: bool  # whether an encoder runs before a decoder
    width: int  # of the largest table of tokens; 0 where there is none

    @classmethod
    def of(cls, units: tuple[LayerUnit, ...]) -> Size:
        """The size of a chain."""
        operators = [each for unit in units for each in unit.operators]
        tables = [each.shape for each in operators if isinstance(each.shape, Gather)]
        words = max(tables, key=lambda table: table.table * table.width, default=None)
        tokens = words.lookups if words and kind(units) is NetworkKind.LANGUAGE else 0
        by_token = [
            each.shape
            for each in operators
            if isinstance(each.shape, Matmul) and tokens and each.shape.weights and each.shape.m % tokens == 0
        ]
        return cls(
            parameters=max(1, sum(unit.parameters for unit in units)),
            flop=sum_in_order(shape.flop / tokens for shape in by_token) if by_token else _forward_flop(units),
            tokens=tokens if by_token else 0,
            next_token=words is not None and any(abs(shape.n / words.table - 1) <= SAME for shape in by_token),
            uniform=len({each.shape for each in operators if each.kind is Kind.SOFTMAX}) <= 1,
            once=any(unit.once for unit in units),
            width=words.width if words else 0,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """A shipped workload, how far it is from the user's network, and where its configuration is from."""

    workload: Workload
    same: bool  # whether it is the same network, with rows of any length
    parameters: float  # of the user's network over its own
    flop: float  # of the user's network, a row or a token, over its own
    longer: float  # tokens of a row of the user's network over its own; 1 where a row has none
    provenance: dict[str, Provenance]

    @property
    def whole(self) -> bool:
        """Whether it is the same network with rows of the same length, whose published mappings hold as they are."""
        return self.same and self.longer == 1

    @property
    def basis(self) -> AnswerNote:
        """Why its configuration is taken."""
        title = self.workload.title
        if self.whole:
            return AnswerNote.of(NoteCode.CONFIGURATION_OF_SAME, title=title, within=SAME)
        if self.same:
            return AnswerNote.of(NoteCode.CONFIGURATION_OF_LONGER, title=title, longer=self.longer)
        return AnswerNote.of(
            NoteCode.CONFIGURATION_OF_NEAREST,
            title=title,
            parameters=self.parameters,
            flop=self.flop,
            by_token=self.longer != 1,
        )


def kind(units: tuple[LayerUnit, ...]) -> NetworkKind | None:
    """What kind of network a chain is: by where its arithmetic is, and what its input is looked up in."""
    operators = [each for unit in units for each in unit.operators]
    convolution_flop = sum_in_order(each.flop(Pass.FORWARD) for each in operators if each.kind is Kind.CONVOLUTION)
    if convolution_flop > 0.5 * _forward_flop(units):
        return NetworkKind.CONVOLUTIONAL
    if any(each.kind is Kind.SOFTMAX for each in operators):
        text = any(each.kind is Kind.GATHER for each in operators)
        return NetworkKind.LANGUAGE if text else NetworkKind.VISION_TRANSFORMER
    return None


def reference(units: tuple[LayerUnit, ...], general: GeneralConfiguration, read_workload: Catalog) -> Reference | None:
    """The published network nearest in parameters and arithmetic, of the same kind; None where none is near.

    The same network goes before any other. Then one whose attention is alike all through goes before one whose
    attention changes from stage to stage, and the other way round, whatever their sizes: ViT with half its layers
    stays a ViT. So do decoders and encoders: a small BERT is no GPT-2. Of networks as near the one with rows of the
    nearest length stands.
    A language model takes the configuration of a larger one, or of one half its size: what fits there fits here. One
    that streams its weights in phases suits networks of its width alone, which is what it cuts, and one with an encoder
    and a decoder only the same network. `read_workload` reads a workload that podsim ships.
    """
    own, size = kind(units), Size.of(units)
    nearest: tuple[tuple[bool | float, ...], Reference] | None = None
    for name in general.networks_of(own):
        document = read_workload(name)
        other = Size.of(document.value.units)
        reference = _compare(size, other, document.value, document.provenance)
        away = max(abs(math.log(reference.parameters)), abs(math.log(reference.flop)))
        larger = max(reference.parameters, reference.flop) > NEAR
        wide = _in_phases(reference.workload) and other.width != size.width
        far = own is NetworkKind.LANGUAGE and (wide or other.once or size.once or larger)
        longer = abs(math.log(reference.longer))
        unlike = not reference.same, other.uniform != size.uniform, other.next_token != size.next_token
        rank = (*unlike, longer if reference.same else away, longer)
        if (reference.same or not far) and (nearest is None or rank < nearest[0]):
            nearest = rank, reference
    return nearest[1] if nearest else None


def _in_phases(workload: Workload) -> bool:
    """Whether it was published in phases alone."""
    return all(configuration.schedule is Schedule.PHASED for configuration in workload.configurations)


def _compare(own: Size, other: Size, workload: Workload, provenance: Mapping[str, Provenance]) -> Reference:
    parameters, flop = own.parameters / other.parameters, own.flop / other.flop
    comparable = bool(own.tokens) == bool(other.tokens) and own.next_token == other.next_token
    return Reference(
        workload=workload,
        same=comparable and max(abs(parameters - 1), abs(flop - 1)) <= SAME,
        parameters=parameters,
        flop=flop,
        longer=own.tokens / other.tokens if own.tokens and other.tokens else 1.0,
        provenance={path: provenance for path, provenance in provenance.items() if path.startswith("configuration.")},
    )


def _forward_flop(units: tuple[LayerUnit, ...]) -> float:
    products = (Kind.MATMUL, Kind.CONVOLUTION)
    return max(
        1.0,
        sum_in_order(each.flop(Pass.FORWARD) for unit in units for each in unit.operators if each.kind in products),
    )


def complete(
    file: WorkloadFile, convergence: Convergence | None, stated_keys: set[str], read_workload: Catalog
) -> tuple[Workload, Mapping[str, Provenance]]:
    """The workload of a file that lacks configurations, a benchmark or both, and where what it lacks is from.

    `read_workload` reads a workload that podsim ships: the network nearest to it has what it lacks.
    """
    usual = general_configuration()
    like = None if file.configurations else reference(families.chain(file), usual.value, read_workload)
    workload = families.build(file, convergence, usual.value)
    presence = {"benchmark": bool(file.benchmark), "configuration": bool(file.configurations or like)}
    lacking = {
        path: provenance
        for path, provenance in usual.provenance.items()
        if not presence.get(path.partition(".")[0], True)
    }
    if like is None:
        return (
            workload if file.benchmark else replace(workload, recipe=AnswerNote.of(NoteCode.RECIPE_ROUND_NUMBER))
        ), lacking
    return configure(workload, like, stated_keys), lacking | like.provenance


def configure(workload: Workload, like: Reference, stated_keys: set[str]) -> Workload:
    """The workload with the software configuration of its reference network, but for what is stated.

    Of the same network that is all of it, published mappings included where rows are as long; of another one how state
    is stored, the optimizer and the precision.
    """
    other, notes = like.workload, [note for note in workload.notes if note.code is not NoteCode.CONFIGURATION_GENERAL]
    replacements: dict[str, Any] = {
        name: getattr(other, name) for name in ("optimizer", "precision") if name not in stated_keys
    }
    if like.whole:
        replacements |= {} if "row_size" in stated_keys else {"row_bytes": other.row_bytes}
        replacements |= {"presets": other.presets, "large_pods": other.large_pods}
    if like.same:
        replacements |= {} if "minimum" in stated_keys else {"minimum": other.minimum}
    replacements["hosts_as"] = other.presets
    if "benchmark" not in stated_keys:
        replacements |= {"converges_as": other} if other.points and like.longer == 1 else {}
        replacements |= {"benchmark": _benchmark(like, workload.benchmark), "recipe": _recipe(like)}
    return replace(
        workload, configurations=_configurations(workload.units, like), notes=(*notes, like.basis), **replacements
    )


def _benchmark(like: Reference, own: Benchmark) -> Benchmark:
    """No length, and the global batch at which the rate of the reference network was published, as many tokens of it.

    Without one published mappings say it, by the size of the machine; without those the largest reference run does.
    """
    global_batch = _published_global_batch(like)
    if global_batch is None and not like.whole:
        global_batch = own.global_batch
    return replace(own, global_batch=global_batch, global_batch_tokens=like.workload.benchmark.global_batch_tokens)


def _published_global_batch(like: Reference) -> int | None:
    """The global batch of the reference network's own recipe, in rows of the user's network; None where none is."""
    other = like.workload
    global_batch = other.benchmark.global_batch
    if global_batch is None and other.points and not (other.presets and like.whole):
        global_batch = other.points[-1].batch
    return None if global_batch is None else max(1, round(global_batch / like.longer))


def _recipe(like: Reference) -> AnswerNote | None:
    """Whose global batch a network of the user's takes; None where it is that of the same network."""
    title, tokens = like.workload.title, like.workload.benchmark.global_batch_tokens
    if tokens:
        return AnswerNote.of(NoteCode.RECIPE_OF_PAPER, tokens=tokens, title=title)
    if _published_global_batch(like) is None:
        return None if like.whole else AnswerNote.of(NoteCode.RECIPE_ROUND_NUMBER)
    same = like.longer == 1
    return AnswerNote.of(NoteCode.RECIPE_OF_SAME if same else NoteCode.RECIPE_AS_MANY_TOKENS, title=title)


def _configurations(units: tuple[LayerUnit, ...], like: Reference) -> tuple[SoftwareConfiguration, ...]:
    """Its configurations; a published split of layers stays where the units are the same, else it is even."""
    groups = Counter(unit.group for unit in units)

    def stage_counts(configuration: SoftwareConfiguration) -> Counter[str]:
        table: Counter[str] = Counter()
        for stage in configuration.layout:
            table.update(stage.units)
        return table

    return tuple(
        each if like.same and stage_counts(each) == groups else replace(each, layout=())
        for each in like.workload.configurations
    )
