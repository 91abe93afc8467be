"""What the screen says of a run in phases."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes, tables
from samples_of_results import mapping, prediction

from podsim.report.views import phases as view

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
    assert first == ("bert-128", "2.5 min", "2.1 – 3.1", "511", "6,912", "245 ms", "64 × 8", "2", "71 %")
    assert (second[0], second[4], second[6]) == ("bert-512", "13,824", "64 × 4")


def test_times_and_rates_are_of_all_phases():
    rows = facts(view.document(WHOLE))
    assert (rows["time to train"].number, rows["time to train"].remark) == ("2.5", "90 %: 2.1 – 3.1")
    assert (rows["throughput"].number, rows["throughput"].second) == ("28,200", "MFU 11 %")
    assert rows["outside steps"].number == "23"


def test_what_was_assumed_and_how_to_see_a_phase():
    doc = view.document(WHOLE)
    assert {"division closed", "8 hosts"} <= set(notes(doc, "·"))
    assert "podsim predict bert-128 shows a phase in full" in notes(doc)
    assert notes(doc, "limited by") == [WHOLE.limited_by]
