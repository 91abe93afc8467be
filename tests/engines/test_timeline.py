"""Both engines on shipped workloads: where they agree, what folding leaves, where a second of a step is booked."""

from collections import defaultdict
from dataclasses import replace
from functools import cache
from itertools import pairwise

import pytest
from engines.worlds import published

from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.model.program import Part, TaskKind
from podsim.model.training import Recompute, Schedule
from podsim.physics.links import floor_s

ENGINES = {"analytic": analytic.run, "des": des.run}
ON_BOTH = pytest.mark.parametrize("engine", ENGINES)
CLOSE = 1e-9
CASES = [
    ("bert", "pod16", Schedule.GROUPED),
    ("bert", "pod64", Schedule.GROUPED),
    ("bert", "pod16", Schedule.SEQUENTIAL),
    ("bert", "pod64", Schedule.SEQUENTIAL),
    ("resnet50", "pod16", Schedule.SEQUENTIAL),
    ("resnet50", "pod64", Schedule.SEQUENTIAL),
]
EVERY = [*CASES, ("bert", "pod16", Schedule.ONE_F_ONE_B), ("bert", "pod64", Schedule.ONE_F_ONE_B)]
WHICH = ("workload", "topology", "schedule")


@cache
def setup(workload, topology, schedule):
    """As submitted but for the schedule; few micro-batches, as unfolded ones are many tasks."""
    base = published(workload, topology, schedule=schedule)
    return replace(base, mapping=replace(base.mapping, accumulation=min(base.mapping.accumulation, 24)))


@cache
def ran(workload, topology, schedule, engine, folded=True):
    """Program and timeline."""
    chosen = setup(workload, topology, schedule)
    program = chosen.program(folded=folded)
    return program, ENGINES[engine](program, chosen.fabric)


def instances(program):
    """(name, task) of every task, in the order of the spans."""
    return [(block, task) for block in program.blocks for task in block.tasks]


@pytest.mark.parametrize(WHICH, CASES)
@pytest.mark.parametrize("folded", [True, False])
def test_engines_agree_where_no_two_groups_overlap(workload, topology, schedule, folded):
    """A barrier between any two exchanges: every span is at the same place, and every part of a step."""
    _, quick = ran(workload, topology, schedule, "analytic", folded)
    _, events = ran(workload, topology, schedule, "des", folded)
    assert events.step_s == pytest.approx(quick.step_s, rel=CLOSE)
    assert events.period_s == pytest.approx(quick.period_s, rel=CLOSE)
    assert events.breakdown_s == pytest.approx(quick.breakdown_s, rel=CLOSE, abs=CLOSE * quick.step_s)
    for span, other in zip(quick.spans, events.spans, strict=True):
        assert other.start_s == pytest.approx(span.start_s, rel=CLOSE)
        assert other.end_s == pytest.approx(span.end_s, rel=CLOSE)


@pytest.mark.parametrize(WHICH, EVERY)
@ON_BOTH
def test_folded_is_whole(workload, topology, schedule, engine):
    """One replica and one micro-batch of each kind stand for all."""
    program, folded = ran(workload, topology, schedule, engine)
    whole_program, whole = ran(workload, topology, schedule, engine, folded=False)
    assert whole_program.tasks > program.tasks
    assert whole_program.ipus == setup(workload, topology, schedule).mapping.ipus
    assert whole.step_s == pytest.approx(folded.step_s, rel=CLOSE)
    assert whole.period_s == pytest.approx(folded.period_s, rel=CLOSE)
    assert whole.breakdown_s == pytest.approx(folded.breakdown_s, rel=CLOSE, abs=CLOSE * folded.step_s)


@pytest.mark.parametrize(WHICH, EVERY)
@ON_BOTH
def test_every_replica_does_what_the_first_does(workload, topology, schedule, engine):
    """Seen whole, a replica's spans are the first one's on IPUs further on."""
    chosen = setup(workload, topology, schedule)
    _, timeline = ran(workload, topology, schedule, engine, folded=False)
    size = chosen.mapping.ipus_per_replica
    seen = defaultdict(list)
    for span in timeline.spans:
        if span.where >= 0:
            seen[span.where // size].append((span.name, span.where % size, span.start_s, span.end_s))
    assert sorted(seen) == list(range(chosen.mapping.replicas))
    assert all(seen[replica] == seen[0] for replica in seen)


@pytest.mark.parametrize(WHICH, EVERY)
@ON_BOTH
@pytest.mark.parametrize("folded", [True, False])
def test_the_breakdown_is_the_step(workload, topology, schedule, engine, folded):
    _, timeline = ran(workload, topology, schedule, engine, folded)
    assert set(timeline.breakdown_s) == set(Part)
    assert sum(timeline.breakdown_s.values()) == pytest.approx(timeline.step_s, rel=1e-12)
    assert min(timeline.breakdown_s.values()) >= 0


@pytest.mark.parametrize(WHICH, EVERY)
@ON_BOTH
@pytest.mark.parametrize("folded", [True, False])
def test_an_ipu_does_one_thing_at_a_time(workload, topology, schedule, engine, folded):
    _, timeline = ran(workload, topology, schedule, engine, folded)
    on = defaultdict(list)
    for span in timeline.spans:
        if span.where >= 0:
            on[span.where].append((span.start_s, span.end_s))
    assert on
    for spans in on.values():
        assert all(end_s <= next_s for (_, end_s), (next_s, _) in pairwise(sorted(spans)))


@pytest.mark.parametrize(WHICH, EVERY)
@ON_BOTH
@pytest.mark.parametrize("folded", [True, False])
def test_needs_are_met_and_nobody_waits_for_more(workload, topology, schedule, engine, folded):
    program, timeline = ran(workload, topology, schedule, engine, folded)
    first, clock = 0, 0.0
    for block in program.blocks:
        spans = timeline.spans[first : first + len(block.tasks)]
        for task, span in zip(block.tasks, spans, strict=True):
            ready_s = max((spans[need].end_s for need in task.needs), default=clock)
            assert span.start_s == pytest.approx(ready_s, rel=CLOSE, abs=1e-15)
        clock += block.repeat * (max(span.end_s for span in spans) - clock)
        first += len(block.tasks)
    assert first == len(timeline.spans)
    assert clock == pytest.approx(timeline.step_s, rel=CLOSE)


@pytest.mark.parametrize(WHICH, EVERY)
@pytest.mark.parametrize("folded", [True, False])
def test_events_are_never_faster_than_full_links(workload, topology, schedule, folded):
    program, timeline = ran(workload, topology, schedule, "des", folded)
    capacities = setup(workload, topology, schedule).fabric.capacities
    known, floor = {}, 0.0
    for block in program.blocks:
        done = []
        for task in block.tasks:
            flow_s = known.setdefault(task.flows, floor_s(task.flows, capacities)) if task.flows else 0.0
            begin = max((done[need] for need in task.needs), default=0.0)
            done.append(begin + task.repeat * (task.fixed_s + flow_s))
        floor += block.repeat * max(done)
    assert timeline.step_s >= floor * (1 - CLOSE)


@ON_BOTH
def test_the_work_of_the_busiest_ipu_is_booked_in_full(engine):
    """Compute of a step is the busiest IPU's micro-batches; what the pipeline takes beyond it is bubble."""
    chosen = setup("bert", "pod64", Schedule.GROUPED)
    program, timeline = ran("bert", "pod64", Schedule.GROUPED, engine)
    busy = defaultdict(float)
    for block, task in instances(program):
        if block.pipeline and task.kind is TaskKind.COMPUTE:
            busy[task.where] += block.repeat * dict(task.cut)[Part.COMPUTE]
    assert timeline.breakdown_s[Part.COMPUTE] == pytest.approx(max(busy.values()), rel=CLOSE)
    assert len(busy) == chosen.mapping.ipus_per_replica
    assert timeline.breakdown_s[Part.BUBBLE] > 0


@ON_BOTH
def test_streaming_state_shows_up_as_its_own_part(engine):
    """POD16 keeps BERT's state in streaming memory, POD64 on the chip."""
    small, large = (ran("bert", pod, Schedule.GROUPED, engine)[1].breakdown_s for pod in ("pod16", "pod64"))
    assert small[Part.STREAMING] > 0
    assert large[Part.STREAMING] == 0


@ON_BOTH
def test_recomputing_takes_one_more_forward(engine):
    """Backward and weight gradients are two forwards, so compute grows by a third at most and a fifth at least."""
    chosen = setup("bert", "pod64", Schedule.GROUPED)
    kept = replace(
        chosen,
        mapping=replace(chosen.mapping, configuration=replace(chosen.mapping.configuration, recompute=Recompute.NONE)),
    )
    again, once = (ENGINES[engine](item.program(), item.fabric).breakdown_s[Part.COMPUTE] for item in (chosen, kept))
    assert 1.2 < again / once < 1.34


@pytest.mark.parametrize(
    ("workload", "topology"),
    [("bert", "pod16"), ("bert", "pod64"), ("bert", "pod128"), ("resnet50", "pod16"), ("resnet50", "pod64")],
)
@ON_BOTH
def test_nothing_folded_as_submitted_is_the_same_step(workload, topology, engine):
    """Every micro-batch of every replica of every rack, over its own links."""
    chosen = published(workload, topology)
    mapping = chosen.mapping
    program = chosen.program(folded=False)
    whole = ENGINES[engine](program, chosen.fabric)
    folded = ENGINES[engine](chosen.program(), chosen.fabric)
    assert whole.step_s == pytest.approx(folded.step_s, rel=CLOSE)
    assert whole.breakdown_s == pytest.approx(folded.breakdown_s, rel=CLOSE, abs=CLOSE * folded.step_s)
    computed = [span for span in whole.spans if span.name.startswith(("forward", "backward"))]
    assert len(computed) == 2 * len(mapping.stages) * mapping.accumulation * mapping.replicas
    assert {span.where for span in computed} == set(range(mapping.ipus))
    crossed = {
        chosen.fabric.link(link).source
        for block in program.blocks
        for task in block.tasks
        if task.name in ("boundary", "host input")
        for flow in task.flows
        for link in flow.route
    }
    machines = {f"gateway{number}" for number in range(mapping.ipus // chosen.machine.topology.ipus_per_machine)}
    fed = mapping.ipus // max(4, mapping.ipus_per_replica)
    assert len(crossed & machines) == fed
    if mapping.ipus_per_replica > 1:
        assert {f"ipu{number}" for number in range(mapping.ipus)} <= crossed
