"""What the screen says of a run in phases."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes, tables
from samples_of_results import mapping, prediction

from podsim.report.doc import label
from podsim.studies.predict import sequence_report as view

ONE = replace(prediction(beyond=1.0), workload="bert-128")
TWO = replace(ONE, workload="bert-512", mapping=replace(mapping(), accumulation=54, ipus_per_replica=4))
WHOLE = replace(ONE, workload="bert-both", phases=(ONE, TWO))


def test_batches_and_splits_of_each_phase_and_of_a_run_without():
    assert (view.batches(ONE), view.splits(ONE)) == ("6,912", "64 × 8")
    assert (view.batches(WHOLE), view.splits(WHOLE)) == ("6,912, 13,824", "64 × 8, 64 × 4")
    assert view.splits(replace(WHOLE, phases=(ONE, ONE))) == "64 × 8"


def test_a_row_a_phase():
    doc = view.document(WHOLE)
    assert headings(doc)[0] == "BERT-Large, MLPerf, 2 phases, on IPU-POD512 (512 × gc200)"
    first, second = tables(doc)[0].rows
    assert first == ("bert-128", "2.47 min", "2.10 – 3.10", "511", "6,912", "245 ms", "64 × 8", "2", "71 %")
    assert (second[0], second[4], second[6]) == ("bert-512", "13,824", "64 × 4")


def test_times_and_rates_are_of_all_phases():
    rows = facts(view.document(WHOLE))
    assert (rows["Time to train"].number, rows["Time to train"].remark) == ("2.47", "90 %: 2.10 – 3.10")
    assert (rows["Throughput"].number, rows["Throughput"].remark) == ("28,200", "mean of all phases, MFU 11 %")
    assert rows["Run overhead"].number == "23"


def test_what_was_assumed_and_how_to_see_a_phase():
    doc = view.document(WHOLE)
    assert {"division closed", "8 hosts"} <= set(notes(view.document(WHOLE, verbose=True), "·"))
    assert facts(doc)["Next"].remark.startswith("podsim predict bert-128 (one phase in full)")
    assert facts(doc)["Bottleneck"].remark == label(str(WHOLE.limited_by))
