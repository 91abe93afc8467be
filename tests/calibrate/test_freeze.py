"""Frozen predictions are what podsim predicts; `podsim validate --freeze` lets them move."""

from collections import Counter
from dataclasses import replace

import pytest

import podsim
from podsim.calibration.freeze import again, freeze
from podsim.files import catalog, frozen
from podsim.files.write import frozen_text
from podsim.model.family import FAMILIES
from podsim.model.training import EvaluationStyle
from podsim.model.validation import FreezeReport, FrozenPrediction
from podsim.studies.validate import frozen_report as view

ROWS = frozen.frozen_predictions()
HALF_A_DIGIT = 5.1e-4  # of four: a row that rounds the other way on another machine has not moved


SMALL = {"pod16", "pod64", "bow-pod64"}


def rows():
    """All rows; searches on larger machines, and of a workload that takes long, are slow."""
    for row in ROWS:
        long = row.preset is None and (row.topology not in SMALL or row.workload == "swin-tiny")
        name = f"{row.workload}-{row.topology}-{row.preset or 'searched'}"
        yield pytest.param(row, id=name, marks=[pytest.mark.slow] if long else [])


@pytest.mark.parametrize("row", [*rows()])
def test_prediction_has_not_moved(row):
    """If it did and was meant to: podsim validate --freeze, and a line under Predictions in the changelog."""
    now = freeze(row, podsim.predict(row.workload, topology=row.topology, preset=row.preset))
    seconds = {"step_s": None, "time_to_train_s": None}
    assert replace(now, **seconds) == replace(row, **seconds)
    assert now.step_s == pytest.approx(row.step_s, rel=2 * HALF_A_DIGIT)
    assert now.time_to_train_s == pytest.approx(row.time_to_train_s, rel=2 * HALF_A_DIGIT)


def test_the_table_is_small_enough_to_review_and_covers_what_is_published():
    assert len(ROWS) <= 60  # the limit of calibration/README.md
    table = Counter((row.workload, row.topology, row.preset) for row in ROWS)
    assert max(table.values()) == 1
    for name in catalog.names("workloads"):
        if catalog.workload(name).value.benchmark.style in (EvaluationStyle.FIXED, EvaluationStyle.POINTS):
            continue  # nothing is fitted to it: one of each family stands for all, so that the table stays small
        for preset in catalog.workload(name).value.presets:
            if preset.division is None:
                continue  # a mapping without a published result
            assert table[name, preset.topology, preset.name] == 1
        for topology in ("pod16", "pod64", "pod256", "pod512", "pod1024", "pod65536"):
            assert table[name, topology, None] == 1
    stated = set().union(*(catalog.workload(row.workload).tables for row in ROWS))
    # Units are what any of them is written out as; a family of which no run has a published length is not frozen.
    assert set(FAMILIES) - stated == {"unit"} | (set(FAMILIES[:-1]) - with_length())


def with_length():
    """Families of which a shipped workload has a run of a stated length."""
    shipped = [catalog.workload(name) for name in catalog.names("workloads")]
    long = [
        each
        for each in shipped
        if each.value.benchmark.style is not EvaluationStyle.FIXED or each.value.benchmark.run_samples
    ]
    return set(FAMILIES) & set().union(*(each.tables for each in long))


def test_what_is_written_reads_back_and_is_the_shipped_file(tmp_path):
    path = tmp_path / "frozen.toml"
    path.write_text(frozen_text(ROWS), encoding="utf-8")
    checked = catalog.describe(path)
    what, document = checked.what, checked.document
    assert (what, document.value.predictions) == ("frozen", ROWS)
    assert path.read_bytes() == frozen.path().read_bytes()


def test_freezing_keeps_the_questions_and_reports_what_moved(tmp_path, monkeypatch):
    rows = (FrozenPrediction(workload="resnet50", topology="pod16", preset="mlperf-v1.1-closed"), *ROWS[-2:-1])
    monkeypatch.setattr(frozen, "frozen_predictions", lambda: rows)
    report = podsim.freeze(path=tmp_path / "out.toml")
    texts = [(row.workload, row.topology, row.preset) for row in rows]
    assert [(row.workload, row.topology, row.preset) for row in report.after] == texts
    assert [was for was, _ in report.changes] == [rows[0]]
    assert report.after[0].accumulation == 10
    assert catalog.describe(tmp_path / "out.toml").document.value.predictions == report.after


def test_seconds_are_frozen_to_four_digits():
    (row,) = again([FrozenPrediction(workload="resnet50", topology="pod16", preset="mlperf-v1.1-closed")], ask)
    assert len(f"{row.step_s:.10g}".replace(".", "").strip("0")) <= 4
    assert row.step_s == pytest.approx(ask(row).step_s.value, rel=HALF_A_DIGIT)


def ask(row):
    return podsim.predict(row.workload, topology=row.topology, preset=row.preset, engine="analytic")


def test_the_screen_says_what_moved():
    was = ROWS[0]
    now = replace(was, accumulation=7, time_to_train_s=was.time_to_train_s * 1.1)
    report = FreezeReport(before=ROWS, after=(now, *ROWS[1:]), path="x.toml")
    assert view.answer(report) == f"1 of {len(ROWS)} frozen predictions moved"
    (row,) = view._change_table(report).rows
    assert row[-1] == "+10.00 %"
    assert "→" in row[2]
    assert view.answer(replace(report, after=ROWS)).startswith("none of")
