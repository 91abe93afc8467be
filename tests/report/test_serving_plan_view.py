"""The screen of machines that serve."""

from __future__ import annotations

from dataclasses import replace

import pytest

import podsim
from podsim.cli.console import Look
from podsim.report.terminal import render
from podsim.studies.documents import answer_document
from podsim.studies.plan import serving_chart, serving_report


@pytest.fixture(scope="module")
def plans():
    flags = {"budget": "120k", "machines": "m2000,pod16,bow-pod16", "spares": 1, "headroom": 0.3}
    return (
        podsim.plan("resnet50", rate="20k/s", p99="10ms", **flags),
        podsim.plan("resnet50", rate="200k/s", p99="10ms", **flags),
    )


def screen(plan, width=100, **more):
    return render(serving_report.document(plan, **more), Look(width=width))


def test_the_recommendation_comes_first_as_a_sentence(plans):
    text = " ".join(screen(plans[0]).split("\n\n")[0].split())
    assert "Recommended: 2 × IPU-M2000 (1 of them a spare), 8 replicas with batch" in text
    assert "sustain 48,800 requests/s at P99 ≤ 10.0 ms" in text
    assert "the cheapest of those that meet every demand (90 % confidence, 30 % room to grow" in text
    assert "1 spare machine, budget $120k)" in text


def test_without_a_machine_the_nearest_is_named_with_what_would_have_to_change(plans):
    text = " ".join(screen(plans[1]).split())
    assert "No machine meets every demand" in text
    assert "× the budget" in text
    assert "What would have to change" in text
    assert "a budget of $" in text


def test_screens_are_short(plans):
    for plan in plans:
        assert len(screen(plan).splitlines()) <= 30


@pytest.mark.parametrize("width", [80, 100])
def test_what_is_demanded_stays_at_every_width(plans, width):
    for plan in plans:
        table = next(line for line in screen(plan, width).splitlines() if "Sustained req/s" in line)
        assert "P99" in table
        assert "Price" in table
    assert "Not met" in next(line for line in screen(plans[1], width).splitlines() if "Sustained req/s" in line)


def test_the_load_is_a_share_of_what_is_sustained_or_how_busy_partial_batches_keep_ipus(plans):
    chosen = plans[0].chosen
    text = " ".join(screen(plans[0]).split())
    share = f"{100 * 20e3 / chosen.holds_per_s:.0f} %"
    mean = f"mean batch {chosen.filled:.0f}, at most {chosen.batch.service.batch}"
    assert f"at 20,000 requests/s; {mean}, IPUs {100 * chosen.busy:.0f} % busy" in text
    full = replace(plans[0], chosen=replace(chosen, busy=20e3 / chosen.holds_per_s))
    text = " ".join(screen(full).split())
    assert f"at 20,000 requests/s, {share} of sustained; {mean}" in text
    assert "busy" not in text


def test_a_machine_over_the_budget_says_so_on_a_narrow_screen(plans):
    rows = [line for line in screen(plans[1], 60).splitlines() if " × " in line and "$" in line]
    assert any("× the" in row or "over the" in row for row in rows)
    assert "Not met" in screen(plans[0], 60)


@pytest.mark.slow
def test_a_tie_in_price_is_explained(plans):
    plan = podsim.plan("resnet50", rate="20k/s", p99="10ms", machines="m2000,bow-2000")
    text = " ".join(screen(plan).split())
    (other,) = (candidate for candidate in plan.candidates if candidate is not plan.chosen)
    assert other.capital_usd == plan.chosen.capital_usd
    assert other.power_w > plan.chosen.power_w
    assert "1 × Bow-2000 would sustain" in text
    assert "at equal prices the lower power is recommended" in text
    assert "for the same price" not in " ".join(screen(plans[0]).split())


def test_verbose_shows_the_trials_and_what_is_assumed(plans):
    text = screen(plans[0], verbose=True)
    assert text.count("  Check  ") == 2
    assert "meets the limit" in text
    assert "split over the machines at random" in text


def test_one_line_says_what_to_buy(plans):
    assert serving_report.answer(plans[0]).startswith("2 × IPU-M2000, batch")
    assert serving_report.answer(plans[1]).startswith("none; nearest candidate")


def test_the_document_has_every_candidate_and_demand(plans):
    document = answer_document(plans[0]).tree()
    assert document["schema"] == "podsim.serving_plan/1"
    assert document["demand"]["needed_per_s"] == pytest.approx(26e3)
    assert {row["topology"] for row in document["candidates"]} == {"m2000", "pod16", "bow-pod16"}
    chosen = document["chosen"]
    assert chosen["holds_per_s"] < chosen["expected_per_s"]
    assert [check["meets"] for check in document["checks"]] == [True, False]
    assert chosen["usd_per_million_requests"]["value"] > 0


def test_the_chart_has_price_against_the_rate_that_is_needed(plans):
    (chart,) = serving_chart.charts(plans[0])
    assert chart.x.title == "Sustained rate, requests/s"
    first, *_ = chart.series
    assert (first.label, first.names) == ("Recommended", ("2 × m2000",))
    assert first.points[0][0] == pytest.approx(plans[0].chosen.holds_per_s)
    needed, budget = chart.limits
    assert (needed.at, needed.vertical) == (pytest.approx(1.3 * 20_000), True)
    assert budget.label == "budget $120k"
    at_least_needed = [x >= needed.at for series in chart.series for x, _ in series.points]
    assert all(at_least_needed)


def test_without_a_machine_that_is_quick_enough_the_chart_has_latencies():
    plan = podsim.plan("resnet50", rate="20k/s", p99="0.1ms", machines="m2000,pod16")
    (chart,) = serving_chart.charts(plan)
    assert chart.x.title.startswith("P99 latency")
    assert chart.series[0].label == "Nearest"
    assert {series.label for series in chart.series} <= {"Nearest", "Pareto-optimal", "Too slow"}
    (limit,) = chart.limits
    assert all(x > limit.at for series in chart.series for x, _ in series.points)
