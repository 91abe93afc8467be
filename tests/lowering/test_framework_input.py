"""What a framework adds to a step, in closed form (Eq. 13)."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, unit, world

from podsim.engines import analytic
from podsim.engines.des import step_simulation as events
from podsim.model.calibration import FittedParameter
from podsim.model.framework import INTERFACES, Framework
from podsim.model.framework_costs import MICRO_BATCH, REPLICA, FrameworkCosts
from podsim.model.program import Part
from podsim.model.training import Schedule
from podsim.physics.hostio import HOST_CALL_S, IN_LINE_BYTES_PER_S

MICRO_BATCH_S, REPLICA_S = 5e-4, 3e-5
ROW_BYTES, ROWS, ACCUMULATION, REPLICAS = 1100.0, 5, 6, 4


def fitted(value, error=0.1):
    return FittedParameter(value=value, error=error, prior=value, prior_error=1.0, pull=0.0, meaning="round", unit="s")


COSTS = FrameworkCosts(fitted={MICRO_BATCH: fitted(MICRO_BATCH_S), REPLICA: fitted(REPLICA_S)}, scatter=0.03)


def line(framework, *, costs=COSTS, **changes):
    units = (unit(f"u{number}", boundary=64) for number in range(4))
    result = world(
        model(*units, row_bytes=ROW_BYTES),
        pod(),
        replicas=REPLICAS,
        ipus_per_replica=4,
        micro_batch=ROWS,
        accumulation=ACCUMULATION,
        configuration=replace(CONFIGURATION, framework=framework, **changes),
    )
    return replace(result, machine=replace(result.machine, frameworks=costs))


def run(setup, engine=analytic.run, *, folded=True):
    return engine(setup.program(folded=folded), setup.fabric)


def added_s(framework):
    table = {Framework.TENSORFLOW2: MICRO_BATCH_S, Framework.POPTORCH: MICRO_BATCH_S + REPLICAS * REPLICA_S}
    return ACCUMULATION * (table[framework] + ROWS * ROW_BYTES / IN_LINE_BYTES_PER_S)


@pytest.mark.parametrize("engine", [analytic.run, events.run])
@pytest.mark.parametrize("schedule", [Schedule.GROUPED, Schedule.SEQUENTIAL])
@pytest.mark.parametrize("prefetch", [0, 1, 3])
@pytest.mark.parametrize("framework", [Framework.TENSORFLOW2, Framework.POPTORCH])
def test_a_step_is_longer_by_its_waits(framework, prefetch, schedule, engine):
    """Nothing hides them; all of it is in a part of its own."""
    with_it = run(line(framework, schedule=schedule, prefetch=prefetch), engine)
    without = run(line(None, schedule=schedule, prefetch=prefetch), engine)
    assert with_it.step_s - without.step_s == pytest.approx(added_s(framework), rel=1e-9)
    assert with_it.breakdown_s[Part.FRAMEWORK] == pytest.approx(added_s(framework), rel=1e-9)
    assert sum(with_it.breakdown_s.values()) == pytest.approx(with_it.step_s, rel=1e-9)


def test_in_full_it_is_the_same():
    setup = line(Framework.POPTORCH)
    assert run(setup, folded=False).step_s == pytest.approx(run(setup).step_s, rel=1e-9)


def test_1f1b_waits_on_its_first_stage():
    """The first stage alone waits, so that a step is longer by at most all waits."""
    with_it, without = (run(line(name, schedule=Schedule.ONE_F_ONE_B)) for name in (Framework.POPTORCH, None))
    assert 0 < with_it.step_s - without.step_s <= added_s(Framework.POPTORCH) * (1 + 1e-9)


@pytest.mark.parametrize("framework", [name for name in Framework if not INTERFACES[name].fetches_in_line])
def test_the_reference_adds_nothing(framework):
    assert run(line(framework)).step_s == run(line(None)).step_s


def test_without_constants_nothing_is_added():
    assert run(line(Framework.POPTORCH, costs=FrameworkCosts())).step_s == run(line(None)).step_s


@pytest.mark.parametrize("iterations", [1, 4])
def test_device_iterations_share_a_call(iterations):
    item = line(None)
    setup = line(None, returns_to_host=True, call_updates=iterations * item.mapping.replicas)
    assert run(setup).breakdown_s[Part.HOST_STEP] == pytest.approx(HOST_CALL_S / iterations, rel=1e-9)


def test_the_errors_of_the_constants_enter_by_their_share():
    """Half a step in constants of 10 % each: 0.05 where one is all, less where they are two, and the scatter."""
    alone = COSTS.variance(Framework.TENSORFLOW2, 4, 0.5)
    assert alone == pytest.approx(0.05**2 + 0.03**2)
    assert 0.03**2 < COSTS.variance(Framework.POPTORCH, 16, 0.5) < alone
    assert COSTS.variance(Framework.POPART, 16, 0.5) == 0
