"""Published rows beside predictions: what is asked, what is left out and why, and what the summary counts."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

import podsim
from podsim.calibration.microbenchmarks.compare import compare
from podsim.calibration.published.evaluate import EvaluationContext, complete_reading
from podsim.calibration.published.interpretations import ways
from podsim.calibration.published.judge import NO_READING, report
from podsim.errors import Infeasible, InputError
from podsim.files import applications, microbenchmarks, readings_file
from podsim.model.microbenchmark import Microbenchmark
from podsim.model.published import MOST_SPREAD, LeftOutRow, OtherReading, PublishedReport, ReadRow, Statement
from podsim.model.published_bars import any_missed, bars
from podsim.model.readings import Interpretations, LeftOutRows, Mode, Option, ReadingsFile, RowReading
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.validate import published_report as view
from podsim.studies.validate import published_rows

ROWS = {row.id: row for row in (*microbenchmarks.published_results(), *applications.applications())}
FILE = readings_file.readings().value
READINGS = {reading.row: reading for reading in FILE.readings}


def row(value: float = 100.0, unit: str = "samples/s", id_: str = "published-0001") -> Microbenchmark:
    return replace(ROWS["published-0001"], id=id_, value=value, unit=unit)


def desk(**verbs: Callable[..., Any]) -> EvaluationContext:
    return EvaluationContext(verbs=verbs, environment=None, bench=None)  # type: ignore[arg-type]


def judged(
    reading: RowReading, microbenchmark: Microbenchmark, *others: Microbenchmark, **verbs: Callable[..., Any]
) -> Any:
    result = report((microbenchmark, *others), ReadingsFile(readings=(reading,)), desk(**verbs))
    return next(item for item in (*result.compared, *result.left_out) if item.row.id == microbenchmark.id)


def rough(value: float) -> SimpleNamespace:
    """An estimate whose interval is a tenth either way."""
    return SimpleNamespace(value=value, low=0.9 * value, high=1.1 * value)


def estimate(**values: float) -> SimpleNamespace:
    return SimpleNamespace(**{name: rough(value) for name, value in values.items()})


def test_a_row_that_is_missing_from_the_readings_says_so() -> None:
    (left,) = report((row(),), ReadingsFile(readings=()), desk()).left_out
    assert left.reason == NO_READING


def test_a_rate_is_asked_with_the_flags_of_its_reading() -> None:
    keywords: dict[str, Any] = {}

    def predict(workload: str, **flags: Any) -> SimpleNamespace:
        keywords.update(flags, workload=workload)
        return estimate(throughput_samples_per_s=130.0)

    reading = RowReading(
        row="published-0001",
        mode=Mode.TRAIN,
        workload="conformer",
        machine="pod16",
        replicas=4,
        micro_batch=2,
        sdk="2.6",
        changes=("workload.a=1",),
    )
    result = judged(reading, row(), predict=predict)
    assert keywords == {
        "workload": "conformer",
        "topology": "pod16",
        "replicas": 4,
        "micro_batch": 2,
        "sdk": "2.6",
        "framework": "poptorch",
        "changes": ("workload.a=1",),
        "samples": keywords["samples"],
    }
    assert result.error == pytest.approx(0.30)


def test_a_time_is_in_hours_and_of_the_length_that_the_workload_states() -> None:
    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        assert "samples" not in flags
        return estimate(time_to_train_s=7200.0)

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16")
    assert judged(reading, row(1.6, "h"), predict=predict).predicted == 2.0


def test_inference_counts_samples_and_not_rows() -> None:
    def infer(_workload: str, **flags: Any) -> SimpleNamespace:
        assert (flags["topology"], flags["batch"], flags["precision"]) == ("c600", 8, "8.16")
        return SimpleNamespace(capacity_per_s=rough(50.0), samples_per_row=2.0)

    reading = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="c600", batch=8, precision="8.16")
    assert judged(reading, row(), infer=infer).predicted == 100.0


def test_what_podsim_cannot_do_yet_is_left_out_with_the_reason() -> None:
    reading = RowReading(row="published-0001", mode=Mode.INFER, workload="x", machine="m2000")
    assert judged(reading, row()).reason == "cannot be modelled yet: there is no podsim infer"

    def unknown(*_: Any, **__: Any) -> None:
        raise InputError("no workload", code="unknown-workload")

    def full(*_: Any, **__: Any) -> None:
        raise Infeasible("the mapping does not fit in memory")

    training = replace(reading, mode=Mode.TRAIN)
    assert judged(training, row(), predict=unknown).reason == "no such workload yet: x"
    assert judged(training, row(), predict=full).reason == "the mapping does not fit in memory"
    assert judged(training, row(1.0, "x GPU"), predict=lambda *_, **__: estimate(throughput_samples_per_s=1)).reason


def test_a_claimed_factor_is_held_against_a_measured_time() -> None:
    hours = {"1.4": 20.0, "2.1": 12.5}

    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        return estimate(time_to_train_s=3600 * hours[flags["sdk"]])

    reading = RowReading(
        row="published-0001",
        mode=Mode.TRAIN,
        workload="x",
        machine="pod64",
        sdk="1.4",
        later="2.1",
        factor_row="published-0002",
    )
    claimed = row(1.6, "x over SDK 1.4", "published-0002")
    result = judged(reading, row(10.0, "h"), claimed, predict=predict)
    assert result.error == pytest.approx(1.0)
    for text in ("would make 6.2 h", "20.0 under 1.4", "12.5 under 2.1", "0.80 × that of 2.1", "leaves it 0.50 ×"):
        assert text in result.conflict


def test_programs_without_a_network_are_those_of_the_microbenchmarks() -> None:
    from podsim.calibration.fit_data import bench

    heat = ROWS["published-0034"]
    (known,) = compare((heat,), bench((heat,))).compared
    assert READINGS[heat.id].mode is Mode.TILES
    result = report((heat,), ReadingsFile(readings=(READINGS[heat.id],)), replace(desk(), bench=bench((heat,))))
    assert result.compared[0].predicted == known.predicted


def test_the_split_of_a_row_is_what_predict_says_of_it() -> None:
    microbenchmark = ROWS["published-0004"]
    result = report((microbenchmark,), FILE, desk(predict=podsim.predict))
    direct = podsim.predict(
        "resnet50",
        topology="m2000",
        replicas=4,
        ipus_per_replica=1,
        micro_batch=8,
        accumulation=1,
        sdk="3.3",
        framework="tensorflow2",
    )
    assert result.compared[0].predicted == pytest.approx(direct.throughput_samples_per_s.value, rel=1e-12)


def option(name: str, **taken: Any) -> Option:
    return Option(name=name, reason="why", **taken)


LENGTH = Interpretations(
    name="length", what="", options=(option("long", changes=("a=384",)), option("short", changes=("a=128",)))
)
BATCH = Interpretations(name="batch", what="", options=(option("best"), option("one", batch=1)))
SERVED = RowReading(
    row="published-0001",
    mode=Mode.INFER,
    workload="x",
    machine="m2000",
    ipus_per_replica=1,
    changes=("b=2", "a=9"),
    unsaid=("length", "batch"),
)


def test_every_combination_is_read_and_the_stated_one_comes_first() -> None:
    result = list(ways(SERVED, {"length": LENGTH, "batch": BATCH}))
    names = [tuple(taken.name for taken in options) for options, _ in result]
    assert names == [("long", "best"), ("long", "one"), ("short", "best"), ("short", "one")]
    assert result[0][1] == replace(SERVED, changes=("b=2", "a=384"))
    assert result[3][1] == replace(SERVED, changes=("b=2", "a=128"), batch=1)


def serve(rates: dict[int, float], numbers: list[int]) -> Callable[..., Any]:
    """A verb that serves these batches at these rates, twice as fast at "a=128"; others do not fit."""

    def infer(_workload: str, **flags: Any) -> SimpleNamespace:
        times = 2 if "a=128" in flags["changes"] else 1
        swept = [SimpleNamespace(capacity_per_s=times * rates.get(batch, 0.0)) for batch in flags.get("batches", ())]
        numbers.extend(flags.get("batches", ()))
        rate = rough(times * rates[flags["batch"]])
        return SimpleNamespace(capacity_per_s=rate, samples_per_row=1.0, swept=swept)

    return infer


def test_without_a_batch_the_one_that_serves_most_is_taken() -> None:
    numbers: list[int] = []
    verbs = desk(infer=serve({1: 10.0, 2: 30.0, 4: 20.0}, numbers))
    assert complete_reading(SERVED, verbs).batch == 2
    assert numbers == [2, 4, 8]  # eight do not fit, so sixteen are not tried
    assert complete_reading(replace(SERVED, batch=4), verbs).batch == 4
    assert complete_reading(replace(SERVED, mode=Mode.TRAIN), verbs).batch is None


def test_a_row_has_the_range_of_all_its_readings() -> None:
    file = ReadingsFile(unsaid=(LENGTH, BATCH), readings=(SERVED,))
    (result,) = report((row(45.0),), file, desk(infer=serve({1: 10.0, 2: 30.0}, []))).compared
    assert (result.predicted, result.low, result.high) == (30.0, 10.0, 60.0)
    assert result.reading.batch == 2
    assert result.in_range
    assert not result.inside
    assert not result.is_determined


def test_a_reading_that_does_not_fit_counts_for_nothing() -> None:
    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        if "a=128" in flags["changes"]:
            raise Infeasible("the mapping does not fit in memory")
        return estimate(throughput_samples_per_s=130.0)

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16", unsaid=("length",))
    file = ReadingsFile(unsaid=(LENGTH,), readings=(reading,))
    (result,) = report((row(),), file, desk(predict=predict)).compared
    assert (result.low, result.high) == (130.0, 130.0)
    assert result.others[0].refused == "the mapping does not fit in memory"
    assert "does not fit" in published_rows.readings((result,)).rows[1]


def read(predicted: float, *others: float, measured: float = 100.0) -> ReadRow:
    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x")
    further = tuple(OtherReading(reading=reading, options=(), predicted=other) for other in others)
    return ReadRow(row=row(measured), reading=reading, predicted=predicted, others=further)


def test_what_is_determined_hangs_on_answers_and_never_on_the_measured_value() -> None:
    wide, narrow = MOST_SPREAD * 1.001, MOST_SPREAD * 0.999
    for measured in (1.0, 100.0, 120.0, 1e6):
        assert read(100.0, 100.0 * narrow, measured=measured).is_determined
        assert read(100.0, 100.0 / narrow, measured=measured).is_determined
        assert not read(100.0, 100.0 * wide, measured=measured).is_determined
        assert not read(110.0, 100.0, 100.0 * wide, measured=measured).is_determined


def test_the_range_holds_a_measured_value_at_its_ends() -> None:
    assert read(100.0, 200.0).in_range
    assert read(50.0, 100.0).in_range
    assert not read(101.0, 200.0).in_range


def test_a_row_without_an_interval_is_inside_of_none() -> None:
    assert not read(100.0).inside
    assert replace(read(100.0), low_90=100.0, high_90=100.0).inside
    assert not replace(read(100.0), low_90=101.0, high_90=110.0).inside


def of(*errors: float, unstated: tuple[float, ...] = (), mode: Mode = Mode.TRAIN) -> PublishedReport:
    """Rows with these errors and intervals of a tenth; those behind leave something unsaid."""

    def one(error: float, options: tuple[Option, ...] = ()) -> ReadRow:
        predicted = 100 * (1 + error)
        row = replace(read(predicted), low_90=0.9 * predicted, high_90=1.1 * predicted, options=options)
        needed: dict[Mode, dict[str, Any]] = {
            Mode.KERNEL: {"operator": "add"},
            Mode.LATENCY: {"batch": 1, "clients": 1},
        }
        return replace(row, reading=replace(row.reading, mode=mode, **needed.get(mode, {})))

    compared = (*(one(error) for error in errors), *(one(error, (option("a"),)) for error in unstated))
    return PublishedReport(compared=compared, left_out=(LeftOutRow(row=row(), reason="why"),))


def verdicts(report: PublishedReport) -> dict[str, str]:
    return {bar.statistic: bar.verdict for bar in bars(report) if bar.name.endswith("stated, not fitted")}


def test_the_bars_of_networks() -> None:
    passed = verdicts(of(0.09, -0.09, 0.09, -0.09, 0.24))
    assert passed == {"median": "PASS", "within 25 %": "PASS", "mean, signed": "PASS", "inside 90 %": "PASS"}
    assert verdicts(of(0.13, -0.13, 0.13, -0.13))["median"] == "FAIL"
    assert verdicts(of(0.0, 0.0, 0.0, 0.26))["within 25 %"] == "FAIL"
    assert verdicts(of(0.06))["mean, signed"] == "FAIL"
    assert verdicts(of(-0.06))["mean, signed"] == "FAIL"
    assert verdicts(of(*[0.0] * 7, 0.2, 0.2))["inside 90 %"] == "FAIL"
    assert verdicts(of(*[0.0] * 40))["inside 90 %"] == "FAIL"  # an interval that holds all is too wide


def test_rows_that_leave_something_unsaid_count_apart_and_under_no_bar_of_networks() -> None:
    mixed = of(0.1, -0.1, unstated=(5.0, 5.0, 5.0))
    assert [len(mixed.summaries[name].rows) for name in ("networks", "networks_not_stated")] == [2, 3]
    assert verdicts(mixed)["median"] == "PASS"
    assumed = replace(
        read(100.0), reading=RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", assumed=("the SDK",))
    )
    assert assumed.statement is Statement.NOT


def test_a_row_without_a_chip_counts_once_for_each() -> None:
    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16", unsaid=("chip",))
    chips = Interpretations(
        name="chip", what="", options=(option("old", machine="pod16"), option("new", machine="bow-pod16"))
    )

    def predict(_workload: str, **flags: Any) -> SimpleNamespace:
        return estimate(throughput_samples_per_s=100.0 if flags["topology"] == "pod16" else 140.0)

    file = ReadingsFile(unsaid=(chips,), readings=(reading,))
    result = report((row(),), file, desk(predict=predict))
    assert result.compared[0].statement is Statement.NO_CHIP
    assert [row.predicted for row in result.summaries["networks_chip_not_stated"].rows] == [100.0, 140.0]
    assert not result.networks.rows
    (group,) = result.groups
    assert (group.stated, len(group.summary.rows)) == (Statement.NO_CHIP, 2)
    (details,) = answer_document(result).tree()["rows"]
    assert [(chip["chip"], chip["predicted"], chip["inside"]) for chip in details["chips"]] == [
        ("old", 100.0, True),
        ("new", 140.0, False),
    ]


def test_a_published_mapping_that_is_refused_misses_a_bar() -> None:
    def full(*_: Any, **__: Any) -> None:
        raise Infeasible("the mapping does not fit in memory")

    reading = RowReading(row="published-0001", mode=Mode.TRAIN, workload="x", machine="pod16")
    result = report((row(),), ReadingsFile(readings=(reading,)), desk(predict=full))
    assert [row.refused for row in result.left_out] == [True]
    assert {bar.name: bar.verdict for bar in bars(result)}["published configurations"] == "FAIL"
    assert {bar.name: bar.verdict for bar in bars(of(0.0))}["published configurations"] == "PASS"


def test_programs_latencies_and_kernels_are_summed_apart_from_networks() -> None:
    kinds = {Mode.TILES: "programs", Mode.KERNEL: "kernels", Mode.LATENCY: "latencies", Mode.RATIO: "ratios"}
    for mode, name in kinds.items():
        result = of(0.5, mode=mode)
        assert len(result.summaries[name].rows) == 1
        assert not result.networks.rows


def test_a_latency_is_what_is_under_way_over_the_rate() -> None:
    def infer(_workload: str, **flags: Any) -> SimpleNamespace:
        assert flags["batch"] == 32
        return SimpleNamespace(capacity_per_s=SimpleNamespace(value=12_800, low=6_400, high=25_600))

    reading = RowReading(row="published-0001", mode=Mode.LATENCY, workload="x", machine="c600", batch=32, clients=4)
    result = judged(reading, row(9.0, "ms"), infer=infer)
    assert (result.predicted, result.low_90, result.high_90) == pytest.approx((10.0, 5.0, 20.0))
    assert result.inside


def test_a_kernel_is_asked_of_op() -> None:
    keywords: dict[str, Any] = {}

    def op(operator: str, **flags: Any) -> SimpleNamespace:
        keywords.update(flags, operator=operator)
        return SimpleNamespace(time_s=0.004)

    reading = RowReading(
        row="published-0001",
        mode=Mode.KERNEL,
        operator="elementwise",
        precision="32",
        sizes=("elements=64", "operation=add"),
    )
    result = judged(reading, row(200.0, "kernel calls/s"), op=op)
    assert keywords == {
        "operator": "elementwise",
        "chip": "gc200",
        "precision": "32",
        "elements": 64,
        "operation": ("add",),
    }
    assert result.error == pytest.approx(0.25)
    assert not result.has_interval


def test_no_row_is_no_pass() -> None:
    assert math.isnan(of().all_rows.median_abs)
    assert any_missed(of())
    assert view.answer(of()).startswith("FAIL, no row")


def test_rows_for_one_reason_are_left_out_together() -> None:
    file = ReadingsFile(readings=(), left_out=(LeftOutRows(rows=("published-0001", "published-0002"), reason="why"),))
    result = report((row(), row(id_="published-0002")), file, desk())
    assert [(reason, len(rows)) for reason, rows in result.reasons()] == [("why", 2)]
    assert view.reasons(result).rows == (("2", "1, 2", "why"),)


def test_json_has_every_row_with_the_keys_that_are_promised() -> None:
    document = answer_document(of(0.1, unstated=(0.5,))).tree()
    keys = {
        "id",
        "measured",
        "predicted",
        "low_90",
        "high_90",
        "error",
        "inside",
        "configuration",
        "family",
        "framework",
        "mode",
        "reason",
    }
    assert len(document["rows"]) == 3
    assert all(keys <= set(row) for row in document["rows"])
    stated, other, left_out = document["rows"]
    assert (stated["configuration"], other["configuration"]) == ("stated", "not stated")
    assert (stated["inside"], other["inside"]) == (True, False)
    assert (left_out["predicted"], left_out["reason"]) == (None, "why")
    networks = document["summary"]["networks"]
    assert {"count", "median_abs", "mean_signed", "inside_90"} <= set(networks)
    assert (networks["count"], networks["inside_90"]) == (1, 1)
    assert document["summary"]["networks_not_stated"]["count"] == 1
    assert {family["configuration"]: family["count"] for family in document["families"]} == {
        "stated": 1,
        "not stated": 1,
    }
    assert {bar["verdict"] for bar in document["bars"]} <= {"PASS", "FAIL"}


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_screen_is_as_wide_as_asked(published: PublishedReport, width: int) -> None:
    for verbose in (False, True):
        text = render(view.document(published, verbose=verbose), Look(width))
        assert max(map(len, text.splitlines())) <= width
        assert "BERT-Large" in text
        assert "configuration stated" in text
