"""The table of batch sizes of `podsim infer`: every column stays on a screen of 80, latencies in one unit."""

from dataclasses import replace

import pytest
from parts_of_documents import headings, notes, tables, titles

import podsim
from podsim.report.doc import Column, Doc, DocTable
from podsim.report.terminal import Look, render
from podsim.studies.infer import report as view

NARROW = Look(width=80)


@pytest.fixture(scope="module")
def swept():
    return podsim.infer("resnet50", pod=4, batches="1..64", requests=500)


def test_mean_batch_and_memory_stay_at_80_columns(swept):
    text = render(view.document(swept), NARROW)
    assert "left out at this width" not in text
    (heading,) = [line for line in text.splitlines() if "Unloaded  " in line and "SRAM" in line]
    assert {"Mean", "P50", "P99", "Busy", "SRAM"} <= set(heading.split())
    assert max(map(len, text.splitlines())) <= 80


def test_latencies_are_in_one_unit_that_the_heading_names(swept):
    doc = view.document(swept)
    assert "Batch sizes at 80 % of max throughput, latency in ms" in headings(doc)
    (table,) = tables(doc)
    at = titles(table).index("P99")
    for row, size in zip(table.rows, swept.swept, strict=True):
        assert float(row[at]) == pytest.approx(1e3 * size.delays.p99_s, rel=5e-3)


def test_clients_have_a_column_of_load_and_a_rate_stands_in_the_heading(swept):
    clients = replace(swept, swept=tuple(replace(row, load_per_s=None) for row in swept.swept))
    assert "Load req/s" in titles(tables(view.document(clients))[0])
    text = render(view.document(clients), NARROW)
    assert "left out at this width" not in text
    assert max(map(len, text.splitlines())) <= 80
    stated = replace(swept, swept=tuple(replace(row, load_per_s=5000.0) for row in swept.swept))
    assert "Batch sizes at 5,000 requests/s, latency in ms" in headings(view.document(stated))


def test_replicas_of_several_sizes_leave_room_for_all_columns(swept):
    unlike = tuple(replace(row, replicas=64 // row.batch, ipus_per_replica=row.batch) for row in swept.swept)
    text = render(view.document(replace(swept, swept=unlike)), NARROW)
    assert "left out at this width" not in text
    assert "Replicas" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_batch_that_cannot_keep_up_is_a_row_with_its_reason(swept):
    first, *others = swept.swept
    over = replace(first, delays=None, load_per_s=None, refused="20,000 requests/s exceed the capacity")
    others = [replace(row, load_per_s=20_000.0) for row in others]
    doc = view.document(replace(swept, swept=(over, *others)))
    assert "no answer for batch 1: 20,000 requests/s exceed the capacity" in notes(doc, "·")
    assert "Batch sizes at 20,000 requests/s, latency in ms" in headings(doc)
    assert set(tables(doc)[0].rows[0][3:-1]) == {"–"}


def test_batches_that_fail_for_one_reason_are_named_together(swept):
    reason = "20,000 requests/s exceed the capacity"
    first, second, third, *others = swept.swept
    refused = [replace(row, delays=None, load_per_s=None, refused=reason) for row in (first, second)]
    other = replace(third, delays=None, load_per_s=None, refused="the weights do not fit")
    doc = view.document(replace(swept, swept=(*refused, other, *others)))
    texts = f"batch {first.batch}, {second.batch}: {reason}", f"batch {third.batch}: the weights do not fit"
    assert notes(doc, "·")[0] == f"no answer for {'; '.join(texts)}"


def test_clients_stand_in_the_heading_and_their_load_in_a_column(swept):
    rows = tuple(replace(row, load_per_s=5000.0) for row in swept.swept)
    doc = view.document(replace(swept, swept=rows, load=replace(swept.load, clients=16)))
    assert "Batch sizes with 16 clients, latency in ms" in headings(doc)
    assert "Load req/s" in titles(tables(doc)[0])


def test_a_title_with_a_hyphen_stacks_behind_it():
    doc = Doc(((DocTable((Column("Micro-batch", number=True), Column("State")), (("1", "on-chip"),), stacks=True),),))
    head = [line.split() for line in render(doc, Look(width=16)).splitlines() if line.strip()]
    assert head == [["Micro-"], ["batch", "State"], ["1", "on-chip"]]


def test_titles_stack_only_where_the_screen_is_too_narrow():
    columns = (Column("One two", number=True), Column("Three four", number=True))
    doc = Doc(((DocTable(columns, (("1", "2"),), stacks=True),),))
    assert "One two  Three four" in render(doc, Look(width=40))
    stacked = render(doc, Look(width=15)).splitlines()
    assert [line.split() for line in stacked if line.strip()] == [["One", "Three"], ["two", "four"], ["1", "2"]]
