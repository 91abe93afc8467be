"""JSON documents: what scripts rely on."""

import json
import math
from dataclasses import replace
from typing import Any

import pytest
from samples_of_results import estimate, fit_report, prediction, validation

from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.studies.documents import answer_document

ESTIMATES = ("throughput_samples_per_s", "samples_to_converge", "time_to_train_s")


def parse(text: str) -> Any:
    """Strict: NaN and infinities are no JSON."""

    def refuse(name: str) -> None:
        raise AssertionError(name)

    return json.loads(text, parse_constant=refuse)


def test_the_keys_of_a_prediction_and_their_order() -> None:
    assert list(parse(answer_document(prediction()).json())) == [
        "schema",
        "podsim",
        "workload",
        "topology",
        "chip",
        "ipus",
        "sdk",
        "division",
        "optimizer",
        "hosts",
        "engine",
        "mapping",
        "step_s",
        "step_interval_s",
        "step_grade",
        "step_causes",
        "breakdown_s",
        "throughput_samples_per_s",
        "samples_to_converge",
        "steps",
        "evaluations",
        "interval_samples",
        "startup_s",
        "training_s",
        "evaluation_s",
        "checkpoint_s",
        "time_to_train_s",
        "mfu",
        "memory",
        "choice",
        "memory_relief",
        "limited_by",
        "assumptions",
        "calibration",
        "interval",
        "grades",
    ]


def test_a_prediction_is_told_in_si_numbers() -> None:
    result = parse(answer_document(prediction()).json())
    assert result["schema"] == "podsim.prediction/1"
    assert result["ipus"] == 512
    assert result["step_s"] == 0.245
    assert result["mapping"]["stages"] == 9
    assert result["mapping"]["global_batch"] == 2 * 27 * 64 * 2
    assert result["mapping"]["layout"][8] == {"ipu": 0, "units": {"ffn": 1}}
    assert result["evaluation_s"] == 8.8
    assert result["memory"]["fraction"] == pytest.approx(640 / 900)
    assert result["memory"]["fullest_ipu"] == 7
    assert result["choice"]["rejected"] == {"does not fit in SRAM": 2980, "does not divide": 611}
    assert [other["mapping"]["accumulation"] for other in result["choice"]["considered"]] == [27, 54, 14]


def test_the_breakdown_sums_to_the_step() -> None:
    result = parse(answer_document(prediction()).json())
    assert sum(result["breakdown_s"].values()) == pytest.approx(result["step_s"], rel=1e-12)


@pytest.mark.parametrize("name", ESTIMATES)
def test_estimates_are_objects(name: str) -> None:
    result = parse(answer_document(prediction()).json())[name]
    assert list(result) == ["value", "low", "high", "grade", "beyond", "causes", "smaller"]
    assert result["grade"] == "extrapolated"
    assert result["low"] < result["value"] < result["high"]


def test_what_is_not_finite_is_null() -> None:
    endless = replace(estimate(math.inf, math.nan, -math.inf), grade=Grade.ASSUMED)
    result = parse(answer_document(replace(prediction(), time_to_train_s=endless)).json())
    assert result["time_to_train_s"]["value"] is None
    assert result["time_to_train_s"]["low"] is None


def test_the_same_prediction_gives_the_same_bytes() -> None:
    assert answer_document(prediction()).json() == answer_document(prediction()).json()


def test_json_is_ascii_for_any_pipe() -> None:
    limit = AnswerNote.of(NoteCode.FILE_TEXT, text="größe × 2")
    assert answer_document(replace(prediction(), limited_by=limit)).json().isascii()


def test_validation_gives_points_and_a_summary_by_quantity() -> None:
    result = parse(answer_document(validation()).json())
    assert list(result) == [
        "schema",
        "podsim",
        "points",
        "summary",
        "held_out",
        "intervals",
        "outside_tolerance",
        "convergence",
    ]
    point = result["points"][0]
    assert list(point)[:6] == ["id", "quantity", "published", "predicted", "error", "held_out_error"]
    summary = result["summary"]["step_s"]
    assert list(summary) == ["count", "mean_abs", "mean_signed", "worst", "held_out"]
    assert summary["held_out"]["worst"] == -0.058
    assert summary["held_out"]["held_out"] is None
    assert result["outside_tolerance"] == []


def test_a_fit_report_keeps_its_field_names() -> None:
    result = parse(answer_document(fit_report()).json())
    assert result["schema"] == "podsim.fit/1"
    assert result["parameters"]["compute.efficiency"]["value"] == 0.412
    assert result["correlations"] == [["compute.efficiency", "exchange.efficiency", -0.87]]
    assert result["path"] == "calibration/parameters.toml"
