"""Published rows and what is asked about each: every row is carried, asked about alike or left out with a reason."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from podsim.errors import InputError
from podsim.files import applications, catalog, find, microbenchmarks, readings_file
from podsim.model.published import PublishedReport
from podsim.model.readings import Mode

ROWS = {row.id: row for row in (*microbenchmarks.published_results(), *applications.applications())}
FILE = readings_file.readings().value
READINGS = {reading.row: reading for reading in FILE.readings}


def test_every_row_of_both_files_is_asked_about_or_left_out_with_a_reason() -> None:
    left_out = {row: rows.reason for rows in FILE.left_out for row in rows.rows}
    assert (len(microbenchmarks.published_results()), len(applications.applications())) == (103, 107)
    assert set(READINGS) | set(left_out) == set(ROWS)
    assert not set(READINGS) & set(left_out)
    assert all(reading.reason or reading.mode for reading in READINGS.values())
    assert all(left_out.values())


def test_ids_number_the_rows_of_each_file() -> None:
    """Older rows keep the ids that they had: published-0001 to 0047 are those of the file's first version."""
    for name, rows in (
        ("published", microbenchmarks.published_results()),
        ("application", applications.applications()),
    ):
        assert [row.id for row in rows] == [f"{name}-{at:04}" for at in range(1, len(rows) + 1)]
    older = ROWS["published-0047"]
    assert (older.what, older.value, older.unit) == ("STREAM (BabelStream)", 8.0, "TB/s")


def test_every_row_names_a_source_that_is_known() -> None:
    assert {row.source for row in ROWS.values()} <= set(catalog.sources())


def test_what_is_no_rate_of_an_application_is_left_out() -> None:
    """Nameplates, compile and start-up times, and results of other chips: podsim is asked about none of them."""
    for application in applications.applications():
        if application.chip in ("a100", "gh200") or application.category in ("compile", "start-up", "nameplate"):
            assert application.id not in READINGS, application.id


def test_a_row_that_does_not_state_its_chip_is_asked_of_every_chip() -> None:
    chips = {gap.name: gap for gap in FILE.unsaid}["chip-16"]
    request = [reading for reading in READINGS.values() if "chip-16" in reading.unsaid]
    assert request
    assert all(not ROWS[reading.row].chip for reading in request)
    assert {catalog.topology(option.machine).value.chip.name for option in chips.options} == {"gc200", "bow"}


def test_rows_of_one_suite_are_asked_alike() -> None:
    """No choice is made row by row: cards have one IPU, and a batch where the reports of the same points state it."""
    cards = [reading for reading in READINGS.values() if reading.mode in (Mode.INFER, Mode.LATENCY)]
    assert all(card.machine == "c600" for card in cards)
    images = [card for card in cards if card.workload in ("resnet50", "swin-large")]
    assert all(image.batch is not None and "batch" not in image.unsaid for image in images)
    assert {card.unsaid for card in cards if card.workload == "bert-base"} == {("tokens", "batch")}
    conformers = [
        reading for reading in READINGS.values() if reading.workload == "conformer" and reading.mode is Mode.TRAIN
    ]
    assert {conformer.unsaid for conformer in conformers} == {("utterance",)}


def test_a_stated_split_gives_the_stated_batch() -> None:
    """Replicas times micro-batch times accumulation is the global batch that the row states."""
    number = 0
    for reading in READINGS.values():
        batch = ROWS[reading.row].shape.get("global_batch")
        split = (reading.replicas, reading.micro_batch, reading.accumulation)
        if batch and all(split) and "resnet-batch" not in reading.unsaid:
            assert math.prod(split) == int(batch), reading.row  # type: ignore[arg-type]
            number += 1
    assert number >= 15


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mode     = "train"', 'mode = "guess"'), "guess"),
        (('mode     = "train"\n', ""), "give one of mode and reason"),
        (('row      = "published-0002"', 'row = "published-0001"'), "published-0001 is read 2 times"),
        (('row      = "published-0002"', 'row = "published-9999"'), "no published row"),
        (('    "application-0106",', '    "application-9999",'), 'no published row "application-9999"'),
        (('    "application-0106",', '    "published-0001",'), "published-0001 is read 2 times"),
        (("clients   = 4\n", ""), "go, with a batch, with the mode latency"),
        (('operator  = "matmul"\n', ""), "goes with the modes kernel and power"),
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
    text = (find.data_folder("calibration") / readings_file.NAME).read_text(encoding="utf-8")
    assert change[0] in text
    path = tmp_path / "readings.toml"
    path.write_text(text.replace(*change, 1), encoding="utf-8")
    with pytest.raises(InputError) as refused:
        readings_file.readings(path)
    assert refused.value.code == "bad-readings-file"
    assert message in "\n".join((refused.value.message, *refused.value.context))


def test_a_row_of_so_many_chips_is_asked_of_as_many() -> None:
    """A replica of two IPUs answers twice as much as the one card that was measured."""
    served = [item for item in READINGS.values() if item.mode is Mode.INFER]
    assert served
    for reading in served:
        machine = catalog.topology(reading.machine).value
        assert (machine.chip.name, machine.ipus) == (ROWS[reading.row].chip, ROWS[reading.row].whole("ipus")), (
            reading.row
        )


def test_every_row_of_both_files_is_in_the_report(published: PublishedReport) -> None:
    shown = [value.row.id for value in (*published.compared, *published.left_out)]
    assert sorted(shown) == sorted(ROWS)
    assert all(row.reason for row in published.left_out)
    assert all(row.has_interval for row in published.networks.rows)
    assert all(row.low_90 <= row.predicted <= row.high_90 for row in published.compared if row.has_interval)
    assert sum(len(group.summary.rows) for group in published.groups) == sum(
        len(row.each_chip) for row in published.compared
    )
