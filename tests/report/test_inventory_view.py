"""What screens say of owned machines and of the neighbours of a recommended one."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
from parts_of_documents import facts, headings, notes, tables
from samples_of_results import estimate
from test_mix_view import MACHINE, PLAN, SMALL

from podsim.model.currency import DOLLARS
from podsim.model.run_cost import Capital, Range
from podsim.studies.documents import answer_document
from podsim.studies.plan import inventory_report, mix_report, neighbours_report
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse, ReusedMachines
from podsim.studies.plan.mix_result import JobRuns, KeptMachines, MixSplit, Month
from podsim.studies.plan.result import Candidate, Demand, Miss, Neighbour, Objective

RACKS = OwnedMachines(topology="pod64", title="IPU-POD64", called="hall", ipus=64, count=3, hosts=1)
OLD = OwnedMachines(topology="pod128", title="IPU-POD128", called="", ipus=128, count=1, hosts=2)
ONE = Reuse(machines=(ReusedMachines(machines=RACKS, count=1, hosts=1),), new_usd=538e3)
TWO = Reuse(machines=(ReusedMachines(machines=RACKS, count=2, hosts=2),), extended=True, new_usd=1.08e6)
EXTENDED = Reuse(
    machines=(
        ReusedMachines(machines=OLD, count=1, hosts=2),
        ReusedMachines(machines=RACKS, count=1, hosts=1),
    ),
    bought_title="IPU-POD64",
    bought_count=1,
    bought_hosts=1,
    extended=True,
    new_usd=2.15e6,
)
HOSTS = replace(ONE, bought_hosts=3)


def note(reuse, inventory=(RACKS,)):
    return [(note.label, note.text) for note in inventory_report.notes(inventory, reuse, DOLLARS)]


def test_without_an_inventory_nothing_is_said():
    assert note(None, ()) == []


@pytest.mark.parametrize(
    ("reuse", "label", "text"),
    [
        (None, "Owned", "3 × IPU-POD64 (hall): not part of this machine, all of which is bought."),
        (ONE, "Owned", "1 of 3 IPU-POD64 (hall): nothing to buy."),
        (TWO, "Owned", "2 of 3 IPU-POD64 (hall) joined to one machine: nothing to buy."),
        (HOSTS, "Buy", "3 hosts; reuses 1 of 3 IPU-POD64 (hall) ($538k if all were new)."),
        (
            EXTENDED,
            "Buy",
            "1 × IPU-POD64 with 1 host; reuses 1 of 1 IPU-POD128, 1 of 3 IPU-POD64 (hall) ($2.15M if all were new).",
        ),
    ],
)
def test_what_is_owned_and_what_to_buy(reuse, label, text):
    assert note(reuse) == [(label, text)]


def test_servers_alone_are_reused_by_their_number():
    part = ReusedMachines(machines=RACKS, count=0, hosts=1)
    assert inventory_report.parts(Reuse(machines=(part, replace(part, hosts=2)))) == (
        "1 host of IPU-POD64 (hall), 2 hosts of IPU-POD64 (hall)"
    )


@pytest.mark.parametrize(
    ("reuse", "text"),
    [
        (None, ""),
        (ONE, "owned"),
        (TWO, "owned, 2 joined"),
        (HOSTS, "owned, plus 3 hosts"),
        (EXTENDED, "extends pod128, pod64"),
        (replace(EXTENDED, extended=False), "in part owned pod128, pod64"),
        (replace(TWO, extended=False), "owned"),
    ],
)
def test_a_row_says_what_is_owned(reuse, text):
    assert inventory_report.remark(reuse) == text


def candidate(name, seconds, usd, misses=(), **more):
    return Candidate(
        topology=name,
        title=name,
        chip="gc200",
        chips=64,
        hosts=1,
        mapping=None,
        global_batch=1,
        time_to_train_s=estimate(seconds, seconds, seconds),
        sure_s=1.1 * seconds,
        chance=None,
        engine="analytic",
        capital_usd=usd,
        energy_j=3.6e6 * seconds,
        misses=misses,
        **more,
    )


BEST = candidate("pod128", 300.0, 1e6)
LATE = candidate("pod64", 480.0, 5e5, (Miss(demand="time", limit=360.0, found=528.0),), reuse=ONE)


def plan(*neighbours, objective=Objective.CAPITAL):
    demand = Demand(within_s=360.0, objective=objective)
    return SimpleNamespace(demand=demand, neighbours=neighbours, currency=DOLLARS, chosen=BEST)


def reason(row, more, better="", objective=Objective.CAPITAL, best=BEST):
    neighbour = Neighbour(candidate=row, roles=("smaller",), more=more, dominated_by=better)
    return neighbours_report.reason(plan(neighbour, objective=objective), neighbour, best)


def test_a_limit_that_is_exceeded_comes_first_then_what_it_would_spare():
    assert reason(LATE, -5e5) == "P90 1.47× the time limit, though $500k cheaper (−50 %); owned"


def test_a_dearer_machine_is_dearer_by_so_much():
    assert reason(candidate("pod256", 200.0, 2e6), 1e6) == "price $1.00M higher (+100 %)"
    assert reason(candidate("dear", 400.0, 2e6), 1e6, "pod128").endswith("; dominated by pod128")


@pytest.mark.parametrize(
    ("objective", "more", "text"),
    [
        (Objective.TIME, 30.0, "time 30.0 s higher (+10 %)"),
        (Objective.ENERGY, 36e6, "training energy 10.0 kWh higher (+3 %)"),
        (Objective.PRICE_PERFORMANCE, 1.5e8, "price × time higher (+50 %)"),
        (Objective.CAPITAL, None, "price not known"),
    ],
)
def test_the_difference_is_that_of_the_objective(objective, more, text):
    assert reason(candidate("other", 330.0, 1e6), more, objective=objective) == text


def test_what_costs_nothing_has_no_share():
    assert reason(candidate("pod256", 200.0, 2e6), 2e6, best=candidate("own", 300.0, 0.0)) == "price $2.00M higher"


def test_of_two_with_one_price_the_slower_and_the_one_to_be_joined_say_so():
    assert reason(candidate("bow-pod128", 330.0, 1e6), 0.0) == "same price, 30.0 s slower"
    assert reason(candidate("bow-pod128", 300.0, 1e6), 0.0) == "same price"
    free, dear = candidate("own", 300.0, 0.0, cost_usd=0.25), candidate("pod64", 200.0, 0.0, cost_usd=0.75)
    assert reason(dear, 0.0, best=free) == "same price, training cost $0.500 higher"
    joined = candidate("pod256", 200.0, 1e6, reuse=EXTENDED)
    assert reason(joined, 0.0) == "same price, but racks have to be joined; extends pod128, pod64"
    assert reason(replace(LATE, capital_usd=1e6, reuse=None), 0.0) == "P90 1.47× the time limit"


def test_neighbours_are_a_table():
    neighbour = Neighbour(candidate=LATE, roles=("smaller", "cheapest"), more=-5e5, dominated_by="")
    heading, table = neighbours_report.table(plan(neighbour), BEST)
    assert heading.text == "Why not the neighbours"
    assert table.rows == (
        (
            "pod64",
            "smaller, cheapest",
            "8.00",
            "8.80",
            "$500k",
            "P90 1.47× the time limit, though $500k cheaper (−50 %); owned",
        ),
    )
    meets = Neighbour(candidate=replace(LATE, misses=()), roles=("larger", "cheapest"), more=5e5, dominated_by="")
    _, table = neighbours_report.table(plan(meets), BEST)
    assert table.rows[0][1] == "larger, next cheapest"
    (alone,) = neighbours_report.table(plan(), BEST)
    assert alone.text == "No other candidate"


MONTH = Month(
    jobs=(
        JobRuns(job="vision", priority=1, runs=2500.0, runs_per_month=2500.0, quick=True),
        JobRuns(job="bert", priority=None, runs=40.0, runs_per_month=100.0, quick=True),
    ),
    pools=MACHINE.pools,
)
LATE_MONTH = Month(jobs=(replace(MONTH.jobs[1], runs=0.0, quick=False),), pools=())


def test_the_jobs_of_a_month_that_fit_by_priority():
    short = replace(MACHINE, reason="the partitions need 128 IPUs together, 64 more than it has", month=MONTH)
    doc = mix_report.document(replace(PLAN, chosen=None, closest=short))
    table = next(table for table in tables(doc) if table.columns[1].title == "Priority")
    assert table.rows == (
        ("vision", "1", "2,500", "2,500", "1 × 16", ""),
        ("bert", "–", "40", "100", "2 × 16", "60 do not fit"),
    )
    late = mix_report.document(replace(PLAN, chosen=None, closest=replace(short, month=LATE_MONTH)))
    table = next(table for table in tables(late) if table.columns[1].title == "Priority")
    assert table.rows == (("bert", "–", "0", "100", "–", "no partition is fast enough"),)


def kept(hosts=3, usd=57.6e3, month=MONTH):
    capital = Capital(usd=Range(value=usd, low=usd, high=usd), derived=True, basis="b", old=("2021-07-01",))
    return KeptMachines(machines=RACKS, month=month, bought_hosts=hosts, capital=capital, power_w=4e4, most_power_w=5e4)


def test_the_runs_that_owned_machines_hold_alone():
    bought = replace(PLAN, inventory=(RACKS,), kept=(kept(),))
    assert notes(mix_report.document(bought), "Owned alone") == [
        "3 × IPU-POD64 (hall) with 3 more hosts ($57.6k): all runs but 60 runs of bert."
    ]
    alone = replace(bought, kept=(kept(0, 0.0), kept(month=replace(MONTH, jobs=(replace(MONTH.jobs[1], runs=60.0),)))))
    assert notes(mix_report.document(alone), "Owned alone") == [
        "3 × IPU-POD64 (hall) and 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k): all runs."
    ]
    owned = replace(bought, chosen=replace(MACHINE, reuse=ONE))
    assert notes(mix_report.document(owned), "Owned alone") == []
    assert notes(mix_report.document(replace(bought, kept=(kept(month=LATE_MONTH),))), "Owned alone") == []


ADDED = replace(MACHINE, title="Bow Pod16", pools=MACHINE.pools[:1], capital_usd=149e3)
REST = (replace(PLAN.jobs[0], runs_per_month=60.0),)
SPLIT = MixSplit(added=ADDED, jobs=REST, capital_usd=206.6e3, most_capital_usd=250e3, power_w=6e4, most_power_w=8e4)
KEEP = replace(PLAN, inventory=(RACKS,), kept=(kept(),), split=SPLIT)


def test_owned_machines_are_kept_and_one_is_bought_for_the_rest():
    doc = mix_report.document(KEEP)
    assert mix_report.answer(KEEP) == "keep 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k), buy Bow Pod16: $207k"
    assert notes(doc)[0] == (
        "Recommended: keep 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k) and buy Bow Pod16 for the rest: "
        "$207k in all, the cheapest."
    )
    assert notes(doc, "One machine") == ["IPU-POD64 would hold all jobs for $500k."]
    assert headings(doc) == [
        "2 kinds of job, 2,600 runs per month",
        "On the owned 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k)",
        "On a new Bow Pod16 ($149k)",
        "One machine for all jobs",
    ]
    first, second, _ = tables(doc)
    assert [(row[0], row[1], row[2]) for row in first.rows] == [("bert", "2 × 16", "40"), ("vision", "1 × 16", "2,500")]
    assert [(row[0], row[1], row[2]) for row in second.rows] == [("bert", "2 × 16", "60")]


def test_price_and_power_are_those_of_all_that_runs():
    rows = facts(mix_report.document(KEEP))
    assert set(rows) == {"Purchase price", "Power"}
    assert (rows["Purchase price"].number, rows["Purchase price"].remark) == ("$207k", "up to $250k")
    assert (rows["Power"].number, rows["Power"].unit) == ("60.0", "kW")
    assert rows["Power"].remark == "up to 80.0 kW, with all IPUs running"
    assert "Prices date from July 2021; use --prices FILE for current ones." in notes(mix_report.document(KEEP))


def test_where_owned_machines_hold_all_nothing_else_is_bought():
    whole = replace(KEEP, split=replace(SPLIT, added=None, jobs=(), capital_usd=57.6e3))
    assert mix_report.answer(whole) == "keep 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k): $57.6k"
    assert notes(mix_report.document(whole))[0] == (
        "Recommended: keep 3 × IPU-POD64 (hall) with 3 more hosts ($57.6k); together they hold all jobs: "
        "$57.6k, the cheapest."
    )


def test_details_have_the_one_machine_too_where_there_is_one():
    assert "Machine" in facts(mix_report.document(KEEP, verbose=True))
    none = replace(KEEP, chosen=None, closest=SMALL)
    assert "Machine" not in facts(mix_report.document(none, verbose=True))
    assert notes(mix_report.document(none), "One machine") == []


def test_json_says_what_is_kept_and_bought():
    text = answer_document(KEEP).tree()
    assert (text["split"]["capital_usd"], text["split"]["added"]["title"]) == (206600.0, "Bow Pod16")
    assert [job["runs"] for job in text["kept"][0]["month"]["jobs"]] == [2500.0, 40.0]
    usual = answer_document(PLAN).tree()
    assert set(text) - set(usual) == {"inventory", "kept", "split"}
    assert answer_document(replace(KEEP, split=None)).tree()["split"] is None


def test_a_machine_of_a_mix_says_what_to_buy():
    owned = replace(PLAN, inventory=(RACKS,), chosen=replace(MACHINE, reuse=EXTENDED))
    assert notes(mix_report.document(owned), "Buy")
