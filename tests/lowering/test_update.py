"""The weight update: what moves, who waits, in which order; times are in tests/theory."""

import math
from dataclasses import replace

import pytest
from engines.worlds import PRACTICE, model, parameters, pod, published, unit, world

from podsim.engines import analytic
from podsim.files import catalog
from podsim.model.fabric import Shape
from podsim.model.program import Part, TaskKind
from podsim.model.training import StatePlace
from podsim.physics.sync import machine_sync_s
from podsim.tiles import update as optimizers
from podsim.tiles.plan import Planner
from podsim.tiles.supersteps import total

WEIGHTS = 2 * 64 * 64  # two units a stage


def line(*, replicas=4, racks=1, shape=Shape.SWITCH, optimizer="momentum", fitted=None, **changes):
    return world(
        model(*(unit(f"u{number}") for number in range(8))),
        pod(racks=racks, shape=shape),
        replicas=replicas,
        ipus_per_replica=4,
        practice=replace(PRACTICE, **changes),
        optimizer=optimizer,
        fitted=fitted,
    )


def names(setup):
    return [block.name for block in setup.program().blocks if not block.pipeline]


def seconds(setup, block):
    return analytic.run(setup.block(block), setup.fabric)


def test_phases_in_order():
    """Nothing to reduce for one replica; racks only where there are several; the optimizer before the gather."""
    assert names(line(replicas=1)) == ["weight update"]
    assert names(line(replicas=4)) == ["reduce-scatter", "weight update", "all-gather"]
    assert names(line(replicas=8, racks=2)) == ["reduce-scatter", "rack all-reduce", "weight update", "all-gather"]


def test_one_replica_a_rack_reduces_between_racks_only():
    """16 IPUs a rack, one replica of 16 in each of two."""
    setup = world(model(*(unit(f"u{number}") for number in range(20))), pod(racks=2), replicas=2, ipus_per_replica=16)
    assert names(setup) == ["rack all-reduce", "weight update"]


def planned_s(setup, elements):
    """The optimizer's plan for so many weights, stretched as programs are [s]."""
    chip, precision = setup.machine.chip, setup.workload.precision
    plan = optimizers.plan(setup.optimizer, elements, precision, chip)
    return total(plan.supersteps, chip).total * setup.machine.parameters.value("program.stretch") / chip.clock_hz


def test_momentum_by_hand():
    """8,192 weights on 10 tiles of one thread: 820 on the fullest, 205 vectors of half, 410 of float.

    A cast of the gradient, 11 + 37 + 2 x 205 cycles; two float passes in one vertex, 11 + 20 + 5 x 410; the weights,
    11 + 20 + 3 x 205; a sync of 100 each. Programs take twice their plans, at 1 GHz.
    """
    took = seconds(line(replicas=1), "weight update")
    cycles = 11 + 37 + 2 * 205 + 11 + 20 + 5 * 410 + 11 + 20 + 3 * 205 + 3 * 100
    assert took.breakdown_s[Part.WEIGHT_UPDATE] == pytest.approx(2 * cycles / 1e9, rel=1e-12)


@pytest.mark.parametrize("optimizer", optimizers.OPTIMIZERS)
def test_the_optimizer_takes_its_plan_and_a_sync_of_the_rack(optimizer):
    setup = line(replicas=1, optimizer=optimizer)
    took, update_s = seconds(setup, "weight update"), planned_s(setup, WEIGHTS)
    assert took.breakdown_s[Part.WEIGHT_UPDATE] == pytest.approx(update_s, rel=1e-12)
    assert took.breakdown_s[Part.SYNC] == machine_sync_s(setup.machine.chip, 16)
    assert took.step_s == pytest.approx(update_s + machine_sync_s(setup.machine.chip, 16), rel=1e-12)


def test_large_shares_are_updated_in_parts():
    """8,192 weights a tile at once: 2 x 512 x 512 on 10 tiles in 7 parts, one after the other."""
    setup = world(model(*(unit(f"u{number}", products=512) for number in range(2))), pod())
    parts = math.ceil(2 * 512 * 512 / (10 * 8192))
    assert parts == 7
    took_s = seconds(setup, "weight update").breakdown_s[Part.WEIGHT_UPDATE]
    assert took_s == pytest.approx(parts * planned_s(setup, math.ceil(2 * 512 * 512 / parts)), rel=1e-12)


def test_the_sync_after_the_update_spans_the_rack():
    """Over 64 IPUs the wires take longer than the compiler's floor; how few of them a replica has is no matter."""
    rack = world(model(unit("a"), unit("b")), pod(machines=16, closed=True))
    sync_s = seconds(rack, "weight update").breakdown_s[Part.SYNC]
    assert sync_s == machine_sync_s(rack.machine.chip, 64) > machine_sync_s(rack.machine.chip, 1)


def test_sharded_state_is_updated_by_its_owner_alone():
    """Four replicas a rack: a quarter each; a second rack shards no further."""
    whole_s, quarter_s = planned_s(line(), WEIGHTS), planned_s(line(), WEIGHTS // 4)
    assert quarter_s < whole_s / 2
    assert seconds(line(), "weight update").breakdown_s[Part.WEIGHT_UPDATE] == pytest.approx(whole_s, rel=1e-12)
    for racks, replicas in ((1, 4), (2, 8)):
        sharded = line(state_sharded=True, racks=racks, replicas=replicas)
        took_s = seconds(sharded, "weight update").breakdown_s[Part.WEIGHT_UPDATE]
        assert took_s == pytest.approx(quarter_s, rel=1e-12)


def test_where_the_host_has_its_turn_a_step_ends_with_it():
    """Once, after the barrier, on whatever IPUs; elsewhere no step has any."""
    own, returns = line(), line(returns_to_host=True)
    assert seconds(own, "weight update").breakdown_s[Part.HOST_STEP] == 0
    took = seconds(returns, "weight update")
    assert took.breakdown_s[Part.HOST_STEP] == pytest.approx(1e-4, rel=1e-12)
    assert took.step_s == pytest.approx(seconds(own, "weight update").step_s + 1e-4, rel=1e-12)
    *_, sync, last = returns.block("weight update").blocks[0].tasks
    assert (last.kind, last.name, sync.name) == (TaskKind.HOST, "host step", "sync all")


def test_streamed_state_comes_and_goes():
    """Each moment read and written at the IPU's share of the gateway; on chip it costs nothing."""
    streamed = line(state=StatePlace.STREAMING, moment_bytes=(2, 4))
    assert seconds(streamed, "weight update").breakdown_s[Part.STREAMING] == pytest.approx(2 * WEIGHTS * 6 / 1e9)
    assert seconds(line(), "weight update").breakdown_s[Part.STREAMING] == 0


def starts(setup, block):
    """Software starts of a phase."""
    first = setup.block(block).blocks[0].tasks[0]
    return first.fixed_s / 1e-5


def test_tensors_start_one_by_one_unless_they_are_merged():
    """Two weight tensors on each IPU: two starts, or one; a buffer of half the gradients needs two."""
    assert starts(line(), "reduce-scatter") == pytest.approx(1)
    assert starts(line(merged_collectives=False), "reduce-scatter") == pytest.approx(2)
    buffered = line(merged_collectives=False, collective_buffer_bytes=float(WEIGHTS))
    assert starts(buffered, "reduce-scatter") == pytest.approx(2)
    roomy = line(merged_collectives=False, collective_buffer_bytes=2.0 * WEIGHTS)
    assert starts(roomy, "reduce-scatter") == pytest.approx(1)


@pytest.mark.parametrize(
    ("optimizer", "sharded", "phases"),
    [("lamb", True, 2), ("lars", True, 2), ("lamb", False, 1), ("adam", True, 1), ("momentum", True, 1)],
)
def test_sharded_norms_are_summed_before_the_gather(optimizer, sharded, phases):
    """LAMB and LARS need the norm of whole tensors."""
    setup = line(optimizer=optimizer, state_sharded=sharded)
    assert starts(setup, "all-gather") == pytest.approx(phases)
    assert starts(setup, "reduce-scatter") == pytest.approx(1)


def test_an_older_release_updates_slower_and_starts_the_same():
    """Its factor is one of programs, whatever they compute, and not of collectives."""
    new, old = line(), line(fitted=parameters(**{"sdk-1.0_program": 3.0}))
    assert starts(old, "reduce-scatter") == starts(new, "reduce-scatter") == pytest.approx(1)
    new_s, old_s = (seconds(each, "weight update").breakdown_s[Part.WEIGHT_UPDATE] for each in (new, old))
    assert old_s == pytest.approx(3 * new_s, rel=1e-12)


def test_lower_collective_efficiency_is_more_bytes():
    base, half = (line(fitted=parameters(collective_efficiency=share)) for share in (0.5, 0.25))
    volumes = [sum(f.volume_bytes for f in s.block("all-gather").blocks[0].tasks[1].flows) for s in (base, half)]
    assert volumes[1] == pytest.approx(2 * volumes[0])


@pytest.mark.parametrize(("workload", "topology"), [("bert", "pod128"), ("resnet50", "pod128"), ("resnet50", "pod256")])
def test_between_racks_goes_one_gradient_of_a_replica(workload, topology):
    """After the reduce-scatter a rack holds each gradient once: first halves of it leave each of two racks, ..."""
    setup = published(workload, topology)
    (block,) = setup.block("rack all-reduce", folded=False).blocks
    racks = setup.machine.topology.racks
    sent = sum(flow.volume_bytes for task in block.tasks for _ in range(task.repeat) for flow in task.flows)
    gradients = setup.mapping.practice.gradient_bytes * setup.workload.parameters
    assert sent == pytest.approx(racks * 2 * (racks - 1) / racks * gradients, rel=1e-9)


def test_within_a_rack_every_replica_sends_all_but_its_shard():
    setup = published("bert", "pod64")
    (block,) = setup.block("reduce-scatter").blocks
    ring = block.tasks[1]
    replicas = setup.mapping.replicas
    sent = sum(flow.volume_bytes for flow in ring.flows) * ring.repeat
    efficiency = setup.machine.parameters.value("collective.efficiency")
    gradients = setup.mapping.practice.gradient_bytes * setup.workload.parameters
    assert ring.repeat == replicas - 1
    assert sent == pytest.approx((replicas - 1) * gradients / efficiency, rel=1e-9)


def test_every_weight_is_updated_once_whatever_the_split(monkeypatch):
    """All IPUs of a replica are there, tied weights count once, an eighth of a weight is a whole one."""
    asked, updated = [], Planner.updated

    def recorded(planner, optimizer, elements):
        asked.append(elements)
        return updated(planner, optimizer, elements)

    monkeypatch.setattr(Planner, "updated", recorded)
    setup = published("bert", "pod64")
    tasks = [task for task in setup.block("weight update").blocks[0].tasks if task.kind is TaskKind.COMPUTE]
    assert [task.where for task in tasks] == list(range(8))
    assert len(asked) == 8
    assert 0 <= 8 * sum(asked) - setup.workload.parameters < 8 * 8


def test_behind_a_switch_one_pair_of_racks_stands_for_all():
    """Folded and whole take the same time; the whole one has a flow for each IPU of each rack."""
    setup = line(replicas=16, racks=4)
    flows, took_s = [], []
    for folded in (True, False):
        program = setup.block("rack all-reduce", folded=folded)
        flows.append(len(program.blocks[0].tasks[0].flows))
        took_s.append(analytic.run(program, setup.fabric).step_s)
    assert flows == [4, 4 * 16]
    assert took_s[0] == pytest.approx(took_s[1], rel=1e-12)


def test_every_optimizer_that_a_shipped_workload_names_is_known():
    for name in ("bert", "resnet50"):
        model_ = catalog.workload(name).value
        assert {model_.optimizer, *(preset.optimizer for preset in model_.presets)} <= set(optimizers.OPTIMIZERS)
