"""What the screen says of chips that are no IPUs."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables
from samples_of_results import estimate

from podsim.files import comparator_results
from podsim.model.comparator import (
    ComparatorChip,
    ComparatorMachine,
    ComparatorPoint,
    ComparatorPrediction,
    ComparatorReport,
    ComparatorSummary,
    ExcludedResult,
    Larger,
    LargerPoint,
)
from podsim.model.error_summary import ErrorSummary
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Run
from podsim.model.run_cost import MachineOwnership
from podsim.model.training import Division
from podsim.studies.predict import comparator_report as view

ANSWER = ComparatorPrediction(
    workload="bert",
    workload_title="BERT",
    target="0.72",
    topology="dgx-a100",
    topology_title="DGX A100",
    chip="a100",
    chip_title="A100",
    chips=8,
    division=Division.CLOSED,
    optimizer="lamb",
    round="v2.0",
    global_batch=2048,
    step_s=estimate(0.5, 0.45, 0.55, 1.0),
    breakdown_s={"fixed": 0.1, "work": 0.375, "growing": 0.025},
    throughput_samples_per_s=estimate(4096.0, 4000.0, 4200.0, 1.0),
    samples_to_converge=estimate(2.4e6, 2.2e6, 2.6e6, 1.0),
    time_to_train_s=estimate(600.0, 540.0, 660.0, 1.0),
    run=Run(
        steps=1172,
        evaluations=1,
        interval_samples=None,
        startup_s=10.0,
        training_s=540.0,
        evaluation_s=50.0,
        checkpoint_s=0.0,
    ),
    limited_by=AnswerNote.of(NoteCode.FILE_TEXT, text="work"),
    assumptions=(AnswerNote.of(NoteCode.FILE_TEXT, text="as published"),),
    calibration="a law",
)
ERRORS = ErrorSummary(count=5, mean_abs=0.09, mean_signed=-0.01, worst=0.2)
POINT = ComparatorPoint(
    id="r1",
    chip="a100",
    workload="bert",
    chips=1024,
    measured_s=600.0,
    predicted_s=660.0,
    error=0.1,
    held_out_error=-0.05,
    predicted_samples_error=None,
)
REPORT = ComparatorReport(
    points=(POINT,),
    left_out=(ExcludedResult(id="r2", reason="no samples"),),
    summaries=(
        ComparatorSummary(chip="a100", workload="bert", in_sample=ERRORS, held_out=ERRORS, predicted_samples=None),
    ),
    judged=ERRORS,
    larger=Larger(
        fitted=64,
        points=(
            LargerPoint(
                id="big",
                chip="a100",
                workload="bert",
                chips=4096,
                beyond=64.0,
                global_batch=1,
                measured_s=60.0,
                predicted_s=90.0,
                low_s=45.0,
                high_s=120.0,
                error=0.5,
                inside=True,
            ),
        ),
        refused=0,
        errors=replace(ERRORS, count=1),
        inside=1,
    ),
)


def test_the_answer_and_where_it_stands():
    assert view.answer(ANSWER) == "10.0 min (9.0 – 11.0)"
    assert headings(view.document(ANSWER))[0] == "BERT on DGX A100 (8 × A100), target 0.72"
    assert headings(view.document(replace(ANSWER, chips=1)))[0] == "BERT on DGX A100, target 0.72"


def test_parts_of_the_law_by_size():
    work, fixed, growing = bars(view.document(ANSWER, verbose=True))
    assert (work.label, work.share, work.share_text, work.text) == ("Work per sample", 0.75, "75.0 %", "375 ms")
    assert (fixed.label, growing.label, growing.share_text) == ("Fixed overhead", "Growing overhead", "5.0 %")


def test_numbers_of_the_run_and_of_a_chip():
    rows = facts(view.document(ANSWER))
    assert (rows["Throughput"].number, rows["Throughput"].remark) == ("4,100", "512 per chip")
    assert (rows["Global batch"].number, rows["Global batch"].remark) == ("2,048", "256 per chip")
    assert (rows["Run overhead"].number, rows["Run overhead"].unit) == ("1.0", "min")
    assert rows["Run overhead"].remark == "10 % of the run: start-up, 1 evaluation"
    assert facts(view.document(ANSWER, verbose=True))["Throughput"].remark == "512 per chip; 90 %: 4,000 – 4,200"


def test_far_from_what_is_published_two_digits_count():
    far = replace(ANSWER, time_to_train_s=estimate(600.0, 540.0, 660.0, 16.0))
    assert any("16× beyond published results" in text for text in notes(view.document(far)))
    assert facts(view.document(far))["Throughput"].remark == "510 per chip"
    assert not any("beyond published results" in text for text in notes(view.document(ANSWER)))


def test_the_verdict_is_that_of_the_judged_chip():
    assert view.line(REPORT) == "PASS, a100 held out 9.0 %"
    failed = replace(REPORT, judged=replace(ERRORS, mean_abs=0.11))
    assert view.line(failed) == "FAIL, a100 held out 11.0 %"
    assert notes(view.report(failed))[-1].startswith(
        "FAIL · a100, all workloads, held out: mean 11.0 %, tolerance 10 %"
    )
    assert "wrote laws.toml" in notes(view.report(replace(REPORT, path="laws.toml")))[-1]


def test_errors_by_chip_and_workload_where_there_are_any():
    inside, out, predicted, larger, left = tables(view.report(REPORT))
    assert inside.rows == out.rows == (("a100", "bert", "5", "9.0 %", "−1.0 %", "+20.0 %"),)
    assert predicted.rows == ()
    assert larger.rows == (("big", "4,096", "1.00", "1.50", "0.750 – 2.00", "+50.0 %"),)
    assert left.rows == (("r2", "no samples"),)


def test_larger_machines_that_intervals_hold_and_those_without_an_answer():
    assert notes(view.report(REPORT))[0] == "mean 9 % · 1 of 1 inside the 90 % interval"
    some = replace(REPORT, larger=replace(REPORT.larger, refused=2))
    assert notes(view.report(some))[0].endswith(" · 2 too far beyond to predict")


def test_every_result_is_listed_if_asked_for():
    every = tables(view.report(REPORT, verbose=True))[4]
    assert every.rows == (("r1", "1,024", "10.0", "11.0", "+10.0 %", "−5.0 %", "–"),)
    assert "-v lists every result" in notes(view.report(REPORT))[-1]


@pytest.mark.parametrize("known", [True, False])
def test_a_machine_by_its_chip_and_published_results(known):
    machine = ComparatorMachine(name="dgx", title="DGX", chips=8, multiple=8, interconnect="NVLink" if known else "")
    chip = ComparatorChip(
        name="a100",
        title="A100",
        accelerators=("a",),
        clock_hz=1.41e9 if known else None,
        memory_bytes=80e9 if known else None,
        power_w=400.0 if known else None,
        machines=(machine,),
    )
    results = [
        replace(comparator_results.published_results()[0], workload="bert", chips=chips, round=name)
        for chips, name in ((1024, "v2.0"), (8, "v1.0"), (16, "v1.0"))
    ]
    doc = view.machine(chip, machine, tuple(results), MachineOwnership(capital=None, draw=None))
    rows = facts(doc)
    numbers = [(label, rows[label].number) for label in ("Memory", "Power", "Clock", "Interconnect") if label in rows]
    assert numbers == (
        [("Memory", "80"), ("Power", "400"), ("Clock", "1.41"), ("Interconnect", "NVLink")] if known else []
    )
    assert (rows["Chips"].number, rows["Increment"].number) == ("8", "8")
    assert [rows[label].unit for label in ("Memory", "Power", "Clock") if label in rows] == (
        ["GB", "W", "GHz"] if known else []
    )
    assert tables(doc)[0].rows == (("bert", "3", "8 to 1,024", "v1.0, v2.0"),)
