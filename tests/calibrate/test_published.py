"""Published rows beside predictions: what is asked, what is left out and why, and what the summary counts."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import podsim
from podsim.calibrate.microbenchmarks.compare import compare
from podsim.calibrate.published.ask import Desk, settled
from podsim.calibrate.published.judge import UNREAD, report
from podsim.calibrate.published.unsaid import ways
from podsim.errors import Infeasible, InputError
from podsim.files import catalog, find, microbenchmarks, readings
from podsim.model.microbenchmark import LeftOut, Microbenchmark
from podsim.model.readings import (
    MOST_SPREAD,
    Mode,
    Option,
    OtherReading,
    PublishedReport,
    ReadingsFile,
    ReadRow,
    RowReading,
    Unsaid,
)
from podsim.report import json_published
from podsim.report.views import published as view

ROWS = {row.id: row for row in microbenchmarks.published()}
FILE = readings.readings().value
READINGS = {one.row: one for one in FILE.readings}


def row(value: float = 100.0, unit: str = "samples/s", id_: str = "published-0001") -> Microbenchmark:
    return replace(ROWS["published-0001"], id=id_, value=value, unit=unit)


def desk(**verbs: Callable[..., Any]) -> Desk:
    return Desk(verbs=verbs, world=None, bench=None)  # type: ignore[arg-type]


def judged(reading: RowReading, one: Microbenchmark, *others: Microbenchmark, **verbs: Callable[..., Any]) -> Any:
    found = report((one, *others), ReadingsFile(readings=(reading,)), desk(**verbs))
    return next(item for item in (*found.compared, *found.left_out) if item.row.id == one.id)


def estimate(**values: float) -> SimpleNamespace:
    return SimpleNamespace(**{name: SimpleNamespace(value=value) for name, value in values.items()})


def test_every_published_row_is_read() -> None:
    assert len(ROWS) == 47
    assert set(READINGS) == set(ROWS)


def test_a_row_that_is_missing_from_the_readings_says_so() -> None:
    (left,) = report((row(),), ReadingsFile(readings=()), desk()).left_out
    assert left.reason == UNREAD


def test_a_rate_is_asked_with_the_flags_of_its_reading() -> None:
    asked: dict[str, Any] = {}

    def predict(workload: str, **flags: Any) -> SimpleNamespace:
        asked.update(flags, workload=workload)
        return estimate(throughput_samples_per_s=130.0)

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="conformer", machine="pod16", replicas=4,
                      micro_batch=2, sdk="2.6", changes=("workload.a=1",))  # fmt: skip
    found = judged(reading, row(), predict=predict)
    assert asked == {"workload": "conformer", "topology": "pod16", "replicas": 4, "micro_batch": 2, "sdk": "2.6",
                     "changes": ("workload.a=1",), "samples": asked["samples"]}  # fmt: skip
    assert found.error == pytest.approx(0.30)


def test_a_time_is_in_hours_and_of_the_length_that_the_workload_states() -> None:
    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        assert "samples" not in flags
        return estimate(time_to_train_s=7200.0)

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16")
    assert judged(reading, row(1.6, "h"), predict=predict).predicted == 2.0


def test_inference_counts_samples_and_not_rows() -> None:
    def infer(_workload: str, **flags: Any) -> SimpleNamespace:
        assert (flags["topology"], flags["batch"], flags["precision"]) == ("c600", 8, "8.16")
        return SimpleNamespace(capacity_per_s=SimpleNamespace(value=50.0), samples_per_row=2.0)

    reading = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="c600", batch=8, precision="8.16")
    assert judged(reading, row(), infer=infer).predicted == 100.0


def test_what_podsim_cannot_do_yet_is_left_out_with_the_reason() -> None:
    reading = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="m2000")
    assert judged(reading, row()).reason == "cannot be modelled yet: there is no podsim infer"

    def unknown(*_: Any, **__: Any) -> None:
        raise InputError("no workload", code="unknown-workload")

    def full(*_: Any, **__: Any) -> None:
        raise Infeasible("the mapping does not fit the memory")

    training = replace(reading, mode=Mode.TRAIN)
    assert judged(training, row(), predict=unknown).reason == "no such workload yet: x"
    assert judged(training, row(), predict=full).reason == "the mapping does not fit the memory"
    assert judged(training, row(1.0, "x GPU"), predict=lambda *_, **__: estimate(throughput_samples_per_s=1)).reason


def test_a_claimed_factor_is_held_against_a_measured_time() -> None:
    hours = {"1.4": 20.0, "2.1": 12.5}

    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        return estimate(time_to_train_s=3600 * hours[flags["sdk"]])

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod64", sdk="1.4", later="2.1",
                      factor_row="published-0002")  # fmt: skip
    claimed = row(1.6, "x over SDK 1.4", "published-0002")
    found = judged(reading, row(10.0, "h"), claimed, predict=predict)
    assert found.error == pytest.approx(1.0)
    for text in ("would make 6.2 h", "20.0 under 1.4", "12.5 under 2.1", "0.80 × that of 2.1", "leaves it 0.50 ×"):
        assert text in found.conflict


def test_programs_without_a_network_are_those_of_the_microbenchmarks() -> None:
    from podsim.api.upkeep import bench

    heat = ROWS["published-0034"]
    (known,) = compare((heat,), bench((heat,))).compared
    assert READINGS[heat.id].mode is Mode.TILES
    found = report((heat,), ReadingsFile(readings=(READINGS[heat.id],)), replace(desk(), bench=bench((heat,))))
    assert found.compared[0].predicted == known.predicted


def test_the_split_of_a_row_is_what_predict_says_of_it() -> None:
    one = ROWS["published-0004"]
    found = report((one,), FILE, desk(predict=podsim.predict))
    direct = podsim.predict("resnet50", topology="m2000", replicas=4, ipus_per_replica=1, micro_batch=8,
                            accumulation=1, sdk="3.3")  # fmt: skip
    assert found.compared[0].predicted == pytest.approx(direct.throughput_samples_per_s.value, rel=1e-12)


def option(name: str, **taken: Any) -> Option:
    return Option(name=name, reason="why", **taken)


LENGTH = Unsaid(
    name="length", what="", options=(option("long", changes=("a=384",)), option("short", changes=("a=128",)))
)
BATCH = Unsaid(name="batch", what="", options=(option("best"), option("one", batch=1)))
SERVED = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="m2000", ipus_per_replica=1,
                    changes=("b=2", "a=9"), unsaid=("length", "batch"))  # fmt: skip


def test_every_combination_is_read_and_the_stated_one_comes_first() -> None:
    found = list(ways(SERVED, {"length": LENGTH, "batch": BATCH}))
    names = [tuple(taken.name for taken in options) for options, _ in found]
    assert names == [("long", "best"), ("long", "one"), ("short", "best"), ("short", "one")]
    assert found[0][1] == replace(SERVED, changes=("b=2", "a=384"))
    assert found[3][1] == replace(SERVED, changes=("b=2", "a=128"), batch=1)


def serve(rates: dict[int, float], asked: list[int]) -> Callable[..., Any]:
    """A verb that serves these batches at these rates, twice as fast at "a=128"; others do not fit."""

    def infer(_workload: str, **flags: Any) -> SimpleNamespace:
        times = 2 if "a=128" in flags["changes"] else 1
        swept = [SimpleNamespace(capacity_per_s=times * rates.get(batch, 0.0)) for batch in flags.get("batches", ())]
        asked.extend(flags.get("batches", ()))
        rate = SimpleNamespace(value=times * rates[flags["batch"]])
        return SimpleNamespace(capacity_per_s=rate, samples_per_row=1.0, swept=swept)

    return infer


def test_without_a_batch_the_one_that_serves_most_is_taken() -> None:
    asked: list[int] = []
    verbs = desk(infer=serve({1: 10.0, 2: 30.0, 4: 20.0}, asked))
    assert settled(SERVED, verbs).batch == 2
    assert asked == [2, 4, 8]  # eight do not fit, so sixteen are not tried
    assert settled(replace(SERVED, batch=4), verbs).batch == 4
    assert settled(replace(SERVED, mode=Mode.TRAIN), verbs).batch is None


def test_a_row_has_the_range_of_all_its_readings() -> None:
    file = ReadingsFile(unsaid=(LENGTH, BATCH), readings=(SERVED,))
    (found,) = report((row(45.0),), file, desk(infer=serve({1: 10.0, 2: 30.0}, []))).compared
    assert (found.predicted, found.low, found.high) == (30.0, 10.0, 60.0)
    assert found.reading.batch == 2
    assert found.inside
    assert not found.determined


def test_a_reading_that_does_not_fit_counts_for_nothing() -> None:
    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        if "a=128" in flags["changes"]:
            raise Infeasible("the mapping does not fit the memory")
        return estimate(throughput_samples_per_s=130.0)

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16", unsaid=("length",))
    file = ReadingsFile(unsaid=(LENGTH,), readings=(reading,))
    (found,) = report((row(),), file, desk(predict=predict)).compared
    assert (found.low, found.high) == (130.0, 130.0)
    assert found.others[0].refused == "the mapping does not fit the memory"
    assert "does not fit" in view.readings((found,)).rows[1]


def read(predicted: float, *others: float, measured: float = 100.0) -> ReadRow:
    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x")
    further = tuple(OtherReading(reading=reading, options=(), predicted=other) for other in others)
    return ReadRow(row=row(measured), reading=reading, predicted=predicted, others=further)


def test_what_is_determined_hangs_on_answers_and_never_on_the_measured_value() -> None:
    wide, narrow = MOST_SPREAD * 1.001, MOST_SPREAD * 0.999
    for measured in (1.0, 100.0, 120.0, 1e6):
        assert read(100.0, 100.0 * narrow, measured=measured).determined
        assert read(100.0, 100.0 / narrow, measured=measured).determined
        assert not read(100.0, 100.0 * wide, measured=measured).determined
        assert not read(110.0, 100.0, 100.0 * wide, measured=measured).determined


def test_the_range_holds_a_measured_value_at_its_ends() -> None:
    assert read(100.0, 200.0).inside
    assert read(50.0, 100.0).inside
    assert not read(101.0, 200.0).inside


def of(*errors: float, hanging: tuple[float, ...] = ()) -> PublishedReport:
    """Determined rows with these errors, and rows that hang on what they leave unsaid."""
    compared = [read(100 * (1 + error)) for error in errors]
    compared += [read(100 * (1 + error), 1000 * (1 + error)) for error in hanging]
    return PublishedReport(compared=tuple(compared), left_out=(LeftOut(row=row(), reason="why"),))


def test_the_bars() -> None:
    passed = of(0.1, -0.1, 0.2, 0.39, -0.9)
    assert passed.all_rows.median_abs == pytest.approx(0.2)
    assert passed.all_rows.share_near == pytest.approx(0.8)
    assert passed.all_rows.mean == pytest.approx(-0.062)
    assert passed.all_rows.worst == pytest.approx(-0.9)
    assert not passed.missed
    assert of(0.1, 0.1, 0.41).all_rows.misses == ("near",)
    assert of(0.3, 0.3, -0.3).all_rows.misses == ("median",)
    assert view.answer(passed) == (
        "PASS, all 5 rows: median 20.0 %, 80 % within 40 %, PASS; 5 determined: median 20.0 %, 80 % within 40 %, PASS; "
        "1 left out"
    )


def test_rows_that_hang_on_something_count_among_all_and_apart() -> None:
    mixed = of(0.1, 0.1, 0.1, hanging=(-0.5, 0.6))
    assert [len(one.rows) for one in (mixed.determined, mixed.undetermined, mixed.all_rows)] == [3, 2, 5]
    assert mixed.undetermined.inside == 1
    assert mixed.determined.misses == ()
    assert mixed.all_rows.misses == ("near",)
    assert mixed.missed
    assert "all 5 rows: median 10.0 %, 60 % within 40 %, MISS; 3 determined: median 10.0 %" in view.answer(mixed)
    other = of(0.5, hanging=(0.1, 0.1, 0.1, 0.1))
    assert other.all_rows.misses == ()
    assert other.missed


def test_networks_are_summed_apart_from_programs_without_one() -> None:
    """Many programs that are near hide networks that are not; the sum by kind shows them, and is not judged."""
    tiles = replace(read(101.0), reading=RowReading(row="published-0001", mode=Mode.TILES))
    mixed = replace(of(0.5, 0.1), compared=(*of(0.5, 0.1).compared, tiles, tiles, tiles))
    assert (len(mixed.networks.rows), len(mixed.programs.rows)) == (2, 3)
    assert mixed.networks.share_near == 0.5
    shown = {line[0]: line for line in view.summaries(mixed).rows}
    assert shown["networks"][1:] == ("2", "30.0 %", "+30.0 %", "+50.0 %", "50 %", "")
    assert shown["other programs"][-2:] == ("100 %", "")
    found = json.loads(json_published.published(mixed))
    assert (found["networks"]["rows"], found["programs"]["rows"]) == (2, 3)


def test_no_row_is_no_pass() -> None:
    assert math.isnan(of().all_rows.median_abs)
    assert of().all_rows.misses == ("median", "near")
    assert view.answer(of()).startswith("MISS, no row")


def test_rows_of_one_suite_are_asked_alike() -> None:
    """No choice is made row by row: cards that are asked without a batch have one IPU and no batch of their own."""
    cards = [one for one in READINGS.values() if one.mode is Mode.INFER]
    assert len(cards) == 9
    assert all(one.batch is None and "batch" in one.unsaid for one in cards)
    assert all(one.machine == "c600" or one.ipus_per_replica == 1 for one in cards)
    assert len({one.unsaid for one in cards if one.workload == "bert-base"}) == 1
    assert len({READINGS[f"published-{at:04}"].unsaid for at in (1, 2, 3)}) == 1


def test_json_has_every_reading() -> None:
    found = json.loads(json_published.published(of(0.1, hanging=(0.5,))))
    first, second = found["rows"]
    assert (first["determined"], second["determined"]) == (True, False)
    assert (second["low"], second["high"], second["inside"]) == (150.0, 1500.0, False)
    assert second["others"][0]["predicted"] == 1500.0
    assert [found[name]["rows"] for name in ("summary", "determined", "undetermined")] == [2, 1, 1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mode     = "train"', 'mode = "guess"'), "guess"),
        (('mode     = "train"\n', ""), "give one of mode and reason"),
        (('row      = "published-0002"', 'row = "published-0001"'), "published-0001 is read 2 times"),
        (('row      = "published-0002"', 'row = "published-9999"'), "no published row"),
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
