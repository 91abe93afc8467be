"""Published rows beside predictions: what is asked, what is left out and why, and what the summary counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import podsim
from podsim.calibrate.microbenchmarks.compare import compare
from podsim.calibrate.published.ask import Desk
from podsim.calibrate.published.judge import UNREAD, report
from podsim.errors import Infeasible, InputError
from podsim.files import find, microbenchmarks, readings
from podsim.model.microbenchmark import LeftOut, Microbenchmark
from podsim.model.readings import Mode, PublishedReport, ReadRow, RowReading
from podsim.report.views import published as view

ROWS = {row.id: row for row in microbenchmarks.published()}
READINGS = {one.row: one for one in readings.readings().value.readings}


def row(value: float = 100.0, unit: str = "samples/s", id_: str = "published-0001") -> Microbenchmark:
    return replace(ROWS["published-0001"], id=id_, value=value, unit=unit)


def desk(**verbs: Callable[..., Any]) -> Desk:
    return Desk(verbs=verbs, world=None, bench=None)  # type: ignore[arg-type]


def judged(reading: RowReading, one: Microbenchmark, *others: Microbenchmark, **verbs: Callable[..., Any]) -> Any:
    found = report((one, *others), (reading,), desk(**verbs))
    return next(item for item in (*found.compared, *found.left_out) if item.row.id == one.id)


def estimate(**values: float) -> SimpleNamespace:
    return SimpleNamespace(**{name: SimpleNamespace(value=value) for name, value in values.items()})


def test_every_published_row_is_read() -> None:
    assert len(ROWS) == 47
    assert set(READINGS) == set(ROWS)


def test_a_row_that_is_missing_from_the_readings_says_so() -> None:
    (left,) = report((row(),), (), desk()).left_out
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
        assert (flags["chip"], flags["batch"], flags["precision"]) == ("c600", 8, "8.16")
        return SimpleNamespace(capacity_per_s=SimpleNamespace(value=50.0), samples_per_row=2.0)

    reading = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="m2000", chip="c600", batch=8,
                      precision="8.16")  # fmt: skip
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

    def predict_phases(_workload: str, **flags: Any) -> SimpleNamespace:
        return estimate(time_to_train_s=3600 * hours[flags["sdk"]])

    reading = RowReading(row="published-0001", mode=Mode.PHASES, workload="x", machine="pod64", sdk="1.4", later="2.1",
                      factor_row="published-0002")  # fmt: skip
    claimed = row(1.6, "x over SDK 1.4", "published-0002")
    found = judged(reading, row(10.0, "h"), claimed, predict=predict_phases)
    assert found.error == pytest.approx(1.0)
    for text in ("would make 6.2 h", "20.0 under 1.4", "12.5 under 2.1", "0.80 × that of 2.1", "leaves it 0.50 ×"):
        assert text in found.conflict


def test_programs_without_a_network_are_those_of_the_microbenchmarks() -> None:
    from podsim.api.upkeep import bench

    heat = ROWS["published-0034"]
    (known,) = compare((heat,), bench((heat,))).compared
    assert READINGS[heat.id].mode is Mode.TILES
    found = report((heat,), (READINGS[heat.id],), replace(desk(), bench=bench((heat,))))
    assert found.compared[0].predicted == known.predicted


def test_the_split_of_a_row_is_what_predict_says_of_it() -> None:
    one = ROWS["published-0004"]
    found = report((one,), (READINGS[one.id],), desk(predict=podsim.predict))
    direct = podsim.predict("resnet50", topology="m2000", replicas=4, ipus_per_replica=1, micro_batch=8,
                            accumulation=1, sdk="3.3")  # fmt: skip
    assert found.compared[0].predicted == pytest.approx(direct.throughput_samples_per_s.value, rel=1e-12)


def of(*errors: float) -> PublishedReport:
    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x")
    compared = tuple(ReadRow(row=row(), reading=reading, predicted=100 * (1 + error)) for error in errors)
    return PublishedReport(compared=compared, left_out=(LeftOut(row=row(), reason="why"),))


def test_the_bars() -> None:
    passed = of(0.1, -0.1, 0.2, 0.39, -0.9)
    assert passed.median_abs == pytest.approx(0.2)
    assert passed.share_near == pytest.approx(0.8)
    assert passed.misses == ()
    assert of(0.1, 0.1, 0.41).misses == ("near",)
    assert of(0.3, 0.3, -0.3).misses == ("median",)
    assert view.answer(passed) == "PASS, median 20.0 %, 80 % of 5 rows within 40 %, 1 left out"


def test_no_row_is_no_pass() -> None:
    assert math.isnan(of().median_abs)
    assert of().misses == ("median", "near")
    assert view.answer(of()).startswith("MISS, no row")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('mode     = "train"', 'mode = "guess"'), "guess"),
        (('mode     = "train"\n', ""), "give one of mode and reason"),
        (('row      = "published-0002"', 'row = "published-0001"'), "published-0001 is read 2 times"),
        (('row      = "published-0002"', 'row = "published-9999"'), "no published row"),
        (('workload = "conformer"\n', ""), "workload  is missing"),
        (('later      = "2.1"\n', ""), "goes with factor_row"),
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
