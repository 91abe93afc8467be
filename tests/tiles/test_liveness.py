"""What passes at each point of a program, in closed form, and that no point holds more than the largest."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, published, unit, world

from podsim.model.training import Recompute
from podsim.model.workload import Kind, LayerUnit, Matmul, Operator, Pass, Stream
from podsim.tiles import liveness, memory
from podsim.tiles.planner import Planner, PlanTarget

ROWS, ELEMENT = 2, 2
OUT = 64 * 64  # elements of a row that a product of `unit` leaves


def peak(setup):
    """The point of a replica's first IPU that holds most."""
    target = PlanTarget(setup.machine.topology.chip, setup.workload.precision)
    stages = [stage for stage in setup.mapping.stages if stage.ipu == 0]
    return liveness.peak(Planner(target), setup.mapping, stages, liveness.LiveBuffers())


def alone(*operators, recompute=Recompute.CHECKPOINTS):
    """One unit of these operators on one IPU."""
    only = LayerUnit(name="u", group="layer", checkpoint=True, operators=operators)
    configuration = replace(CONFIGURATION, recompute=recompute)
    return world(model(only), pod(), ipus_per_replica=1, micro_batch=ROWS, configuration=configuration)


def product(name, size=64):
    return Operator(name=name, kind=Kind.MATMUL, shape=Matmul(m=size, k=size, n=size), weight_tensors=1)


def bend(name, *, elements=OUT):
    shape = Stream(elements=elements, operations=("gelu",), back_operations=("gelu_grad",))
    return Operator(name=name, kind=Kind.ELEMENTWISE, shape=shape)


def points(setup):
    """Activations alive [elements a row] by operator and pass, of the only stage."""
    (segment,) = liveness._segments(setup.mapping, setup.mapping.stages[0])
    named = zip(segment.operators, segment.signature, strict=True)
    return {operator.name: dict(zip(liveness.TRAINING_PASSES, alive, strict=True)) for operator, (_, *alive) in named}


def test_activations_are_freed_backward_in_the_order_they_were_made():
    """a, gelu b, c: forward holds what came before; backward that, the gradient that comes in and that of the unit."""
    result = points(alone(product("a"), bend("b"), product("c")))
    assert [result[name][Pass.FORWARD] for name in "abc"] == [0, OUT, 2 * OUT]
    assert result["c"][Pass.BACKWARD] == result["c"][Pass.WEIGHT_GRADIENT] == 2 * OUT + OUT
    assert result["b"][Pass.BACKWARD] == OUT + OUT + OUT + OUT  # a, b itself, both gradients
    assert result["a"][Pass.WEIGHT_GRADIENT] == OUT + OUT  # nothing came before
    assert result["b"][Pass.WEIGHT_GRADIENT] == 0


def test_without_recomputation_only_gradients_pass():
    """Activations are in the stash then, that of the micro-batch under way included."""
    result = points(alone(product("a"), bend("b"), product("c"), recompute=Recompute.NONE))
    assert [result[name][Pass.FORWARD] for name in "abc"] == [0, 0, 0]
    assert [result[name][Pass.BACKWARD] for name in "abc"] == [2 * OUT, 2 * OUT, OUT]


def test_the_gradient_of_a_loss_is_one_number():
    loss = Operator(name="loss", kind=Kind.LOSS, shape=Stream(elements=OUT, row=64))
    result = points(alone(product("a"), loss))
    assert result["loss"][Pass.BACKWARD] == OUT + OUT  # what it reads and what it left


def test_the_peak_is_the_largest_point():
    setup = alone(product("a"), bend("b"), product("c", size=64))
    result, tiles = peak(setup), setup.machine.topology.chip.tiles
    planner = Planner(PlanTarget(setup.machine.topology.chip, setup.workload.precision))
    totals = {
        (operator.name, run): ROWS * ELEMENT * alive
        + tiles * planner.pass_cost(operator, run, ROWS).buffer_bytes_per_tile
        for operator in setup.workload.units[0].operators
        for run, alive in points(setup)[operator.name].items()
    }
    assert result.total(tiles) == pytest.approx(max(totals.values()))
    assert totals[result.operator, result.run] == pytest.approx(result.total(tiles))


def test_stages_that_share_an_ipu_pass_one_at_a_time():
    """Two units in one stage or in two: the same passes, as each ends in a checkpoint."""
    units = [unit("u0"), unit("u1", products=128)]
    item = world(
        model(*units),
        pod(),
        ipus_per_replica=1,
        micro_batch=ROWS,
        configuration=replace(CONFIGURATION, recompute=Recompute.CHECKPOINTS),
    )
    both = peak(item)
    each = [
        peak(
            world(
                model(only),
                pod(),
                ipus_per_replica=1,
                micro_batch=ROWS,
                configuration=replace(CONFIGURATION, recompute=Recompute.CHECKPOINTS),
            )
        )
        for only in units
    ]
    tiles = item.machine.topology.chip.tiles
    assert both.total(tiles) == pytest.approx(max(point.total(tiles) for point in each))


@pytest.mark.parametrize("workload", ["bert", "resnet50"])
def test_no_point_holds_more_than_all_activations_gradients_and_the_largest_buffers(workload):
    setup = published(workload, "pod16")
    topology = setup.machine.topology
    planner = Planner(PlanTarget(topology.chip, setup.workload.precision))
    rows = setup.mapping.micro_batch
    for ipu in memory.fit(setup.workload, setup.mapping, topology).ipus:
        stages = [stage for stage in setup.mapping.stages if stage.ipu == ipu.ipu]
        operators = [o for stage in stages for item in stage.units for o in item.active(setup.mapping.configuration)]
        largest = max(
            planner.pass_cost(operator, run, rows).buffer_bytes_per_tile
            for operator in operators
            for run in liveness.TRAINING_PASSES
        )
        assert ipu.by_category["exchange_buffers"] <= largest * topology.chip.tiles * (1 + 1e-12)
        assert ipu.by_category["activations"] <= 2 * rows * 3 * sum(operator.outputs for operator in operators)


def served_bytes(*operators):
    """Activations alive where one unit of these operators only answers [B]."""
    setup = alone(*operators)
    target = PlanTarget(setup.machine.topology.chip, setup.workload.precision)
    stages = [stage for stage in setup.mapping.stages if stage.ipu == 0]
    return liveness.served_peak(Planner(target), setup.mapping, stages, liveness.LiveBuffers()).alive_bytes


@pytest.mark.parametrize(("again", "at_once"), [(False, 8), (True, 1)])
def test_all_positions_of_a_recurrent_layer_are_alive_where_it_answers(again, at_once):
    """Its inputs come together and its outputs are read together; parts that are made anew are there one at a time."""
    assert served_bytes(product("a")) == ROWS * ELEMENT * 2 * OUT
    repeated = replace(product("a"), repeats=8, again=again)
    assert served_bytes(repeated) == at_once * ROWS * ELEMENT * 2 * OUT
