"""Machines that serve: how many, which of them, what they miss, what would have to change."""

from __future__ import annotations

import math

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files.catalog import workload
from podsim.planning.ownership import ownership_terms
from podsim.planning.serving_case import serving_case
from podsim.resolve import target
from podsim.scenario import Scenario
from podsim.studies.plan.misses_report import limit_text
from podsim.studies.plan.serving_candidates import ServingRequest, evaluate
from podsim.studies.plan.serving_choice import best, shortfall
from podsim.studies.plan.serving_demands import is_serving
from podsim.studies.plan.serving_result import ServingPlan

QUICK = {"p99": "10ms", "machines": "m2000,pod16"}


@pytest.fixture(scope="module")
def plain():
    return podsim.plan("resnet50", rate="190k/s", **QUICK)


def test_any_flag_of_requests_makes_the_question_one_of_serving(plain):
    assert isinstance(plain, ServingPlan)
    assert is_serving({"rate": 1.0})
    assert is_serving({"spares": 0})
    assert not is_serving({"rate": None, "years": 3.0})


def test_a_candidate_is_served_on_the_machine_of_its_name(plain):
    request = ServingRequest(
        scenario=Scenario.of("resnet50"),
        demand=plain.demand,
        terms=ownership_terms(),
        workload=workload("resnet50").value,
    )
    evaluation = next(evaluate(request, "m2000"))
    assert evaluation.case.machine.topology.ipus == evaluation.candidate.ipus == 4
    assert evaluation.candidate.machines == of(plain, "m2000").machines
    assert "all replicas load at the same time and share the host links" in map(str, evaluation.notes)


def test_a_served_workload_has_no_weight_update():
    named = target(Scenario.of("resnet50", topology="m2000"))
    case = serving_case(named.machine, named.workload, "16.32", "analytic")
    assert case.workload.precision == "16.32"
    assert len(case.workload.units) == len(named.workload.units)


def of(plan, topology):
    return next(candidate for candidate in plan.candidates if candidate.topology == topology)


def test_the_cheapest_machines_that_hold_the_rate_are_bought(plain):
    small, large = of(plain, "m2000"), of(plain, "pod16")
    assert small.machines == math.ceil(190e3 / small.each_per_s) == 4
    assert large.machines == 1
    assert plain.chosen is large
    assert large.capital_usd < small.capital_usd
    assert all(candidate.holds_per_s >= 190e3 for candidate in plain.candidates)


def test_each_machine_gets_its_part_of_the_rate(plain):
    small = of(plain, "m2000")
    report = podsim.infer(
        "resnet50",
        topology="m2000",
        rate=47.5e3,
        batch=small.batch.service.batch,
        wait=small.batch.wait_s,
        requests=20_000,
    )
    assert small.p99_s == pytest.approx(report.delays.p99_s * small.slower, rel=0.03)
    assert small.busy == pytest.approx(report.delays.busy, rel=0.05)


@pytest.mark.slow
def test_service_is_slower_by_its_doubt_and_holds_less(plain):
    flags = {"rate": "190k/s", "p99": "10ms", "machines": "pod16"}
    sure, usual, even = (podsim.plan("resnet50", confidence=level, **flags).chosen for level in (0.99, 0.9, 0.5))
    assert even.slower == pytest.approx(1.0)
    assert even.slower < usual.slower < sure.slower
    assert sure.each_per_s < usual.each_per_s < even.each_per_s
    assert even.expected_each_per_s == pytest.approx(even.each_per_s, rel=0.005)
    assert of(plain, "m2000").expected_per_s is None
    report = podsim.infer("resnet50", pod=16, batch=usual.batch.service.batch, requests=100)
    capacity = report.capacity_per_s
    assert usual.slower == pytest.approx((capacity.high / capacity.value) ** (1.2816 / 1.6449), rel=1e-3)


def test_room_to_grow_and_spare_machines_are_bought_too():
    plan = podsim.plan("resnet50", rate="90k/s", headroom=0.3, spares=2, p99="10ms", machines="m2000")
    machines = plan.chosen
    needed = math.ceil(1.3 * 90e3 / machines.each_per_s)
    assert needed > math.ceil(90e3 / machines.each_per_s)
    assert machines.machines == needed + 2
    assert machines.holds_per_s == needed * machines.each_per_s
    assert machines.capital_usd == pytest.approx(machines.machines * machines.owned.capital.usd.value)
    assert machines.power_w == pytest.approx(machines.machines * machines.owned.draw.least_w)


def test_a_million_requests_cost_the_machines_and_their_energy_while_they_are_served(plain):
    for candidate in plain.candidates:
        hours = 1e6 / 190e3 / 3600
        years_h = 3 * 8766 * 0.8
        usd = hours * (candidate.capital_usd / years_h + candidate.power_w / 1e3 * 1.4 * 0.12)
        assert candidate.cost.request.value == pytest.approx(usd, rel=1e-3)


@pytest.mark.slow
def test_over_the_budget_the_nearest_is_named_with_what_the_budget_holds():
    plan = podsim.plan("resnet50", rate="190k/s", budget="120k", **QUICK)
    assert plan.chosen is None
    assert plan.closest.topology == "pod16"
    changes = {(change.topology, change.what): change.needed for change in plan.changes}
    assert changes["pod16", "budget"] == plan.closest.most_capital_usd
    assert ("pod16", "rate") not in changes  # not even one is within the budget
    again = podsim.plan("resnet50", rate=changes["m2000", "rate"] * 0.99, budget="120k", **QUICK)
    assert again.chosen.topology == "m2000"
    assert again.chosen.machines == 2


def test_a_latency_that_no_batch_meets_is_a_miss_with_the_limit_that_would_do():
    plan = podsim.plan("resnet50", rate="1k/s", p99="200us", machines="m2000,pod16")
    assert plan.chosen is None
    assert plan.checks == ()
    assert {miss.demand for candidate in plan.candidates for miss in candidate.misses} == {"p99"}
    limit = next(change.needed for change in plan.changes if change.what == "p99")
    assert limit > 200e-6


@pytest.mark.slow
def test_the_limit_that_no_batch_met_would_do():
    plan = podsim.plan("resnet50", rate="1k/s", p99="200us", machines="m2000,pod16")
    limit = next(change.needed for change in plan.changes if change.what == "p99")
    again = podsim.plan("resnet50", rate="1k/s", p99=f"{limit * 1e6 + 1:.0f}us", machines=plan.closest.topology)
    assert again.chosen is not None


@pytest.mark.slow
def test_the_limit_that_would_do_is_that_at_the_rate_demanded_and_holds_as_it_is_shown():
    """At half its capacity, as before, a larger machine was the nearest, and a digit rounded down was still missed."""
    plan = podsim.plan("resnet50", rate="1k/s", p99="100us", machines="bow-pod4,bow-pod16,m2000")
    assert plan.closest.topology == "bow-pod4"
    assert plan.closest.load_per_s == 1000.0
    least = next(change.needed for change in plan.changes if change.what == "p99")
    shown = limit_text("p99", least, plan.currency).replace(" ", "")
    again = podsim.plan("resnet50", rate="1k/s", p99=shown, machines="bow-pod4").chosen
    assert (again.topology, again.machines) == ("bow-pod4", 1)


def test_a_budget_that_would_do_holds_as_it_is_shown():
    plan = podsim.plan("resnet50", rate="1k/s", p99="10ms", budget="20k", machines="m2000")
    shown = limit_text("budget", plan.changes[0].needed, plan.currency)
    assert shown == "$51.7k"  # 51,650 USD, which the nearest digits would miss
    again = podsim.plan("resnet50", rate="1k/s", p99="10ms", budget="51.7k", machines="m2000")
    assert again.chosen is not None


@pytest.mark.slow
def test_tokens_a_second_are_a_rate_of_requests():
    flags = {"generate": 32, "prompt": 128, "ttft": "1s", "machines": "pod16"}
    tokens = podsim.plan("gpt2-medium", tokens_per_s=3200, **flags)
    requests = podsim.plan("gpt2-medium", rate=100, **flags)
    assert tokens.demand.rate_per_s == 100
    assert tokens.chosen.each_per_s == requests.chosen.each_per_s
    assert tokens.chosen.ttft_s <= 1.0
    assert tokens.chosen.cost.token.value == pytest.approx(tokens.chosen.cost.request.value / 32)
    token_s = tokens.chosen.batch.token_s
    quicker = podsim.plan("gpt2-medium", tokens_per_s=3200, tpot=f"{token_s * 1e6 * 0.9:.0f}us", **flags)
    found = (quicker.chosen or quicker.closest).batch
    assert found.service.batch < tokens.chosen.batch.service.batch or quicker.chosen is None


def test_just_below_the_rate_the_latency_is_met_and_just_above_it_is_not(plain):
    below, above = plain.checks
    assert below.meets
    assert not above.meets
    assert below.p99_s <= plain.demand.limits.p99_s
    assert (below.rate_per_s, above.rate_per_s) == pytest.approx(
        (0.95 * plain.chosen.each_per_s, 1.05 * plain.chosen.each_per_s)
    )


def test_the_objective_decides_among_machines_that_meet_all(plain):
    cheapest, coolest = best(plain.candidates, "capital"), best(plain.candidates, "energy")
    assert cheapest.capital_usd == min(candidate.capital_usd for candidate in plain.candidates)
    assert coolest.power_w == min(candidate.power_w for candidate in plain.candidates)
    assert best([], "capital") is None


@pytest.mark.slow
def test_a_latency_is_farther_off_than_a_price():
    late = podsim.plan("resnet50", rate="1k/s", p99="200us", machines="m2000").closest
    dear = podsim.plan("resnet50", rate="190k/s", budget="20k", **QUICK).closest
    assert shortfall(dear) < shortfall(late)


def test_machines_without_ipus_are_left_out_and_said():
    plan = podsim.plan("resnet50", rate="1k/s", p99="10ms", machines="m2000,dgx-a100")
    assert [exclusion.topology for exclusion in plan.excluded] == ["dgx-a100"]
    assert "no result of serving" in plan.excluded[0].reason


def test_a_workload_that_fits_no_machine_is_refused_with_each_reason():
    with pytest.raises(Infeasible) as refused:
        podsim.plan("gpt3-175b", rate="1/s", p99="100s", machines="m2000,dgx-a100")
    assert len(refused.value.context) == 2


@pytest.mark.parametrize(
    ("flags", "code", "text"),
    [
        ({"rate": 1.0}, "missing-argument", "p99 is missing"),
        ({"p99": "1s"}, "missing-argument", "rate is missing"),
        ({"rate": 1.0, "p99": "1s", "within": "5min"}, "conflicting-flags", "within applies to training"),
        ({"rate": 1.0, "p99": "1s", "samples": 1e6, "global_batch": 64}, "conflicting-flags", "apply to training"),
        ({"rate": 1.0, "p99": "1s", "objective": "time"}, "conflicting-flags", 'objective="time"'),
        ({"rate": 1.0, "ttft": "1s"}, "conflicting-flags", "ttft is about tokens"),
        ({"rate": 1.0, "p99": "1s", "prompt": 8}, "conflicting-flags", "prompt is about tokens"),
        (
            {"rate": 1.0, "p99": "1s", "generate": 8, "tokens_per_s": 5.0},
            "conflicting-flags",
            "two rates of the same requests",
        ),
        ({"rate": 1.0, "p99": "1s", "generate": 8}, "no-decoder", "generates no tokens"),
    ],
)
def test_what_contradicts_is_refused_with_what_to_type(flags, code, text):
    with pytest.raises(InputError) as refused:
        podsim.plan("resnet50", machines="m2000", **flags)
    assert refused.value.code == code
    assert text in refused.value.message
    assert refused.value.hint
