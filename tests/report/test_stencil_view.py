"""What the screen says of a sweep of a stencil."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, notes, tables

from podsim.model.microbenchmark import ComparedMeasurement, Microbenchmark
from podsim.model.stencil import Stencil, StencilReport
from podsim.studies.stencil import report as view

STAR = Stencil(name="star", title="A star", dimensions=2, accesses=6, flop=10, source="nobody")
REPORT = StencilReport(
    stencil=STAR,
    grid=(1000, 50),
    topology="pod4",
    chip="gc200",
    ipus=1,
    compute_s=6e-6,
    exchange_s=3e-6,
    sync_s=1e-6,
    links_s=0.0,
    tiles=1250,
    sram_bytes_per_tile=12e3,
    points=50_000,
)
ROW = Microbenchmark(
    id="r",
    chip="gc200",
    tiles="",
    clock_ghz="",
    category="hpc",
    what="star",
    shape={"grid": "50x50"},
    precision="fp32",
    value=2.0,
    unit="TFLOP/s",
    note="",
    source="somebody",
    locator="",
)


def test_a_document_opens_with_the_sweep_as_a_sentence():
    assert view.sentence(REPORT).endswith(": a sweep over 1,000 × 50 points on pod4 takes 10.0 µs, 50.0 GFLOP/s.")


def test_a_sweep_in_a_line():
    assert view.answer(REPORT) == "star over 1,000 × 50 on pod4: 10.0 µs per sweep, 50.0 GFLOP/s"


def test_rates_and_where_the_points_lie():
    rows = facts(view.document(REPORT))
    assert (rows["Points"].number, rows["Points"].unit) == ("5.00", "Gpoints/s")
    assert rows["Arithmetic"].remark == "10 FLOP per point"
    assert (rows["Tiles"].number, rows["Tiles"].remark) == ("1,250", "1 × gc200")
    assert rows["Peak SRAM"].second == "2 fields of floats and halos"
    several = facts(view.document(replace(REPORT, ipus=4)))
    assert several["Tiles"].remark == "4 × gc200, the first dimension cut"


def test_parts_that_take_time_with_their_share():
    parts = bars(view.document(REPORT))
    assert [(row.label, row.text, row.share_text) for row in parts] == [
        ("Compute", "6.00 µs", "60 %"),
        ("Exchange between tiles", "3.00 µs", "30 %"),
        ("Sync", "1.00 µs", "10 %"),
    ]
    assert [row.share for row in parts] == pytest.approx([0.6, 0.3, 0.1])
    linked = bars(view.document(replace(REPORT, links_s=1e-5)))[-1]
    assert (linked.label, linked.text, linked.share_text) == ("Halos over IPU-Links", "10.0 µs", "50 %")


def test_published_sweeps_stand_beside_predictions():
    several = replace(ROW, shape={"grid": "9^3", "ipus": "16"})
    rows = tuple(ComparedMeasurement(row=row, family="stencils", predicted=2.2) for row in (ROW, several))
    table = tables(view.document(replace(REPORT, published=rows)))[0]
    assert table.rows == (
        ("50x50", "1", "2.000", "2.200", "TFLOP/s", "+10.0 %", "somebody"),
        ("9^3", "16", "2.000", "2.200", "TFLOP/s", "+10.0 %", "somebody"),
    )


def test_a_stencil_that_divides_was_counted_from_equations():
    assert len(notes(view.document(REPORT))) == 1
    divided = replace(REPORT, stencil=replace(STAR, divisions=1))
    assert "counted from the equations" in notes(view.document(divided))[1]
