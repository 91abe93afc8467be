"""What candidates cost to whoever owns machines: computed by hand, and never more for owning one more."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning.ownership import ownership_terms
from podsim.report.doc import Chart, DocTable
from podsim.studies.documents import answer_document
from podsim.studies.plan import plan_page, serving_report
from podsim.studies.plan.inventory_result import OwnedMachines, Reuse
from podsim.studies.plan.inventory_use import Stock, StockItem, purchase, stock

M2000_USD, SERVER_USD = 32_450.0, 19_200.0
RACK_USD = 16 * M2000_USD
TERMS = ownership_terms()
SIZES = ("pod4", "pod16", "pod64", "pod128", "pod256", "bow-pod64")
TARGETS = ("pod16", "pod64", "pod128", "pod256", "pod512", "bow-pod128", "c600")

SUNK, JOINED = AnswerNote.of(NoteCode.OWNED_SUNK), AnswerNote.of(NoteCode.OWNED_JOINED)


def item(name, count=1, hosts=1):
    topology = catalog.topology(name).value
    owned = OwnedMachines(
        topology=topology.name, title=topology.title, called="", ipus=topology.ipus, count=count, hosts=hosts
    )
    return StockItem(topology=topology, name=name, owned=owned, stated_hosts=True)


def bought(name, hosts, *items, terms=TERMS):
    """Price of a machine to the owner of such machines, and what is reused."""
    owned, reuse = purchase(Stock(items=items), catalog.topology(name).value, hosts, terms)
    return owned.capital.usd.value, reuse


def test_an_owned_machine_costs_nothing():
    usd, reuse = bought("pod64", 1, item("pod64"))
    assert (usd, reuse.free, reuse.extended) == (0.0, True, False)


def test_hosts_that_an_owned_machine_lacks_are_bought():
    usd, reuse = bought("pod64", 4, item("pod64", hosts=1))
    assert usd == pytest.approx(3 * SERVER_USD)
    assert (reuse.bought_hosts, reuse.bought_count, reuse.free) == (3, 0, False)


def test_of_two_owned_machines_the_one_with_more_hosts_is_taken():
    usd, reuse = bought("pod64", 4, item("pod64", hosts=1), item("pod64", hosts=3))
    assert usd == pytest.approx(SERVER_USD)
    assert reuse.machines[0].machines.hosts == 3


def test_a_partition_of_an_owned_machine_costs_nothing():
    usd, reuse = bought("pod64", 1, item("pod256", hosts=4))
    assert (usd, reuse.machines[0].machines.topology) == (0.0, "pod256")


def test_racks_that_are_missing_are_bought():
    usd, reuse = bought("pod256", 4, item("pod64", count=2))
    assert usd == pytest.approx(2 * (RACK_USD + SERVER_USD))
    assert (reuse.bought_count, reuse.bought_title, reuse.bought_hosts) == (2, "IPU-POD64", 2)
    assert reuse.new_usd == pytest.approx(4 * (RACK_USD + SERVER_USD))
    assert reuse.extended


def test_owned_racks_that_are_enough_are_joined():
    usd, reuse = bought("pod128", 2, item("pod64", count=5))
    assert (usd, reuse.machines[0].count, reuse.free, reuse.extended) == (0.0, 2, True, True)


def test_servers_of_owned_racks_that_are_not_taken_are_at_hand():
    usd, reuse = bought("pod128", 4, item("pod64", count=5))
    assert (usd, reuse.machines[0].hosts) == (0.0, 4)


def test_larger_owned_machines_are_taken_first():
    _, reuse = bought("pod256", 4, item("pod64", count=1), item("pod128", count=1, hosts=2))
    assert [part.machines.topology for part in reuse.machines] == ["pod128", "pod64"]
    assert (reuse.bought_count, reuse.bought_hosts) == (1, 1)


@pytest.mark.parametrize(("name", "owned"), [("bow-pod64", "pod64"), ("pod64", "pod16"), ("c600", "pod64")])
def test_other_chips_and_part_filled_racks_are_no_part(name, owned):
    hosts = catalog.topology(name).value.hosts.servers
    new = purchase(None, catalog.topology(name).value, hosts, TERMS)[0]
    again, reuse = purchase(Stock(items=(item(owned, count=4),)), catalog.topology(name).value, hosts, TERMS)
    assert (again, reuse) == (new, None)


def test_a_whole_that_is_cheaper_than_what_is_missing_is_bought_new(tmp_path):
    path = tmp_path / "prices.toml"
    path.write_text(
        'schema = "podsim.prices/1"\n[[price]]\nmachine = "pod128"\nlow = "100000 USD"\nservers = 8\n',
        encoding="utf-8",
    )
    usd, reuse = bought("pod128", 2, item("pod64"), terms=ownership_terms(prices=path))
    assert (usd, reuse) == (100_000.0, None)


def test_it_draws_what_it_draws_whoever_owns_it():
    topology = catalog.topology("pod64").value
    owned, _ = purchase(Stock(items=(item("pod64"),)), topology, 1, TERMS)
    assert owned.draw == purchase(None, topology, 1, TERMS)[0].draw


@st.composite
def items(draw):
    name = draw(st.sampled_from(SIZES))
    most = catalog.topology(name).value.hosts.most_servers
    return item(name, count=draw(st.integers(1, 5)), hosts=draw(st.integers(1, most)))


@given(st.lists(items(), max_size=4), items(), st.sampled_from(TARGETS), st.data())
def test_another_owned_machine_makes_none_dearer(owned, more, name, data):
    topology = catalog.topology(name).value
    hosts = data.draw(st.integers(topology.hosts.servers, topology.hosts.most_servers))
    new = purchase(None, topology, hosts, TERMS)[0].capital
    before = purchase(Stock(items=tuple(owned)), topology, hosts, TERMS)[0].capital
    after = purchase(Stock(items=(*owned, more)), topology, hosts, TERMS)[0].capital
    for ends in (lambda usd: usd.value, lambda usd: usd.high):
        if new is not None:
            assert 0.0 <= ends(after.usd) <= ends(before.usd) <= ends(new.usd) * (1 + 1e-12)
        elif before is not None:
            assert ends(after.usd) <= ends(before.usd)


def test_owned_machines_are_named_once():
    own = Stock(items=(item("pod4"), item("pod64"), item("pod64", hosts=2)))
    assert own.names(("m2000", "dgx-a100")) == ("pod64",)


def test_what_is_assumed_is_said():
    reuse = Reuse(machines=(item("pod64").reuse(2, 2),), extended=True)
    assert Stock(items=(item("pod64"),)).notes(reuse) == (SUNK, JOINED)
    assert Stock(items=(item("pod64"),)).notes(None) == (SUNK,)


def inventory(tmp_path, text):
    path = tmp_path / "own.toml"
    path.write_text(f'schema = "podsim.inventory/1"\n{text}', encoding="utf-8")
    return str(path)


def test_a_file_is_read_with_the_hosts_that_machines_ship_with(tmp_path):
    own = stock(inventory(tmp_path, '[[machine]]\ntopology = "pod256"\nname = "hall"\ncount = 2\n'))
    assert own.owned_machines == (
        OwnedMachines(topology="pod256", title="IPU-POD256", called="hall", ipus=256, count=2, hosts=4),
    )
    assert "hosts of the owned IPU-POD256: not stated, default of 4 each" in map(str, own.notes(None))


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = inventory(tmp_path_factory.mktemp("own"), '[[machine]]\ntopology = "pod64"\ncount = 2\nhosts = 1\n')
    return podsim.plan("bert", within="8min", machines="pod128,bow-pod64", own=path, explain=True)


def test_owned_racks_are_used_before_a_machine_is_bought(plan):
    assert (plan.chosen.topology, plan.chosen.capital_usd, plan.chosen.reuse.free) == ("pod128", 0.0, True)
    usual = podsim.plan("bert", within="8min", machines="pod128,bow-pod64")
    assert usual.chosen.topology == "bow-pod64"
    assert [row.sure_s for row in usual.candidates] == [row.sure_s for row in plan.candidates[:2]]


def test_a_run_on_owned_machines_costs_its_electricity(plan):
    kwh = plan.chosen.energy_j / 3.6e6
    assert plan.chosen.cost_usd == pytest.approx(kwh * plan.terms.usd_per_kwh)
    assert plan.chosen.total.purchase_usd.value == 0.0


def test_an_owned_machine_is_a_candidate_and_what_is_owned_is_in_the_answer(plan):
    assert [candidate.topology for candidate in plan.candidates] == ["pod128", "bow-pod64", "pod64"]
    assert [(owned.topology, owned.count) for owned in plan.inventory] == [("pod64", 2)]
    assert plan.assumptions[-2:] == (SUNK, JOINED)


def test_of_owned_machines_that_meet_the_time_the_one_with_the_cheaper_run_is_chosen(tmp_path):
    """A Bow Pod64 is quicker than its quarter and takes more electricity for a run of ResNet-50."""
    own = inventory(tmp_path, '[[machine]]\ntopology = "bow-pod64"\nhosts = 4\n')
    plan = podsim.plan("resnet50", within="30min", machines="bow-pod16", own=own)
    free = [row for row in plan.candidates if row.capital_usd == 0 and not row.misses]
    assert {row.topology for row in free} == {"bow-pod16", "bow-pod64"}
    assert plan.chosen.cost_usd == min(row.cost_usd for row in free)
    assert plan.chosen.time_to_train_s.value > min(row.time_to_train_s.value for row in free)


def test_neighbours_are_in_the_answer(plan):
    each = {neighbour.candidate.topology: neighbour for neighbour in plan.neighbours}
    assert set(each) == {"pod64", "bow-pod64"}
    assert each["bow-pod64"].more == each["bow-pod64"].candidate.capital_usd
    assert [miss.demand for miss in each["pod64"].candidate.misses] == ["time"]


def fleet(name, number, hosts, *items):
    """What all of so many like machines cost side by side, and what is reused."""
    topology = catalog.topology(name).value
    owned, reuse = Stock(items=items).fleet(topology, TERMS.machine(topology, hosts), number, TERMS)
    return number * owned.capital.usd.value, reuse


def test_like_machines_side_by_side_are_owned_or_bought():
    usd, reuse = fleet("pod64", 5, 1, item("pod64", count=3))
    assert usd == pytest.approx(2 * (RACK_USD + SERVER_USD))
    assert (reuse.bought_count, reuse.bought_title, reuse.extended, reuse.free) == (2, "IPU-POD64", False, False)
    assert fleet("pod64", 2, 1, item("pod64", count=3))[0] == 0.0
    assert fleet("bow-pod64", 2, 1, item("pod64", count=3)) == (pytest.approx(2 * (RACK_USD + SERVER_USD)), None)


def test_partitions_of_an_owned_machine_share_its_servers():
    """Four partitions of 16 IPUs of a rack with one server need a server each."""
    usd, reuse = fleet("pod16", 5, 1, item("pod64", hosts=1))
    assert usd == pytest.approx(149_000.0 + 3 * SERVER_USD)
    assert (reuse.machines[0].count, reuse.bought_count, reuse.bought_hosts) == (1, 1, 3)


def test_servers_that_all_of_them_lack_are_bought():
    usd, reuse = fleet("pod64", 2, 4, item("pod64", count=2, hosts=1))
    assert usd == pytest.approx(6 * SERVER_USD)
    assert reuse.bought_hosts == 6


@given(st.lists(items(), max_size=4), items(), st.sampled_from(("pod4", "pod16", "pod64", "pod256")), st.integers(1, 9))
def test_another_owned_machine_makes_no_number_of_them_dearer(owned, more, name, number):
    hosts = catalog.topology(name).value.hosts.most_servers
    new, before = fleet(name, number, hosts)[0], fleet(name, number, hosts, *owned)[0]
    assert 0.0 <= fleet(name, number, hosts, *owned, more)[0] <= before * (1 + 1e-12)
    assert before <= new * (1 + 1e-12)


@pytest.fixture(scope="module")
def serving(tmp_path_factory):
    path = inventory(tmp_path_factory.mktemp("own"), '[[machine]]\ntopology = "pod4"\nhosts = 1\n')
    return podsim.plan("resnet50", rate="60k/s", p99="10ms", machines="bow-pod4", own=path)


def test_machines_that_serve_are_owned_ones_first(serving):
    """Two IPU-M2000 of which one is owned cost 32,450 + 19,200 USD, as much as the Bow-2000 that does alone."""
    rows = {row.topology: row for row in serving.candidates}
    assert (rows["m2000"].machines, rows["m2000"].capital_usd) == (2, M2000_USD + SERVER_USD)
    assert (rows["m2000"].reuse.bought_count, rows["bow-pod4"].reuse) == (1, None)
    cost = rows["m2000"].cost
    hours = serving.terms.years * 365.25 * 24 * serving.terms.use
    assert cost.hour_usd.value == pytest.approx(
        rows["m2000"].capital_usd / 2 / hours
        + rows["m2000"].power_w / 2 * serving.terms.pue / 1e3 * serving.terms.usd_per_kwh
    )


def test_screen_and_json_of_machines_that_serve_say_what_is_owned(serving):
    text = answer_document(serving).tree()
    assert [item["topology"] for item in text["inventory"]] == ["m2000"]
    reuse = {row["topology"]: row.get("reuse") for row in text["candidates"]}
    assert (reuse["m2000"]["bought_count"], reuse["bow-pod4"]) == (1, None)
    document = serving_report.document(serving)
    tables = [block for group in document.groups for block in group if isinstance(block, DocTable)]
    assert tables[0].columns[-1].title == "Remark"
    assert "in part owned m2000" in {row[-1] for row in tables[0].rows}
    assert SUNK in serving.assumptions


def test_why_not_is_of_machines_that_train():
    with pytest.raises(InputError, match="explain is about machines that train") as error:
        podsim.plan("resnet50", rate="20k/s", p99="10ms", explain=True)
    assert error.value.code == "conflicting-flags"


def test_what_costs_nothing_is_left_out_of_a_chart_of_ratios(plan):
    more = next(replace(row, capital_usd=1e6) for row in plan.candidates if row.topology == "bow-pod64")
    handout = plan_page.page(replace(plan, candidates=(*plan.candidates, more)), None)
    (chart,) = [block for section in handout.body for block in section if isinstance(block, Chart)]
    assert chart.title.endswith("owned machines, which cost nothing more, are left out")
    assert min(usd for series in chart.series for usd, _ in series.points) > 0


def test_json_has_more_keys_only_where_machines_are_owned(plan):
    own = answer_document(plan).tree()
    assert [(item["topology"], item["count"]) for item in own["inventory"]] == [("pod64", 2)]
    assert {item["topology"] for item in own["neighbours"]} == {"pod64", "bow-pod64"}
    reuse = {row["topology"]: row.get("reuse") for row in own["candidates"]}
    assert reuse["bow-pod64"] is None
    assert (reuse["pod128"]["free"], reuse["pod128"]["extended"]) == (True, True)
    usual = answer_document(podsim.plan("bert", within="8min", machines="bow-pod64")).tree()
    assert set(own) - set(usual) == {"inventory", "neighbours"}
    assert set(own["candidates"][1]) == set(usual["candidates"][0])
