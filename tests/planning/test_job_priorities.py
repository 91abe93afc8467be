"""Jobs of a month by priority: what goes first, how many runs of a job fit, which machine is the nearest then."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.model.mix import HOURS_A_MONTH, Job, Mix
from podsim.planning.ownership import ownership_terms
from podsim.scenario import Scenario
from podsim.studies.plan.candidates import PlanRequest
from podsim.studies.plan.inventory_use import stock
from podsim.studies.plan.job_placement import by_priority, fewest, ipus, part
from podsim.studies.plan.mix_choice import Sizing, _by_priority, _partitions, plan
from podsim.studies.plan.owned_machines import keep, remaining_jobs
from podsim.studies.plan.result import Demand, Objective

SIZES = (4, 16, 64)
jobs = st.lists(
    st.tuples(st.dictionaries(st.sampled_from(SIZES), st.integers(1, 800).map(lambda n: n / 8)), st.integers(1, 40)),
    min_size=1,
    max_size=4,
)


def test_the_first_priority_takes_its_partition_and_the_next_what_is_left():
    """Of 10 h on one partition, 6 h are taken; 4 h are 4 of 8 runs, and the third job finds no whole run."""
    assert by_priority([{4: 6.0}, {4: 8.0}, {4: 9.0}], [3.0, 8.0, 3.0], 10.0, 4) == (3.0, 4.0, 0.0)


def test_what_a_larger_job_cannot_use_is_left_to_a_smaller_one():
    assert by_priority([{64: 1.0}, {16: 10.0}], [1.0, 5.0], 10.0, 16) == (0.0, 5.0)


def test_a_job_that_fits_whole_is_not_counted_in_whole_runs():
    assert by_priority([{4: 5.0}], [2.5], 10.0, 4) == (2.5,)
    assert by_priority([{4: 20.0}], [2.5], 10.0, 4) == (1.0,)


def test_sizes_are_chosen_anew_when_the_next_job_comes():
    """Alone the first job takes a partition of 4; both fit on 16 only if it moves to the partition of the second."""
    assert by_priority([{4: 8.0, 16: 2.0}, {16: 8.0}], [8.0, 8.0], 10.0, 16) == (8.0, 8.0)


@given(jobs, st.sampled_from((4, 16, 64, 128)))
def test_what_is_placed_fits_and_one_more_run_would_not(rows, room):
    hours, runs = [job for job, _ in rows], [float(count) for _, count in rows]
    placed = by_priority(hours, runs, 100.0, room)

    def needs(counts):
        each = [
            {size: value for size, value in part(job, count / total).items() if size <= room}
            for job, count, total in zip(hours, counts, runs, strict=False)
            if count
        ]
        sizes = fewest(each, 100.0)
        return math.inf if sizes is None else ipus(sizes, each, 100.0)

    assert needs(placed) <= room
    for at, (count, total) in enumerate(zip(placed, runs, strict=True)):
        assert 0 <= count <= total
        if count < total:
            assert needs((*placed[:at], count + 1.0)) > room


@given(jobs, st.sampled_from((4, 16, 64)))
def test_jobs_of_lower_priority_take_nothing_from_those_before(rows, room):
    hours, runs = [job for job, _ in rows], [float(count) for _, count in rows]
    assert by_priority(hours, runs, 100.0, room)[:-1] == by_priority(hours[:-1], runs[:-1], 100.0, room)


def sizing(*jobs, own=None):
    request = PlanRequest(
        scenario=Scenario.of("bert", engine="analytic"), demand=Demand(), terms=ownership_terms(use=0.5), own=own
    )
    return Sizing(mix=Mix(jobs=jobs), request=request)


@pytest.fixture(scope="module")
def run_hours():
    """Hours of a run of BERT on four IPUs, and the runs that were predicted."""
    mine = sizing(Job(workload="bert", runs_per_month=1.0))
    return mine.candidate(_partitions("m2000")).hours, mine.known


def month(run_hours, *jobs):
    return replace(sizing(*jobs), known=run_hours[1]).candidate(_partitions("m2000"))


def test_a_month_holds_the_first_priority_and_as_many_runs_of_the_next_as_fit(run_hours):
    most = math.floor(HOURS_A_MONTH / 2 / run_hours[0])
    late = Job(workload="bert", runs_per_month=float(most), name="late")
    first = Job(workload="bert", runs_per_month=float(most - 5), name="first", priority=1)
    candidate = month(run_hours, late, first)
    assert candidate.reason == "the partitions need 8 IPUs together, 4 more than it has"
    assert [(job.job, job.priority, job.runs, job.short) for job in candidate.month.jobs] == [
        ("first", 1, most - 5.0, False),
        ("late", None, 5.0, True),
    ]
    (pool,) = candidate.month.pools
    assert (pool.ipus, pool.partitions) == (4, 1)
    assert [timed.hours for timed in pool.jobs] == pytest.approx([(most - 5) * run_hours[0], 5 * run_hours[0]])
    assert pool.busy <= 0.5


def test_a_job_that_is_late_everywhere_has_no_runs_and_the_others_have(run_hours):
    hurry = Job(workload="bert", runs_per_month=1.0, within_s=60.0, name="hurry", priority=1)
    candidate = month(run_hours, hurry, Job(workload="bert", runs_per_month=2.0, priority=2))
    assert [(job.runs, job.quick) for job in candidate.month.jobs] == [(0.0, False), (2.0, True)]


def test_a_machine_that_holds_all_has_no_such_month(run_hours):
    assert month(run_hours, Job(workload="bert", runs_per_month=1.0, priority=2)).month is None


def test_the_nearest_machine_is_the_one_that_holds_more_of_the_first_priority(run_hours):
    most = math.floor(HOURS_A_MONTH / 2 / run_hours[0])
    first = Job(workload="bert", runs_per_month=2.0 * most, name="first", priority=1)
    few = month(run_hours, first)
    more = month(run_hours, replace(first, runs_per_month=1.5 * most))
    assert min((few, more), key=_by_priority) is more


def inventory(tmp_path, *machines):
    path = tmp_path / "own.toml"
    texts = "".join(f"[[machine]]\n{machine}\n" for machine in machines)
    path.write_text(f'schema = "podsim.inventory/1"\n{texts}', encoding="utf-8")
    return stock(str(path))


def planned(own, runs, machines, **demand):
    """A month of so many runs of BERT."""
    mine = sizing(Job(workload="bert", runs_per_month=runs), own=own)
    request = replace(mine.request, demand=Demand(**demand))
    return plan(mine.mix, request, machines)


def most(run_hours):
    """Runs that a machine of four IPUs holds."""
    return math.floor(HOURS_A_MONTH / 2 / run_hours[0])


def test_a_mix_on_an_owned_machine_buys_nothing(tmp_path):
    own = inventory(tmp_path, 'topology = "pod4"')
    answer = planned(own, 1.0, ("bow-pod4",))
    assert (answer.chosen.topology, answer.chosen.capital_usd, answer.split) == ("m2000", 0.0, None)
    assert [candidate.topology for candidate in answer.candidates] == ["bow-pod4", "m2000"]
    assert answer.inventory == own.owned_machines


def test_one_machine_is_bought_for_what_owned_ones_leave(tmp_path, run_hours):
    """An IPU-M2000 with its server is 32,450 + 19,200 USD, an IPU-POD16 for all jobs 149,000."""
    own = inventory(tmp_path, 'topology = "pod4"')
    answer = planned(own, most(run_hours) + 3.0, ("pod4", "pod16"))
    assert (answer.chosen.topology, answer.chosen.capital_usd) == ("pod16", 149_000.0)
    assert answer.split.added.topology == "m2000"
    assert answer.split.capital_usd == 32_450.0 + 19_200.0
    assert [(job.title, job.runs_per_month) for job in answer.split.jobs] == [("bert", 3.0)]
    assert [job.runs for job in answer.kept[0].month.jobs] == [most(run_hours)]
    each = [answer.kept[0].power_w, answer.split.added.power_w]
    assert answer.split.power_w == pytest.approx(sum(each))
    assert min(each) > 0


def test_owned_machines_side_by_side_hold_more_than_one(tmp_path, run_hours):
    own = inventory(tmp_path, 'topology = "pod4"\ncount = 2')
    answer = planned(own, most(run_hours) + 3.0, ("pod16",))
    assert (answer.split.added, answer.split.jobs, answer.split.capital_usd) == (None, (), 0.0)
    assert [job.runs for job in answer.kept[0].month.jobs] == [most(run_hours) + 3.0]


def test_larger_machines_are_filled_first_and_others_with_what_is_left(tmp_path, run_hours):
    own = inventory(tmp_path, 'topology = "pod4"', 'topology = "pod16"')
    answer = planned(own, 6.0 * most(run_hours), ("pod64",))
    assert [part.machines.topology for part in answer.kept] == ["pod16", "m2000"]
    first, second = (part.month.jobs[0] for part in answer.kept)
    assert second.runs == most(run_hours)
    assert second.runs_per_month == 6.0 * most(run_hours) - first.runs
    assert remaining_jobs(answer.jobs, answer.kept)[0].runs_per_month == second.runs_per_month - second.runs


def test_servers_that_owned_machines_lack_are_bought_for_each(tmp_path):
    own = inventory(tmp_path, 'topology = "pod64"\ncount = 2\nhosts = 1')
    mine = sizing(Job(workload="resnet50", runs_per_month=1.0), own=own)
    (part,) = keep(mine, own)
    assert (part.bought_hosts, part.capital_usd, part.most_capital_usd) == (6, 6 * 19_200.0, 6 * 19_200.0)


def test_limits_are_those_of_all_that_is_bought_and_runs(tmp_path, run_hours):
    own, runs = inventory(tmp_path, 'topology = "pod4"'), most(run_hours) + 3.0
    assert planned(own, runs, ("pod4",), budget_usd=51_650.0).split is not None
    assert planned(own, runs, ("pod4",), budget_usd=51_640.0).split is None
    most_w = planned(own, runs, ("pod4",)).split.most_power_w
    assert planned(own, runs, ("pod4",), most_power_w=most_w * 1.001).split is not None
    assert planned(own, runs, ("pod4",), most_power_w=most_w * 0.999).split is None


def test_a_machine_that_another_objective_chose_stands(tmp_path, run_hours):
    own, runs = inventory(tmp_path, 'topology = "pod4"'), most(run_hours) + 3.0
    assert planned(own, runs, ("pod4", "pod16"), objective=Objective.ENERGY).split is None
    assert planned(own, runs, ("pod4",), objective=Objective.ENERGY).split is not None


def test_machines_that_hold_nothing_are_no_split(tmp_path):
    own = inventory(tmp_path, 'topology = "pod4"')
    mine = sizing(Job(workload="bert", runs_per_month=1.0, within_s=1800.0), own=own)
    answer = plan(mine.mix, mine.request, ("pod64",))
    assert (answer.chosen.topology, answer.split) == ("pod64", None)
    assert answer.kept[0].month.pools == ()
