"""The page of an own calibration: each run against its prediction, errors before and after, bounds, what is next."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from parts_of_documents import charts, notes, tables, titles
from samples_of_results import fit_report

from podsim.calibration import fit_data, own_logs_fit
from podsim.cli.command_line import main
from podsim.files import catalog
from podsim.model.own_logs import OwnError, OwnLogsReport, OwnPoint, OwnRun, ParameterAtBound
from podsim.model.validation import STEP, TIME
from podsim.report import figure
from podsim.report.doc import Chart, ChartAxis, DocSeries
from podsim.studies.calibrate import own_verdict
from podsim.studies.calibrate.own_logs_page import page
from podsim.studies.documents import answer_document


def own_run(point, name, times, reached=True):
    return OwnRun(
        file=name,
        seed=3,
        reached=reached,
        step_s=point.step_s * times,
        time_s=60 * point.minutes * times,
        samples=point.samples_to_converge,
    )


@pytest.fixture(scope="module")
def report():
    """The first published point as if it were one's own: two runs as published, one 20 % slower that missed."""
    point = catalog.points()[0]
    (case,) = fit_data.ready([point])
    runs = own_run(point, "a", 1.0), own_run(point, "b", 1.001), own_run(point, "c", 1.2, reached=False)
    own = OwnPoint(
        point=point,
        mapping=case.preset,
        published=True,
        reached=2,
        init_s=1.0,
        platform="",
        learning_rate=None,
        seeds=(3, 3, 3),
        each=runs,
    )
    parameters = catalog.parameters()
    slower = replace(parameters.fitted["program.stretch"], value=1.01 * parameters.value("program.stretch"))
    after = replace(parameters, fitted={**parameters.fitted, "program.stretch": slower})
    return OwnLogsReport(
        files=3,
        runs=3,
        points=(own,),
        published=28,
        errors=(OwnError(id=point.id, quantity=STEP, measured_s=point.step_s, before=-0.06, after=0.01),),
        fit=fit_report(),
        remarks=(),
        path="",
        points_path="",
        held_out_before=0.039,
        held_out_after=0.032,
        in_sample_before=0.015,
        in_sample_after=0.014,
        predictions=tuple(own_logs_fit.of_runs([own], [case], parameters, after)),
    )


def test_every_run_is_predicted_with_both_sets_of_parameters(report):
    point = report.points[0].point
    (case,) = fit_data.ready([point])
    steps = [item for item in report.predictions if item.quantity == STEP]
    assert [item.run for item in steps] == ["a", "b", "c"]
    predicted_s = own_logs_fit.steps_s([case], catalog.parameters())[0]
    for item in steps:
        assert item.shipped.value == pytest.approx(predicted_s, rel=1e-12)
        assert item.shipped.value < item.fitted.value < 1.011 * item.shipped.value
        assert item.shipped.low < item.shipped.value < item.shipped.high
    assert [item.inside for item in steps] == [True, True, False]
    assert own_verdict.runs_inside(report, STEP) == (2, 3)
    assert own_verdict.runs_inside(report, TIME)[1] == 3


def test_a_point_without_logs_is_one_run(report):
    point = replace(report.points[0], each=())
    cases = fit_data.ready([point.point])
    step, time = own_logs_fit.of_runs([point], cases, catalog.parameters(), catalog.parameters())
    assert (step.measured_s, time.measured_s) == (point.point.step_s, 60 * point.point.minutes)
    assert step.shipped == step.fitted


def test_charts_have_errors_with_intervals_and_tables_the_same_runs(report):
    doc = page(report, {}).blocks
    for chart, quantity in zip(charts(doc), (STEP, TIME), strict=True):
        rows = [item for item in report.predictions if item.quantity == quantity]
        before, after, line = chart.series
        assert [y for _, y in after.points] == pytest.approx(
            [100 * (item.fitted.value / item.measured_s - 1) for item in rows]
        )
        assert [low for low, _ in before.band] == pytest.approx(
            [100 * (item.shipped.low / item.measured_s - 1) for item in rows]
        )
        assert [y for _, y in line.points] == [0, 0]
        assert not before.joined
    steps = tables(doc)[0]
    assert titles(steps)[2:4] == ["Run", "Seed"]
    assert [(row[0], row[2], row[-1]) for row in steps.rows] == [
        ("1", "a", "yes"),
        ("2", "b", "yes"),
        ("3", "c", "no, missed its target"),
    ]


def test_errors_before_and_after_bounds_and_what_is_next(report):
    doc = page(report, {}).blocks
    errors = next(table for table in tables(doc) if titles(table)[:2] == ["Step time", "Shipped parameters"])
    assert errors.rows == (
        ("your points, mean", "6.0 %", "1.0 %"),
        ("in sample, mean (these and 28 published)", "1.5 %", "1.4 %"),
        ("each machine size held out, rms", "3.9 %", "3.2 %"),
    )
    assert "None: every fitted parameter lies inside its plausible range." in notes(doc)
    assert page(report, {}).subject.startswith("Own calibration: 3 runs of ")
    assert any(text.startswith("The same workload on another number of IPUs") for text in notes(doc))
    bound = ParameterAtBound(name="rack.step", value=1e-6, least=1e-6, most=0.05, unit="s", meaning="one step")
    ran = page(replace(report, at_bounds=("rack.step",), bounds=(bound,)), {}).blocks
    table = next(table for table in tables(ran) if titles(table)[0] == "Parameter")
    assert table.rows == (("rack.step", "1.00 µs", "1.00 µs – 50.0 ms", "one step"),)


def test_the_verdict_is_the_first_line_and_in_json(report):
    outside = "1 of 3 measured step times lie outside the 90 % intervals of the fit."
    assert own_verdict.warnings(report) == (outside,)
    assert [note.text for note in page(report, {}).warnings] == [outside]
    met = replace(report, predictions=tuple(item for item in report.predictions if item.inside))
    assert own_verdict.warnings(met) == ()
    assert page(met, {}).answer == "The fit meets these runs: the step time of the point furthest off is +1.0 %."
    document = answer_document(report).tree()
    assert document["warnings"] == [outside]
    assert document["measure_next"].startswith("the same workload on another number of IPUs")
    assert (document["in_sample_before"], document["held_out_after"]) == (0.015, 0.032)
    first = document["predictions"][0]
    assert (first["run"], first["quantity"], first["inside"]) == ("a", STEP, True)
    assert set(first["fitted"]) >= {"value", "low", "high", "grade"}


def test_points_that_are_not_joined_have_error_bars_and_curves_an_area():
    points, band = ((1.0, 1.0), (2.0, 2.0)), ((0.5, 1.5), (1.5, 2.5))

    def drawn(joined):
        chart = Chart("", ChartAxis("x"), ChartAxis("y"), (DocSeries("a", points, joined=joined, band=band),))
        return figure.svg(chart)

    assert "stroke-opacity: 0.7" in drawn(joined=False)
    assert "stroke-opacity: 0.7" not in drawn(joined=True)
    assert "fill-opacity: 0.18" in drawn(joined=True)


def test_the_command_writes_parameters_and_page(tmp_path, monkeypatch, capsys, report):
    import podsim

    given = []
    monkeypatch.setattr(podsim, "calibrate_own", lambda **flags: given.append(flags) or report, raising=False)
    monkeypatch.chdir(tmp_path)
    words = ["calibrate", "--logs", "logs", "-q"]
    assert main([*words, "-o", "mine.toml", "-o", "page.html"]) == 0
    assert given[0]["out"] == Path("mine.toml")
    text = " ".join(re.sub(r"<[^>]*>", " ", Path("page.html").read_text(encoding="utf-8")).split())
    assert "1 of 3 measured step times lie outside" in text
    assert "Measure next" in text
    assert main([*words, "-o", "runs.csv"]) == 0
    assert given[1]["out"] is None
    assert len(Path("runs.csv").read_text(encoding="utf-8").splitlines()) == 7
    capsys.readouterr()
    assert main([*words, "-o", "a.toml", "-o", "b.toml"]) == 2
    assert "are files of one kind" in capsys.readouterr().err


def test_a_page_alone_leaves_the_shipped_parameters(tmp_path, monkeypatch):
    import podsim

    given = []
    monkeypatch.setattr(podsim, "calibrate", lambda **flags: given.append(flags) or fit_report(), raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "-q", "-o", "page.html"]) == 0
    assert main(["calibrate", "-q", "-o", "mine.toml"]) == 0
    assert [flags["write"] for flags in given] == [False, True]
