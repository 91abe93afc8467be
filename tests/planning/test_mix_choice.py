"""The machine for a mix: the least of those that hold every job, and a machine weighed with its partitions."""

from dataclasses import replace
from pathlib import Path

import pytest

import podsim
from podsim.errors import InputError
from podsim.model.mix import HOURS_A_MONTH, Job, Mix
from podsim.model.quantity import Estimate, Grade
from podsim.model.run_cost import MachineOwnership
from podsim.planning.ownership import ownership_terms
from podsim.report.terminal import Look, render
from podsim.scenario import Scenario
from podsim.studies.plan import mix_report
from podsim.studies.plan.candidates import PlanRequest
from podsim.studies.plan.mix_choice import Sizing, _cheaper, _partitions, best, plan
from podsim.studies.plan.mix_result import JobRuns, JobTime, MixCandidate, Month, Pool
from podsim.studies.plan.result import Demand, Miss, Objective


def candidate(name, *, hours=1.0, usd=1.0, energy_j=1.0, **changes):
    time = Estimate(value=1.0, low=1.0, high=1.0, grade=Grade.INTERPOLATED, beyond=1.0, causes={})
    timed = JobTime(job="a", ipus=4, time_to_train_s=time, sure_s=1.0, hours=hours, global_batch=1)
    return MixCandidate(
        topology=name,
        title=name,
        chip="gc200",
        ipus=16,
        hosts=1,
        pools=(Pool(ipus=4, partitions=1, jobs=(timed,), busy=0.5),),
        reason=changes.get("reason", ""),
        capital_usd=usd,
        most_capital_usd=usd,
        power_w=None,
        most_power_w=None,
        owned=MachineOwnership(capital=None, draw=None),
        energy_j=energy_j,
        misses=changes.get("misses", ()),
    )


@pytest.mark.parametrize(
    ("objective", "name"),
    [
        (Objective.TIME, "quick"),
        (Objective.COST, "cheap"),
        (Objective.ENERGY, "frugal"),
        (Objective.PRICE_PERFORMANCE, "balanced"),
    ],
)
def test_each_objective_has_its_machine(objective, name):
    machines = [
        candidate("quick", hours=1.0, usd=90.0, energy_j=50.0),
        candidate("cheap", hours=8.0, usd=3.0, energy_j=40.0),
        candidate("frugal", hours=60.0, usd=60.0, energy_j=1.0),
        candidate("balanced", hours=2.0, usd=10.0, energy_j=30.0),
    ]
    assert best(machines, objective).topology == name


def test_the_cheaper_of_two_that_are_alike_and_nobody_knows_a_price_last():
    alike = [candidate("dear", usd=5.0), candidate("cheap", usd=4.0), candidate("unknown", usd=None)]
    assert best(alike, Objective.TIME).topology == "cheap"
    assert best([alike[2], alike[0]], Objective.COST).topology == "dear"
    assert (
        best([candidate("none", energy_j=None), candidate("some", energy_j=9e9)], Objective.ENERGY).topology == "some"
    )


def test_what_holds_not_every_job_or_misses_a_demand_is_not_taken():
    miss = (Miss(demand="budget", limit=1.0, found=2.0),)
    assert best([candidate("small", reason="too small"), candidate("dear", misses=miss)], Objective.COST) is None


JOBS = (Job(workload="bert", runs_per_month=5.0), Job(workload="bert", runs_per_month=1.0, name="again"))


def sizing(*jobs, **demand):
    request = PlanRequest(
        scenario=Scenario.of("bert", engine="analytic"), demand=Demand(**demand), terms=ownership_terms(use=0.5)
    )
    return Sizing(mix=Mix(jobs=jobs), request=request)


@pytest.fixture(scope="module")
def small():
    """A machine of 4 IPUs, which has no smaller partition."""
    return _partitions("m2000")


@pytest.fixture(scope="module")
def outcome(small):
    mine = sizing(*JOBS)
    return mine, mine.candidate(small)


def test_partitions_are_all_usual_sizes_below_and_the_whole(small):
    assert small.partitions == {4: "m2000"}
    assert _partitions("pod64").partitions == {4: "pod4", 16: "pod16", 64: "pod64"}


def test_jobs_of_one_size_share_their_partitions(outcome):
    """Hours of the month are runs times hours of one; a partition runs half of them at most."""
    mine, machine = outcome
    assert mine.available_hours == HOURS_A_MONTH / 2
    (pool,) = machine.pools
    first, again = pool.jobs
    hours = first.time_to_train_s.value / 3600
    assert (first.hours, again.hours) == pytest.approx((5 * hours, hours))
    assert pool.partitions == 1
    assert pool.busy == pytest.approx(6 * hours / HOURS_A_MONTH)
    assert (machine.reason, machine.used_ipus) == ("", 4)


def test_energy_is_that_of_the_hours_in_use(outcome):
    mine, machine = outcome
    pue = mine.request.terms.terms.pue
    assert machine.energy_j == pytest.approx(machine.hours * 3600 * machine.power_w * pue)


def test_one_run_is_predicted_for_all_jobs_of_a_workload(outcome):
    assert list(outcome[0].known) == [("bert", "m2000")]
    assert outcome[0].notes(outcome[1]) == tuple(dict.fromkeys(outcome[0].known["bert", "m2000"].notes))


def again(outcome, *jobs, **demand):
    """Another mix whose runs were predicted."""
    other = sizing(*jobs, **demand)
    return replace(other, known=outcome[0].known)


def test_a_month_with_too_many_runs_needs_more_ipus(outcome, small):
    hours = outcome[1].pools[0].jobs[0].time_to_train_s.value / 3600
    runs = 1.5 * HOURS_A_MONTH / 2 / hours
    machine = again(outcome, Job(workload="bert", runs_per_month=runs)).candidate(small)
    assert machine.reason == "the partitions need 8 IPUs together, 4 more than it has"


def test_a_deadline_that_no_partition_meets_is_named(outcome, small):
    hurry = Job(workload="bert", runs_per_month=1.0, within_s=60.0, name="hurry")
    machine = again(outcome, JOBS[0], hurry).candidate(small)
    assert machine.reason == "no partition is fast enough for hurry"
    assert (machine.pools, machine.energy_j) == ((), None)


def test_a_budget_is_missed_by_the_price(outcome, small):
    (miss,) = again(outcome, *JOBS, budget_usd=1.0).candidate(small).misses
    assert (miss.demand, miss.found) == ("budget", outcome[1].most_capital_usd)


def test_machines_without_ipus_are_refused():
    mine = sizing(*JOBS)
    with pytest.raises(InputError, match="dgx-a100 has no IPUs: how jobs share it is not known"):
        plan(mine.mix, mine.request, ("dgx-a100",))


def test_a_machine_by_another_name_has_the_same_assumptions(outcome):
    """`pod4` is what the catalog calls m2000."""
    mine, machine = outcome
    other = sizing(*JOBS)
    assert mine.notes(machine)
    assert other.notes(other.candidate(_partitions("pod4"))) == mine.notes(machine)


def test_power_of_a_mix_is_that_of_its_jobs(outcome, small):
    """Of one precision; jobs that differ in it draw the typical power of the machine."""
    mine, machine = outcome
    assert machine.owned.draw.predicted is not None
    assert machine.power_w < machine.most_power_w == machine.owned.draw.predicted.high
    known = {key: replace(value, activity=None) for key, value in mine.known.items()}
    typical = replace(mine, known=known).candidate(small)
    assert typical.owned.draw.predicted is None
    assert typical.owned.draw.typical_w == 2000.0  # of the machine, and its server at its peak


def test_with_priorities_the_cheaper_machine_shows_what_it_would_hold():
    """The shipped month on POD128, with the lowest priority cut on POD64, which costs half."""
    path = str(Path(__file__).parents[2] / "examples" / "mix.toml")
    answer = podsim.plan_mix(path, machines="pod16,pod64,pod128")
    assert (answer.chosen.topology, answer.cheaper.topology) == ("pod128", "pod64")
    runs = {job.job: job for job in answer.cheaper.month.jobs}
    assert list(runs) == ["BERT before a release", "resnet50", "BERT experiments"]
    assert [job.short for job in runs.values()] == [False, False, True]
    assert "What would fit on the cheaper IPU-POD64" in render(mix_report.document(answer), Look(width=100))


def test_a_machine_is_cheaper_only_where_both_prices_are_known():
    """One that is free is cheaper; one without a price, or than one without a price, is not."""
    runs = JobRuns(job="a", priority=1, runs=1.0, runs_per_month=2.0, quick=True)

    def partly(name, usd):
        of_one = candidate(name, usd=usd)
        return replace(of_one, month=Month(jobs=(runs,), pools=of_one.pools))

    chosen, others = candidate("chosen", usd=2.0), [partly("unknown", None), partly("dear", 3.0)]
    assert _cheaper(others, chosen) is None
    assert _cheaper([*others, partly("free", 0.0)], chosen).topology == "free"
    assert _cheaper([partly("known", 1.0)], candidate("chosen", usd=None)) is None
