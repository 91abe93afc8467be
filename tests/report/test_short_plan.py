"""What keeps a plan on one screen: reasons, grades and unknown figures stand once."""

from podsim.model.run_cost import J_PER_KWH
from podsim.report.views import run_cost_view
from podsim.studies.plan.misses_report import misses_text
from podsim.studies.plan.report import exclusion_notes
from podsim.studies.plan.result import Demand, ExcludedMachine, Miss


def test_machines_that_lack_an_answer_for_one_reason_share_a_line():
    notes = list(
        exclusion_notes(
            [
                ExcludedMachine(topology="pod4", reason="4 IPUs are too few for GPT-3 175B"),
                ExcludedMachine(topology="pod16", reason="the mapping does not fit in memory"),
                ExcludedMachine(topology="bow-pod4", reason="4 IPUs are too few for GPT-3 175B"),
            ]
        )
    )
    assert [(note.label, note.text) for note in notes] == [
        ("Not pod4, bow-pod4", "4 IPUs are too few for GPT-3 175B"),
        ("Not pod16", "the mapping does not fit in memory"),
    ]


def test_figures_that_are_not_published_are_named_together():
    misses = [
        Miss(demand="time", limit=300.0, found=330.0),
        Miss(demand="budget", limit=1e6, found=None),
        Miss(demand="power", limit=1e5, found=None),
    ]
    assert misses_text(misses, Demand(within_s=300.0)) == "P90 1.1× the time limit, price and power not published"
    assert misses_text(misses[1:2], Demand(budget_usd=1e6)) == "price not published"


def test_energy_of_a_long_run_is_in_gwh():
    assert run_cost_view.energy(1_530_000 * J_PER_KWH) == ("1.53", "GWh")
