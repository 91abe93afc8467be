"""What must hold of a step on any small machine, whatever the model and its mapping."""

from collections import defaultdict
from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, PIPELINED, model, parameters, pod, unit, world
from hypothesis import given, settings
from hypothesis import strategies as st

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.lowering import weight_update
from podsim.model.fabric import Shape
from podsim.model.program import Part
from podsim.model.training import Recompute, Schedule, StatePlace
from podsim.physics import sync
from podsim.physics.links import floor_s
from podsim.tiles.update import OPTIMIZERS
from podsim.topology.build import build

CLOSE = 1e-9
FEW = settings(max_examples=settings.default.max_examples // 2)


@st.composite
def configurations(draw, schedules=PIPELINED):
    """Any way to store and order it."""
    return replace(
        CONFIGURATION,
        schedule=draw(st.sampled_from(schedules)),
        recompute=draw(st.sampled_from(list(Recompute))),
        state=draw(st.sampled_from(list(StatePlace))),
        state_sharded=draw(st.booleans()),
        merged_collectives=draw(st.booleans()),
        norm_span=draw(st.sampled_from([1, 2])),
        returns_to_host=draw(st.booleans()),
        prefetch=draw(st.sampled_from([0, 1, 1, 2, 3])),
        overlaps_reduction=draw(st.booleans()),
        io_tiles=draw(st.sampled_from([0, 0, 2])),
    )


@st.composite
def worlds(draw, *, schedules=PIPELINED, own_ipu=False, rows_bytes=(0.0, 100.0, 1e5)):
    """Up to 4 racks of up to 16 IPUs, replicas that fill them or do not, stages of uneven work.

    With `own_ipu`, 1F1B has a stage on each IPU: where two share one, a micro-batch more may find its turn taken by the
    other stage, and fit in worse than those before it.
    """
    configuration = draw(configurations(schedules))
    ipus = draw(st.sampled_from([1, 2, 4, 8]))
    racks = draw(st.sampled_from([1, 1, 2, 4]))
    units = [
        unit(f"u{number}", products=draw(st.sampled_from([16, 32, 64, 96])), boundary=draw(st.sampled_from([0, 1000])))
        for number in range(ipus + draw(st.integers(2, 4)))
    ]
    if draw(st.booleans()) and not (own_ipu and configuration.schedule is Schedule.ONE_F_ONE_B):
        units[-1] = unit("heads", products=draw(st.sampled_from([16, 64])), tied=True)
    topology = pod(
        machines=4, racks=racks, closed=draw(st.booleans()), shape=draw(st.sampled_from([Shape.RING, Shape.SWITCH]))
    )
    in_rack = 16 // ipus if racks > 1 else draw(st.sampled_from([1, 2, 4, 8, 16]))
    return world(
        model(*units, row_bytes=draw(st.sampled_from(rows_bytes))),
        topology,
        replicas=min(in_rack, 16 // ipus) * racks,
        ipus_per_replica=ipus,
        micro_batch=draw(st.integers(1, 3)),
        accumulation=draw(st.integers(1, 12)),
        configuration=configuration,
        hosts=draw(st.sampled_from([1, 4])),
        optimizer=draw(st.sampled_from(list(OPTIMIZERS))),
    )


def step_s(setup, engine=analytic):
    return engine.run(setup.program(), setup.fabric).step_s


def on(setup, topology=None, *, chip=None, fitted=None, hosts=None):
    """The same mapping on a changed machine."""
    topology = topology or setup.machine.topology
    topology = replace(topology, chip=chip) if chip else topology
    machine = replace(
        setup.machine,
        topology=topology,
        parameters=fitted or setup.machine.parameters,
        hosts=hosts or setup.machine.hosts,
    )
    return replace(setup, machine=machine, fabric=build(topology))


def links(topology, bandwidth=1.0, latency=1.0):
    """The same links with other numbers."""
    scaled = {
        name: replace(
            link,
            bandwidth_bytes_per_s=bandwidth * link.bandwidth_bytes_per_s,
            latency_s=latency * link.latency_s,
            hop_s=latency * link.hop_s,
        )
        for name, link in topology.links.items()
    }
    return replace(topology, links=scaled)


@given(worlds(), st.sampled_from([analytic, des]), st.booleans())
def test_the_breakdown_adds_up_to_the_step_and_no_part_is_negative(setup, engine, folded):
    timeline = engine.run(setup.program(folded=folded), setup.fabric)
    assert sum(timeline.breakdown_s.values()) == pytest.approx(timeline.step_s, rel=1e-12)
    assert min(timeline.breakdown_s.values()) >= 0
    assert timeline.step_s > 0


@given(worlds())
def test_folded_is_whole(setup):
    for engine in (analytic, des):
        folded, whole = (engine.run(setup.program(folded=each), setup.fabric) for each in (True, False))
        assert whole.step_s == pytest.approx(folded.step_s, rel=CLOSE)
        assert whole.breakdown_s == pytest.approx(folded.breakdown_s, rel=CLOSE, abs=CLOSE * folded.step_s)


@given(worlds(schedules=(Schedule.GROUPED, Schedule.SEQUENTIAL)))
def test_engines_agree_between_barriers(setup):
    """Where nothing meets on a link; else only events see it, and the formula is the least that it takes.

    A reduction that overlaps backward passes meets transfers between stages, host input meets state on its way to and
    from streaming memory.
    """
    quick, events = (engine.run(setup.program(), setup.fabric) for engine in (analytic, des))
    configuration = setup.mapping.configuration
    streamed = configuration.state is StatePlace.STREAMING and setup.workload.row_bytes > 0
    if configuration.overlaps_reduction or streamed:
        assert events.step_s >= quick.step_s * (1 - CLOSE)
    else:
        assert events.step_s == pytest.approx(quick.step_s, rel=CLOSE)
        assert events.breakdown_s == pytest.approx(quick.breakdown_s, rel=CLOSE, abs=CLOSE * quick.step_s)


@given(worlds(schedules=(Schedule.ONE_F_ONE_B,)))
def test_events_are_never_faster_than_full_links(setup):
    program = setup.program()
    floor = 0.0
    for block in program.blocks:
        done = []
        for task in block.tasks:
            begin = max((done[need] for need in task.needs), default=0.0)
            done.append(begin + task.repeat * (task.fixed_s + floor_s(task.flows, setup.fabric.capacities)))
        floor += block.repeat * max(done)
    assert des.run(program, setup.fabric).step_s >= floor * (1 - CLOSE)


@given(worlds(), st.sampled_from([analytic, des]))
def test_spans_of_replicas_are_alike_and_their_numbers_do_not_matter(setup, engine):
    """Each replica's spans are the first one's: swap any two and the timeline is the same."""
    seen = defaultdict(list)
    for span in engine.run(setup.program(folded=False), setup.fabric).spans:
        if span.where >= 0:
            replica, position = divmod(span.where, setup.mapping.ipus_per_replica)
            seen[replica].append((span.name, position, span.start_s, span.end_s))
    assert sorted(seen) == list(range(setup.mapping.replicas))
    assert all(spans == seen[0] for spans in seen.values())


UPDATE = {
    Part.ALL_REDUCE,
    Part.COLLECTIVE_STEPS,
    Part.RACK_STEPS,
    Part.WEIGHT_UPDATE,
    Part.SHARDING,
    Part.STREAMING,
    Part.HOST_STEP,
}
FASTER = {
    "clock": lambda s, by: on(s, chip=replace(s.machine.chip, clock_hz=by * s.machine.chip.clock_hz)),
    "tiles": lambda s, by: on(s, chip=replace(s.machine.chip, tiles=round(by * s.machine.chip.tiles))),
    "syncs": lambda s, by: on(
        s, chip=replace(s.machine.chip, sync=replace(s.machine.chip.sync, on_chip_cycles=100 / by))
    ),
    "exchange": lambda s, by: on(
        s, chip=replace(s.machine.chip, exchange=replace(s.machine.chip.exchange, bandwidth_bytes_per_s=by * 1e10))
    ),
    "links": lambda s, by: on(s, links(s.machine.topology, bandwidth=by)),
    "latency": lambda s, by: on(s, links(s.machine.topology, latency=1 / by)),
    "hosts": lambda s, by: on(s, hosts=round(by * s.machine.hosts)),
    "collectives": lambda s, by: on(s, fitted=parameters(rack_step=1e-5 / by, collective_efficiency=0.5 * by)),
    "programs": lambda s, by: on(s, fitted=parameters(program_stretch=2 / by)),
    "sharded state": lambda s, by: on(s, fitted=parameters(sharding_weight=1e-3 / by)),
}


@given(worlds(), st.sampled_from(sorted(FASTER)), st.sampled_from([1.5, 2.0, 7.0]))
def test_a_faster_part_never_makes_a_slower_step(setup, part, by):
    assert step_s(FASTER[part](setup, by)) <= step_s(setup) * (1 + 1e-12)


@pytest.mark.parametrize("engine", [analytic, des])
@given(setup=worlds())
@FEW
def test_everything_twice_as_fast_is_half_the_time(engine, setup):
    """Clock, links, gateways and hosts; latency, hops, starts and the host's own turn halved."""
    topology, chip = setup.machine.topology, setup.machine.chip
    gateway = replace(
        topology.gateway,
        streaming_bytes_per_s_per_ipu=2 * topology.gateway.streaming_bytes_per_s_per_ipu,
        pcie_bytes_per_s=2 * topology.gateway.pcie_bytes_per_s,
        host_bytes_per_s=2 * topology.gateway.host_bytes_per_s,
    )
    hosts = replace(topology.hosts, server_bytes_per_s=2 * topology.hosts.server_bytes_per_s)
    twice = on(
        setup,
        replace(links(topology, bandwidth=2.0, latency=0.5), gateway=gateway, hosts=hosts),
        chip=replace(chip, clock_hz=2 * chip.clock_hz),
        fitted=parameters(rack_step=5e-6, sharding_weight=5e-4),
    )
    whole_s = step_s(setup, engine)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sync, "SYNC_HOP_S", sync.SYNC_HOP_S / 2)
        patch.setattr(weight_update, "COLLECTIVE_STEP_S", weight_update.COLLECTIVE_STEP_S / 2)
        patch.setattr(weight_update, "HOST_CALL_S", weight_update.HOST_CALL_S / 2)
        half_s = step_s(twice, engine)
    assert half_s == pytest.approx(whole_s / 2, rel=1e-12)


@given(worlds(own_ipu=True, rows_bytes=(0.0,)), st.integers(1, 20))
def test_more_accumulation_never_has_a_larger_bubble_share(setup, more):
    """Of the pipeline, where no stage waits for its input: filling and draining are paid once, stages that wait for the
    host idle in every micro-batch. (Of the step too, but that one stage after the other idles as much in each
    micro-batch, and the weight update is paid once as well.)"""
    longer = replace(setup, mapping=replace(setup.mapping, accumulation=setup.mapping.accumulation + more))
    shares = []
    for each in (setup, longer):
        parts = analytic.run(each.pipeline(), each.fabric).breakdown_s
        shares.append(parts[Part.BUBBLE] / sum(seconds for part, seconds in parts.items() if part not in UPDATE))
    assert shares[1] <= shares[0] + 1e-12


@given(worlds(own_ipu=True), st.integers(1, 20))
def test_more_accumulation_is_a_longer_step_and_fewer_seconds_a_row(setup, more):
    longer = replace(setup, mapping=replace(setup.mapping, accumulation=setup.mapping.accumulation + more))
    assert step_s(longer) > step_s(setup)
    assert step_s(longer) / longer.mapping.rows_per_step <= step_s(setup) / setup.mapping.rows_per_step * (1 + 1e-12)


@given(worlds())
def test_rows_of_a_step_are_micro_batch_times_accumulation_times_replicas(setup):
    mapping = replace(setup.mapping, samples_per_row=2.0)
    assert mapping.rows_per_step == mapping.micro_batch * mapping.accumulation * mapping.replicas
    assert mapping.global_batch == 2 * mapping.rows_per_step
    assert mapping.ipus == mapping.replicas * mapping.ipus_per_replica


@pytest.mark.parametrize(("workload", "nominal", "packing"), [("bert", 2, 1.0184), ("resnet50", 1, 1.0)])
def test_throughput_is_true_samples_of_a_step_over_its_time(workload, nominal, packing):
    import podsim

    answer = podsim.predict(workload, pod=16, preset="mlperf-v1.1-closed", engine="analytic")
    assert answer.mapping.global_batch == nominal * answer.mapping.rows_per_step
    each_step = answer.throughput_samples_per_s.value * answer.step_s.value
    assert each_step == pytest.approx(answer.mapping.global_batch * packing, rel=1e-12)
    assert answer.step_s.value == answer.timeline.step_s
