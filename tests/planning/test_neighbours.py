"""Why not the neighbours: who they are, by how much each is worse, which candidate dominates it."""

from podsim.model.quantity import Estimate, Grade
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse, ReusedMachines
from podsim.studies.plan.neighbours import neighbours
from podsim.studies.plan.result import Candidate, Miss, Objective

LATE = (Miss(demand="time", limit=60.0, found=90.0),)


def candidate(name, chip, chips, seconds, usd, hosts=1, misses=(), **more):
    return Candidate(
        topology=name,
        title=name,
        chip=chip,
        chips=chips,
        hosts=hosts,
        mapping=None,
        global_batch=1,
        time_to_train_s=Estimate(value=seconds, low=seconds, high=seconds, grade=Grade.INTERPOLATED),
        sure_s=seconds,
        chance=None,
        engine="analytic",
        capital_usd=usd,
        most_capital_usd=usd,
        energy_j=seconds,
        cost_usd=usd,
        misses=misses,
        **more,
    )


CENTRE = candidate("a64", "a", 64, 50.0, 200.0)
SMALLER = candidate("a16", "a", 16, 90.0, 100.0, misses=LATE)
SMALLEST = candidate("a4", "a", 4, 300.0, 30.0, misses=(Miss(demand="time", limit=60.0, found=300.0),))
LARGER = candidate("a128", "a", 128, 30.0, 400.0)
LARGEST = candidate("a256", "a", 256, 20.0, 900.0)
OTHER = candidate("b64", "b", 64, 60.0, 210.0)
ALL = (SMALLEST, SMALLER, CENTRE, LARGER, LARGEST, OTHER)


def named(candidates=ALL, centre=CENTRE, objective=Objective.CAPITAL):
    rows = neighbours(candidates, [row for row in candidates if row is not OTHER], centre, objective)
    return {row.candidate.topology: row for row in rows}


def test_each_neighbour_is_there_once_with_its_roles():
    assert {name: row.roles for name, row in named().items()} == {
        "a16": ("smaller",),
        "a128": ("larger",),
        "b64": ("other chip", "cheapest"),
        "a256": ("fastest",),
    }


def test_the_excess_is_that_of_the_objective():
    assert {name: row.more for name, row in named().items()} == {
        "a16": -100.0,
        "a128": 200.0,
        "b64": 10.0,
        "a256": 700.0,
    }
    assert named(objective=Objective.TIME)["a128"].more == -20.0
    assert named(objective=Objective.PRICE_PERFORMANCE)["b64"].more == 60.0 * 210.0 - 50.0 * 200.0


def test_an_excess_over_what_is_not_known_is_not_known():
    priceless = candidate("b64", "b", 64, 60.0, None)
    assert named((CENTRE, priceless))["b64"].more is None


def test_the_candidate_that_dominates_is_named():
    rows = named()
    assert rows["b64"].dominated_by == "a64"
    assert {row.dominated_by for name, row in rows.items() if name != "b64"} == {""}


def test_of_several_numbers_of_hosts_the_one_that_misses_least_stands_for_its_machine():
    more = candidate("a16", "a", 16, 61.0, 110.0, hosts=2, misses=(Miss(demand="time", limit=60.0, found=61.0),))
    assert named((SMALLER, more, CENTRE))["a16"].candidate is more
    assert named((CENTRE, candidate("a64", "a", 64, 40.0, 220.0, hosts=2))) == {}


def test_where_no_other_meets_the_demands_the_cheapest_of_all_is_a_neighbour():
    assert named((SMALLEST, SMALLER, CENTRE))["a4"].roles == ("cheapest",)


def test_the_best_of_owned_machines_is_a_neighbour():
    machines = OwnedMachines(topology="c4", title="C4", called="", ipus=4, count=1, hosts=1)
    reuse = Reuse(machines=(ReusedMachines(machines=machines, count=1, hosts=1),))
    own = candidate("c4", "c", 4, 80.0, 0.0, misses=LATE, reuse=reuse)
    assert named((*ALL, own))["c4"].roles == ("owned",)
