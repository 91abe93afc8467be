"""Plans: what they choose, what they say would help, and that it does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.report.terminal import Look, render
from podsim.studies.plan import candidates_report
from podsim.studies.plan import report as view
from podsim.studies.plan.choice import _contradiction
from podsim.studies.plan.choice_order import best, shortfall, worth
from podsim.studies.plan.result import Candidate, Objective, Plan
from podsim.studies.plan.search_report import size_between

MACHINES = "pod128,pod256"


@pytest.fixture(scope="module")
def missed() -> Plan:
    """BERT under what POD256 nearly makes and POD128 does not."""
    return podsim.plan("bert", within="4.6min", machines=MACHINES)


def test_the_least_of_those_that_miss_nothing_is_chosen() -> None:
    plan = podsim.plan("resnet50", within="6min", budget="3M", machines="pod64,pod128,dgx-a100")
    assert plan.chosen is not None
    assert not plan.chosen.misses
    meeting = [
        candidate
        for candidate in plan.candidates
        if candidate.sure_s <= 360 and (candidate.most_capital_usd or 9e9) <= 3e6
    ]
    assert plan.chosen.cost_usd == min(candidate.cost_usd or 9e9 for candidate in meeting)
    assert all(any(candidate is kept for kept in plan.candidates) for candidate in plan.frontier)
    assert plan.settled[0] > 0
    assert plan.settled[1] < 0.01


def test_a_table_of_candidates_says_of_how_many_pareto_optimal_machines_it_has_some() -> None:
    """BERT within 30 minutes: the fastest machine is Pareto-optimal too and not among the six of the short screen."""
    plan = podsim.plan("bert", within="30min")
    assert plan.chosen is not None
    optimal = {candidate.topology for candidate in plan.frontier} - {plan.chosen.topology}
    _, table = candidates_report.candidate_blocks(plan, verbose=False)
    shown = {row[0] for row in table.rows} - {plan.chosen.topology}
    assert shown < optimal
    title = f"{len(table.rows)} of {len(plan.candidates)} candidates: recommended, {len(shown)} of the {len(optimal)}"
    assert f"{title} other Pareto-optimal machines; times in min" in render(view.document(plan), Look(width=100))
    fewer = podsim.plan("bert", within="30min", machines="bow-pod16,bow-pod64")
    title = "2 candidates: recommended, 1 other Pareto-optimal machine; times in min"
    assert title in render(view.document(fewer), Look(width=100))


def test_no_near_miss_is_bettered_in_everything_by_the_chosen_machine() -> None:
    """POD128 with 2 hosts was listed beside Bow Pod64: slower, dearer and over the budget; with 4 it is quicker."""
    plan = podsim.plan("resnet50", within="10min", budget="1M", machines="pod64,bow-pod64,pod128")
    assert plan.chosen is not None
    assert plan.chosen.topology == "bow-pod64"
    starved = next(item for item in plan.candidates if (item.topology, item.hosts) == ("pod128", 2))
    assert starved.misses
    assert starved.time_to_train_s.value > plan.chosen.time_to_train_s.value
    assert ("pod128", 2) not in [(item.topology, item.hosts) for item in plan.near]
    (fed,) = (item for item in plan.near if item.topology == "pod128")
    assert fed.time_to_train_s.value < plan.chosen.time_to_train_s.value
    assert "3 of 9 candidates: recommended, 1 near miss, 1 other Pareto-optimal machine; times in min" in render(
        view.document(plan), Look(width=100)
    )


def test_the_times_are_those_of_predict() -> None:
    plan = podsim.plan("resnet50", machines="pod64")
    own = next(candidate for candidate in plan.candidates if candidate.hosts == 4)
    alone = podsim.predict("resnet50", pod=64)
    assert own.time_to_train_s == alone.time_to_train_s
    sure = podsim.predict("resnet50", pod=64, interval=0.8).time_to_train_s.high
    assert own.sure_s == pytest.approx(sure)
    few = podsim.predict("resnet50", pod=64, hosts=1)
    assert (
        next(candidate for candidate in plan.candidates if candidate.hosts == 1).time_to_train_s == few.time_to_train_s
    )


def test_a_remedy_is_enough_and_no_more(missed: Plan) -> None:
    assert missed.chosen is None
    assert missed.closest is not None
    assert [candidate.topology for candidate in missed.near] == [missed.closest.topology] == ["pod256"]
    needed = [remedy for remedy in missed.remedies if remedy.needed is not None]
    assert needed
    for remedy in missed.remedies:
        assert remedy.best is not None
        assert (remedy.best <= 276) == (remedy.needed is not None)
    assert all(remedy.best is not None and remedy.best > 276 * 0.98 for remedy in needed)


def test_a_bandwidth_that_is_not_enough_is_what_set_says(missed: Plan) -> None:
    link = next(remedy for remedy in missed.remedies if remedy.path == "gw-link.bandwidth")
    mapping = missed.closest and missed.closest.mapping
    assert mapping is not None
    changed = podsim.predict(
        "bert",
        pod=256,
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        interval=0.8,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        engine="analytic",
        changes={link.path: f"{4 * link.present!r} B/s"},
    )
    assert link.best == pytest.approx(changed.time_to_train_s.high)


def test_demands_that_exclude_each_other_are_named() -> None:
    plan = podsim.plan("bert", within="7min", budget="600k", machines="pod64,pod128")
    assert plan.chosen is None
    time, budget = plan.contradiction.split(". Fastest")
    assert time.startswith("Cheapest machine within the time: IPU-POD128 (P90 6.49 min, $1.08M)")
    assert budget.startswith(" within the budget: IPU-POD64 (P90 9.")
    priceless = [replace(candidate, most_capital_usd=None) for candidate in plan.candidates]
    sentence = _contradiction(priceless, plan.demand, plan.currency)
    assert sentence.startswith("Smallest machine within the time: IPU-POD128 (P90 6.49 min)")


@pytest.mark.slow
def test_a_time_that_no_size_meets_names_no_machine_beyond_those_documented() -> None:
    plan = podsim.plan("bert", within="1s")
    assert plan.chosen is None
    assert max(candidate.chips for candidate in plan.candidates) == 1024
    assert not any(name.endswith(("2048", "4096", "8192", "16384")) for name in plan.named)
    assert plan.closest is not None
    assert plan.closest.topology == "bow-pod1024"
    assert plan.contradiction.startswith(
        "No candidate meets the time limit; the fastest larger pod, Bow Pod16384, takes 1.6"
    )
    assert plan.contradiction.endswith(" min (P90; extrapolated 64×).")


def test_confidence_moves_what_is_chosen(missed: Plan) -> None:
    even = podsim.plan("bert", within="4.6min", machines="pod256", confidence=0.5)
    assert missed.chosen is None
    assert even.chosen is not None
    assert even.chosen.chance is not None
    assert even.chosen.chance >= 0.5


@pytest.mark.parametrize("objective", Objective)
def test_objectives(objective: Objective, missed: Plan) -> None:
    free = [replace(candidate, misses=()) for candidate in missed.candidates]
    chosen = best(free, objective)
    assert chosen is not None
    assert worth(chosen, objective) == min(worth(candidate, objective) for candidate in free)
    assert best(missed.candidates, objective) is None


def test_where_no_price_is_known_the_quickest_is_chosen_and_the_screen_says_so(missed: Plan) -> None:
    def priceless(candidate: Candidate) -> Candidate:
        return replace(candidate, misses=(), cost_usd=None)

    candidates = [priceless(candidate) for candidate in missed.candidates]
    chosen = best(candidates, Objective.COST)
    assert chosen is min(candidates, key=lambda candidate: candidate.time_to_train_s.value)
    known = [*candidates, replace(candidates[0], cost_usd=1.0)]
    assert best(known, Objective.COST) is known[-1]
    plan = podsim.plan("resnet50", within="5min", machines="dgx-h100:64")
    assert plan.unranked
    assert plan.chosen is not None
    text = " ".join(render(view.document(plan), Look(100)).split())
    assert "cannot be ranked by purchase price: none is known; --prices FILE states one." in text


def test_of_machines_that_are_as_late_the_one_that_draws_least_is_closest() -> None:
    plan = podsim.plan("resnet50", within="4min", max_power="40kW", machines="pod128")
    late = {candidate.hosts: candidate for candidate in plan.candidates}
    time = late[8].misses[0]
    more, less = (replace(late[hosts], misses=(time, *late[hosts].misses[1:])) for hosts in (8, 4))
    assert min([more, less], key=shortfall) is less


def test_of_machines_that_miss_a_budget_by_as_much_the_quickest_is_closest() -> None:
    plan = podsim.plan("bert", budget=10_000, machines="m2000,bow-pod4")
    prices = {candidate.most_capital_usd for candidate in plan.candidates}
    assert len(prices) == 1
    assert plan.closest is not None
    assert plan.closest.topology == "bow-pod4"


def test_of_machines_as_cheap_within_a_time_the_quickest_is_named() -> None:
    plan = podsim.plan("bert", within="10min", budget=100_000, machines="bow-pod4,pod64,bow-pod64")
    text = " ".join(render(view.document(plan), Look(100)).split())
    assert "Cheapest machine within the time: Bow Pod64 (" in text


def test_of_machines_that_are_late_the_soonest_is_closest() -> None:
    plan = podsim.plan("resnet50", within="4min", max_power="40kW", machines="pod128")
    late = {candidate.hosts: candidate for candidate in plan.candidates}
    assert late[4].sure_s == pytest.approx(late[8].sure_s, rel=0.01)
    assert plan.closest is late[8]
    assert len([line for line in map(str, plan.assumptions) if line.startswith("hosts: 8, ")]) == 1


def test_machines_that_nobody_knows_are_refused() -> None:
    with pytest.raises(InputError, match="pod63x"):
        podsim.plan("bert", machines="pod64,pod63x")
    with pytest.raises(InputError, match="how many chips"):
        podsim.plan("bert", machines="dgx-a100:many")


def test_more_hosts_and_a_quicker_clock_are_weighed_where_they_limit() -> None:
    plan = podsim.plan("resnet50", within="7min", machines="pod128")
    remedies = {remedy.path: remedy for remedy in plan.remedies}
    assert remedies["hosts"].needed == 4
    assert remedies["chip.clock"].needed is None
    assert remedies["hosts.server_bandwidth"].needed > remedies["hosts.server_bandwidth"].present


def test_a_rent_is_that_of_one_machine() -> None:
    with pytest.raises(InputError, match="that of one machine") as error:
        podsim.plan("resnet50", machines="pod16,pod64", rent_per_hour=60)
    assert error.value.code == "conflicting-flags"
    plan = podsim.plan("resnet50", machines="pod16", rent_per_hour=60)
    assert plan.chosen is not None
    assert plan.chosen.rent is not None


def test_a_rent_of_an_ipu_is_that_of_every_machine() -> None:
    plan = podsim.plan("resnet50", machines="pod16,pod64,dgx-a100", rent_per_ipu_hour=1.5)
    rents = {candidate.topology: candidate.rent and candidate.rent.usd_per_hour for candidate in plan.candidates}
    assert rents == {"pod16": 24.0, "pod64": 96.0, "dgx-a100": None}


def test_without_a_demand_no_machine_is_recommended_by_cents() -> None:
    plan = podsim.plan("resnet50", machines="pod16,pod64")
    assert plan.demand.objective is Objective.PRICE_PERFORMANCE
    text = " ".join(render(view.document(plan), Look(100)).split())
    assert "No time, budget or power demanded: 4 of 4 candidates are Pareto-optimal" in text
    assert "Recommended" not in text


def test_with_a_time_the_cheapest_machine_is_recommended_with_the_cost_of_its_years() -> None:
    plan = podsim.plan("resnet50", within="30min", machines="pod16,pod64", years=2.0, currency="EUR=0.5")
    assert plan.demand.objective is Objective.CAPITAL
    assert plan.chosen is not None
    assert plan.chosen.topology == "pod16"
    assert plan.chosen.total is not None
    text = render(view.document(plan, verbose=True), Look(100))
    assert "cheapest to buy" in text
    assert "EUR 74.5k" in text
    assert "$" not in text
    total = plan.chosen.total
    assert [year.year for year in total.years] == [1.0, 2.0]
    assert total.usd.value == pytest.approx(149e3 + total.energy_usd.value)
    assert "Prices date from July 2020 to July 2021; use --prices FILE for current ones." in text
    fresh = podsim.plan("resnet50", machines="pod16", as_of="2021-08")
    assert "Prices date" not in render(view.document(fresh), Look(100))


@pytest.mark.parametrize(
    "ask",
    [
        lambda: podsim.plan("bert", machines="pod16,pod16"),
        lambda: podsim.scale("bert", pods="16,16"),
        lambda: podsim.scale("bert", pods=[16, 16]),
        lambda: podsim.scale("bert", pods="16..64,32"),
        lambda: podsim.scale("bert", topologies="pod16,pod16"),
    ],
)
def test_a_machine_that_is_named_twice_is_refused(ask: Callable[[], object]) -> None:
    with pytest.raises(InputError, match="twice") as error:
        ask()
    assert error.value.code == "bad-value"


@pytest.mark.parametrize("width", [60, 100])
def test_what_is_missed_stays_on_narrow_screens_where_nothing_fits(width: int) -> None:
    plan = podsim.plan("resnet50", within="1min", budget="600k", max_power="20kW", machines="pod64,pod128")
    text = render(view.document(plan), Look(width))
    table = text[text.index("candidates: nearest") : text.index("What would have to change")]
    assert "Remark" in next(line for line in table.splitlines() if "Machine" in line)
    assert "× the" in table


def test_energies_at_peak_and_typical_draw_are_told_apart() -> None:
    plan = podsim.plan("resnet50", objective="energy", machines="pod16,dgx-a100")
    text = " ".join(render(view.document(plan), Look(100)).split())
    assert "Energy is at peak power for dgx-a100, whose typical power is not published" in text
    owned = {candidate.topology: candidate.owned for candidate in plan.candidates}
    assert not [*view.unlike_draws(replace(plan.demand, objective=Objective.COST), owned)]
    assert not [*view.unlike_draws(plan.demand, {"pod16": owned["pod16"]})]
    assert not [*view.unlike_draws(plan.demand, {"dgx-a100": owned["dgx-a100"]})]


def test_a_change_of_the_machine_is_refused_and_not_passed_over() -> None:
    with pytest.raises(InputError, match="is not a number of the workload"):
        podsim.plan("resnet50", machines="pod16", changes={"chip.clock": "1 GHz"})


def test_a_size_between_two_candidates_is_named_where_a_smaller_machine_might_do() -> None:
    """ResNet-50 within an hour: Bow Pod8 is cheaper than the recommended Bow Pod16, and no candidate."""
    usual = podsim.plan("resnet50", within="1h", machines="bow-pod4,bow-pod16")
    (note,) = size_between(usual)
    assert (note.text, note.hint) == (
        "bow-pod8, which costs less, was not tried",
        "--machines bow-pod8,bow-pod16 compares it.",
    )
    tried = podsim.plan("resnet50", within="1h", machines="bow-pod4,bow-pod8,bow-pod16")
    assert tried.chosen is not None
    assert tried.chosen.topology == "bow-pod8"
    assert not [*size_between(tried)]
    assert not [*size_between(podsim.plan("resnet50", within="1h", machines="bow-pod16"))]
