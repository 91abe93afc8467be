"""What the screen says of measurements."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, notes, tables, titles

import podsim
from podsim.model.quantity import Cause
from podsim.studies.documents import answer_document
from podsim.studies.explain import measurements_report as view
from podsim.studies.explain.measurements_result import Measurement, MeasurementRanking


@pytest.fixture(scope="module")
def ranking():
    prediction = podsim.predict("bert", pod=16, engine="analytic")
    answer = replace(
        prediction.time_to_train_s,
        value=600.0,
        low=480.0,
        high=750.0,
        causes={Cause.DISTANCE: 0.5, Cause.SEEDS: 0.3, Cause.MODEL: 0.19, Cause.NOISE: 0.01},
    )
    best = Measurement(
        workload="bert",
        machine="IPU-POD512",
        ipus=512,
        flags="bert --pod 512",
        step_s=0.5,
        low_s=540.0,
        high_s=667.0,
        narrower=0.5,
        causes={Cause.DISTANCE: 0.5},
    )
    none = replace(best, flags="bert --pod 16", narrower=0.001, low_s=480.1, high_s=749.9, causes={})
    worse = replace(none, flags="bert --pod 4", narrower=-0.2)
    return MeasurementRanking(prediction=prediction, answer=answer, runs=3, measurements=(best, none, worse))


def test_the_best_measurement_is_said_first(ranking):
    assert view.answer(ranking) == "3 runs of bert --pod 512, steps: interval 50 % narrower"
    rows = facts(view.document(ranking))
    assert [*rows] == ["Time to train", "Measure next", "Remaining uncertainty"]
    assert rows["Measure next"].remark == "3 runs of bert on IPU-POD512: interval 50 % narrower, 9.0 – 11.1 min"
    assert rows["Remaining uncertainty"].remark == "seed-to-seed spread 60 %, model error 38 %"


def test_what_is_not_worth_its_runs_is_listed_with_verbose_alone(ranking):
    (table,) = tables(view.document(ranking))
    assert titles(table)[0] == "3 runs of"
    assert [row[0] for row in table.rows] == ["bert --pod 512, steps"]
    assert table.rows[0][-1] == "distance beyond calibration"
    (table,) = tables(view.document(ranking, verbose=True))
    assert [(row[0], row[3]) for row in table.rows] == [
        ("bert --pod 512, steps", "50 %"),
        ("bert --pod 16, steps", "none"),
        ("bert --pod 4, steps", "none"),
    ]


def test_how_to_use_it_is_said(ranking):
    assert notes(view.document(ranking), "Next") == [
        "podsim calibrate --logs DIR --out mine.toml, then --parameters mine.toml"
    ]


def test_nothing_to_measure_is_an_answer(ranking):
    nothing = replace(ranking, measurements=ranking.measurements[1:])
    assert "no measurement" in view.answer(nothing)
    rows = facts(view.document(nothing))
    assert rows["Measure next"].remark.startswith("nothing")
    assert rows["Sources of uncertainty"].remark.startswith("distance beyond calibration 50 %, seed")
    assert not tables(view.document(nothing))
    assert not notes(view.document(nothing), "Next")


def test_what_narrows_is_drawn(ranking):
    drawn = bars(view.document(ranking, charts=True))
    assert [(bar.label, bar.share, bar.text) for bar in drawn] == [
        ("bert --pod 512, steps", 0.5, "9.0 – 11.1 min"),
        ("bert --pod 16, steps", 0.001, "8.0 – 12.5 min"),
    ]
    assert not bars(view.document(ranking))


def test_json_has_every_candidate(ranking):
    table = answer_document(ranking).tree()
    assert (table["schema"], table["quantity"], table["runs"]) == ("podsim.measurements/1", "time_to_train_s", 3)
    assert [item["narrower"] for item in table["measurements"]] == [0.5, 0.001, -0.2]
    assert table["measurements"][0]["causes"] == {"distance": 0.5}


def test_runs_to_the_target_are_told_from_steps(ranking):
    best, *others = ranking.measurements
    longer = replace(ranking, measurements=(replace(best, converges=True), *others))
    assert view.answer(longer).startswith("3 runs of bert --pod 512, to the target: ")
    assert facts(view.document(longer))["Measure next"].remark.startswith(
        "3 runs of bert on IPU-POD512 to the target: "
    )
    assert longer.to_dict()["measurements"][0]["converges"] is True
