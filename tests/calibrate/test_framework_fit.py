"""Constants of frameworks: found again from rows made with them, whatever the error of each network."""

import math
from dataclasses import replace
from itertools import product

import pytest

from podsim.calibration.framework_fit import FrameworkRow, fit
from podsim.files import frameworks_file as file
from podsim.files.load import load
from podsim.files.readers import reader
from podsim.files.write import frameworks_text
from podsim.model.framework import INTERFACES, Framework
from podsim.model.framework_costs import MICRO_BATCH, REPLICA
from podsim.report.doc import DocTable
from podsim.report.terminal import Look, render
from podsim.studies.calibrate import frameworks_report as view

TRUE_MICRO_BATCH_S, TRUE_REPLICA_S = 6e-4, 5e-5
NETWORKS = {"one": 0.08, "two": -0.05, "three": 0.0}  # log errors of the model, the same under every framework


def rows():
    rows = []
    for (network, error), framework, replicas in product(NETWORKS.items(), Framework, (1, 4, 16)):
        interface = INTERFACES[framework]
        without_s, micro_batches = 4.0 / replicas, 512 // replicas
        served = replicas if interface.one_process else 0
        each_s = (TRUE_MICRO_BATCH_S + served * TRUE_REPLICA_S) if interface.fetches_in_line else 0.0
        in_line_s = 0.01 / replicas if interface.fetches_in_line else 0.0
        measured_s = (without_s + micro_batches * each_s + in_line_s) * math.exp(error)
        rows.append(
            FrameworkRow(
                id=f"{network}-{framework}-{replicas}",
                framework=framework,
                family=network,
                workload=network,
                replicas=replicas,
                micro_batches=micro_batches,
                in_line_bytes_s=in_line_s,
                without_s=without_s,
                measured_s=measured_s,
            )
        )
    return rows


def test_constants_are_found_again():
    costs = fit(rows()).costs
    assert costs.value(MICRO_BATCH) == pytest.approx(TRUE_MICRO_BATCH_S, rel=0.03)
    assert costs.value(REPLICA) == pytest.approx(TRUE_REPLICA_S, rel=0.03)


def test_what_is_held_out_has_no_part_in_its_prediction():
    """One framework of one family measured twice as slow: its held-out rates show all of it, the others nothing."""
    made = rows()
    slow = [
        FrameworkRow(**{**{name: getattr(row, name) for name in row.__slots__}, "measured_s": 2 * row.measured_s})
        if (row.framework, row.family) == (Framework.POPTORCH, "two")
        else row
        for row in made
    ]
    before = {(group.framework, group.family): group.held_out for group in fit(made).groups}
    after = {(group.framework, group.family): group.held_out for group in fit(slow).groups}
    key = (Framework.POPTORCH, "two")
    assert after[key] == pytest.approx([2 * (1 + error) - 1 for error in before[key]], rel=1e-6)


def test_a_file_that_is_written_is_read_again(tmp_path):
    costs = fit(rows()).costs
    path = tmp_path / "frameworks.toml"
    path.write_text(frameworks_text(costs), encoding="utf-8")
    assert reader("frameworks")(load(path, "frameworks")).value == costs


def test_the_shipped_constants_are_few_and_known():
    costs = file.costs()
    assert set(costs.fitted) == {MICRO_BATCH, REPLICA}
    assert all(0 < item.error < 0.5 and abs(item.pull) < 1 for item in costs.fitted.values())


@pytest.mark.parametrize("width", [60, 100, 160])
def test_a_screen_is_as_wide_as_asked(width):
    named = [replace(row, family=f"EfficientNet-B4, {row.family}") for row in rows()]
    text = render(view.document(replace(fit(named), path="frameworks.toml")), Look(width))
    assert max(map(len, text.splitlines())) <= width
    assert "In sample" in text
    assert "Held out" in text


def test_a_reference_has_nothing_in_sample_and_nothing_held_out():
    """Its predictions hold no constant: repeating the error in both columns would call it held out."""
    screen = view.document(fit(rows()))
    (table,) = [block for group in screen.groups for block in group if isinstance(block, DocTable)]
    assert {row[4:6] for row in table.rows if row[0] in ("popart", "tensorflow1", "popxl", "poprt")} == {("–", "–")}
    assert all("–" not in row[4:6] for row in table.rows if row[0] in ("poptorch", "tensorflow2"))
