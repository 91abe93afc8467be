"""Which published configuration a mapping follows, and what to fall back on where none was published."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from podsim.caches.tables import TABLES, Numbers, Table
from podsim.errors import InputError, MissingParameter
from podsim.lowering import layout
from podsim.model.fabric import Topology
from podsim.model.framework import INTERFACES, NAMES, Framework, check_training
from podsim.model.mapping import Mapping, Stage
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import MemoryFit
from podsim.model.training import Recompute, Schedule, SoftwareConfiguration, StatePlace
from podsim.model.workload import Workload
from podsim.planning.available_memory import largest_that_fits
from podsim.predicting.release_estimate import version
from podsim.scenario import Scenario
from podsim.tiles.planner import PlanTarget

IO_TILES = 64  # set aside where traffic is to overlap and no number is given: graphcore-examples, BERT-Large in phases
PHASED_IO_TILES = 128  # of a step in phases with tensor shards: graphcore-examples, gpt3_2.7B_pod64
TENSOR_SHARDS = (8, 4, 2, 1)  # those of graphcore-examples (GPT-3) first, then what needs fewer exchanges
FURTHER_SHARDS, ATTENTION_PARTS = 16, 8  # what a row of 8,192 tokens takes: llama31-8b, which nobody published
MOST_IPUS = 64  # a replica: an IPU-Link domain (topologies/README.md)
MICRO_BATCHES = (1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """Overrides of the published configuration; None leaves it."""

    schedule: Schedule | None = None
    framework: Framework | None = None
    prefetch: int | None = None
    overlap: bool = False
    io_tiles: int | None = None
    recompute: Recompute | None = None
    state: StatePlace | None = None
    tensor_shards: int | None = None
    state_sharded: bool | None = None
    cut_further: bool = False  # of a step in phases: half a layer a phase, queries of attention in parts

    def of(self, configuration: SoftwareConfiguration) -> SoftwareConfiguration:
        """The configuration with that changed; InputError where its tensor shards go with no such schedule."""
        if faults := tuple(self.refuse_schedule((configuration,))):
            raise InputError(
                "the mapping does not suit the configuration",
                code="bad-mapping",
                context=faults,
                hint="leave out --schedule",
            )
        overlaps = self.overlap or configuration.overlaps_reduction
        io_tiles = configuration.io_tiles if self.io_tiles is None else self.io_tiles
        if self.tensor_shards is not None and not configuration.io_tiles and self.io_tiles is None:
            io_tiles = PHASED_IO_TILES
        return replace(
            configuration,
            tensor_shards=self.tensor_shards or configuration.tensor_shards,
            ipus_per_replica=_replica_sizes(self.tensor_shards)
            if self.tensor_shards
            else configuration.ipus_per_replica,
            state_sharded=configuration.state_sharded if self.state_sharded is None else self.state_sharded,
            schedule=self.schedule or configuration.schedule,
            recompute=self.recompute or configuration.recompute,
            state=self.state or configuration.state,
            framework=self.framework or configuration.framework,
            returns_to_host=INTERFACES[self.framework].calls_each_update
            if self.framework
            else configuration.returns_to_host,
            prefetch=configuration.prefetch if self.prefetch is None else self.prefetch,
            overlaps_reduction=overlaps,
            attention_parts=ATTENTION_PARTS if self.cut_further else configuration.attention_parts,
            half_layers=configuration.half_layers or self.cut_further,
            io_tiles=IO_TILES if overlaps and self.io_tiles is None and not io_tiles else io_tiles,
        )

    def faults(self, tiles: int) -> Iterator[str]:
        """What no chip of so many tiles can do."""
        io_tiles = self.io_tiles if self.io_tiles is not None else IO_TILES if self.overlap else 0
        if io_tiles >= tiles:
            yield f"--io-tiles must be below the {tiles:,} tiles of the chip, not {io_tiles:,}"
        if self.overlap and self.io_tiles == 0:
            yield "--overlap needs tiles for the traffic beside compute, not --io-tiles 0"

    def refuse_schedule(self, configurations: Sequence[SoftwareConfiguration]) -> Iterator[str]:
        """What no configuration of a workload can do: tensor shards run a phase at a time."""
        is_phased = configurations and all(configuration.tensor_shards > 1 for configuration in configurations)
        if is_phased and self.schedule not in (None, Schedule.PHASED):
            yield f"--schedule {self.schedule}: tensor shards, as {configurations[0].name} has, run in phases alone"

    def notes(self, configuration: SoftwareConfiguration) -> Iterator[AnswerNote]:
        """How a changed configuration differs from what was published."""
        if self.tensor_shards is not None:
            shards, io_tiles = configuration.tensor_shards, configuration.io_tiles
            yield AnswerNote.of(NoteCode.WEIGHTS_STREAMED, shards=shards, io_tiles=io_tiles)
            if self.cut_further:
                yield AnswerNote.of(NoteCode.HALF_LAYERS, parts=configuration.attention_parts)
        elif self.schedule is not None:
            yield AnswerNote.of(NoteCode.SCHEDULE_GIVEN, schedule=configuration.schedule)
        if self.framework is not None:
            yield AnswerNote.of(NoteCode.FRAMEWORK_GIVEN, framework=self.framework)
        if self.prefetch is not None:
            if configuration.schedule is Schedule.PHASED:
                yield AnswerNote.of(NoteCode.PREFETCH_UNUSED, caveat=True)
            else:
                yield AnswerNote.of(NoteCode.PREFETCH_GIVEN, micro_batches=configuration.prefetch)
        if self.overlap:
            yield AnswerNote.of(NoteCode.OVERLAP_GIVEN)
        if self.io_tiles is not None or self.overlap:
            yield AnswerNote.of(NoteCode.IO_TILES, tiles=configuration.io_tiles)


AS_PUBLISHED = WhatIf()
_ROOMS: Final = Numbers("rooms of mappings", 10_000)
_FITTING: Final = TABLES.add("mappings that fit", Table[object, tuple[tuple[Mapping, MemoryFit], ...]](1000))


def _replica_sizes(shards: int) -> tuple[int, ...]:
    """Sizes of a replica that so many tensor shards divide."""
    return tuple(size for size in powers(MOST_IPUS) if size % shards == 0)


def too_few_ipus(replicas: int, ipus: int, topology: Topology) -> str:
    """Why replicas of so many IPUs find no place: "2 replicas of 32 IPUs need 64 IPUs; pod16 has 16"."""
    if replicas == 1:
        return f"a replica of {ipus:,} IPUs is too large: {topology.name} has {topology.ipus:,}"
    each = f"of {ipus:,} IPU{'' if ipus == 1 else 's'}"
    return f"{replicas:,} replicas {each} need {replicas * ipus:,} IPUs; {topology.name} has {topology.ipus:,}"


def powers(most: int) -> list[int]:
    """1, 2, 4 and so on."""
    return [2**i for i in range(most.bit_length())]


def relax(base: WhatIf, workload: Workload, topology: Topology) -> Iterator[WhatIf]:
    """What else to try where nothing fits: weights that are streamed, unless the machine has no streaming memory."""
    if base.schedule is None and topology.gateway.streaming_bytes and may_stream(workload):
        for shards in TENSOR_SHARDS:
            yield stream(base, shards)
        yield replace(stream(base, FURTHER_SHARDS), cut_further=True)


def stream(base: WhatIf, shards: int, *, sharded: bool | None = None) -> WhatIf:
    """A step in phases with so many tensor shards: weights and state streamed, layers recomputed from what enters."""
    return replace(
        base,
        schedule=Schedule.PHASED,
        recompute=Recompute.CHECKPOINTS,
        state=StatePlace.STREAMING,
        tensor_shards=shards,
        state_sharded=sharded,
    )


def may_stream(workload: Workload) -> bool:
    """Whether a step may run in unpublished phases: that of a decoder without another published configuration."""
    if any(configuration.schedule is Schedule.PHASED for configuration in workload.configurations):
        return False
    from podsim.workloads import shards

    try:
        shards.check(workload.units, shards.ShardGrid(1, 1))
    except InputError:
        return False
    return True


def what_if(scenario: Scenario) -> WhatIf:
    """What a scenario changes of a configuration."""
    flags, name = scenario.what_if, scenario.software.framework
    framework = NAMES[name] if name else None
    if framework:
        check_training(framework)
    return WhatIf(
        schedule=Schedule(flags.schedule) if flags.schedule else None,
        prefetch=flags.prefetch,
        overlap=flags.overlap,
        io_tiles=flags.io_tiles,
        framework=framework,
    )


def published_configuration(
    workload: Workload, chip: str, sdk: str, ipus_per_replica: int, replicas: int, *, like: str = ""
) -> SoftwareConfiguration | None:
    """The configuration published for this chip and size, else for the chip it is `like`.

    Of this SDK where there is one, else of the last one before it, else of the first one after it.
    """
    of_size = [
        configuration
        for configuration in search_configurations(workload)
        if ipus_per_replica in configuration.ipus_per_replica
        and (configuration.most_replicas is None or replicas <= configuration.most_replicas)
    ]
    own = [configuration for configuration in of_size if chip in configuration.chips]
    fitting = own or [configuration for configuration in of_size if like in configuration.chips]
    if not any(configuration.sdks for configuration in fitting):
        return next(iter(fitting[::-1]), None)
    return max(fitting, key=lambda configuration: _release(configuration, sdk))


def _release(configuration: SoftwareConfiguration, sdk: str) -> tuple[int, tuple[int, ...]]:
    """How well a configuration suits a release: the later before it, or the sooner after it, the better."""
    releases = [version(sdk) for sdk in configuration.sdks]
    before = [release for release in releases if release <= version(sdk)]
    if before:
        return 2, max(before)
    return (1, tuple(-part for part in min(releases))) if releases else (0, ())


def search_configurations(workload: Workload) -> list[SoftwareConfiguration]:
    """Configurations that are not those of presets alone."""
    return [configuration for configuration in workload.configurations if not configuration.preset_only]


def nearest(workload: Workload, chip: str, sdk: str, ipus_per_replica: int) -> SoftwareConfiguration:
    """The configuration nearest in chip, SDK and size, without its split of layers; MissingParameter without one."""
    if not (configurations := search_configurations(workload)):
        raise MissingParameter(
            f"workload {workload.name} has no [[configuration]]: how it is stored and scheduled is not known",
            hint="podsim/workloads/bert.toml is complete; docs/reference/formats.md has every key of a configuration",
        )

    def distance(configuration: SoftwareConfiguration) -> tuple[bool, bool, int]:
        size = min(abs(count.bit_length() - ipus_per_replica.bit_length()) for count in configuration.ipus_per_replica)
        return chip not in configuration.chips, sdk not in configuration.sdks, size

    best = min(configurations, key=distance)
    # One micro-batch at a time suits a replica of one IPU; over several the published pipelines are grouped.
    is_pipelined = best.schedule is Schedule.SEQUENTIAL and ipus_per_replica > 1
    return replace(
        best,
        name=f"{best.name} with layers split evenly",
        layout=(),
        schedule=Schedule.GROUPED if is_pipelined else best.schedule,
    )


def options(
    workload: Workload, topology: Topology, sdk: str, ipus_per_replica: int, replicas: int
) -> tuple[SoftwareConfiguration, ...]:
    """Configurations to try in order: the published one, else the nearest with its storage relaxed until it fits.

    On a machine without streaming memory optimizer state stays on chip, whatever was published for others.
    """
    chip, streams = topology.chip.name, bool(topology.gateway.streaming_bytes)
    published_option = published_configuration(
        workload, chip, sdk, ipus_per_replica, replicas, like=topology.chip.layouts_of
    )
    if published_option is not None and (streams or published_option.state is StatePlace.ON_CHIP):
        return (published_option,)
    base = published_option or nearest(workload, chip, sdk, ipus_per_replica)
    if base.schedule is Schedule.PHASED:
        return (base,)  # all of it is streamed already
    on_chip, streaming = replace(base, state=StatePlace.ON_CHIP), replace(base, state=StatePlace.STREAMING)
    storage_options = (base, on_chip, streaming) if streams else (on_chip,)
    with_recomputation = replace(storage_options[-1], recompute=Recompute.CHECKPOINTS)
    unique: list[SoftwareConfiguration] = []  # a layout is not hashable
    for configuration in (*storage_options, with_recomputation):
        if configuration not in unique:
            unique.append(configuration)
    return tuple(unique)


class MappingBuilder:
    """Builds mappings of one workload on one machine, the split of layers computed once for each replica size."""

    def __init__(self, workload: Workload, topology: Topology, sdk: str, what_if: WhatIf = AS_PUBLISHED) -> None:
        self.workload, self.topology, self.sdk = workload, topology, sdk
        self.what_if = what_if
        self._stages: dict[tuple[str, int], tuple[Stage, ...]] = {}

    def otherwise(self, what_if: WhatIf) -> "MappingBuilder":
        """One of the same workload and machine where other things are otherwise."""
        return MappingBuilder(self.workload, self.topology, self.sdk, what_if)

    def mapping(
        self,
        configuration: SoftwareConfiguration,
        *,
        replicas: int,
        ipus_per_replica: int,
        micro_batch: int,
        accumulation: int,
    ) -> Mapping:
        """A mapping that follows a configuration but for the overrides."""
        configuration, tiles = self.what_if.of(configuration), self.topology.chip.tiles
        if configuration.io_tiles >= tiles:
            raise InputError(
                f"configuration {configuration.name} has {configuration.io_tiles:,} IO tiles, the chip {tiles:,} tiles",
                code="bad-mapping",
            )
        key = (configuration.name, ipus_per_replica)
        if key not in self._stages:
            self._stages[key] = layout.stages(self.workload, configuration, ipus_per_replica)
        footprint = max(stage.ipu for stage in self._stages[key]) + 1
        if footprint > ipus_per_replica:
            raise InputError(
                f"configuration {configuration.name} places stages on {footprint} IPUs, the mapping has "
                f"{ipus_per_replica} a replica",
                code="mapping-does-not-divide",
            )
        return Mapping(
            replicas=replicas,
            ipus_per_replica=ipus_per_replica,
            micro_batch=micro_batch,
            accumulation=accumulation,
            stages=self._stages[key],
            configuration=configuration,
            samples_per_row=self.workload.samples_per_row,
        )

    def _different(self, candidates: Sequence[SoftwareConfiguration]) -> list[SoftwareConfiguration]:
        """As they would be applied, each once."""
        configurations: list[SoftwareConfiguration] = []
        for configuration in map(self.what_if.of, candidates):
            if configuration not in configurations:
                configurations.append(configuration)
        return configurations

    def fitting(
        self, *, replicas: int, ipus_per_replica: int, micro_batch: int, accumulation: int
    ) -> tuple[tuple[Mapping, MemoryFit], ...]:
        """Ways to store a mapping, in the order of `options`, each at the largest available memory that fits.

        None after the first that fits at the default: it is as published, or the least change of that. Where no option
        fits, the last one alone, which does not. Machines that differ in links or clock share what fits.
        """
        split = replicas, ipus_per_replica, micro_batch, accumulation
        return _FITTING.remember((self._room, self.what_if, split), lambda: self._fitting(*split))

    @cached_property
    def _room(self) -> int:
        """The number of all that decides what fits, beside the split and the overrides."""
        machine, chip, workload = self.topology, self.topology.chip, self.workload
        layers = tuple(unit.number for unit in workload.units), workload.samples_per_row
        chip_key = PlanTarget(chip, workload.precision).plan_key, chip.name, chip.layouts_of
        places = machine.ipus_per_rack, machine.ipus_per_machine, machine.gateway.streaming_bytes
        return _ROOMS.of((workload.name, layers, repr(workload.configurations), self.sdk, chip_key, places))

    def _fitting(
        self, replicas: int, ipus_per_replica: int, micro_batch: int, accumulation: int
    ) -> tuple[tuple[Mapping, MemoryFit], ...]:
        configurations = options(self.workload, self.topology, self.sdk, ipus_per_replica, replicas)
        result: list[tuple[Mapping, MemoryFit]] = []
        for configuration in self._different(configurations):
            as_published = self.mapping(
                configuration,
                replicas=replicas,
                ipus_per_replica=ipus_per_replica,
                micro_batch=micro_batch,
                accumulation=accumulation,
            )
            mapping, memory = largest_that_fits(self.workload, as_published, self.topology)
            if memory.fits:
                result.append((mapping, memory))
                if not mapping.memory_lowered:
                    break
        return tuple(result) or ((mapping, memory),)

    def first_that_fits(
        self, *, replicas: int, ipus_per_replica: int, micro_batch: int, accumulation: int
    ) -> tuple[Mapping, MemoryFit]:
        """The first of `fitting`; one that does not fit where none does."""
        return self.fitting(
            replicas=replicas, ipus_per_replica=ipus_per_replica, micro_batch=micro_batch, accumulation=accumulation
        )[0]
