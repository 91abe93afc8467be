"""What the screen says of one machine for a mix of jobs."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables, titles
from samples_of_results import estimate

from podsim.model.mix import Job, MixCandidate, MixPlan, Pool, Timed
from podsim.model.plan import Demand, Excluded, Miss, Objective
from podsim.model.prices import Terms
from podsim.model.run_cost import Capital, Draw, Owned, Range
from podsim.report.views import mix as view

TIMED = Timed(
    job="bert", ipus=16, time_to_train_s=estimate(600.0, 540.0, 660.0), sure_s=660.0, hours=12.5, global_batch=4096
)
OWNED = Owned(
    capital=Capital(usd=Range(value=500e3, low=500e3, high=500e3), derived=False, basis="b"),
    draw=Draw(typical_w=20e3, peak_w=30e3, basis="d"),
)
MACHINE = MixCandidate(
    topology="pod64",
    title="IPU-POD64",
    chip="gc200",
    ipus=64,
    hosts=1,
    pools=(
        Pool(ipus=16, partitions=2, jobs=(TIMED,), busy=0.75),
        Pool(ipus=16, partitions=1, jobs=(replace(TIMED, job="vision"),), busy=0.5),
    ),
    reason="",
    capital_usd=500e3,
    most_capital_usd=500e3,
    power_w=20e3,
    most_power_w=30e3,
    owned=OWNED,
    energy_j=7.2e8,
)
SMALL = replace(
    MACHINE, topology="pod16", title="IPU-POD16", ipus=16, pools=(), reason="bert does not fit", capital_usd=150e3
)
ALONE = replace(MACHINE, pools=MACHINE.pools[:1])
PLAN = MixPlan(
    jobs=(
        Job(workload="bert", runs_per_month=100.0, within_s=900.0),
        Job(workload="resnet50", runs_per_month=2500.0, name="vision"),
    ),
    titles={},
    demand=Demand(objective=Objective.PRICE_PERFORMANCE, budget_usd=1e6),
    confidence=0.9,
    use=0.7,
    chosen=MACHINE,
    closest=None,
    candidates=(SMALL, MACHINE),
    excluded=(Excluded(topology="pod256", reason="no price"),),
    assumptions=("everything",),
    terms=Terms(years=3.0, use=0.5, usd_per_kwh=0.12, pue=1.2),
    named=(),
)


def test_the_machine_its_ipus_and_its_price_in_a_line():
    assert view.answer(PLAN) == "IPU-POD64: 48 of 64 IPUs in 3 partitions, 500 k USD"
    single = replace(MACHINE, pools=(Pool(ipus=16, partitions=1, jobs=(TIMED,), busy=0.75),))
    assert "16 of 64 IPUs in 1 partition," in view.answer(replace(PLAN, chosen=single))


def test_where_none_holds_the_jobs_the_closest_says_what_it_lacks():
    none = replace(PLAN, chosen=None, closest=SMALL)
    assert view.answer(none) == "none; closest IPU-POD16: 0 of 16 IPUs in 0 partitions, 150 k USD, bert does not fit"
    missing = replace(MACHINE, misses=(Miss(demand="budget", limit=4e5, found=5e5),))
    assert view.answer(replace(none, closest=missing)).endswith(", budget by 25 %")
    assert facts(view.document(none))["closest"].second == "bert does not fit"
    assert facts(view.document(replace(none, closest=missing)))["closest"].second == "misses budget by 25 %"
    assert view.answer(replace(none, closest=None)) == "nothing weighed"
    assert "no machine weighed holds them" in headings(view.document(none))[0]


def test_the_question_and_the_aim():
    doc = view.document(PLAN)
    assert headings(doc)[0] == "2 jobs a month on one machine: the best price-performance"
    assert notes(doc, "asked") == [
        (
            "deadlines 90 % sure; partitions busy at most 70 % of the hours; at most 1.00 M USD, at the highest price "
            "quoted"
        )
    ]
    free = replace(PLAN, demand=Demand(objective=Objective.COST), jobs=PLAN.jobs[:1], chosen=ALONE)
    assert headings(view.document(free))[0] == "1 job a month on one machine: the cheapest"
    assert notes(view.document(free), "asked") == ["deadlines 90 % sure; partitions busy at most 70 % of the hours"]


def test_what_is_taken_with_spare_ipus_capital_and_energy():
    rows = facts(view.document(PLAN))
    assert (rows["take"].number, rows["take"].remark, rows["take"].second) == ("IPU-POD64", "64 × gc200", "1 host")
    assert (rows["partitions"].number, rows["partitions"].second) == ("48", "16 spare")
    assert (rows["capital"].number, rows["capital"].remark) == ("500", "with its hosts")
    assert rows["a month takes"].number == "200"
    dearer = replace(MACHINE, most_capital_usd=600e3, energy_j=None)
    rows = facts(view.document(replace(PLAN, chosen=dearer)))
    assert rows["capital"].remark == "up to 600 k USD"
    assert "a month takes" not in rows


def test_partitions_with_their_jobs_and_deadlines():
    doc = view.document(PLAN)
    assert tables(doc)[0].rows == (
        ("bert", "2 × 16", "100", "10.0 min", "11.0 min", "15.0 min", "12.5"),
        ("vision", "1 × 16", "2,500", "10.0 min", "11.0 min", "–", "12.5"),
    )
    assert [(row.label, row.share, row.share_text) for row in bars(doc)] == [
        ("2 × 16 IPUs", 0.75, "75 %"),
        ("1 × 16 IPUs", 0.5, "50 %"),
    ]
    assert titles(tables(view.document(PLAN, verbose=True))[0])[-1] == "grade"


def test_every_machine_weighed_with_the_best_marked():
    table = tables(view.document(PLAN))[-1]
    assert table.rows == (
        ("pod16", "–", "16", "150 k USD", "20.0 kW", "bert does not fit"),
        ("pod64", "48", "64", "500 k USD", "20.0 kW", "holds all"),
    )
    assert table.marked == 1
    assert notes(view.document(PLAN), "not pod256") == ["no price"]


@pytest.mark.parametrize("verbose", [False, True])
def test_what_was_assumed_is_listed_if_asked_for(verbose):
    assert ("everything" in notes(view.document(PLAN, verbose=verbose), "·")) is verbose
