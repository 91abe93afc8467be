"""What a stage asks of its IPU, of the links and of the host."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, chip, model, parameters, pod, published, unit, world

from podsim.engines import analytic
from podsim.lowering.work import busiest, computing, norm_span_s, rates, stage_work
from podsim.model.program import Part, TaskKind
from podsim.model.training import Recompute
from podsim.model.workload import Kind, Pass
from podsim.physics.links import alone_s
from podsim.physics.sync import machine_sync_s
from podsim.tiles.cost import TileCost, cost
from podsim.topology.build import build


def line(*, replicas=1, micro_batch=1, hosts=1, row_bytes=1000.0, boundary=100, ipus=4, fitted=None, **changes):
    units = [unit(f"u{number}", boundary=boundary) for number in range(8)]
    return world(
        model(*units, row_bytes=row_bytes),
        pod(racks=2),
        replicas=replicas,
        ipus_per_replica=ipus,
        micro_batch=micro_batch,
        configuration=replace(CONFIGURATION, **changes),
        hosts=hosts,
        fitted=fitted,
    )


def sums(setup, runs):
    """Time of every operator of each stage over some passes [s]."""
    reached = rates(setup.machine, setup.workload)
    return [
        sum(
            cost(operator, run, setup.mapping.micro_batch, reached).total_s
            for item in stage.units
            for operator in item.active(setup.mapping.configuration)
            for run in runs
        )
        for stage in setup.mapping.stages
    ]


@pytest.mark.parametrize(
    "made", [lambda: line(micro_batch=3), lambda: published("bert", "pod16")], ids=["round", "bert"]
)
def test_forward_is_every_operator_once(made):
    setup = made()
    assert [forward for forward, _ in setup.work_s()] == pytest.approx(sums(setup, [Pass.FORWARD]), rel=1e-12)


def test_backward_recomputes_only_where_the_configuration_says_so():
    plain = [Pass.BACKWARD, Pass.WEIGHT_GRADIENT]
    for recompute, runs in ((Recompute.NONE, plain), (Recompute.CHECKPOINTS, [*plain, Pass.RECOMPUTE])):
        setup = line(recompute=recompute)
        assert [backward for _, backward in setup.work_s()] == pytest.approx(sums(setup, runs), rel=1e-12)


def test_whole_programs_take_their_stretch_longer_than_their_plans():
    """An older release takes its factor longer still; another release's factor is nobody's."""
    plans = line(fitted=parameters(program_stretch=1.0))
    for stretch, changes in (
        (2.0, {}),
        (5.0, {"program_stretch": 5.0}),
        (6.0, {"sdk-1.0_program": 3.0}),
        (2.0, {"sdk-0.9_program": 3.0}),
    ):
        longer = line(fitted=parameters(**changes))
        for item, other in zip(plans.work_s(), longer.work_s(), strict=True):
            assert other == pytest.approx([stretch * seconds for seconds in item], rel=1e-12)


def test_a_stage_sends_what_its_last_unit_leaves():
    """Elements a row x rows x 2 B."""
    setup = line(micro_batch=3)
    work = stage_work(setup.workload, setup.mapping, setup.machine)
    assert [item.boundary_bytes for item in work] == [100 * 3 * 2] * 4


def test_attention_dropout_costs_time_only_where_it_is_trained_with():
    with_, without = (
        published("bert", "pod64", attention_dropout=dropout, recompute=Recompute.NONE) for dropout in (True, False)
    )
    extra_s = [more[0] - less[0] for more, less in zip(with_.work_s(), without.work_s(), strict=True)]
    attentions = [sum(item.group == "attention" for item in stage.units) for stage in with_.mapping.stages]
    each_s = extra_s[1] / attentions[1]
    assert each_s > 0
    assert extra_s == pytest.approx([count * each_s for count in attentions], rel=1e-9, abs=1e-15)


def test_shared_batch_norm_pays_latency_and_a_sync_a_norm_and_pass():
    """The neighbour across the rung: forward, backward and recomputation each exchange statistics."""
    shared, own = published("resnet50", "pod16", norm_span=2), published("resnet50", "pod16", norm_span=1)
    norms = sum(operator.kind is Kind.BATCH_NORM for item in shared.workload.units for operator in item.operators)
    link, gc200 = shared.machine.topology.links["ipu-link"], shared.machine.chip
    each_s = link.latency_s + link.hop_s + machine_sync_s(gc200, 1)
    assert norm_span_s(shared.machine) == each_s
    ((forward, backward),), ((forward_own, backward_own),) = shared.work_s(), own.work_s()
    assert norms == 53
    assert forward - forward_own == pytest.approx(norms * each_s, rel=1e-6)
    assert backward - backward_own == pytest.approx(2 * norms * each_s, rel=1e-6)
    alone = published("resnet50", "pod16", norm_span=2)
    alone = replace(alone, mapping=replace(alone.mapping, replicas=1))
    assert alone.work_s() == own.work_s()


def test_the_busiest_ipu_has_both_of_its_stages():
    """Five stages on four IPUs: the first holds embedding and heads."""
    units = [unit("embedding", products=64), *(unit(f"u{i}", products=16) for i in range(6)), unit("heads", tied=True)]
    setup = world(model(*units), pod(), ipus_per_replica=4)
    work = stage_work(setup.workload, setup.mapping, setup.machine)
    assert [item.stage.ipu for item in work] == [0, 1, 2, 3, 0]
    ends: TileCost = work[0].forward + work[0].backward + work[4].forward + work[4].backward
    assert dict(busiest(work)) == pytest.approx(dict(ends.cut), rel=1e-12)
    assert dict(busiest(work, forward_only=True)) == pytest.approx(
        dict((work[0].forward + work[4].forward).cut), rel=1e-12
    )
    assert set(dict(busiest(work))) == {Part.COMPUTE, Part.EXCHANGE, Part.SYNC}


def gateway(setup, **changes):
    topology = setup.machine.topology
    return on(setup, replace(topology, gateway=replace(topology.gateway, **changes)))


def on(setup, topology):
    return replace(setup, machine=replace(setup.machine, topology=topology), fabric=build(topology))


def seconds(of):
    """Input of one micro-batch of every replica, alone; the same whether one replica stands for all or not."""
    values = []
    for folded in (True, False):
        program = of.pipeline(folded=folded)
        flows = {task.flows for block in program.blocks for task in block.tasks if task.kind is TaskKind.HOST}
        assert len(flows) == 1
        values.append(alone_s(*flows, of.fabric.capacities))
    assert values[1] == pytest.approx(values[0], rel=1e-12)
    return values[0]


def test_host_input_takes_the_slowest_of_three_paths():
    """8 replicas of 4 IPUs on 8 machines, 3 rows of 1 kB each: PCIe 3 us, a gateway 3 us, one server 24 us."""
    setup = line(replicas=8, micro_batch=3)

    assert seconds(setup) == pytest.approx(8 * 3 * 1000 / 1e9)
    assert seconds(line(replicas=8, micro_batch=3, hosts=4)) == pytest.approx(2 * 3 * 1000 / 1e9)
    assert seconds(line(replicas=8, micro_batch=3, hosts=8)) == pytest.approx(3 * 1000 / 1e9)
    many = line(replicas=8, micro_batch=3, hosts=8)
    assert seconds(gateway(many, pcie_bytes_per_s=1e8)) == pytest.approx(3 * 1000 / 1e8)
    assert seconds(gateway(many, host_bytes_per_s=2e8)) == pytest.approx(3 * 1000 / 2e8)
    assert seconds(line(replicas=8, micro_batch=3, hosts=3)) == pytest.approx(3 * 3 * 1000 / 1e9)  # 3, 3 and 2 replicas


def test_replicas_behind_one_gateway_share_its_port():
    """ResNet-50: four replicas a machine, 20 images of 150,528 B each."""
    setup = published("resnet50", "pod16")
    assert setup.mapping.replicas == 16
    fast_servers = replace(setup.machine.topology.hosts, server_bytes_per_s=1e15)
    topology = replace(setup.machine.topology, hosts=fast_servers)
    images = setup.mapping.micro_batch * 224 * 224 * 3
    assert seconds(on(setup, topology)) == pytest.approx(4 * images / 12.5e9, rel=1e-12)


def test_a_faster_chip_changes_no_input():
    setup = line(replicas=2)
    topology = replace(setup.machine.topology, chip=chip(clock_hz=9e9))
    assert seconds(on(setup, topology)) == seconds(setup)
    assert on(setup, topology).work_s() != setup.work_s()


@pytest.mark.parametrize("replicas", [1, 3, 4, 16])
@pytest.mark.parametrize("hosts", [1, 3, 8])
def test_one_ipu_a_replica_shares_port_and_server_as_often_as_there_are_replicas(replicas, hosts):
    """4 IPUs behind a port: as many replicas share it, and ceil(replicas / hosts) a server, whichever is slower."""
    setup = line(ipus=1, replicas=replicas, hosts=hosts)
    assert seconds(setup) == pytest.approx(max(min(4, replicas), -(-replicas // hosts)) * 1e-6)


def test_tiles_set_aside_compute_nothing():
    """Half of 10 tiles: no stage is faster, and an exchange bandwidth stated for the chip halves with them."""
    whole = line()
    aside = replace(whole.mapping, configuration=replace(whole.mapping.configuration, io_tiles=5))
    assert computing(whole.machine, whole.workload, aside).chip.tiles == 5
    stated = chip(exchange=replace(chip().exchange, bandwidth_bytes_per_s=1e10)).without(5)
    assert stated.exchange.bandwidth_bytes_per_s == 5e9
    fewer = stage_work(whole.workload, aside, computing(whole.machine, whole.workload, aside))
    for (forward_s, backward_s), item in zip(whole.work_s(), fewer, strict=True):
        assert item.forward.total_s > forward_s
        assert item.backward.total_s > backward_s
    program = replace(whole, mapping=aside).program()
    assert analytic.run(program, whole.fabric).step_s > analytic.run(whole.program(), whole.fabric).step_s
