"""A pipeline without barriers, run until it repeats and counted on, against all its micro-batches one by one."""

from dataclasses import replace

import pytest
from engines.worlds import CONFIGURATION, model, pod, published, unit, world
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_cases import slow_but

import podsim
from podsim.engines import analytic
from podsim.engines.des import step_simulation as des
from podsim.files import frameworks_file
from podsim.model.program import Part, Span, TaskKind
from podsim.model.training import Schedule
from podsim.predicting import steady_state, training_case

CLOSE = 1e-9
ENGINES = {"analytic": analytic.run, "des": des.run}
PRODUCTS = st.lists(st.sampled_from([16, 32, 48, 64, 80, 96]), min_size=5, max_size=8)


def line(products, *, tied=False, count=300, row_bytes=10.0, **changes):
    units = [unit(f"u{number}", products=size, boundary=100) for number, size in enumerate(products)]
    if tied:
        units.append(unit("heads", products=32, tied=True))
    configuration = replace(CONFIGURATION, **({"schedule": Schedule.ONE_F_ONE_B} | changes))
    return world(
        model(*units, row_bytes=row_bytes),
        pod(),
        replicas=2,
        ipus_per_replica=4,
        accumulation=count,
        configuration=configuration,
    )


def both(setup, run):
    """The step as predicted, and with every micro-batch run."""
    return training_case.step(setup.question(run), setup.mapping), run(setup.program(), setup.fabric)


def assert_same(counted, whole):
    assert counted.step_s == pytest.approx(whole.step_s, rel=CLOSE)
    assert counted.breakdown_s == pytest.approx(whole.breakdown_s, rel=CLOSE, abs=CLOSE * whole.step_s)
    assert sum(counted.breakdown_s.values()) == pytest.approx(counted.step_s, rel=1e-12)


@pytest.mark.parametrize("engine", slow_but(["analytic"], ENGINES))
@given(PRODUCTS, st.booleans(), st.integers(200, 400), st.integers(0, 4), st.booleans())
@settings(max_examples=15)
def test_counted_periods_are_those_that_would_have_run(engine, products, tied, count, prefetch, overlap):
    """1F1B over random stages, one or two of them on an IPU."""
    setup = line(products, tied=tied, count=count, prefetch=prefetch, overlaps_reduction=overlap)
    assert_same(*both(setup, ENGINES[engine]))


@given(PRODUCTS, st.sampled_from([Schedule.GROUPED, Schedule.SEQUENTIAL]), st.integers(2, 5), st.floats(1e4, 2e5))
@settings(max_examples=15)
def test_so_are_those_of_inputs_that_run_ahead(products, schedule, prefetch, row_bytes):
    setup = line(products, schedule=schedule, prefetch=prefetch, row_bytes=row_bytes)
    assert_same(*both(setup, analytic.run))


@pytest.mark.parametrize("engine", ENGINES)
def test_4096_micro_batches_cost_what_a_few_hundred_do(engine):
    """And add what their periods take: BERT on a rack, nine stages on eight IPUs."""
    timelines = []
    for count in (1024, 4096):
        setup = published("bert", "pod64", schedule=Schedule.ONE_F_ONE_B)
        setup = replace(setup, mapping=replace(setup.mapping, accumulation=count))
        timelines.append(training_case.step(setup.question(ENGINES[engine]), setup.mapping))
    short, long = timelines
    assert long.events == pytest.approx(short.events, rel=0.1)
    assert long.step_s - short.step_s == pytest.approx(3072 * short.period_s, rel=CLOSE)
    assert long.breakdown_s[Part.COMPUTE] == pytest.approx(4 * short.breakdown_s[Part.COMPUTE], rel=CLOSE)


def spans(starts_s):
    return tuple(Span("forward 0", 0, TaskKind.COMPUTE, Part.COMPUTE, start_s, start_s + 0.5) for start_s in starts_s)


def test_a_period_of_two_micro_batches_is_found_and_a_drift_is_none():
    """Starts 0, 1, 4, 5, 8, 9, ... repeat every second one; starts that drift by a millionth repeat never."""
    pairs = [4.0 * (number // 2) + number % 2 for number in range(16)]
    assert steady_state.period(spans(pairs), 16, 4) == 2
    assert steady_state.period(spans([2.0 * number for number in range(16)]), 16, 4) == 1
    assert steady_state.period(spans([number * (1 + 1e-6 * number) for number in range(16)]), 16, 4) == 0


def test_where_nothing_repeats_everything_runs():
    """Each micro-batch asked for once; a step that never repeats is run as it is."""
    request, setup = [], line([16] * 5, count=1)
    base = analytic.run(setup.program(), setup.fabric)

    def drifting(count):
        request.append(count)
        starts = [number * (1 + 1e-6 * number) for number in range(count)]
        return replace(base, step_s=starts[-1] + 0.5, spans=spans(starts))

    timeline = steady_state.run(drifting, 400, 4)
    assert request == [16, 32, 64, 128, 400]
    assert timeline.step_s == 399 * (1 + 399e-6) + 0.5


@pytest.mark.parametrize("accumulation", [100, pytest.param(2048, marks=pytest.mark.slow)])
def test_waits_behind_a_stage_with_inputs_in_line_are_overhead_of_the_framework(accumulation):
    """Under 1F1B stages behind the first wait for it, not for inputs: what PopTorch costs was shown as bubble.

    About so much a step is shorter under PopART, whose inputs come ahead; the bubble is no longer than there.
    """
    split = {"replicas": 4, "ipus_per_replica": 16, "micro_batch": 1, "accumulation": accumulation, "schedule": "1f1b"}
    own, ahead = (
        podsim.predict("gpt2-large", pod=64, engine="analytic", framework=name, **split) for name in (None, "popart")
    )
    parts, longer_s = own.breakdown_s, own.step_s.value - ahead.step_s.value
    assert sum(parts.values()) == pytest.approx(own.step_s.value, rel=1e-9)
    assert longer_s > 0
    assert parts[Part.FRAMEWORK] == pytest.approx(longer_s, abs=0.025 * own.step_s.value)
    assert 0 < parts[Part.BUBBLE] <= ahead.breakdown_s[Part.BUBBLE]


def test_waits_for_inputs_of_its_own_are_no_waits_behind_another_stage():
    """Two stages, the busier of them the first: what the framework loads is its own, and no bubble turns into it."""
    split = {"replicas": 16, "ipus_per_replica": 2, "micro_batch": 1, "accumulation": 64, "schedule": "1f1b"}
    answer = podsim.predict("gpt2-small", pod=32, engine="analytic", **split)
    each_s = answer.breakdown_s[Part.FRAMEWORK] / 64
    machine = answer.mapping.configuration.framework
    assert machine is not None
    parts = frameworks_file.costs().parts(machine, 16)
    assert each_s <= 1.1 * sum(parts.values())
