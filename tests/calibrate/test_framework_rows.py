"""Which published rates constants of frameworks are fitted to, and what each row becomes; the fit as JSON."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from podsim.calibration.framework_fit import FrameworkFit, FrameworkGroup
from podsim.calibration.published.framework_rows import framework_rows
from podsim.errors import InputError
from podsim.model.framework import Framework
from podsim.model.framework_costs import FrameworkCosts
from podsim.model.microbenchmark import Microbenchmark
from podsim.model.program import Part
from podsim.model.readings import Mode, ReadingsFile, RowReading
from podsim.physics.hostio import IN_LINE_BYTES_PER_S
from podsim.studies.documents import answer_document

ROW = Microbenchmark(
    id="r",
    chip="gc200",
    tiles="",
    clock_ghz="",
    category="train",
    what="ResNet-50",
    shape={"framework": "pytorch"},
    precision="",
    value=2000.0,
    unit="images/s",
    note="",
    source="s",
    locator="",
)
READING = RowReading(row="r", mode=Mode.TRAIN, workload="resnet50", machine="pod16", replicas=4)


def predict(workload, **flags):
    """A step of 0.5 s, of which the framework takes 0.1 s, at 2,400 samples/s."""
    if workload == "none":
        raise InputError("no such workload")
    return SimpleNamespace(
        step_s=SimpleNamespace(value=0.5),
        throughput_samples_per_s=SimpleNamespace(value=2400.0),
        breakdown_s={Part.FRAMEWORK: 0.1},
        mapping=SimpleNamespace(replicas=4, micro_batch=5, accumulation=60),
    )


def rows(*measurements, reading=READING):
    readings = ReadingsFile(readings=tuple(replace(reading, row=row.id) for row in measurements))
    return framework_rows(measurements, readings, predict, lambda *_: 150e3)


def test_a_row_has_its_step_with_and_without_the_framework():
    (row,) = rows(ROW)
    assert (row.framework, row.family, row.workload) == (Framework.POPTORCH, "ResNet-50", "resnet50")
    assert (row.replicas, row.micro_batches) == (4, 60)
    assert row.without_s == pytest.approx(0.4)
    assert row.measured_s == pytest.approx(0.5 * 2400 / 2000)


def test_input_that_is_fetched_in_line_takes_its_bytes_over_one_stream():
    (waits,) = rows(ROW)
    assert waits.in_line_bytes_s == pytest.approx(150e3 * 5 * 60 / IN_LINE_BYTES_PER_S)
    (beside,) = rows(replace(ROW, shape={"framework": "popart"}))
    assert beside.in_line_bytes_s == 0


def test_a_family_may_be_that_of_the_reading():
    (row,) = rows(ROW, reading=replace(READING, family="vision"))
    assert row.family == "vision"


@pytest.mark.parametrize(
    "row", [replace(ROW, shape={}), replace(ROW, unit="ms"), replace(ROW, shape={"framework": "jax"})]
)
def test_rows_without_a_framework_and_rows_that_are_no_rate_are_left_out(row):
    assert rows(row) == ()


@pytest.mark.parametrize("change", [{"input_on_chip": True}, {"mode": Mode.INFER}, {"workload": "none"}])
def test_readings_that_fetch_nothing_train_nothing_or_are_not_known_are_left_out(change):
    assert rows(ROW, reading=replace(READING, **change)) == ()


def test_a_row_without_a_reading_does_not_hide_the_others():
    readings = ReadingsFile(readings=(READING,))
    made = framework_rows([replace(ROW, id="other"), ROW], readings, predict, lambda *_: 1.0)
    assert [row.id for row in made] == ["r"]


def test_json_has_groups_and_frameworks_as_one():
    def group(family, before):
        return FrameworkGroup(
            framework=Framework.POPTORCH,
            family=family,
            rows=(family,),
            before=(before,),
            in_sample=(0.1,),
            held_out=(0.2,),
        )

    fit = FrameworkFit(costs=FrameworkCosts(rows=2), groups=(group("a", -0.3), group("b", -0.5)), path="x.toml")
    body = answer_document(fit).tree()
    assert body["schema"] == "podsim.frameworks/1"
    assert body["path"] == "x.toml"
    assert [each["family"] for each in body["groups"]] == ["a", "b"]
    assert body["frameworks"]["poptorch"]["before"] == [-0.3, -0.5]
    assert body["costs"]["rows"] == 2
