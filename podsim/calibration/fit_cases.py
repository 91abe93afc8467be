"""Published results made ready to be predicted: workload, machine, published mapping."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from podsim.engines import analytic
from podsim.engines.base import Engine
from podsim.model.calibration import CalibrationPoint, ParameterSet
from podsim.model.fabric import Topology
from podsim.model.machine import Machine
from podsim.model.mapping import Mapping as WorkMapping
from podsim.model.training import Preset
from podsim.model.workload import Workload
from podsim.planning import choose
from podsim.planning.configuration import MappingBuilder
from podsim.predicting.training_case import TrainingCase, step
from podsim.topology.build import build
from podsim.topology.machine_network import Fabric
from podsim.workloads import presets


def shape(point: CalibrationPoint, at: Preset) -> tuple[str | int, ...]:
    """What the step time of a point in its mapping depends on: results of two divisions often share one mapping."""
    split = at.replicas, at.ipus_per_replica, at.micro_batch, at.accumulation, at.hosts
    return point.workload, point.topology, point.sdk, at.configuration, at.optimizer, *split


@dataclass(frozen=True, slots=True, kw_only=True)
class OtherCase:
    """One published result with everything a prediction of it needs but the parameters."""

    point: CalibrationPoint
    workload: Workload
    topology: Topology
    fabric: Fabric
    preset: Preset
    mapping: WorkMapping

    @property
    def shape(self) -> tuple[str | int, ...]:
        """What its step time depends on."""
        return shape(self.point, self.preset)

    def question(self, parameters: ParameterSet, engine: Engine = analytic.run, *, seed: int = 0) -> TrainingCase:
        """The question that asks for this result."""
        machine = Machine(topology=self.topology, parameters=parameters, sdk=self.point.sdk, hosts=self.preset.hosts)
        return TrainingCase(
            workload=self.workload,
            machine=machine,
            fabric=self.fabric,
            engine=engine,
            engine_name="analytic",
            optimizer=self.point.optimizer,
            division=self.point.division,
            seed=seed,
        )


def cases(
    points: Sequence[CalibrationPoint],
    workload_of: Callable[[str], Workload],
    topology_of: Callable[[str], Topology],
) -> tuple[OtherCase, ...]:
    """Every point with its published mapping; workloads and machines are loaded once each."""
    workloads: dict[str, Workload] = {}
    machines: dict[str, tuple[Topology, Fabric]] = {}
    result = []
    for point in points:
        workload = workloads.setdefault(point.workload, workload_of(point.workload))
        if point.topology not in machines:
            topology = topology_of(point.topology)
            machines[point.topology] = topology, build(topology)
        topology, fabric = machines[point.topology]
        preset = preset_of(point, workload, topology)
        mapping = choose.published_mapping(MappingBuilder(workload, topology, point.sdk), preset)
        result.append(
            OtherCase(point=point, workload=workload, topology=topology, fabric=fabric, preset=preset, mapping=mapping)
        )
    return tuple(result)


def preset_of(point: CalibrationPoint, workload: Workload, topology: Topology) -> Preset:
    """The published mapping a point names, or its own mapping with the configuration of that preset.

    Raises InputError where the workload has no such preset.
    """
    if not (point.replicas and point.ipus_per_replica and point.micro_batch and point.accumulation):
        return presets.preset(workload, point.preset, topology)
    named_presets = [item for item in workload.presets if item.name == point.preset]
    alike = [item for item in named_presets if item.ipus_per_replica == point.ipus_per_replica] or named_presets
    if not alike:
        return presets.preset(workload, point.preset, topology)  # which says what presets there are
    base = min(alike, key=lambda item: (item.topology != topology.name, size_ratio(item, topology)))
    same = base.topology == topology.name
    return replace(
        base,
        topology=topology.name,
        replicas=point.replicas,
        ipus_per_replica=point.ipus_per_replica,
        micro_batch=point.micro_batch,
        accumulation=point.accumulation,
        hosts=base.hosts if same else presets.usual_hosts(workload, topology, None).servers,
    )


def size_ratio(preset: Preset, topology: Topology) -> float:
    """How far the IPUs of a published mapping are from those of a machine, as a log without sign."""
    return abs(math.log(preset.replicas * preset.ipus_per_replica / topology.ipus))


class StepTimes:
    """Predicted step times, each asked of the engine once; fits with and without a group try the same parameters."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], float] = {}

    def of(self, cases: Sequence[OtherCase], parameters: ParameterSet) -> tuple[float, ...]:
        """Predicted step time of every case [s]."""
        return tuple(self._step_time(case, parameters) for case in cases)

    def _step_time(self, case: OtherCase, parameters: ParameterSet) -> float:
        own = f"sdk-{case.point.sdk}.program"  # factors of other releases do not touch this one
        fitted_parameters = parameters.fitted.items()
        values = ((name, item.value) for name, item in fitted_parameters if name == own or not name.startswith("sdk-"))
        key = (*case.shape, case.point.sdk, *values)
        if key not in self._known:
            self._known[key] = step(case.question(parameters), case.mapping).step_s
        return self._known[key]


def steps_s(cases: Sequence[OtherCase], parameters: ParameterSet) -> tuple[float, ...]:
    """Predicted step time of every case [s]."""
    return StepTimes().of(cases, parameters)


GROUP_OF: Final[Mapping[str, Callable[[OtherCase], str]]] = {
    "machine": lambda case: f"{case.topology.ipus} IPUs",
    "round": lambda case: case.point.round,
    "workload": lambda case: case.point.workload,
    "larger": lambda case: BASE["larger"] if case.topology.ipus <= LARGEST_KEPT else f"above {LARGEST_KEPT} IPUs",
    "chip": lambda case: case.topology.chip.name,
}
"""What a case belongs to, by what may be left out together."""
LARGEST_KEPT: Final = 64
BASE: Final[Mapping[str, str]] = {"larger": f"up to {LARGEST_KEPT} IPUs", "chip": "gc200"}
"""What is never left out, as the rest is predicted from it."""


def groups(cases: Sequence[OtherCase], by: str) -> Mapping[str, tuple[OtherCase, ...]]:
    """Cases by what is left out together: each machine size (ascending), round, workload, or all beyond a base."""
    ordered_cases = sorted(cases, key=lambda case: (case.topology.ipus if by == "machine" else 0, GROUP_OF[by](case)))
    names = [name for name in dict.fromkeys(GROUP_OF[by](case) for case in ordered_cases) if name != BASE.get(by)]
    return {name: tuple(case for case in cases if GROUP_OF[by](case) == name) for name in names}
