"""The wall clock of a plan: beside the time to train, and as what a deadline is of."""

from bisect import bisect_right
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import start_times_file
from podsim.model.wall_clock import ProgramStart
from podsim.predicting import intervals, start
from podsim.report.terminal import Look, render
from podsim.studies.plan import deadline, report

MACHINE = "bow-pod256"


@pytest.fixture(scope="module")
def training():
    return podsim.plan("bert", within="5min", machines=MACHINE)


@pytest.fixture(scope="module")
def judged():
    return podsim.plan("bert", within="5min", machines=MACHINE, deadline="wall-clock")


def screen(plan):
    return " ".join(render(report.document(plan), Look(width=100)).split())


def test_the_recommended_machine_has_the_wall_clock_of_predict(training):
    chosen = training.chosen
    alone = podsim.predict("bert", topology=chosen.topology, hosts=chosen.hosts).wall_clock
    assert chosen.wall_clock == alone
    assert training.to_dict()["chosen"]["wall_clock"]["total_s"]["value"] == pytest.approx(
        alone.total_s.value, rel=1e-4
    )


def test_a_wall_clock_beyond_the_deadline_of_training_is_shown_with_the_flag_that_judges_it(training):
    assert training.chosen.misses == ()
    assert training.chosen.wall_clock.total_s.value > 300
    assert "to limit it: --deadline wall-clock" in screen(training)
    assert "time to train ≤ 5.00 min (P90)" in screen(training)


def test_a_deadline_of_the_wall_clock_is_missed_by_compile_time(training, judged):
    assert judged.chosen is None
    nearest = judged.closest
    assert [miss.demand for miss in nearest.misses] == ["time"]
    assert nearest.time_to_train_s.value == pytest.approx(training.chosen.time_to_train_s.value, rel=1e-9)
    assert nearest.sure_s > training.chosen.sure_s + nearest.wall_clock.compile_s.value
    assert "P90 wall clock" in screen(judged)
    assert judged.to_dict()["demand"]["deadline"] == "wall-clock"


def test_a_cached_executable_is_what_would_help_where_it_does(judged):
    """One limit between the two quantiles, and one below both."""
    cached = podsim.plan("bert", within="7min", machines=MACHINE, deadline="wall-clock", compile="cached")
    assert cached.chosen is not None
    assert cached.chosen.sure_s < 420 < judged.closest.sure_s
    late = podsim.plan("bert", within="7min", machines=MACHINE, deadline="wall-clock")
    (remedy,) = [remedy for remedy in late.remedies if remedy.path == "compile"]
    assert remedy.best == pytest.approx(cached.chosen.sure_s, rel=1e-9)
    assert remedy.needed == start_times_file.times().cached_s
    assert "in the cache, loaded in 1.2 min (--compile cached)" in screen(late)
    assert "would be recommended" not in screen(late)  # the nearest machine, whose changes say so
    (short,) = [remedy for remedy in judged.remedies if remedy.path == "compile"]
    assert short.needed is None
    assert "--compile cached" not in screen(judged)


def test_the_quantile_is_that_of_independent_sums(judged):
    """The mean of sums is the sum of means, and their variance the sum of variances."""
    scores, starts = [100.0, 110.0, 130.0], deadline.starts_s([judged.closest.wall_clock])
    sums = deadline.with_starts(scores, starts)
    assert sums == sorted(sums)
    mean, around, whole = (sum(each) / len(each) for each in (scores, starts, sums))
    assert whole == pytest.approx(mean + around)
    variance, own, other = (
        sum((item - middle) ** 2 for item in each) / len(each)
        for each, middle in ((sums, whole), (scores, mean), (starts, around))
    )
    assert variance == pytest.approx(own + other)


def test_starts_have_the_interval_of_their_parts(judged):
    """The share of compile times below the ends of its 90 % interval, among the quantiles that stand for all."""
    clock = judged.closest.wall_clock
    shares = [(at + 0.5) / 1000 for at in range(1000)]
    ordered = start.quantiles(clock.compile_s, start_times_file.times().operator, shares)
    assert ordered == sorted(ordered)
    assert bisect_right(ordered, clock.compile_s.low) / 1000 == pytest.approx(0.05, abs=0.002)
    assert bisect_right(ordered, clock.compile_s.high) / 1000 == pytest.approx(0.95, abs=0.002)
    middle = start.quantiles(clock.compile_s, start_times_file.times().operator, deadline.COMPILES)
    assert intervals.quantile(middle, 0.5) == pytest.approx(clock.compile_s.value, rel=0.02)


def test_programs_of_phases_are_slow_together(judged):
    clock = judged.closest.wall_clock
    both = deadline.starts_s([clock, clock])
    assert max(both) == pytest.approx(2 * max(deadline.starts_s([clock])))
    free = replace(clock, compile_s=replace(clock.compile_s, value=1e-9), checkpoint_s=0.0)
    assert max(deadline.starts_s([free])) < max(deadline.starts_s([clock]))


def test_a_smaller_machine_that_is_in_time_with_an_executable_in_the_cache_is_named():
    """Compilation takes so long that a larger machine is taken; with `--compile cached` a small one meets the limit."""
    asked = {"within": "40min", "machines": "bow-pod16,bow-pod64", "deadline": "wall-clock"}
    fresh, cached = podsim.plan("bert", **asked), podsim.plan("bert", compile="cached", **asked)
    assert (fresh.chosen.topology, cached.chosen.topology) == ("bow-pod64", "bow-pod16")
    assert fresh.with_cache.sure_s == cached.chosen.sure_s < 2400
    assert fresh.with_cache.misses == ()
    assert fresh.to_dict()["with_cache"]["topology"] == "bow-pod16"
    line = "Cache With the executable in the cache, Bow Pod16 (1 host, $149k) would be recommended; --compile cached"
    assert line in screen(fresh)
    assert cached.with_cache is None
    assert "with_cache" not in cached.to_dict()
    none = podsim.plan("bert", within="30min", machines="bow-pod16,bow-pod64", deadline="wall-clock")
    assert none.chosen is None
    assert none.with_cache.topology == "bow-pod16"
    assert "Bow Pod16 (1 host, $149k) would be recommended; --compile cached" in screen(none)
    assert "No candidate meets the time limit" not in screen(none)  # the verdict says so
    same = podsim.plan("bert", within="40min", machines="bow-pod64", deadline="wall-clock")
    assert same.with_cache is None
    assert "in the cache" not in screen(same)


@pytest.mark.parametrize(
    ("workload", "asked"),
    [
        ("bert", {"within": "33.15min", "machines": "bow-pod4096,bow-pod8192", "objective": "time"}),
        ("resnet50", {"within": "19min", "machines": "bow-pod16,bow-pod64"}),  # the same machine with fewer hosts
        pytest.param(  # larger pods are searched for want of the cache alone
            "resnet50", {"within": "13min", "objective": "time"}, marks=pytest.mark.slow
        ),
        ("bert", {"within": "36min", "machines": "pod64,bow-pod64,bow-pod16", "max_power": "22kW"}),
    ],
)
def test_the_machine_named_is_the_one_recommended_with_a_cached_executable(workload, asked):
    fresh = podsim.plan(workload, deadline="wall-clock", **asked)
    cached = podsim.plan(workload, deadline="wall-clock", compile="cached", **asked)
    assert (fresh.with_cache.topology, fresh.with_cache.hosts) == (cached.chosen.topology, cached.chosen.hosts)
    assert "would be recommended; --compile cached" in screen(fresh)


def test_a_cached_executable_stays_a_remedy_of_other_machines_than_the_one_named():
    asked = {"within": "36min", "machines": "pod64,bow-pod16", "max_power": "22kW", "deadline": "wall-clock"}
    plan = podsim.plan("bert", **asked)
    assert plan.with_cache.topology == "bow-pod16"
    assert "pod64" in {remedy.topology for remedy in plan.remedies if remedy.path == "compile"}
    _, _, changes = screen(plan).partition("What would have to change")
    assert "IPU-POD64 one of:" in changes
    assert "in the cache, loaded in" in changes


def test_failures_are_inside_a_deadline_of_the_wall_clock():
    run = {"tokens": 1e12, "global_batch": 2048, "machines": "pod64", "within": "400d"}
    judged = podsim.plan("gpt2-xl", deadline="wall-clock", **run)
    chosen = judged.chosen
    assert chosen.wall_clock.failures == chosen.failures != ()
    training = podsim.plan("gpt2-xl", **run).chosen
    assert training.wall_clock.failures == training.failures == chosen.failures
    assert chosen.sure_s > training.sure_s


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"deadline": "wall-clock"}, "deadline is that of a time, and none is demanded"),
        ({"rate": "20k/s", "p99": "10ms", "deadline": "training"}, "deadline applies to training"),
        ({"rate": "20k/s", "p99": "10ms", "compile": "cached"}, "compile applies to training"),
    ],
)
def test_what_contradicts_is_refused(flags, said):
    with pytest.raises(InputError, match=said):
        podsim.plan("resnet50", **flags)


def test_machines_without_ipus_are_left_out_with_the_reason():
    plan = podsim.plan("resnet50", within="9min", deadline="wall-clock", machines="pod64,dgx-a100")
    (excluded,) = plan.excluded
    assert excluded.topology == "dgx-a100"
    assert "how long a job takes to start on it is not known" in excluded.reason
    assert plan.demand.program is ProgramStart.FRESH


def test_competitors_are_compared_on_training_where_the_wall_clock_is_judged():
    """Their start is not known, so that no chance is said of them; training alone may miss the limit."""
    flags = {"within": "40min", "deadline": "wall-clock", "machines": "bow-pod64"}
    plan = podsim.plan("bert", against="dgx-a100", **flags)
    (other,) = plan.against
    assert (other.nearest.chance, other.nearest.misses) == (None, ())
    text = screen(plan)
    assert "start-up and compile times of these machines not known: compared on time to train alone" in text
    assert "dgx-a100:8 meets every demand, start-up and compile not counted, with a lower purchase price" in text
    late = podsim.plan("bert", against="dgx-a100:8", **(flags | {"within": "15min"})).against[0].nearest
    assert [miss.demand for miss in late.misses] == ["time"]
