"""What the screen says of own logs and of the fit they made."""

from dataclasses import replace

import pytest
from parts_of_documents import headings, notes, tables
from samples_of_results import fit_report

from podsim.calibration.own_logs_fit import at_bounds
from podsim.files import catalog
from podsim.model.mllog import Remark
from podsim.model.own_logs import OwnError, OwnLogsReport, OwnPoint
from podsim.model.parameters import FREE
from podsim.model.validation import STEP, TIME
from podsim.studies.calibrate import own_logs_report as view
from podsim.studies.calibrate import own_verdict


@pytest.fixture(scope="module")
def report():
    point = replace(
        catalog.points()[0],
        id="mine",
        runs=5,
        step_s=0.25,
        step_spread=0.0123,
        samples_to_converge=2.7e6,
        minutes=34.5,
        startup_s=90.0,
        evaluations=15.5,
    )
    mapping = replace(
        catalog.workload("bert").value.presets[0],
        name="p",
        replicas=4,
        ipus_per_replica=4,
        micro_batch=2,
        accumulation=384,
    )
    own = OwnPoint(
        point=point,
        mapping=mapping,
        published=True,
        reached=5,
        init_s=1.0,
        platform="",
        learning_rate=None,
        seeds=(1,),
    )

    def error(quantity, before, after):
        return OwnError(id="mine", quantity=quantity, measured_s=0.25, before=before, after=after)

    return OwnLogsReport(
        files=1000,
        runs=5,
        points=(own,),
        published=16,
        errors=(error(TIME, 0.1, 0.05), error(STEP, -0.06, 0.01), error(STEP, 0.02, -0.01)),
        fit=fit_report(),
        remarks=(Remark(file="a", line=3, text="odd"),),
        path="",
        points_path="",
    )


def test_the_answer_is_the_mean_size_of_step_errors(report):
    assert view.answer(report) == "PASS, 1 point of 5 runs, step time mean 4.0 % before, 1.0 % after"


def test_a_fit_that_misses_the_runs_fails(report):
    bars = f"criteria: {own_verdict.BARS}"
    assert f"PASS · {bars}" in notes(view.document(report))
    late = replace(report.errors[1], after=-0.08)
    for failed in (
        replace(report, errors=(late,)),
        replace(report, at_bounds=("collective.start",)),
        replace(report, held_out_before=0.05, held_out_after=0.08),
    ):
        assert f"FAIL · {bars}" in notes(view.document(failed))
        assert view.answer(failed).startswith("FAIL, ")


def test_files_that_were_read_are_counted_and_points_given_are_not(report):
    assert headings(view.document(report))[0] == "1,000 files read, 5 runs make 1 calibration point"
    assert headings(view.document(replace(report, files=0, runs=1)))[0] == "1 run makes 1 calibration point"
    assert "Errors of these points, fitted beside 16 published points" in headings(view.document(report))
    assert "Errors of these points, fitted alone" in headings(view.document(replace(report, published=0)))


def test_a_point_with_its_mapping(report):
    assert tables(view.document(report))[0].rows == (
        ("mine", "5", "250.0", "1.23 %", "2.70 M", "34.50", "1.50 min", "15.5", "4 × 4 IPUs, 2 × 384, p"),
    )
    missed = replace(report, points=(replace(report.points[0], reached=4),))
    assert tables(view.document(missed))[0].rows[0][1] == "4 of 5"


def test_a_mapping_that_nobody_published_is_warned_of(report):
    assert not any("nobody published" in text for text in notes(view.document(report), "!"))
    own = replace(report, points=(replace(report.points[0], published=False),))
    assert notes(view.document(own), "!")[0] == "mine: this mapping is not published; stored and ordered as in p"


def test_errors_are_by_quantity_steps_first(report):
    assert tables(view.document(report))[1].rows == (
        ("step", "mine", "250.0 ms", "−6.0 %", "+1.0 %"),
        ("step", "mine", "250.0 ms", "+2.0 %", "−1.0 %"),
        ("time to train, own samples", "mine", "250.0 ms", "+10.0 %", "+5.0 %"),
    )


def test_remarks_stand_where_they_were_and_not_all_of_them(report):
    assert notes(view.document(report), "a:3") == ["odd"]
    assert "1 remark on the logs" in headings(view.document(report))
    many = replace(report, remarks=report.remarks * 25)
    assert len(notes(view.document(many), "a:3")) == view.MOST_REMARKS
    assert "and 5 more: -v" in notes(view.document(many))
    assert len(notes(view.document(many, verbose=True), "a:3")) == 25
    assert "remarks on the logs" not in " ".join(headings(view.document(replace(report, remarks=()))))


def test_where_points_were_written(report):
    assert not any("own.toml" in text for text in notes(view.document(report)))
    assert "wrote own.toml" in notes(view.document(replace(report, points_path="own.toml")))


def test_a_fit_that_meets_the_runs_has_no_warning(report):
    texts = notes(view.document(report))
    assert not any("still misses" in text or "ran to a bound" in text for text in texts)
    assert notes(view.document(report), "Measure next") == []


def test_a_fit_that_misses_its_own_runs_says_so_and_what_to_measure(report):
    errors = (OwnError(id="mine", quantity=STEP, measured_s=0.7, before=0.02, after=-0.074),)
    missed = replace(report, errors=errors, at_bounds=("rack.step",), held_out_before=0.049, held_out_after=0.085)
    texts = notes(view.document(missed))
    assert any(text.startswith("The fit still misses mine: step time −7.4 %.") for text in texts)
    assert any(text.startswith("rack.step ran to a bound") for text in texts)
    assert any("rises from 4.9 % to 8.5 %" in text for text in texts)
    assert notes(view.document(missed), "Measure next") == [
        "the same workload on another number of IPUs: it tells program overhead from collectives"
    ]
    assert any("--alone needs runs of a second one" in text for text in texts)
    elsewhere = replace(report.points[0], point=replace(report.points[0].point, topology="pod256"))
    several = view.document(replace(missed, points=(*report.points, elsewhere)))
    assert any("Use --alone for predictions of this machine only" in text for text in notes(several))
    (advice,) = notes(several, "Measure next")
    assert advice.startswith("another workload")


def test_a_parameter_within_a_hundredth_of_a_bound_ran_to_it():
    free = FREE
    fitted = dict(catalog.parameters().fitted)
    (rack,) = [each for each in free.parameters if each.name == "rack.step"]
    assert at_bounds(catalog.parameters(), free) == ()
    fitted["rack.step"] = replace(fitted["rack.step"], value=1.005 * rack.least)
    (parameter,) = at_bounds(replace(catalog.parameters(), fitted=fitted), free)
    assert (parameter.name, parameter.value, parameter.least, parameter.most) == (
        "rack.step",
        1.005 * rack.least,
        rack.least,
        rack.most,
    )
