"""Machines without IPUs beside a plan and a scaling: at published sizes, with intervals, and without made-up prices."""

import json
import math
import re
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import comparator_results
from podsim.planning import competitors, workload_sequence
from podsim.planning.ownership import ownership_terms
from podsim.report.doc import Bars, Chart, DocTable, Heading
from podsim.report.terminal import Look, render
from podsim.report.views.published_runs_view import best_published
from podsim.scenario import Scenario
from podsim.studies.plan import competitor_sizes, competitor_sizes_report, plan_page
from podsim.studies.plan import report as plan_view
from podsim.studies.plan.choice_order import worth
from podsim.studies.plan.result import Objective, Plan
from podsim.studies.scale import competitor_comparison, competitors_report, cost_report
from podsim.studies.scale import report as scale_view
from podsim.studies.scale.result import ScaleReport

ALL = "dgx-a100,dgx-h100,tpu-v4"


def words(text: str) -> str:
    return " ".join(text.split())


@pytest.fixture(scope="module")
def planned() -> Plan:
    return podsim.plan("bert", within="10min", machines="pod64,pod128", against=ALL)


@pytest.fixture(scope="module")
def scaled() -> ScaleReport:
    return podsim.scale("bert", pods="16,64,128", engine="analytic", against=ALL)


def published(workload: str, chip: str) -> set[int]:
    rows = comparator_results.published_results()
    return {row.chips for row in rows if (row.workload, row.chip, row.division) == (workload, chip, "closed")}


def test_a_competitor_stands_at_every_size_with_a_published_result(planned: Plan) -> None:
    for item, chip in zip(planned.against, ("a100", "h100", "tpu-v4"), strict=True):
        assert {size.chips for size in item.sizes} == published("bert", chip)
        for size in item.sizes:
            runs = item.published[size.topology]
            assert runs
            assert size.time_to_train_s.low < size.time_to_train_s.value < size.time_to_train_s.high


def test_a_competitor_is_what_predict_and_machines_answer(planned: Plan) -> None:
    size = next(size for size in planned.against[0].sizes if size.chips == 64)
    alone = podsim.predict("bert", topology="dgx-a100:64")
    assert size.time_to_train_s == alone.time_to_train_s
    named = podsim.plan("bert", within="10min", machines="dgx-a100:64").candidates[0]
    assert replace(named, topology=size.topology) == size


@pytest.mark.parametrize(
    ("name", "hint"), [("dgx-a100:0", 'against="dgx-a100:8"'), ("dgx-h100:7", 'against="dgx-h100:8"')]
)
def test_a_size_that_no_competitor_has_is_refused_with_one_that_it_has(name: str, hint: str) -> None:
    with pytest.raises(InputError) as refused:
        podsim.plan("bert", within="5min", machines="pod64", against=name)
    assert refused.value.hint == hint


def test_competitors_are_not_recommended(planned: Plan) -> None:
    assert planned.chosen is not None
    assert planned.chosen.topology == "pod64"
    assert "law" not in {candidate.engine for candidate in planned.candidates}


def test_what_has_no_price_is_compared_on_time_and_the_screen_says_so(planned: Plan) -> None:
    text = words(render(plan_view.document(planned), Look(100)))
    assert text.count("price not published") == 2
    for name in ("dgx-h100", "tpu-v4"):
        assert re.search(rf"{name}:\d+ [^▸]*?– – price not published", text)
    assert "published: dgx-a100:64 2.50 min (v2.1)" in text
    unpriced = planned.against[1].nearest
    assert unpriced.capital_usd is None
    apart = {
        size.chips: abs(math.log(size.time_to_train_s.value / planned.chosen.time_to_train_s.value))  # type: ignore[union-attr]
        for size in planned.against[1].sizes
        if not size.misses
    }
    assert unpriced.chips == min(apart, key=apart.__getitem__)


def test_a_competitor_that_is_better_is_told() -> None:
    plan = podsim.plan("bert", within="20min", objective="time", machines="pod64", against="dgx-a100:64")
    assert plan.chosen is not None
    [better] = competitor_sizes.cheaper(plan.against, plan.chosen, Objective.TIME, worth)
    assert better.topology == "dgx-a100:64"
    text = words(render(plan_view.document(plan), Look(100)))
    assert "dgx-a100:64 meets every demand with a shorter time to train than IPU-POD64." in text
    assert not competitor_sizes.cheaper(plan.against, plan.chosen, Objective.CAPITAL, worth)


def test_the_verbose_plan_lists_every_size_and_every_run(planned: Plan) -> None:
    [table] = [block for block in competitor_sizes_report.table(planned) if isinstance(block, DocTable)]
    assert len(table.rows) == sum(len(item.sizes) for item in planned.against)
    row = next(row for row in table.rows if row[0] == "dgx-a100:64")
    assert [text.split(" ")[1] for text in row[3].split(", ")] == ["(v1.0)", "(v1.1)", "(v2.0)", "(v2.1)"]
    assert "Competitors at every published size" in render(plan_view.document(planned, verbose=True), Look(100))


def test_the_document_of_a_plan_has_machines_limits_and_competitors_in_its_chart(planned: Plan) -> None:
    handout = plan_page.page(planned, None)
    assert planned.chosen is not None
    assert handout.answer.startswith(f"Recommended: {planned.chosen.title}")
    assert "demanded: " in handout.subject
    assert [row.label for row in handout.figures] == ["Time to train", "Purchase price", "Power", "Chance"]
    chart = next(block for section in handout.body for block in section if isinstance(block, Chart))
    series = {item.label: item for item in chart.series}
    assert {"Recommended", "Pareto-optimal", "Competitors"} <= set(series)
    assert series["Recommended"].names == (planned.chosen.topology,)
    assert len(series["Competitors"].band) == len(series["Competitors"].points)
    assert chart.limits[0].label.startswith("time limit ")
    unpriced = [item.machine for item in planned.against if all(size.capital_usd is None for size in item.sizes)]
    assert unpriced
    assert chart.title.endswith(f"{', '.join(unpriced)} are left out: price not published")
    headings = [section[0].text for section in handout.body if isinstance(section[0], Heading)]
    assert f"Where a step goes on {planned.chosen.title}" in headings
    steps = next(block for section in handout.body for block in section if isinstance(block, Bars))
    assert sum(row.share for row in steps.rows[:-1]) == pytest.approx(1)
    assert [row.start for row in steps.rows[1:-1]] == pytest.approx([row.until for row in steps.rows[:-2]])
    assert any(risk.startswith("Evidence: ") for risk in handout.risks)


def test_the_json_of_a_plan_has_the_competitors_and_their_runs(planned: Plan) -> None:
    body = planned.to_dict()
    assert [item["machine"] for item in body["against"]] == ALL.split(",")
    first = body["against"][0]
    size = next(size for size in first["sizes"] if size["topology"] == "dgx-a100:64")
    assert {run["round"] for run in size["published"]} == {"v1.0", "v1.1", "v2.0", "v2.1"}
    assert [run["older"] for run in size["published"]] == [True, True, True, False]
    assert body["against"][1]["sizes"][0]["capital_usd"] is None


def test_a_plan_with_competitors_fits_the_screen(planned: Plan) -> None:
    assert len(render(plan_view.document(planned), Look(100)).splitlines()) <= 30


def test_scaling_has_competitors_between_its_sizes(scaled: ScaleReport) -> None:
    assert [item.name for item in scaled.against] == [
        "dgx-a100:16",
        "dgx-a100:64",
        "dgx-h100:32",
        "dgx-h100:64",
        "tpu-v4:64",
    ]
    charts = [block for group in scale_view.document(scaled).groups for block in group if isinstance(block, Chart)]
    series = {item.label: item for item in charts[0].series}
    assert {"dgx-a100", "dgx-h100", "tpu-v4"} <= set(series)
    for item in series["dgx-a100"], series["dgx-h100"]:
        assert all(low < point[1] < high for point, (low, high) in zip(item.points, item.band, strict=True))
    times = competitors_report.published_points(scaled, scale_view.numbers.Scale(60.0, "min"))
    assert set(times) <= set(series["published, v0.7 to v3.0"].points)
    assert (64.0, 2.4974) in times


def test_the_screen_of_a_scaling_has_a_line_of_competitors(scaled: ScaleReport) -> None:
    text = words(render(scale_view.document(scaled), Look(100)))
    assert "dgx-h100:64 59.3 s (47.8 – 73.5), published 53.9 s (v3.0)" in text
    assert "price of dgx-h100, tpu-v4 not published: compared by time only" in text
    assert "dgx-a100:64 2.62 min (2.11 – 3.26), published 2.50 min (v2.1), $4.53 to train" in text
    assert len(render(scale_view.document(scaled), Look(100)).splitlines()) <= 35
    full = render(scale_view.document(scaled, verbose=True), Look(100))
    assert "Competitors, by scaling laws" in full
    assert "tpu-v4:64" in full


def test_the_json_of_a_scaling_has_its_competitors(scaled: ScaleReport) -> None:
    first = scaled.to_dict()["against"][0]
    assert (first["name"], first["chips"]) == ("dgx-a100:16", 16)
    assert first["published"][0]["time_to_train_s"] == pytest.approx(60 * 30.6281)
    assert json.dumps(scaled.to_dict()["against"][-1]["money"]["run_usd"]) == "null"


def test_a_competitor_outside_the_sizes_stands_at_the_nearest_one() -> None:
    report = podsim.scale("bert", pods="16", engine="analytic", against="tpu-v4")
    assert [item.name for item in report.against] == ["tpu-v4:8"]


def test_an_unpublished_competitor_is_a_note_of_the_report(scaled: ScaleReport) -> None:
    run, scenario = workload_sequence.by_name("bert"), Scenario(workload="bert")
    report = competitor_comparison.with_competitors(scaled, ("dgx-1", "dgx-a100:7"), run, scenario, ownership_terms())
    assert [item.name for item in report.against] == ["dgx-1:8"]
    [note] = report.notes[len(scaled.notes) :]
    assert str(note).startswith("dgx-a100:7: dgx-a100 comes in portions")


@pytest.mark.slow
def test_a_competitor_of_which_nothing_is_published_is_told() -> None:
    plan = podsim.plan("gpt2-xl", samples=1e6, machines="bow-pod64", against="dgx-a100")
    assert plan.against == ()
    [excluded] = plan.excluded
    assert "no published run of" in excluded.reason
    untimed = podsim.scale("gpt2-xl", pods="64,128", engine="analytic", against="dgx-a100")
    assert any("scaling laws of other chips cover neither" in note for note in map(str, untimed.notes))
    assert not cost_report.monies(untimed)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("pod64", "unknown-topology"),
        ("dgx-a100,dgx-a100", "bad-value"),
        ("", "bad-value"),
        ("dgx-a100:x", "bad-value"),
        ("nope", "unknown-topology"),
    ],
)
def test_what_is_no_competitor_is_refused(text: str, code: str) -> None:
    with pytest.raises(InputError) as error:
        competitors.names(text)
    assert error.value.code == code
    assert "--against" in error.value.hint


def test_the_best_of_the_newest_round_is_shown() -> None:
    runs = [
        competitors.PublishedRun(id=name, round=name, older=name != "v2.1", global_batch=1, time_to_train_s=seconds)
        for name, seconds in (("v1.0", 50.0), ("v2.1", 70.0), ("v2.1", 60.0))
    ]
    assert best_published(runs) == "1.00 min (v2.1)"
    assert best_published(runs[:1]) == "50.0 s (v1.0, older software)"
    assert best_published([]) == ""
