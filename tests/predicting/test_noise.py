"""Steps with noise: who meets where, common luck, what is in the fit already."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import podsim
from podsim.files import noise_file
from podsim.model.noise import HostNoise, IpuNoise, Noise, RunNoise
from podsim.model.training import Schedule
from podsim.physics.order_statistics import Barrier
from podsim.predicting.noisy_steps import (
    HICCUPS,
    HOSTS,
    MICRO_BATCHES,
    UPDATE,
    Meeting,
    barriers,
    delays,
    scale_delays,
    stream,
)

STEPS = 4000
NOISE = Noise(
    ipu=IpuNoise(jitter=0.02),
    host=HostNoise(jitter=0.01, hiccup_every_s=3600.0, hiccup_size_s=2.0),
    run=RunNoise(spread=0.01),
)
MEETING = Meeting(
    micro_batches=(Barrier((0.01, 0.008), 20),), update=(Barrier((0.001,), 1),), replicas=16, hosts=4, step_s=0.3
)


def drawn(where, noise, seed=0, steps=STEPS):
    names = (MICRO_BATCHES, UPDATE, HOSTS, HICCUPS)
    return delays(where, noise, {name: stream(seed, name).random(steps) for name in names})


def bert(**flags):
    keywords = {"topology": "pod64", "preset": "mlperf-v1.1-closed", "engine": "analytic", "steps": 2000, **flags}
    return podsim.predict("bert", **keywords)


def test_each_cause_against_drawing_every_member():
    rng = np.random.default_rng(3)
    result = drawn(MEETING, NOISE)
    ipus = rng.exponential(size=(STEPS, 16, 20, 2))
    slow = (np.array([0.01, 0.008]) * (1 + 0.02 * ipus)).max(axis=3).sum(axis=2).max(axis=1) - 0.2
    update = 0.001 * 0.02 * rng.exponential(size=(STEPS, 16)).max(axis=1)
    hosts = 0.01 * 0.3 * rng.exponential(size=(STEPS, 4)).max(axis=1)
    for name, brute in ((MICRO_BATCHES, slow), (UPDATE, update), (HOSTS, hosts)):
        assert result[name].mean() == pytest.approx(brute.mean(), rel=0.03)
        assert result[name].std() == pytest.approx(brute.std(), rel=0.06)


def test_hiccups_are_as_frequent_and_as_long_as_stated():
    where = replace(MEETING, step_s=36.0)  # 4 hosts, one an hour each: 0.04 a step
    result = drawn(where, NOISE, steps=50_000)[HICCUPS]
    assert np.mean(result > 0) == pytest.approx(0.04, rel=0.05)
    assert result[result > 0].mean() == pytest.approx(2.0, rel=0.05)


def test_two_scenarios_share_their_luck():
    """10 % more jitter: the difference spreads a tenth as much as each does, and far less than without common luck."""
    more = replace(NOISE, ipu=IpuNoise(jitter=0.022))
    item, other = drawn(MEETING, NOISE)[MICRO_BATCHES], drawn(MEETING, more)[MICRO_BATCHES]
    strangers = drawn(MEETING, more, seed=1)[MICRO_BATCHES]
    assert (other - item).std() < 0.15 * item.std()
    assert (strangers - item).std() > item.std()


def test_what_is_changed_moves_no_other_cause():
    item, other = drawn(MEETING, NOISE), drawn(replace(MEETING, hosts=64), NOISE)
    assert (item[MICRO_BATCHES] == other[MICRO_BATCHES]).all()
    assert (item[HOSTS] < other[HOSTS]).all()


def test_a_bigger_machine_is_never_less_delayed():
    small, large = drawn(MEETING, NOISE), drawn(replace(MEETING, replicas=8192, hosts=1024), NOISE)
    for name in small:
        assert (small[name] <= large[name] + 1e-12).all()


def test_a_smaller_machine_has_fewer_replicas_and_hosts():
    small = MEETING.at_most(4)
    assert (small.replicas, small.hosts, small.micro_batches) == (4, 1, MEETING.micro_batches)
    assert MEETING.at_most(8).hosts == 2
    assert MEETING.at_most(100) == MEETING
    assert MEETING.at_most(0).replicas == 1


def test_barriers_of_a_program_by_hand():
    """Two IPUs, one twice as busy; a block of three micro-batches without a barrier counts as three."""
    from podsim.model.program import Block, Part, StepProgram, Task, TaskKind

    def task(where, seconds, name="forward", repeat=1):
        return Task(TaskKind.COMPUTE, name, where, ((Part.COMPUTE, seconds),), repeat=repeat)

    sync = Task(TaskKind.SYNC, "sync", -1, ((Part.SYNC, 9.0),), (0, 1))
    blocks = (
        Block("cycle", (task(0, 1.0), task(0, 1.0, "backward"), task(1, 1.0), task(5, 7.0), sync), 4, pipeline=True),
        Block("1f1b", (task(0, 6.0, repeat=3), task(1, 1.0), task(1, 1.0), task(1, 4.0)), pipeline=True),
        Block("weight update", (task(0, 0.5), task(1, 0.25), sync)),
        Block("all-gather", (sync,)),
    )
    program = StepProgram(blocks=blocks, ipus=2, micro_batches=4, steady=())
    mapping = SimpleNamespace(ipus_per_replica=2, schedule=Schedule.GROUPED)
    assert barriers(program, mapping, pipeline=True) == (Barrier((2.0, 1.0), 4), Barrier((6.0, 2.0), 3))
    assert barriers(program, mapping, pipeline=False) == (Barrier((0.5, 0.25), 1),)
    mapping.schedule = Schedule.SEQUENTIAL
    alone = {(2.0,): 4 + 3, (1.0,): 4, (6.0,): 3}
    assert {met.times_s: met.count for met in barriers(program, mapping, pipeline=True)} == alone


def test_scaling_scales_every_delay():
    item, twice = drawn(MEETING, NOISE), drawn(MEETING, scale_delays(NOISE, 2.0))
    for name in item:
        # the IPU that has less to do is hidden a little less
        assert twice[name] == pytest.approx(2 * item[name], rel=2e-3)


def test_inside_the_fitted_sizes_noise_moves_no_mean():
    """Fitted steps are means of noisy runs: what they hold is not added again."""
    result = bert()
    assert result.noise.step_s.mean_s == pytest.approx(result.step_s.value, rel=1e-12)
    assert result.noise.added_s == pytest.approx(0.0, abs=1e-9)
    assert result.noise.added_low_s < 0 < result.noise.added_high_s


def test_beyond_them_the_growth_of_the_maxima_is_added():
    small, large = bert(), podsim.predict("bert", pod=4096, engine="analytic", steps=2000)
    assert large.noise.added_s > 0
    by_name = {cause.name: cause for cause in large.noise.causes}
    assert by_name[HOSTS].members == large.hosts > small.hosts
    means = sum(cause.delay_s.mean_s for cause in large.noise.causes)
    assert large.noise.step_s.mean_s == pytest.approx(large.step_s.value + means - large.noise.in_fit_s, rel=1e-12)


def test_without_noise_a_step_is_quieter_than_fitted():
    result = bert(noise_scale=0.0)
    assert result.noise.step_s.spread_s == pytest.approx(0.0, abs=1e-12)
    assert result.noise.step_s.mean_s == pytest.approx(result.step_s.value - result.noise.in_fit_s)


def test_the_spread_is_that_of_the_causes():
    noise = bert().noise
    spread = np.hypot.reduce([cause.delay_s.spread_s for cause in noise.causes])
    assert noise.step_s.spread_s == pytest.approx(spread, rel=0.1)
    step = noise.step_s
    assert step.p50_s < step.p95_s < step.p99_s <= step.worst_s


def test_same_seed_same_numbers_other_seed_others():
    assert bert().noise == bert().noise
    assert bert(seed=1).noise.step_s != bert().noise.step_s


def test_noise_is_off_by_default():
    assert podsim.predict("bert", pod=16, engine="analytic").noise is None


def test_stages_one_after_the_other_and_pipelines_without_barriers():
    """ResNet-50: one IPU a replica, every micro-batch meets nobody. BERT grouped: one barrier a cycle."""
    from podsim.calibration.fit_data import cases as _cases
    from podsim.files import catalog
    from podsim.predicting.noisy_steps import meeting

    parameters = catalog.parameters()
    cases = {case.point.id: case for case in _cases()}
    case = cases["resnet50/pod16/v1.1-closed"]
    alone = meeting(case.question(parameters), case.mapping, 0.1)
    assert [(len(met.times_s), met.count) for met in alone.micro_batches] == [(1, case.mapping.accumulation)]
    other = cases["bert/pod64/v1.1-closed"]
    grouped = meeting(other.question(parameters), other.mapping, 0.6)
    stages = len(other.mapping.stages)
    assert sum(met.count for met in grouped.micro_batches) == other.mapping.accumulation + 2 * stages - 1
    full = max(grouped.micro_batches, key=lambda met: met.count)
    assert len(full.times_s) == other.mapping.ipus_per_replica


def test_the_shipped_noise_can_be_changed_by_path():
    assert noise_file.noise(["noise.host.hiccup_every=2 h"]).value.host.hiccup_every_s == 7200.0
    quiet = bert(changes=["noise.ipu.jitter=0", "noise.host.jitter=0", "noise.host.hiccup_size=0s"])
    assert quiet.noise.step_s.spread_s == pytest.approx(0.0, abs=1e-12)


def test_a_few_steps_are_those_that_many_begin_with():
    """Their mean is their own, and what noise adds to the run does not depend on how many are shown."""
    few, many = bert(steps=3).noise, bert(steps=1000).noise
    assert few.step_s.mean_s != pytest.approx(bert().step_s.value, rel=1e-9)
    assert few.step_s.worst_s <= many.step_s.worst_s
    assert (few.added_s, few.added_high_s, few.in_fit_s) == (many.added_s, many.added_high_s, many.in_fit_s)
    assert many.added_s == 0.0


def test_noise_beside_a_fault_does_not_depend_on_which_replica_has_it():
    item, other = (bert(topology="pod16", faults=[fault]).noise for fault in ("ipu:1=0.5", "ipu:13=0.5"))
    assert item == other
    assert item != bert(topology="pod16").noise
