"""What can interrupt a run on a machine, and what a checkpoint of it costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from podsim.model.fabric import Shape
from podsim.model.goodput import CheckpointCost, Failures, PartCount
from podsim.model.sums import sum_in_order
from podsim.model.training import Schedule, StatePlace
from podsim.tiles.amp import ELEMENT_BYTES
from podsim.topology.wiring import rack_edges

if TYPE_CHECKING:
    from podsim.model.fabric import Topology
    from podsim.model.mapping import Mapping
    from podsim.model.prediction import MemoryFit
    from podsim.predicting.training_case import TrainingCase

RACKS_A_SWITCH = 2  # two switches join the four racks of a Bow Pod256 (datasheet-bow-pod256)


def parts(question: TrainingCase, mapping: Mapping, failures: Failures) -> tuple[PartCount, ...]:
    """Everything that stops the run where one of it fails: the part of the machine that the mapping uses.

    A spare machine stands in for a failed machine or IPU; all else has to be repaired.
    """
    topology = question.machine.topology
    machines = math.ceil(mapping.ipus / topology.ipus_per_machine)
    racks = math.ceil(mapping.ipus / topology.ipus_per_rack)
    pod = topology.level("pod")
    is_switched = pod is not None and pod.shape is Shape.SWITCH and racks > 1
    counts = (
        ("ipu", mapping.ipus, failures.ipu, True),
        ("machine", machines, failures.machine, True),
        ("ipu-link", round(_cables_between_machines(topology) * machines), failures.ipu_link, False),
        ("gw-link", _cables_between_racks(topology, machines) if racks > 1 else 0, failures.gw_link, False),
        ("host", question.machine.hosts, failures.host, False),
        ("switch", math.ceil(racks / RACKS_A_SWITCH) if is_switched else 0, failures.switch, False),
        ("power", racks, failures.power, False),
    )
    return tuple(
        PartCount(name=name, count=count, mtbf_s=part.mtbf_s, repair_s=part.repair_s, spared=has_spare)
        for name, count, part, has_spare in counts
        if count
    )


def _cables_between_machines(topology: Topology) -> float:
    """IPU-Link cables for each machine of a full rack: a link a cable, those inside a machine have none."""
    size = topology.ipus_per_machine
    links = sum(edge.links for edge in rack_edges(topology) if edge.end // size != edge.other // size)
    return links / topology.machines_per_rack


def _cables_between_racks(topology: Topology, machines: int) -> int:
    """GW-Link cables: one a link to a switch, one for two links where racks are cabled to each other."""
    pod = topology.level("pod")
    ends = machines * ((pod.links_each or 0) if pod else 0)
    return ends if pod and pod.shape is Shape.SWITCH else math.ceil(ends / 2)


def checkpoint(question: TrainingCase, mapping: Mapping, memory: MemoryFit, failures: Failures) -> CheckpointCost:
    """Bytes and times [s] of one copy of weights and optimizer state on its way to the servers (Eq. 48).

    Parameters: `question`, machine with rates [B/s], servers and precision; `mapping`, replicas, stages and place of
    the state; `memory`, weights of each IPU [B]; `failures`, fixed part [s] and storage rate of a server [B/s]. Result:
    bytes of the copy, fixed part [s] and time of each part of the way [s].

    Equation: each part of the way = bytes through it / its rate; write = start + longest part, load = longest part.
    Validity: nothing else runs; all parts work at the same time; sharded state lies on the replicas of one rack (of all
    racks in phases); replicas and racks hold the same, so one copy is written, through the servers of the racks that
    hold it. No asynchronous writing. Source: derived: bytes over rates of the topology file; calibration/failures.toml
    for start and storage.
    """
    topology, hosts, gateway = question.machine.topology, question.machine.hosts, question.machine.topology.gateway
    in_rack = min(mapping.replicas, max(1, topology.ipus_per_rack // mapping.ipus_per_replica))
    in_phases = mapping.schedule is Schedule.PHASED
    shards = (mapping.replicas if in_phases else in_rack) if mapping.configuration.state_sharded else 1
    weights = {share.ipu: share.by_category["weights"] for share in memory.ipus}
    if in_phases:  # every IPU of a replica has as much, and all of it lies in streaming memory
        own = float(_parameters(mapping, 0) * ELEMENT_BYTES[question.workload.precision])
        weights = dict.fromkeys(range(mapping.ipus_per_replica), own)
    state = {
        ipu: _parameters(mapping, 0 if in_phases else ipu) * float(sum(mapping.configuration.moment_bytes))
        for ipu in weights
    }
    copy = sum_in_order(weights.values()) + sum_in_order(state.values())
    is_streamed = mapping.state is StatePlace.STREAMING
    footprint = (
        0.0 if in_phases else max(weights[ipu] + (0.0 if is_streamed else state[ipu] / shards) for ipu in weights)
    )
    stored_bytes = max(state[ipu] + (weights[ipu] if in_phases else 0.0) for ipu in weights)
    machines = math.ceil(mapping.ipus_per_replica * shards / topology.ipus_per_machine)
    racks = math.ceil(mapping.ipus_per_replica * shards / topology.ipus_per_rack)  # that hold the one copy
    servers = max(1, hosts * racks // math.ceil(topology.ipus / topology.ipus_per_rack))
    way = {
        "ipu_to_gateway": footprint / gateway.pcie_bytes_per_s,
        "streaming_memory": stored_bytes / shards / gateway.streaming_bytes_per_s_per_ipu if is_streamed else 0.0,
        "gateway_to_host": copy / (machines * gateway.host_bytes_per_s),
        "host_network": copy / (servers * topology.hosts.server_bytes_per_s),
        "storage": copy / (servers * failures.checkpoint.storage_bytes_per_s),
    }
    return CheckpointCost(
        state_bytes=copy,
        start_s=failures.checkpoint.start_s,
        way_s={name: seconds for name, seconds in way.items() if seconds},
    )


def _parameters(mapping: Mapping, ipu: int) -> int:
    return sum(unit.parameters for stage in mapping.stages if stage.ipu == ipu for unit in stage.units)
