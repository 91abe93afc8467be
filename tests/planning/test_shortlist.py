"""Which candidates the default screen of a plan lists."""

from types import SimpleNamespace

from podsim.studies.plan.shortlist import shortlist

MOST = 7


def candidate(topology, seconds, used=64):
    return SimpleNamespace(topology=topology, time_to_train_s=SimpleNamespace(value=seconds), ipus_used=used, chips=64)


def plan(front, chosen=None, closest=None, near=()):
    return SimpleNamespace(candidates=front, frontier=front, chosen=chosen, closest=closest, near=near)


def test_one_row_a_machine_the_one_nearest_to_the_recommended():
    fast, slow, other = candidate("pod64", 90.0), candidate("pod64", 400.0), candidate("pod16", 900.0)
    best = candidate("pod128", 100.0)
    assert shortlist(plan([fast, slow, other, best], chosen=best), MOST) == [best, fast, other]


def test_the_row_of_a_machine_has_hosts_for_all_its_ipus():
    best = candidate("pod16", 1000.0)
    starved, fed = candidate("pod64", 700.0, used=32), candidate("pod64", 400.0)
    assert shortlist(plan([best, starved, fed], chosen=best), MOST) == [best, fed]
    assert shortlist(plan([best, starved], chosen=best), MOST) == [best, starved]


def test_the_recommended_number_of_hosts_stands_for_its_machine():
    best, twin = candidate("pod64", 100.0), candidate("pod64", 101.0)
    assert shortlist(plan([twin, best], chosen=best), MOST) == [best]


def test_near_misses_stay_and_the_farthest_machines_go():
    front = [candidate(f"pod{number}", 1000.0 / number) for number in range(1, 21)]
    nearest, near = front[19], front[0]
    rows = shortlist(plan(front, closest=nearest, near=(near,)), MOST)
    assert rows[:2] == [nearest, near]
    assert rows[2:] == front[18 : 18 - (MOST - 2) : -1]


def test_without_a_recommendation_the_fastest_come_first():
    front = [candidate("pod16", 900.0), candidate("pod64", 300.0)]
    assert shortlist(plan(front), MOST) == [front[1], front[0]]
