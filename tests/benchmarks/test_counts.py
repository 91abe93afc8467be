"""What an answer costs in tasks, events and solves, which do not jitter."""

from dataclasses import replace

import pytest
import simpy
from engines.worlds import published

from podsim.engines import analytic
from podsim.engines.des import pod as des
from podsim.files import catalog
from podsim.lowering.lower import lower
from podsim.model.program import Flow
from podsim.model.training import Schedule
from podsim.physics import links
from podsim.topology.fabric import build


def at(setup, topology, *, folded=True):
    """The rack's mapping on another machine, filled with replicas: its program and fabric."""
    found = catalog.topology(topology).value
    mapping = replace(setup.mapping, replicas=found.ipus // setup.mapping.ipus_per_replica)
    machine, fabric = replace(setup.machine, topology=found), build(found)
    program = lower(setup.workload, mapping, machine, fabric, optimizer=setup.optimizer, folded=folded)
    return program, fabric


@pytest.fixture
def fillings(monkeypatch):
    """Sizes of the problems that were filled."""
    calls = []
    filled = links._filled

    def counted(crossings, *rest):
        calls.append(len(crossings))
        return filled(crossings, *rest)

    monkeypatch.setattr(links, "_filled", counted)
    return calls


def distinct(program):
    """Groups of flows that differ."""
    return {task.flows for block in program.blocks for task in block.tasks if task.flows}


def test_a_folded_step_of_bert_on_512_ipus_is_a_few_hundred_tasks():
    program, fabric = at(published("bert", "pod64"), "pod512")
    assert program.tasks <= 500
    assert des.run(program, fabric).events <= 750


def test_a_folded_step_of_resnet_on_512_ipus_is_a_few_tasks():
    program, fabric = at(published("resnet50", "pod64"), "pod512")
    assert program.tasks <= 30
    assert des.run(program, fabric).events <= 400


@pytest.mark.parametrize(("workload", "schedule"), [("bert", Schedule.GROUPED), ("resnet50", Schedule.SEQUENTIAL)])
def test_65536_ipus_take_hardly_more_than_1024(workload, schedule):
    """Only the steps between racks grow, with the logarithm of the racks."""
    setup = published(workload, "pod64", schedule=schedule)
    small, large = (at(setup, topology) for topology in ("pod1024", "pod65536"))
    assert large[0].tasks <= 2 * small[0].tasks
    assert des.run(*large).events <= 2 * des.run(*small).events


@pytest.mark.parametrize("count", [24, 96, 960])
def test_more_micro_batches_repeat_the_same_blocks(count):
    setup = published("bert", "pod64")
    longer = replace(setup, mapping=replace(setup.mapping, accumulation=count))
    assert longer.program().tasks == published("bert", "pod64").program().tasks


def test_whole_fidelity_holds_every_replica_and_micro_batch():
    """2 x 9 stages x 96 micro-batches x 8 replicas, and what belongs to them."""
    whole, _ = at(published("bert", "pod64"), "pod64", folded=False)
    assert whole.tasks >= 2 * 9 * 96 * 8
    assert whole.tasks >= 20 * published("bert", "pod64").program().tasks


def test_events_are_what_simpy_processed(monkeypatch):
    program, fabric = at(published("bert", "pod64"), "pod512")
    steps, step = [], simpy.Environment.step
    monkeypatch.setattr(simpy.Environment, "step", lambda env: steps.append(step(env)))
    timeline = des.run(program, fabric)
    assert timeline.events == len(steps)
    # A task is one, a transfer its latency and an end for each length of its flows, and rarely one to settle.
    groups = sum(task.repeat for block in program.blocks for task in block.tasks if task.flows)
    assert program.tasks < timeline.events <= program.tasks + 4 * groups


def test_the_event_engine_solves_each_combination_of_flows_once(fillings):
    """One for each group, and one for each time some of it ends before the rest; never one a step."""
    program, fabric = at(published("bert", "pod64", schedule=Schedule.ONE_F_ONE_B), "pod512")
    fillings.clear()  # choosing how to reduce between racks has asked too
    des.run(program, fabric)
    sent = sum(task.repeat for block in program.blocks for task in block.tasks if task.flows)
    assert len(distinct(program)) <= len(fillings) <= 3 * len(distinct(program)) < sent / 10


def test_classes_not_flows_are_filled(fillings):
    """Two volumes on 2,048 links are two classes, and one once the smaller is through."""
    flows = tuple(Flow((link,), 1.0 + link % 2) for link in range(2048))
    links.alone_s(flows, [1.0] * 2048)
    assert fillings == [2, 1]


def test_the_analytic_engine_solves_each_group_of_flows_once(monkeypatch):
    program, fabric = at(published("bert", "pod64"), "pod512")
    solved = []
    monkeypatch.setattr(analytic, "alone_s", lambda flows, capacities: solved.append(flows) or 1.0)
    analytic.run(program, fabric)
    assert len(solved) == len(distinct(program)) == len(set(solved))
