"""Published rows and what is asked about each: every row is carried, asked about alike or left out with a reason."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import applications, catalog, find, microbenchmarks, readings
from podsim.model.published import PublishedReport
from podsim.model.readings import Mode

ROWS = {row.id: row for row in (*microbenchmarks.published(), *applications.applications())}
FILE = readings.readings().value
READINGS = {one.row: one for one in FILE.readings}


def test_every_row_of_both_files_is_asked_about_or_left_out_with_a_reason() -> None:
    left_out = {row: one.reason for one in FILE.left_out for row in one.rows}
    assert (len(microbenchmarks.published()), len(applications.applications())) == (103, 103)
    assert set(READINGS) | set(left_out) == set(ROWS)
    assert not set(READINGS) & set(left_out)
    assert all(one.reason or one.mode for one in READINGS.values())
    assert all(left_out.values())


def test_ids_number_the_rows_of_each_file() -> None:
    """Older rows keep the ids that they had: published-0001 to 0047 are those of the file's first version."""
    for name, rows in (("published", microbenchmarks.published()), ("application", applications.applications())):
        assert [one.id for one in rows] == [f"{name}-{at:04}" for at in range(1, 104)]
    older = ROWS["published-0047"]
    assert (older.what, older.value, older.unit) == ("STREAM (BabelStream)", 8.0, "TB/s")


def test_every_row_names_a_source_that_is_known() -> None:
    assert {one.source for one in ROWS.values()} <= set(catalog.sources())


def test_what_is_no_rate_of_an_application_is_left_out() -> None:
    """Power, compile and start-up times, and results of other chips: podsim is asked about none of them."""
    for one in applications.applications():
        if one.chip in ("a100", "gh200") or "power" in one.shape["metric"] or one.category in ("compile", "start-up"):
            assert one.id not in READINGS, one.id


def test_a_row_that_does_not_state_its_chip_is_asked_of_every_chip() -> None:
    chips = {one.name: one for one in FILE.unsaid}["chip-16"]
    asked = [one for one in READINGS.values() if "chip-16" in one.unsaid]
    assert asked
    assert all(not ROWS[one.row].chip for one in asked)
    assert {catalog.topology(one.machine).value.chip.name for one in chips.options} == {"gc200", "bow"}


def test_rows_of_one_suite_are_asked_alike() -> None:
    """No choice is made row by row: cards have one IPU, and a batch where the reports of the same points state it."""
    cards = [one for one in READINGS.values() if one.mode in (Mode.INFER, Mode.LATENCY)]
    assert all(one.machine == "c600" for one in cards)
    images = [one for one in cards if one.workload in ("resnet50", "swin-large")]
    assert all(one.batch is not None and "batch" not in one.unsaid for one in images)
    assert {one.unsaid for one in cards if one.workload == "bert-base"} == {("tokens", "batch")}
    conformers = [one for one in READINGS.values() if one.workload == "conformer" and one.mode is Mode.TRAIN]
    assert {one.unsaid for one in conformers} == {("utterance",)}


def test_a_stated_split_gives_the_stated_batch() -> None:
    """Replicas times micro-batch times accumulation is the global batch that the row states."""
    found = 0
    for one in READINGS.values():
        batch = ROWS[one.row].shape.get("global_batch")
        split = (one.replicas, one.micro_batch, one.accumulation)
        if batch and all(split) and "resnet-batch" not in one.unsaid:
            assert math.prod(split) == int(batch), one.row  # type: ignore[arg-type]
            found += 1
    assert found >= 15


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mode     = "train"', 'mode = "guess"'), "guess"),
        (('mode     = "train"\n', ""), "give one of mode and reason"),
        (('row      = "published-0002"', 'row = "published-0001"'), "published-0001 is read 2 times"),
        (('row      = "published-0002"', 'row = "published-9999"'), "no published row"),
        (('    "application-0009",', '    "application-9999",'), 'no published row "application-9999"'),
        (('    "application-0009",', '    "published-0001",'), "published-0001 is read 2 times"),
        (("clients   = 4\n", ""), "go, with a batch, with the mode latency"),
        (('operator  = "matmul"\n', ""), "goes with the mode kernel"),
        (('workload = "conformer"\n', ""), "workload  is missing"),
        (('later      = "2.1"\n', ""), "goes with factor_row"),
        (('unsaid   = ["gpu"]', 'unsaid = ["cpu"]'), 'no [[unsaid]] is named "cpu"'),
        (('name = "swin-size"', 'name = "batch"'), '"batch" stands 2 times'),
        (('unsaid   = ["gpu"]', 'unsaid = ["gpu", "gpu", "gpu", "gpu"]'), "256 ways to read a row, 64 at most"),
        (
            (
                'name = "batch"\n',
                'name = "alone"\nwhat = "x"\noption = [{ name = "a", reason = "b" }]\n\n[[unsaid]]\nname = "batch"\n',
            ),
            "at least one other",
        ),
    ],
)
def test_a_wrong_file_is_refused(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    text = (find.shipped("calibration") / readings.NAME).read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "readings.toml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        readings.readings(path)
    assert refused.value.code == "bad-readings-file"
    assert message in "\n".join((refused.value.message, *refused.value.context))


def test_a_row_of_so_many_chips_is_asked_of_as_many() -> None:
    """A replica of two IPUs answers twice as much as the one card that was measured."""
    served = [one for one in READINGS.values() if one.mode is Mode.INFER]
    assert served
    for one in served:
        machine = catalog.topology(one.machine).value
        assert (machine.chip.name, machine.ipus) == (ROWS[one.row].chip, ROWS[one.row].whole("ipus")), one.row


def test_every_row_of_both_files_is_in_the_report(published: PublishedReport) -> None:
    shown = [one.row.id for one in (*published.compared, *published.left_out)]
    assert sorted(shown) == sorted(ROWS)
    assert all(one.reason for one in published.left_out)
    assert all(one.has_interval for one in published.networks.rows)
    assert all(one.low_90 <= one.predicted <= one.high_90 for one in published.compared if one.has_interval)
    assert sum(len(one.summary.rows) for one in published.groups) == sum(
        len(one.each_chip) for one in published.compared
    )
