"""What an answer costs in tasks, events, solves and plans, which do not jitter."""

import cProfile
import pstats
import tomllib
from dataclasses import replace

import pytest
import simpy
from engines.worlds import parameters, published

import podsim
from podsim.caches.tables import TABLES
from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.files import catalog
from podsim.lowering import moves, pipeline, weight_update
from podsim.lowering.lower import lower
from podsim.model.program import Flow
from podsim.model.training import Schedule
from podsim.model.workload import Pass
from podsim.physics import links
from podsim.studies.explain import influences
from podsim.tiles import planner as planning
from podsim.tiles import product_search as tile_search
from podsim.tiles.planner import Planner
from podsim.topology.build import build


def at(setup, topology, *, folded=True):
    """The rack's mapping on another machine, filled with replicas: its program and fabric."""
    value = catalog.topology(topology).value
    mapping = replace(setup.mapping, replicas=value.ipus // setup.mapping.ipus_per_replica)
    machine, fabric = replace(setup.machine, topology=value), build(value)
    program = lower(setup.workload, mapping, machine, fabric, optimizer=setup.optimizer, folded=folded)
    return program, fabric


@pytest.fixture
def fillings(monkeypatch):
    """Links, or classes of them, of each problem that was filled."""
    calls = []
    even = links._even

    def counted(load, capacities):
        calls.append(len(load))
        return even(load, capacities)

    monkeypatch.setattr(links, "_even", counted)
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


def test_events_are_what_simpy_processed(nothing_known):
    program, fabric = at(published("bert", "pod64"), "pod512")
    steps, step = [], simpy.Environment.step
    nothing_known.setattr(simpy.Environment, "step", lambda env: steps.append(step(env)))
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


def test_the_analytic_engine_solves_each_group_of_flows_once(nothing_known):
    program, fabric = at(published("bert", "pod64"), "pod512")
    solved = []
    nothing_known.setattr(analytic, "alone_s", lambda flows, capacities: solved.append(flows) or 1.0)
    analytic.run(program, fabric)
    assert len(solved) == len(distinct(program)) == len(set(solved))


class Calls:
    """Arguments of every call of a function that stays what it is."""

    def __init__(self, patch, owner, name, of):
        self.seen, function = [], getattr(owner, name)

        def recorded(*arguments, **named):
            self.seen.append(of(*arguments))
            return function(*arguments, **named)

        patch.setattr(owner, name, recorded)

    @property
    def distinct(self):
        return set(self.seen)


@pytest.fixture
def nothing_known(monkeypatch):
    """As in a process that starts, with no cache folder."""
    monkeypatch.setenv("PODSIM_CACHE", "")
    TABLES.clear()
    yield monkeypatch
    TABLES.clear()


def test_a_search_plans_each_operator_once_and_asks_for_few(nothing_known):
    """BERT on 512 IPUs: 24 layers and 8 splits of them ask for one layer, embedding and heads, in 2 micro-batches.

    Each at the default available memory. Of a lower one at which the operator that was fullest stays so, that alone.
    """
    made = Calls(
        nothing_known,
        planning,
        "plans",
        lambda operator, run, rows, target: (*planning.same_plans(operator), run, rows, target.available_memory),
    )
    calls = Calls(nothing_known, Planner, "pass_cost", lambda *arguments: arguments[2:])
    podsim.predict("bert", pod=512)
    assert len(made.seen) == len(made.distinct) <= 3 * 100
    assert len(calls.seen) <= 2500


def test_a_search_lays_out_each_way_to_multiply_once(nothing_known):
    """A pass that repeats a product of another operator, or of the same in another order, shares its cuts."""
    laid = Calls(nothing_known, tile_search, "candidates", lambda *arguments: arguments)
    calls = Calls(nothing_known, tile_search, "_single", lambda problem, vertex, _: (problem, vertex))
    podsim.predict("bert", pod=512)
    once = [arguments for arguments in laid.seen if arguments[3] == (1,)]
    assert len(once) == len(set(once)) == len(calls.distinct) < 0.8 * len(calls.seen)


@pytest.mark.slow
def test_explaining_plans_again_only_for_what_plans_rest_on(nothing_known):
    """Of eleven numbers of the chip the clock, the AMP's rate and the global sync leave every plan as it is."""
    made = Calls(nothing_known, planning, "plans", lambda *_: 0)
    laid = Calls(nothing_known, tile_search, "candidates", lambda *_: 0)
    moved = Calls(nothing_known, weight_update, "_collectives", lambda *_: 0)
    by_path, ask = {}, influences._influence

    def counted(known, prediction, lever):
        before = [len(calls.seen) for calls in (made, laid, moved)]
        influence = ask(known, prediction, lever)
        by_path[lever.path] = [
            len(calls.seen) - so_far for calls, so_far in zip((made, laid, moved), before, strict=True)
        ]
        return influence

    nothing_known.setattr(influences, "_influence", counted)
    podsim.explain("bert", pod=512, engine="analytic")
    chip = {path: counts for path, counts in by_path.items() if path.startswith("chip.")}
    assert len(chip) == 11
    assert {path for path, (planned, _, _) in chip.items() if not planned} == {
        "chip.clock",
        "chip.amp.flop_per_cycle.16.16",
        "chip.sync.global",
    }
    assert {path for path, (_, cuts, _) in chip.items() if cuts} == {"chip.sram.load", "chip.sram.store"}
    assert not any(collectives for _, _, collectives in chip.values())
    assert by_path["program.stretch"] == by_path["sharding.weight"] == [0, 0, 0]
    assert by_path["ipu-link.bandwidth"] == [0, 0, 1]


def test_plans_of_a_workload_come_without_those_that_lost(gc200):
    workload = catalog.workload("bert").value
    target = planning.PlanTarget(gc200, workload.precision)
    plans = [plan for o in workload.units[1].operators for run in Pass for plan in planning.plans(o, run, 1, target)]
    assert len(plans) >= 30
    assert not any(plan.alternatives for plan in plans)


def test_a_search_solves_each_group_of_flows_once(nothing_known):
    """Micro-batches of different sizes send different boundaries and the same gradients."""
    alone = Calls(nothing_known, analytic, "alone_s", lambda flows, _: flows)
    podsim.predict("bert", pod=512, engine="analytic")
    assert 100 <= len(alone.seen) == len(alone.distinct) <= 250


def test_a_file_is_parsed_once_however_many_machines_extend_it(nothing_known):
    parsed = Calls(nothing_known, tomllib, "loads", lambda text: text)
    podsim.predict("bert", pod=512, engine="analytic")
    assert 5 <= len(parsed.seen) == len(parsed.distinct) <= 12


def test_messages_are_routed_once_whatever_the_fit_asks(nothing_known):
    """Other efficiencies and starts make other volumes and costs over the same ways."""
    setup = published("bert", "pod64")
    setup.program()
    routed = Calls(nothing_known, moves, "_result", lambda *_: 0)
    for fitted in (parameters(collective_efficiency=0.3), parameters(rack_step=2e-5)):
        replace(setup, machine=replace(setup.machine, parameters=fitted)).program()
    assert not routed.seen


def test_a_what_if_of_a_given_mapping_lowers_each_update_once(nothing_known):
    """Collectives once for each form and number of buffers: what calls the host has the same."""
    split = {"replicas": 128, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 8}
    podsim.predict("bert", pod=512, **split)
    made = Calls(nothing_known, weight_update, "_collectives", lambda *_: 0)
    podsim.predict("bert", pod=512, changes={"gw-link.bandwidth": "150 Gbit/s"}, **split)
    assert len(made.seen) <= 4


def test_a_what_if_of_gw_links_simulates_only_what_crosses_them(nothing_known):
    """The pipeline and the collectives of a rack are those of the machine as it is: two blocks are new."""
    split = {"replicas": 128, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 8}
    podsim.predict("bert", pod=512, **split)
    simulated = Calls(nothing_known, des, "_BlockSimulation", lambda block, *_: block.name)
    in_rack = Calls(nothing_known, weight_update.collective_choice, "in_domain", lambda *_: 0)
    turns = Calls(nothing_known, pipeline, "_turn_tasks", lambda *_: 0)
    changed = podsim.predict("bert", pod=512, changes={"gw-link.bandwidth": "150 Gbit/s"}, **split)
    assert simulated.seen == ["rack all-reduce", "weight update"]
    assert not in_rack.seen
    assert not turns.seen
    TABLES.clear()
    assert podsim.predict("bert", pod=512, changes={"gw-link.bandwidth": "150 Gbit/s"}, **split) == changed


def test_a_what_if_of_links_that_one_rack_has_not_lowers_and_simulates_nothing(nothing_known):
    """Its fabric is that of the machine as it is, so every turn, collective and block is known."""
    rack = {"pod": 64, "preset": "mlperf-v1.1-closed"}
    usual = podsim.predict("bert", **rack)
    made = [
        Calls(nothing_known, pipeline, "_turn_tasks", lambda *_: 0),
        Calls(nothing_known, weight_update, "_collectives", lambda *_: 0),
        Calls(nothing_known, weight_update, "_optimizer", lambda *_: 0),
        Calls(nothing_known, analytic, "alone_s", lambda *_: 0),
        Calls(nothing_known, des, "_BlockSimulation", lambda *_: 0),
    ]
    changed = podsim.predict("bert", changes={"gw-link.bandwidth": "150 Gbit/s"}, **rack)
    assert not any(calls.seen for calls in made)
    assert changed.timeline == usual.timeline


def test_a_what_if_calls_less_than_a_third_of_what_the_first_question_does(nothing_known):
    def calls(**changes):
        profile = cProfile.Profile()
        profile.runcall(podsim.predict, "bert", pod=64, preset="mlperf-v1.1-closed", changes=changes)
        return pstats.Stats(profile).total_calls

    first = calls()
    assert calls(**{"gw-link.bandwidth": "150 Gbit/s"}) < first / 3


def test_more_micro_batches_simulate_only_turns_that_are_new(nothing_known):
    """A pipeline that is full has the turns of any longer step."""
    split = {"pod": 64, "replicas": 16, "ipus_per_replica": 4, "micro_batch": 2}
    podsim.predict("bert", accumulation=100, **split)
    simulated = Calls(nothing_known, des, "_BlockSimulation", lambda *_: 0)
    lowered = Calls(nothing_known, pipeline, "_turn_tasks", lambda *_: 0)
    podsim.predict("bert", accumulation=200, **split)
    assert not simulated.seen
    assert not lowered.seen


def test_the_same_search_again_lowers_nothing(nothing_known):
    podsim.predict("bert", pod=512, engine="analytic")
    lowered = Calls(nothing_known, pipeline, "_turn_tasks", lambda *_: 0)
    podsim.predict("bert", pod=512, engine="analytic")
    assert len(lowered.seen) < 100  # the largest pipelines push out some that were first
