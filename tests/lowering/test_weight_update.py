"""The weight update: what moves, who waits, in which order; times are in tests/theory."""

import math
from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, parameters, pod, published, unit, world

from podsim.caches.tables import TABLES
from podsim.engines import analytic
from podsim.files import catalog
from podsim.lowering import sharding, weight_update
from podsim.lowering.pipeline import Pipeline
from podsim.lowering.work import stage_work
from podsim.model.chip import Precision
from podsim.model.fabric import Shape
from podsim.model.program import Part, TaskKind
from podsim.model.training import StatePlace
from podsim.physics.hostio import HOST_CALL_S
from podsim.physics.sync import COLLECTIVE_STEP_S, machine_sync_s
from podsim.tiles import update as optimizers
from podsim.tiles.planner import Planner
from podsim.tiles.supersteps import total

WEIGHTS = 2 * 64 * 64  # two units a stage


def line(*, replicas=4, racks=1, shape=Shape.SWITCH, optimizer="momentum", fitted=None, **changes):
    return world(
        model(*(unit(f"u{number}") for number in range(8))),
        pod(racks=racks, shape=shape),
        replicas=replicas,
        ipus_per_replica=4,
        configuration=replace(CONFIGURATION, **changes),
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


@pytest.mark.parametrize("optimizer", optimizers.OPTIMIZERS)
def test_norms_are_summed_where_they_lie_in_shards(optimizer):
    """Two floats of each of two tensors of an IPU, over the four replicas of a rack; none where each has all."""
    needs = optimizer in ("lars", "lamb")
    assert "norms" not in names(line(optimizer=optimizer))
    sharded = line(optimizer=optimizer, state_sharded=True)
    assert ("norms" in names(sharded)) == needs
    if needs:
        (block,) = sharded.block("norms").blocks
        steps = sum(task.repeat for task in block.tasks)
        took_s = seconds(sharded, "norms").step_s
        assert steps * COLLECTIVE_STEP_S < took_s < steps * (COLLECTIVE_STEP_S + 2e-6)


def test_each_weight_of_an_ipu_whose_state_is_sharded_costs_its_order():
    """The IPU with most of them, whatever the others do; nothing where a replica has the state to itself."""
    whole, sharded = line(), line(state_sharded=True)
    assert seconds(whole, "weight update").breakdown_s.get(Part.SHARDING, 0.0) == 0
    fullest = WEIGHTS
    took_s = seconds(sharded, "weight update").breakdown_s[Part.SHARDING]
    assert took_s == pytest.approx(1e-3 * fullest / 1e6, rel=1e-12)
    assert seconds(line(state_sharded=True, replicas=1), "weight update").breakdown_s.get(Part.SHARDING, 0.0) == 0


@pytest.mark.parametrize(
    ("form", "count"),
    [("sharding.weight", 3e-6), ("sharding.tensor", 2.0), ("sharding.turn", 7e-6), ("sharding.step", 1.0)],
)
def test_a_form_charges_what_it_names(form, count):
    fitted = {form: replace(parameters().fitted["sharding.weight"], value=0.5)}
    replica = [sharding.WeightCount(3, 2), sharding.WeightCount(4, 5)]
    own = replace(parameters(), fitted=fitted)
    assert sharding.seconds(own, 0, replica) == pytest.approx(0.5 * count)
    assert sharding.seconds(own, 0, [sharding.WeightCount(0, 0), *replica]) == 0


def test_one_replica_a_rack_reduces_between_racks_only():
    """16 IPUs a rack, one replica of 16 in each of two."""
    setup = world(model(*(unit(f"u{number}") for number in range(20))), pod(racks=2), replicas=2, ipus_per_replica=16)
    assert names(setup) == ["rack all-reduce", "weight update"]


def planned_s(setup, elements, tensors=2):
    """The optimizer's plan for so many weights, each of the tensors by itself, stretched as programs are [s]."""
    chip, precision = setup.machine.chip, setup.workload.precision
    plan = optimizers.plan(setup.optimizer, elements // tensors, precision, chip)
    stretch = setup.machine.parameters.value("program.stretch")
    return tensors * total(plan.supersteps, chip).total * stretch / chip.clock_hz


def test_momentum_by_hand():
    """4,096 weights of each of two tensors on 10 tiles of one thread: 410 on the fullest, 103 vectors of half, 205 of
    float.

    A cast of the gradient, 11 + 37 + 2 x 103 cycles; two float passes in one vertex, 11 + 20 + 5 x 205; the weights,
    11 + 20 + 3 x 103; a sync of 100 each. Programs take twice their plans, at 1 GHz.
    """
    took = seconds(line(replicas=1), "weight update")
    cycles = 11 + 37 + 2 * 103 + 11 + 20 + 5 * 205 + 11 + 20 + 3 * 103 + 3 * 100
    assert took.breakdown_s[Part.WEIGHT_UPDATE] == pytest.approx(2 * 2 * cycles / 1e9, rel=1e-12)


@pytest.mark.parametrize("optimizer", optimizers.OPTIMIZERS)
def test_the_optimizer_takes_its_plan_and_a_sync_of_the_rack(optimizer):
    setup = line(replicas=1, optimizer=optimizer)
    took, update_s = seconds(setup, "weight update"), planned_s(setup, WEIGHTS)
    assert took.breakdown_s[Part.WEIGHT_UPDATE] == pytest.approx(update_s, rel=1e-12)
    assert took.breakdown_s[Part.SYNC] == machine_sync_s(setup.machine.chip, 16)
    assert took.step_s == pytest.approx(update_s + machine_sync_s(setup.machine.chip, 16), rel=1e-12)


def test_large_shares_are_updated_in_parts():
    """8,192 weights a tile at once: each tensor of 512 x 512 on 10 tiles in 4 parts, one after the other."""
    setup = world(model(*(unit(f"u{number}", products=512) for number in range(2))), pod())
    parts = math.ceil(512 * 512 / (10 * 8192))
    assert parts == 4
    took_s = seconds(setup, "weight update").breakdown_s[Part.WEIGHT_UPDATE]
    assert took_s == pytest.approx(2 * parts * planned_s(setup, 512 * 512 // parts, tensors=1), rel=1e-12)


def test_the_sync_after_the_update_spans_the_rack():
    """Over 64 IPUs the wires take longer than the compiler's floor; how few of them a replica has is no matter."""
    rack = world(model(unit("a"), unit("b")), pod(machines=16, closed=True))
    sync_s = seconds(rack, "weight update").breakdown_s[Part.SYNC]
    assert sync_s == machine_sync_s(rack.machine.chip, 64) > machine_sync_s(rack.machine.chip, 1)


def test_sharded_state_is_updated_by_its_owner_alone():
    """Four replicas a rack: a quarter each; a second rack shards no further."""
    whole_s, quarter_s = planned_s(line(), WEIGHTS), planned_s(line(), WEIGHTS // 4)
    assert quarter_s < 0.6 * whole_s
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
    assert took.breakdown_s[Part.HOST_STEP] == pytest.approx(HOST_CALL_S, rel=1e-12)
    assert took.step_s == pytest.approx(seconds(own, "weight update").step_s + HOST_CALL_S, rel=1e-12)
    *_, sync, last = returns.block("weight update").blocks[0].tasks
    assert (last.kind, last.name, sync.name) == (TaskKind.HOST, "host step", "sync all")


def test_streamed_state_comes_and_goes():
    """Each moment read and written at the IPU's share of the gateway; on chip it costs nothing."""
    streamed = line(state=StatePlace.STREAMING, moment_bytes=(2, 4))
    assert seconds(streamed, "weight update").breakdown_s[Part.STREAMING] == pytest.approx(2 * WEIGHTS * 6 / 1e9)
    assert seconds(line(), "weight update").breakdown_s[Part.STREAMING] == 0


def a_step_s(setup):
    """What a step of the reduction in the rack takes before its bytes: software and latency [s]."""
    return setup.block("reduce-scatter").blocks[0].tasks[0].fixed_s


def test_tensors_go_one_by_one_unless_they_are_merged():
    """Two weight tensors on each IPU: two steps for one; a buffer of half the gradients needs two."""
    one_s = a_step_s(line())
    assert one_s > COLLECTIVE_STEP_S
    assert a_step_s(line(merged_collectives=False)) == pytest.approx(2 * one_s)
    buffered = line(merged_collectives=False, collective_buffer_bytes=float(WEIGHTS))
    assert a_step_s(buffered) == pytest.approx(2 * one_s)
    roomy = line(merged_collectives=False, collective_buffer_bytes=2.0 * WEIGHTS)
    assert a_step_s(roomy) == pytest.approx(one_s)


def test_an_older_release_updates_slower_and_reduces_the_same():
    """Its factor is one of programs, whatever they compute, and not of collectives."""
    new, old = line(), line(fitted=parameters(**{"sdk-1.0_program": 3.0}))
    assert a_step_s(old) == a_step_s(new)
    new_s, old_s = (seconds(each, "weight update").breakdown_s[Part.WEIGHT_UPDATE] for each in (new, old))
    assert old_s == pytest.approx(3 * new_s, rel=1e-12)


def test_lower_collective_efficiency_is_more_bytes():
    base, half = (line(fitted=parameters(collective_efficiency=share)) for share in (0.5, 0.25))
    volumes = [sum(f.volume_bytes for f in s.block("all-gather").blocks[0].tasks[0].flows) for s in (base, half)]
    assert volumes[1] == pytest.approx(2 * volumes[0])


@pytest.mark.parametrize(("workload", "topology"), [("bert", "pod128"), ("resnet50", "pod128"), ("resnet50", "pod256")])
def test_between_racks_goes_one_gradient_of_a_replica(workload, topology):
    """After the reduce-scatter a rack holds each gradient once: first halves of it leave each of two racks, ..."""
    setup = published(workload, topology)
    (block,) = setup.block("rack all-reduce", folded=False).blocks
    racks = setup.machine.topology.racks
    sent = sum(flow.volume_bytes for task in block.tasks for _ in range(task.repeat) for flow in task.flows)
    gradients = setup.mapping.configuration.gradient_bytes * setup.workload.parameters
    assert sent == pytest.approx(racks * 2 * (racks - 1) / racks * gradients, rel=1e-9)


def test_within_a_rack_every_replica_sends_all_but_its_shard():
    setup = published("bert", "pod64")
    (block,) = setup.block("reduce-scatter").blocks
    (ring,) = block.tasks
    replicas = setup.mapping.replicas
    sent = sum(flow.volume_bytes for flow in ring.flows) * ring.repeat
    efficiency = setup.machine.parameters.value("collective.efficiency")
    gradients = setup.mapping.configuration.gradient_bytes * setup.workload.parameters
    assert ring.repeat == replicas - 1
    assert sent == pytest.approx((replicas - 1) * gradients / efficiency, rel=1e-9)


def by_size(units):
    """Units by the size of their tensors."""
    return sorted(units, key=lambda unit: unit.parameters / unit.weight_tensors)


def test_every_weight_is_updated_once_whatever_the_split(monkeypatch):
    """All IPUs of a replica are there, tied weights count once, an eighth of a weight is a whole one."""
    request, updated = [], Planner.update_cost

    def recorded(planner, optimizer, elements):
        request.append(elements)
        return updated(planner, optimizer, elements)

    monkeypatch.setattr(Planner, "update_cost", recorded)
    TABLES.clear()
    setup = published("bert", "pod64")
    tasks = [task for task in setup.block("weight update").blocks[0].tasks if task.kind is TaskKind.COMPUTE]
    assert [task.where for task in tasks] == list(range(8))
    content = [unit for unit in setup.workload.units if unit.parameters]
    assert len(request) == len(content)
    whole = sum(
        elements * unit.weight_tensors for elements, unit in zip(sorted(request), by_size(content), strict=True)
    )
    assert 0 <= 8 * whole - setup.workload.parameters < 16 * sum(unit.weight_tensors for unit in content)


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


def lowered(setup):
    """What lowering the update of a world knows."""
    work = stage_work(setup.workload, setup.mapping, setup.machine)
    own = Pipeline(setup.workload, setup.mapping, setup.machine, setup.fabric, work, setup.mapping.accumulation, True)
    shares = weight_update.shares(own)
    return weight_update.Update(own, setup.optimizer, shares, 4, weight_update.rates(setup.machine, setup.workload))


@pytest.mark.parametrize(("filled", "buffers"), [(0.5, 1), (1.0, 1), (1.25, 2), (2.0, 2), (2.5, 3)])
def test_gradients_fill_whole_buffers(filled, buffers):
    """A buffer that is filled in part is a collective of its own."""
    volume = WEIGHTS * CONFIGURATION.gradient_bytes
    own = line(merged_collectives=False, collective_buffer_bytes=volume / filled)
    assert max(share.parameters for share in lowered(own).shares) == WEIGHTS
    assert lowered(own).buckets == buffers


def test_lamb_sums_two_floats_a_tensor():
    """The norms of a tensor's weights and of its step."""
    own = lowered(line(optimizer="lamb", state_sharded=True))
    assert own.norm_bytes == {share.ipu: 2 * 4 * share.tensors for share in own.shares}


@pytest.mark.parametrize(("optimizer", "norms"), [("lamb", 2), ("lars", 2), ("adam", 0), ("momentum", 0)])
def test_an_optimizer_takes_the_norms_that_its_equation_has(optimizer, norms, gc200):
    """LARS (you-2017) and LAMB (you-2019) scale a layer by the norm of its weights over that of its step."""
    steps = optimizers.plan(optimizer, 4096, Precision.FP16_16, gc200).supersteps
    assert sum(step.name.startswith("norm of") and step.name.endswith("on tile") for step in steps) == norms
