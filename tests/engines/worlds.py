"""Small models on small machines whose times can be worked out by hand, and shipped ones made ready to run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from podsim.engines.base import Engine
from podsim.files import catalog
from podsim.lowering.layout import stages
from podsim.lowering.lower import lower, lower_evaluation
from podsim.lowering.work import stage_work
from podsim.model.calibration import FittedParameter, ParameterSet
from podsim.model.chip import Amp, Chip, ChipSync, Exchange, Precision, Sram
from podsim.model.fabric import Economics, Gateway, Hosts, Level, Link, Shape, Topology
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping
from podsim.model.program import StepProgram
from podsim.model.training import (
    Benchmark,
    Convergence,
    Division,
    EvaluationStyle,
    Recompute,
    ReferencePoint,
    Schedule,
    SoftwareConfiguration,
    StatePlace,
)
from podsim.model.workload import Kind, LayerUnit, Matmul, Operator, Stream, Workload
from podsim.planning import choose
from podsim.planning.configuration import MappingBuilder
from podsim.predicting.training_case import TrainingCase
from podsim.topology.build import build
from podsim.topology.machine_network import Fabric
from podsim.workloads import presets

PIPELINED = (Schedule.GROUPED, Schedule.SEQUENTIAL, Schedule.ONE_F_ONE_B)  # in phases only decoders run
FITTED = {
    "program.stretch": 2.0,
    "collective.efficiency": 0.5,
    "rack.step": 1e-5,
    "sharding.weight": 1e-3,
}
CONFIGURATION = SoftwareConfiguration(
    name="by hand",
    source="by hand",
    chips=("round",),
    ipus_per_replica=(1,),
    schedule=Schedule.GROUPED,
    recompute=Recompute.NONE,
    state=StatePlace.ON_CHIP,
    state_sharded=False,
    moment_bytes=(4,),
    gradient_bytes=2,
    checkpoint_bytes=2,
    merged_collectives=True,
)


def parameters(**changes: float) -> ParameterSet:
    """Fitted numbers that are round; a keyword spells "rack.step" as rack_step."""
    values = FITTED | {name.replace("_", ".", 1): value for name, value in changes.items()}
    fitted = {
        name: FittedParameter(value=value, error=0.0, prior=value, prior_error=1.0, pull=0.0, meaning="round")
        for name, value in values.items()
    }
    return ParameterSet(
        fitted=fitted,
        correlation={},
        samples={},
        step_error=0.0,
        largest={},
        smallest={},
        chips=("round",),
        sdks=("1.0",),
        points=0,
    )


def chip(**changes: object) -> Chip:
    """1 TFLOP/s and 10 GB/s of exchange on 10 tiles that hold anything; 0.1 us a sync or start, 1 us a barrier."""
    base = Chip(
        name="round",
        title="Round",
        tiles=10,
        worker_threads=1,
        clock_hz=1e9,
        amp=Amp(flop_per_cycle=dict.fromkeys(Precision, 100.0)),
        sram=Sram(bytes_per_tile=1e9, load_bytes_per_cycle=16.0, store_bytes_per_cycle=8.0),
        exchange=Exchange(
            send_bytes_per_cycle=1.0,
            receive_bytes_per_cycle=1.0,
            shared_receive_bytes_per_cycle=2.0,
            efficiency=1.0,
            start_cycles=100.0,
        ),
        sync=ChipSync(on_chip_cycles=100.0, global_cycles=1000.0),
        ipu_links=10,
    )
    return replace(base, **changes)


def pod(*, machines: int = 4, racks: int = 1, closed: bool = False, shape: Shape = Shape.SWITCH) -> Topology:
    """Machines of 4 round IPUs: rails of 2 GB/s, rungs of 6 GB/s, GW-Links of 1 GB/s, two a machine."""
    ladder = Level(name="machine", holds=4, shape=Shape.LADDER, link="ipu-link", rung_links=6, rail_links=2)
    rack = replace(ladder, name="rack", holds=machines, closed=closed)
    pods = (Level(name="pod", holds=racks, shape=shape, link="gw-link", links_each=2),) if racks > 1 else ()
    return Topology(
        name="round-pod",
        title="Round pod",
        chip=chip(),
        levels=(ladder, rack, *pods),
        links={
            "ipu-link": Link(bandwidth_bytes_per_s=1e9, latency_s=1e-6, hop_s=1e-7),
            "gw-link": Link(bandwidth_bytes_per_s=1e9, latency_s=1e-5),
        },
        gateway=Gateway(
            streaming_bytes=1e9, streaming_bytes_per_s_per_ipu=1e9, pcie_bytes_per_s=1e9, host_bytes_per_s=1e9
        ),
        hosts=Hosts(servers=1, most_servers=8, server_bytes_per_s=1e9),
        economics=Economics(machine_usd=1000.0, machine_w=1000.0),
    )


def unit(name: str, *, products: int = 64, boundary: int = 0, weights: bool = True, tied: bool = False) -> LayerUnit:
    """A square product and a copy that leaves `boundary` elements a row to the next unit."""
    product = Matmul(m=products, k=products, n=products, weights=weights)
    leaves = Stream(elements=products, operations=("copy",), back_operations=("copy",), out_elements=boundary)
    return LayerUnit(
        name=name,
        group="layer",
        checkpoint=True,
        operators=(
            Operator(name=f"{name}.product", kind=Kind.MATMUL, shape=product, tied=tied, weight_tensors=int(weights)),
            Operator(name=f"{name}.out", kind=Kind.ELEMENTWISE, shape=leaves, stashed=False),
        ),
    )


def model(*units: LayerUnit, row_bytes: float = 0.0) -> Workload:
    """A model of these units; one sample a row."""
    return Workload(
        name="by-hand",
        title="By hand",
        sample="sample",
        row="row",
        samples_per_row=1.0,
        packing=1.0,
        units=units,
        precision=Precision.FP16_16,
        optimizer="momentum",
        row_bytes=row_bytes,
        benchmark=Benchmark(
            target="done",
            style=EvaluationStyle.EPOCHS,
            evaluation_samples=100,
            runs_scored=3,
            dataset_samples=1000,
            checkpoint_epochs=1,
        ),
        convergence=Convergence(
            points=(
                ReferencePoint(batch=10, samples=1000.0, std=0.0, runs=1),
                ReferencePoint(batch=20, samples=1000.0, std=0.0, runs=1),
            ),
            optimizer="momentum",
            source="by hand",
        ),
        configurations=(CONFIGURATION,),
        presets=(),
    )


@dataclass(frozen=True, repr=False)
class World:
    """A model mapped onto a machine, ready to be lowered."""

    workload: Workload
    mapping: Mapping
    machine: Machine
    fabric: Fabric
    optimizer: str = "momentum"

    def _repr_pretty_(self, printer, _cycle):
        """As hypothesis prints it."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        """Short enough to read where an example fails."""
        split = self.mapping
        topology = self.machine.topology
        units = [(item.operators[0].shape, item.out_elements) for item in self.workload.units[:12]]
        return (
            f"World({self.workload.name} on {topology.name}: {topology.racks} x {topology.ipus_per_rack} IPUs, "
            f"{split.replicas} replicas of {split.ipus_per_replica}, {len(split.stages)} stages, "
            f"micro_batch={split.micro_batch}, accumulation={split.accumulation}, {split.configuration}, "
            f"row_bytes={self.workload.row_bytes}, hosts={self.machine.hosts}, {self.optimizer}, units={units})"
        )

    def program(self, *, folded: bool = True) -> StepProgram:
        """One weight update."""
        return lower(self.workload, self.mapping, self.machine, self.fabric, optimizer=self.optimizer, folded=folded)

    def evaluation(self, rows: int, *, folded: bool = True) -> StepProgram:
        """A forward-only pass over `rows` rows."""
        return lower_evaluation(self.workload, self.mapping, self.machine, self.fabric, rows=rows, folded=folded)

    def question(self, engine: Engine) -> TrainingCase:
        """What is asked of it, to be run by an engine."""
        return TrainingCase(
            workload=self.workload,
            machine=self.machine,
            fabric=self.fabric,
            engine=engine,
            engine_name="any",
            optimizer=self.optimizer,
            division=Division.CLOSED,
        )

    def pipeline(self, *, folded: bool = True) -> StepProgram:
        """The micro-batches of a step without the weight update."""
        program = self.program(folded=folded)
        return replace(program, blocks=tuple(block for block in program.blocks if block.pipeline))

    def block(self, name: str, *, folded: bool = True) -> StepProgram:
        """One block of the weight update alone."""
        program = self.program(folded=folded)
        blocks = tuple(block for block in program.blocks if block.name == name)
        assert blocks, f"no block {name} in {[block.name for block in program.blocks]}"
        return StepProgram(blocks=blocks, ipus=program.ipus, micro_batches=2, steady=())

    def work_s(self) -> list[tuple[float, float]]:
        """Forward and backward of one micro-batch on each stage [s]."""
        work = stage_work(self.workload, self.mapping, self.machine)
        return [(item.forward.total_s, item.backward.total_s) for item in work]


def world(
    workload: Workload,
    topology: Topology,
    *,
    replicas: int = 1,
    ipus_per_replica: int = 1,
    micro_batch: int = 1,
    accumulation: int = 1,
    configuration: SoftwareConfiguration = CONFIGURATION,
    fitted: ParameterSet | None = None,
    hosts: int = 1,
    optimizer: str = "momentum",
) -> World:
    """A model on a machine, its units split evenly over stages."""
    mapping = Mapping(
        replicas=replicas,
        ipus_per_replica=ipus_per_replica,
        micro_batch=micro_batch,
        accumulation=accumulation,
        stages=stages(workload, configuration, ipus_per_replica),
        configuration=configuration,
        samples_per_row=workload.samples_per_row,
    )
    machine = Machine(topology=topology, parameters=fitted or parameters(), sdk="1.0", hosts=hosts)
    return World(workload, mapping, machine, build(topology), optimizer)


def published(workload: str, topology: str, preset: str = "mlperf-v1.1-closed", **changes: object) -> World:
    """A shipped workload as it was submitted on a shipped machine; `changes` are of its configuration."""
    model_, machine_ = catalog.workload(workload).value, catalog.topology(topology).value
    named = presets.preset(model_, preset, machine_)
    mapping = choose.published_mapping(MappingBuilder(model_, machine_, named.sdk), named)
    mapping = replace(mapping, configuration=replace(mapping.configuration, **changes))
    machine = Machine(topology=machine_, parameters=catalog.parameters(), sdk=named.sdk, hosts=named.hosts)
    return World(model_, mapping, machine, build(machine_), named.optimizer)
