"""Published microbenchmarks: the reader, the patterns of the exchange, the rules, the report."""

from __future__ import annotations

import math
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from podsim.calibration.microbenchmarks import compare as comparison
from podsim.calibration.microbenchmarks.fitted_measurements import FITTED_CONSTANTS, constant_of
from podsim.calibration.microbenchmarks.measurement_families import FAMILIES
from podsim.calibration.microbenchmarks.rules import Rule
from podsim.cli.commands import validate_command as command
from podsim.errors import InputError
from podsim.files import catalog, microbenchmarks
from podsim.model.chip import Chip
from podsim.model.microbenchmark import (
    ComparedMeasurement,
    ErrorLimit,
    MicrobenchmarkReport,
    Statistic,
    quantile,
    summary,
)
from podsim.physics import exchange
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.validate import microbenchmarks_report as view

ROWS = microbenchmarks.all_measurements()
LINE = "a-1,gc2,1216,1.6,latency,one word,tiles=2;bytes=4,fp32,0.133,us,note,jia-2019,table 4.1"


@pytest.fixture
def report(measured: MicrobenchmarkReport) -> MicrobenchmarkReport:
    return measured


@pytest.fixture(scope="module")
def gc2() -> Chip:
    return catalog.chip("gc2").value


@pytest.fixture
def table(tmp_path: Path) -> Callable[..., Path]:
    def write(*lines: str, header: str = ",".join(microbenchmarks.HEADER)) -> Path:
        path = tmp_path / "table.csv"
        path.write_text("\n".join([header, *lines, ""]), encoding="utf-8")
        return path

    return write


# --- the files ------------------------------------------------------------------------------------------------------


def test_every_row_of_the_sources_is_carried() -> None:
    assert Counter(row.id.startswith("published-") for row in ROWS) == {False: 2074, True: 103}
    assert len({row.id for row in ROWS}) == len(ROWS)


def test_every_row_names_a_known_source_and_a_chip_that_has_a_file() -> None:
    assert {row.source for row in ROWS} <= set(catalog.sources())
    assert {row.chip for row in ROWS} - {""} <= set(catalog.names("chips"))


def test_a_row_is_read_as_it_is_written(table: Callable[..., Path]) -> None:
    (row,) = microbenchmarks.read(table(LINE))
    assert (row.value, row.unit, row.shape) == (0.133, "us", {"tiles": "2", "bytes": "4"})
    assert row.whole("bytes") == 4


def test_all_faults_of_a_file_are_said_at_once(table: Callable[..., Path]) -> None:
    wrong = [
        LINE,
        LINE,
        LINE.replace("a-1", "a-2").replace("0.133", "fast"),
        LINE.replace("a-1", "a-3").replace("us,", ","),
    ]
    with pytest.raises(InputError) as caught:
        microbenchmarks.read(table(*wrong))
    assert [line.split()[0] for line in caught.value.context] == ["3", "4", "5"]
    assert "stands in table.csv already" in caught.value.context[0]
    assert '"fast" is not a finite number' in caught.value.context[1]


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "", "1e999"])
def test_a_measurement_is_a_finite_number(table: Callable[..., Path], value: str) -> None:
    with pytest.raises(InputError, match="1 error"):
        microbenchmarks.read(table(LINE.replace("0.133", value)))


@pytest.mark.parametrize(
    ("raw", "said"),
    [
        (b"id,chip\n1,2\n", "other columns"),
        (b"", "other columns"),
        (b"\xff\xfe\x00", "not UTF-8"),
        ((",".join(microbenchmarks.HEADER) + "\na,b\n").encode(), "cut short"),
        ((",".join(microbenchmarks.HEADER) + '\n"a').encode(), "no CSV"),
    ],
)
def test_what_is_no_table_is_one_clear_message(tmp_path: Path, raw: bytes, said: str) -> None:
    path = tmp_path / "broken.csv"
    path.write_bytes(raw)
    with pytest.raises(InputError, match=said):
        microbenchmarks.read(path)


def test_a_missing_file_and_a_folder_are_one_message(tmp_path: Path) -> None:
    for path, text in ((tmp_path / "none.csv", "there is no file"), (tmp_path, "is a folder")):
        with pytest.raises(InputError, match=text):
            microbenchmarks.read(path)


# --- the exchange ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pairs", [1, 2, 8, 100])
def test_the_furthest_of_random_pairs_is_the_drawn_mean(pairs: int) -> None:
    drawn = random.Random(pairs)  # noqa: S311  (draws to compare with, no secret)
    greatest = [max(abs(drawn.random() - drawn.random()) for _ in range(pairs)) for _ in range(4000)]
    assert exchange.furthest_of_pairs(pairs) == pytest.approx(math.fsum(greatest) / len(greatest), abs=0.01)


@pytest.mark.parametrize("points", [2, 3, 20])
def test_the_range_of_random_points_is_the_drawn_mean(points: int) -> None:
    drawn = random.Random(points)  # noqa: S311  (draws to compare with, no secret)
    ranges = []
    for _ in range(4000):
        places = [drawn.random() for _ in range(points)]
        ranges.append(max(places) - min(places))
    assert exchange.furthest_of_points(points) == pytest.approx(math.fsum(ranges) / len(ranges), abs=0.01)


def test_two_points_are_one_pair() -> None:
    assert exchange.furthest_of_points(2) == pytest.approx(exchange.furthest_of_pairs(1))


def test_a_word_across_the_chip_by_hand(gc2: Chip) -> None:
    # 112 of sync, 59 to the nearest tile and a third of the 98 more to the furthest, one word of 4 B at 3.948 B/cycle
    assert exchange.transfers_cycles(1, gc2) == pytest.approx(112 + 59 + 98 / 3 + 4 / 3.948)


def test_a_chip_without_distances_pays_its_exchange_start(gc200: Chip) -> None:
    assert exchange.travel_cycles(gc200, 0.0) == exchange.travel_cycles(gc200, 1.0) == gc200.exchange.start_cycles


def test_more_words_take_as_many_more_cycles(gc2: Chip) -> None:
    assert exchange.scatter_cycles(800, gc2) - exchange.scatter_cycles(400, gc2) == pytest.approx(100 / 0.987)
    assert exchange.all_to_all_cycles(609, gc2) - exchange.all_to_all_cycles(608, gc2) > 1 / 0.987


def test_neighbours_take_a_broadcast_together(gc2: Chip) -> None:
    alone, together = (exchange.broadcast_cycles(receivers, 1e6, gc2) for receivers in (3, 4))
    assert alone / together == pytest.approx(2, rel=0.01)


# --- the rules ------------------------------------------------------------------------------------------------------


def test_every_row_has_a_rule() -> None:
    assert [row.id for row in ROWS if comparison.rule_of(row) is None] == []


def test_every_rule_decides_over_a_row_and_names_a_known_family() -> None:
    deciding = {id(comparison.rule_of(row)) for row in ROWS}
    assert [(rule.category, rule.what) for rule in comparison.RULES if id(rule) not in deciding] == []
    assert {rule.family for rule in comparison.RULES} - {""} == set(FAMILIES)


def test_a_rule_predicts_or_says_why_not() -> None:
    with pytest.raises(ValueError, match="predicts a family or gives a reason"):
        Rule(category="latency")


def test_no_row_is_lost(report: MicrobenchmarkReport) -> None:
    assert len(report.compared) + len(report.left_out) == len(ROWS)
    assert all(item.reason for item in report.left_out)
    assert all(math.isfinite(item.error) and item.predicted > 0 for item in report.compared)


@pytest.mark.parametrize("family", ["pairwise", "all-to-all", "latency"])
def test_the_mk1_exchange_is_within_its_bar(report: MicrobenchmarkReport, family: str) -> None:
    (result,) = [item for item in report.summaries if item.family.key == family]
    assert result.verdict == "PASS"
    assert result.mean_abs <= 0.05


def test_the_same_measurement_counts_once(report: MicrobenchmarkReport) -> None:
    kept = [
        (i.row.chip, i.row.what, i.row.shape_text, i.row.precision, i.row.locator, i.row.value) for i in report.compared
    ]
    assert len(set(kept)) == len(kept)


# --- what is said ---------------------------------------------------------------------------------------------------


def _hand_made(*errors: float, limit: float = 0.05) -> MicrobenchmarkReport:
    family = replace(
        FAMILIES["latency"], bars=(ErrorLimit(statistic=Statistic.MEAN, limit=limit),), why="the reason of the miss"
    )
    row = next(row for row in ROWS if row.id == "latency-0002")
    items = tuple(ComparedMeasurement(row=row, family="latency", predicted=row.value * (1 + error)) for error in errors)
    return MicrobenchmarkReport(compared=items, left_out=(), summaries=(summary(family, errors),))


def test_rows_behind_a_constant_are_those_of_its_source() -> None:
    rows = {row.id: row for row in ROWS}
    assert constant_of(rows["memory-0001"], "sram") == "gc2 sram.load"
    gathers = next(row for row in ROWS if row.source == "hydronet-gnn" and row.what.startswith("row gather"))
    assert constant_of(gathers, "gather") == "gather.FRAMEWORK_CYCLES"
    assert constant_of(gathers, "independent") == ""
    later = replace(rows["latency-0002"], locator="table 4.19")
    assert constant_of(rows["latency-0002"], "latency") == "gc2 sync.on_chip"
    assert constant_of(later, "latency") == ""


def test_rows_behind_a_constant_count_apart() -> None:
    (known,), (other,) = _hand_made(0.1).compared, _hand_made(0.3).compared
    mixed = replace(_hand_made(0.1), compared=(replace(known, fitted="x"), other, other))
    assert [(item.family.title, item.count) for item in mixed.by_constant] == [("no constant", 2), ("x", 1)]
    details = answer_document(mixed).tree()
    assert [row["fitted"] for row in details["rows"]] == ["x", "", ""]
    assert [(constant["constant"], constant["count"]) for constant in details["constants"]] == [("", 2), ("x", 1)]


def test_bars_say_how_many_of_their_rows_are_fitted() -> None:
    """Fitted rows that are good do not hide the others."""
    family = replace(FAMILIES["latency"], bars=(ErrorLimit(statistic=Statistic.MEDIAN, limit=0.05),))
    result = summary(family, (0.01, 0.02, 0.3), (True, True, False))
    assert (result.fitted, result.not_fitted) == (2, 1)
    assert (result.median_abs_fitted, result.median_abs_not_fitted) == pytest.approx((0.015, 0.3))
    row = next(row for row in ROWS if row.id == "latency-0002")
    item = ComparedMeasurement(row=row, family="latency", predicted=row.value, fitted="x")
    for family_summary, flag in ((result, False), (summary(family, (0.01,), (True,)), True)):
        text = render(
            view.document(MicrobenchmarkReport(compared=(item,), left_out=(), summaries=(family_summary,))), Look(100)
        )
        assert "Limits, by rows that a constant was fitted to and others" in text
        assert ("fitted to or read from every row" in text) is flag


def test_stems_and_grouped_convolutions_are_judged_alone_and_pooled(report: MicrobenchmarkReport) -> None:
    summaries = {item.family.key: item for item in report.summaries}
    stems, grouped, pooled = (summaries[key] for key in ("stems", "grouped", "stems and grouped"))
    assert pooled.count == stems.count + grouped.count
    assert stems.family.bars == grouped.family.bars == pooled.family.bars
    assert [(bar.statistic.value, bar.limit) for bar in pooled.family.bars] == [("median", 0.25), ("90 %", 0.80)]
    assert (stems.verdict, grouped.verdict, pooled.verdict) == ("FAIL", "PASS", "PASS")


@pytest.mark.parametrize("family", ["gather", "convolution", "stems", "grouped", "matmul", "reduction"])
def test_every_row_behind_these_bars_is_one_that_a_constant_was_fitted_to(
    report: MicrobenchmarkReport, family: str
) -> None:
    (result,) = (item for item in report.summaries if item.family.key == family)
    assert (result.fitted, result.not_fitted) == (result.count, 0)
    assert result in report.only_fitted
    details = answer_document(report).tree()
    (line,) = (item for item in details["families"] if item["family"] == family)
    assert (line["fitted"], line["median_abs_not_fitted"]) == (result.count, None)


def test_the_link_that_was_drawn_through_measurements_is_marked() -> None:
    (pair,) = [row for row in ROWS if row.locator == "figure 4.4" and row.source == "jia-2019"][:1]
    assert constant_of(pair, "link latency") == "c2-server ipu-link.latency, hop"
    hosts = {row.locator[:10]: row for row in ROWS if row.source == "jia-2019" and row.category == "host"}
    assert constant_of(hosts["table 4.19"], "host") == "hostio.HOST_START_S"


def test_every_constant_has_rows(report: MicrobenchmarkReport) -> None:
    table = {item.family.key: item.count for item in report.by_constant}
    assert set(table) == {"", *(item.constant for item in FITTED_CONSTANTS)}
    assert sum(table.values()) == len(report.compared)


@pytest.mark.parametrize("family", ["convolution", "stems", "grouped"])
def test_convolutions_of_gc2_are_shown_as_released_too(report: MicrobenchmarkReport, family: str) -> None:
    """SDK 1.0 chose before copies and without SLIC, and what was measured says so; the other is further off."""
    mine, other = (
        next(item for item in report.summaries if item.family.key == key)
        for key in (family, f"{family}{comparison.AS_RELEASED}")
    )
    assert (other.count, other.verdict) == (mine.count, "")
    assert other.mean_abs > mine.mean_abs
    rows = [item for item in report.compared if item.family == family]
    assert sum(item.otherwise != item.predicted for item in rows) > len(rows) / 10


def test_a_summary_by_hand() -> None:
    result = summary(FAMILIES["latency"], (-0.1, 0.2, 0.3))
    assert (result.count, result.median_abs, result.worst) == (3, 0.2, 0.3)
    assert result.nine_in_ten_abs == pytest.approx(0.28)
    assert result.mean_abs == pytest.approx(0.2)
    assert result.mean_signed == pytest.approx(0.4 / 3)


def test_a_quantile_of_one_is_that_one() -> None:
    assert quantile([0.7], 0.9) == 0.7


def test_a_missed_bar_is_said_with_its_reason() -> None:
    missed, inside = _hand_made(0.06), _hand_made(0.04)
    assert (view.answer(missed)[:4], view.answer(inside)[:4]) == ("FAIL", "PASS")
    text = render(view.document(missed), Look(100))
    assert "on-chip latency: mean 6.0 %, limit 5 %" in text
    assert "the reason of the miss" in text
    assert "the reason of the miss" not in render(view.document(inside), Look(100))


def test_an_error_that_is_no_number_is_no_pass() -> None:
    assert summary(FAMILIES["latency"], (math.nan,)).verdict == "FAIL"


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_screen_is_as_wide_as_asked(report: MicrobenchmarkReport, width: int) -> None:
    for verbose in (False, True):
        text = render(view.document(report, verbose=verbose), Look(width))
        assert max(map(len, text.splitlines())) <= width
        assert ("latency-0002" in text) is verbose


def test_json_holds_every_row(report: MicrobenchmarkReport) -> None:
    text = answer_document(report).tree()
    assert text["schema"] == "podsim.microbenchmarks/1"
    assert len(text["rows"]) + len(text["left_out"]) == len(ROWS)
    row = text["rows"][0]
    assert row["error"] == pytest.approx(row["predicted"] / row["measured"] - 1)
    families = {
        family["family"].removesuffix(comparison.AS_RELEASED) for family in text["families"] if not family["pools"]
    }
    assert families == {row["family"] for row in text["rows"]}
    assert all(bool(family["why"]) <= (family["verdict"] == "FAIL") for family in text["families"])


@pytest.mark.parametrize(("error", "code"), [(0.01, 0), (0.9, 1)])
def test_the_exit_code_says_whether_a_bar_is_missed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: float, code: int
) -> None:
    import podsim

    monkeypatch.setattr(podsim, "microbenchmarks", lambda **_: _hand_made(error))
    assert command.validate(microbenchmarks=True) == code
    assert "on-chip latency" in capsys.readouterr().out
