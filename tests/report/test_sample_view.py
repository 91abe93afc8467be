"""What the screen says of one run of a sampler."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables

from podsim.model.chip import Precision
from podsim.model.sampler import Sampler, SamplerReport, Work, WorkCost
from podsim.studies.sample import report as view

SAMPLER = Sampler(
    name="walk",
    title="A random walk",
    sample="particle",
    precision=Precision.FP32,
    state=3,
    steps=1000,
    returned=4,
    kept=0.125,
    step=(Work(name="draw", operations=("uniform",), elements=3),),
)
DRAW = WorkCost(
    name="draw",
    part="step",
    operations=("uniform", "add"),
    times=1000,
    elements=3,
    sums=None,
    draws_s=0.6,
    elementwise_s=0.2,
    sums_s=0.0,
    sync_s=0.1,
    sample_flop=500.0,
)
REPORT = SamplerReport(
    sampler=SAMPLER,
    samples=2000,
    rounds=1,
    topology="pod4",
    chip="gc200",
    ipus=4,
    tiles=1000,
    on_a_tile=2,
    most_samples=1_000_000,
    sram_bytes_per_tile=24e3,
    works=(DRAW, replace(DRAW, name="dust", draws_s=0.0, elementwise_s=4e-4, sync_s=0.0)),
    host_s=0.0996,
    returned_bytes=1e6,
    assumed=("no correlation",),
)


def test_a_run_in_a_line():
    assert REPORT.run_s == pytest.approx(1.0)
    assert view.answer(REPORT) == "walk, 2,000 particles on pod4: 1.00 s, 2.00 ksamples/s"
    assert "walk, 1 particle on" in view.answer(replace(REPORT, samples=1))
    assert headings(view.document(REPORT)) == [view.answer(REPORT), "Time of a run by part"]
    assert view.sentence(REPORT) == "A random walk: 2,000 particles on pod4 take 1.00 s, 2.00 ksamples/s."


def test_steps_of_each_round_and_what_a_tile_has():
    rows = facts(view.document(REPORT))
    assert rows["Run"].remark == "1,000 steps"
    assert (rows["Tiles"].number, rows["Tiles"].remark) == ("1,000", "4 × gc200, up to 2 particles each")
    assert (rows["Arithmetic"].number, rows["Arithmetic"].unit) == ("2.00", "MFLOP/s")
    assert rows["To host"].remark == "12 % of the particles, 4 numbers each"
    more = facts(view.document(replace(REPORT, rounds=3, on_a_tile=1)))
    assert more["Run"].remark == "3 × 1,000 steps"
    assert more["Tiles"].remark.endswith("up to 1 particle each")


def test_parts_are_by_size_without_those_that_take_no_time():
    parts = bars(view.document(REPORT))
    assert [row.label for row in parts] == ["Random numbers", "Elementwise", "Sync", "Return to host"]
    assert (parts[0].text, parts[0].share_text) == ("600 ms", "60 %")
    assert sum(row.share for row in parts) == pytest.approx(1.0)


def test_works_without_dust_and_with_their_sums():
    (works,) = tables(view.document(REPORT, verbose=True))
    assert tables(view.document(REPORT)) == []
    assert works.rows == (("step", "draw", "uniform add", "3", "900", "90 %"),)
    summed = replace(REPORT, works=(replace(DRAW, sums=1), *REPORT.works[1:]))
    assert tables(view.document(summed, verbose=True))[0].rows[0][2] == "uniform add sum"


def test_what_limits_and_what_is_assumed():
    first, _, last = notes(view.document(REPORT))
    assert first.startswith("limited by random numbers;")
    assert last == "assumed: no correlation"
