"""What the screen says of one machine for a mix of jobs."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables, titles
from samples_of_results import estimate

from podsim.cli.console import Look
from podsim.model.mix import Job
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prices import Terms
from podsim.model.run_cost import Capital, Draw, MachineOwnership, Range
from podsim.report.terminal import render
from podsim.studies.plan import mix_report as view
from podsim.studies.plan.mix_result import JobTime, MixCandidate, MixPlan, Pool
from podsim.studies.plan.result import Demand, ExcludedMachine, Miss, Objective

TIMED = JobTime(
    job="bert", ipus=16, time_to_train_s=estimate(600.0, 540.0, 660.0), sure_s=660.0, hours=12.5, global_batch=4096
)
OWNED = MachineOwnership(
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
    excluded=(ExcludedMachine(topology="pod256", reason="no price"),),
    assumptions=(AnswerNote.of(NoteCode.FILE_TEXT, text="everything"),),
    terms=Terms(years=3.0, use=0.5, usd_per_kwh=0.12, pue=1.2),
    named=(),
)


def test_the_machine_its_ipus_and_its_price_in_a_line():
    assert view.answer(PLAN) == "IPU-POD64: 48 of 64 IPUs in 3 partitions, $500k"
    single = replace(MACHINE, pools=(Pool(ipus=16, partitions=1, jobs=(TIMED,), busy=0.75),))
    assert "16 of 64 IPUs in 1 partition," in view.answer(replace(PLAN, chosen=single))


def test_where_none_holds_the_jobs_the_closest_says_what_it_lacks():
    none = replace(PLAN, chosen=None, closest=SMALL)
    assert (
        view.answer(none) == "none; nearest candidate IPU-POD16: 0 of 16 IPUs in 0 partitions, $150k, bert does not fit"
    )
    missing = replace(MACHINE, misses=(Miss(demand="budget", limit=4e5, found=5e5),))
    assert view.answer(replace(none, closest=missing)).endswith(", 1.25× the budget")
    assert facts(view.document(none))["Machine"].second == "bert does not fit"
    assert facts(view.document(replace(none, closest=missing)))["Machine"].second == "1.25× the budget"
    assert view.answer(replace(none, closest=None)) == "no candidate"
    assert "No candidate holds all jobs: the nearest candidate is IPU-POD16." in notes(view.document(none))


def test_the_question_and_the_aim():
    doc = view.document(PLAN)
    assert headings(doc)[0] == "2 kinds of job, 2,600 runs per month on one machine"
    assert notes(doc)[0] == "Recommended: IPU-POD64, the best price-performance."
    assert notes(doc, "Demands") == [
        (
            "time limits at 90 % confidence; partitions in use at most 70 % of the hours; "
            "purchase price ≤ $1.00M (at the highest published price)"
        )
    ]
    free = replace(PLAN, demand=Demand(objective=Objective.COST), jobs=PLAN.jobs[:1], chosen=ALONE)
    assert headings(view.document(free))[0] == "1 kind of job, 100 runs per month on one machine"
    assert notes(view.document(free), "Demands") == [
        "time limits at 90 % confidence; partitions in use at most 70 % of the hours"
    ]


def test_what_is_taken_with_spare_ipus_capital_and_energy():
    rows = facts(view.document(PLAN))
    assert (rows["Machine"].number, rows["Machine"].remark, rows["Machine"].second) == (
        "IPU-POD64",
        "64 × gc200",
        "1 host",
    )
    assert (rows["Partitions"].number, rows["Partitions"].second) == ("48", "16 spare")
    assert (rows["Purchase price"].number, rows["Purchase price"].remark) == ("$500k", "with its hosts")
    assert rows["Energy per month"].number == "200"
    dearer = replace(MACHINE, most_capital_usd=600e3, energy_j=None)
    rows = facts(view.document(replace(PLAN, chosen=dearer)))
    assert rows["Purchase price"].remark == "up to $600k"
    assert "Energy per month" not in rows


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
    assert titles(tables(view.document(PLAN, verbose=True))[0])[-1] == "Evidence"


def test_every_machine_weighed_with_the_best_marked():
    table = tables(view.document(PLAN))[-1]
    assert table.rows == (
        ("pod16", "–", "16", "1", "$150k", "20.0 kW", "bert does not fit"),
        ("pod64", "48", "64", "1", "$500k", "20.0 kW", "holds all jobs"),
    )
    assert table.marked == 1
    assert notes(view.document(PLAN), "Not pod256") == ["no price"]


def test_a_machine_too_small_shows_what_the_partitions_need():
    needs = "the partitions need 48 IPUs together, 16 more than it has"
    short = replace(MACHINE, ipus=32, reason=needs)
    plan = replace(PLAN, chosen=None, closest=short, candidates=(short, MACHINE))
    assert view.answer(plan) == f"none; nearest candidate IPU-POD64: 32 IPUs, $500k, {needs}"
    table = tables(view.document(plan))[-1]
    assert titles(table)[1:3] == ["IPUs needed", "IPUs"]
    assert table.rows[0][1:3] == ("48", "32")


def test_why_a_machine_is_no_answer_stays_on_a_narrow_screen():
    needs = "the partitions need 48 IPUs together, 16 more than it has"
    plan = replace(PLAN, candidates=(replace(MACHINE, ipus=32, reason=needs), MACHINE))
    text = render(view.document(plan), Look(width=50))
    header = text.splitlines()[next(at for at, line in enumerate(text.splitlines()) if "IPUs needed" in line)]
    assert header.split()[-1] == "Remark"
    assert "Power" not in header
    assert "the partitions" in text
    assert "left out at this width: IPUs, Hosts, Power" in " ".join(text.split())


@pytest.mark.parametrize("verbose", [False, True])
def test_what_was_assumed_is_listed_if_asked_for(verbose):
    assert ("everything" in notes(view.document(PLAN, verbose=verbose), "·")) is verbose
