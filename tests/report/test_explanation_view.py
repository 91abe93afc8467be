"""What the screen and JSON say of a prediction taken apart."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables, titles
from samples_of_results import estimate, prediction

from podsim.model.program import Part
from podsim.model.quantity import Grade, SourceKind
from podsim.studies.documents import answer_document
from podsim.studies.explain import report as view
from podsim.studies.explain.result import Alternative, Explanation, Influence, Mechanism, Rise, Without

INFLUENCE = Influence(
    path="chip.clock",
    name="chip.clock",
    value="1.33 GHz",
    change=-0.0061,
    kind=SourceKind.DATASHEET,
    source="datasheet",
    grade=Grade.MEASURED,
)
HELPFUL = Alternative(name="more hosts", flags="--hosts 8", time_to_train_s=90.0, change=-0.1, why="less input")
TOLD = Explanation(
    prediction=replace(prediction(beyond=1.0), time_to_train_s=estimate(100.0, 90.0, 110.0, 1.0)),
    waterfall=(
        Rise(mechanism=Mechanism.IDEAL, added_s=60.0, until_s=60.0),
        Rise(mechanism=Part.ALL_REDUCE, added_s=50.0, until_s=110.0),
        Rise(mechanism=Mechanism.SEEDS, added_s=-10.0, until_s=100.0),
    ),
    without=(
        Without(name="sync", time_to_train_s=99.96, change=-4e-4),
        Without(name="bubble", time_to_train_s=70.0, change=-0.3),
    ),
    influences=(INFLUENCE, replace(INFLUENCE, name="chip.tiles", change=1e-5)),
    alternatives=(
        HELPFUL,
        replace(HELPFUL, name="fewer", change=-0.0099, why="hardly"),
        replace(HELPFUL, name="none", time_to_train_s=None, change=None, why="does not fit"),
    ),
)
ENDLESS = replace(
    TOLD, prediction=replace(TOLD.prediction, length_flags=("--tokens",), step_s=estimate(0.1, 0.09, 0.11, 1.0))
)


def test_the_answer_in_a_line():
    assert view.answer(TOLD).startswith("1.67 min; the batch: ")
    assert view.answer(ENDLESS).startswith("100 ms a step; the batch: ")


def test_each_bar_starts_where_the_one_before_ends():
    ideal, reduced, seeds = bars(view.document(TOLD))
    assert (ideal.label, ideal.share, ideal.start, ideal.share_text) == ("Ideal compute", 0.6, 0.0, "60.0 %")
    assert (reduced.label, reduced.share, reduced.start) == ("Gradient all-reduce", 0.5, pytest.approx(0.6))
    assert (seeds.share, seeds.start, seeds.share_text) == (0.1, 1.0, "−10.0 %")
    assert (ideal.text, seeds.text) == ("1.00 min", "1.67 min")


def test_small_parts_are_one_bar_of_the_short_screen():
    small = [Rise(mechanism=Part.SYNC, added_s=1.0, until_s=61.0), Rise(mechanism=Part.HOST, added_s=1.0, until_s=62.0)]
    rise = Rise(mechanism=Part.ALL_REDUCE, added_s=38.0, until_s=100.0)
    many = replace(TOLD, waterfall=(TOLD.waterfall[0], *small, rise))
    assert [bar.label for bar in bars(view.document(many))] == ["Ideal compute", "Gradient all-reduce", "Other"]
    assert bars(view.document(many))[-1].text == "1.67 min"
    assert len(bars(view.document(many, verbose=True))) == 4


def test_parts_of_compute_are_named_with_their_sum_and_those_that_have_no_bar_apart():
    small = (
        Rise(mechanism=Mechanism.PROGRAMS, added_s=1.5, until_s=61.5),
        Rise(mechanism=Mechanism.UNEVEN_STAGES, added_s=0.01, until_s=61.51),  # 0.0 %
        Rise(mechanism=Part.SYNC, added_s=1.0, until_s=62.5),
    )
    rise = Rise(mechanism=Part.ALL_REDUCE, added_s=37.5, until_s=100.0)
    many = replace(TOLD, waterfall=(TOLD.waterfall[0], *small, rise))
    text = "62 % of the time to train: ideal compute and, in Other, program overhead."
    assert notes(view.document(many), "Compute") == [text]
    assert notes(view.document(many, verbose=True), "Compute") == [
        "62 % of the time to train: ideal compute, program overhead."
    ]
    assert notes(view.document(TOLD), "Compute") == []  # compute is one bar


def test_every_mechanism_has_a_name():
    assert set(view.MECHANISMS) == set(Mechanism)


def test_what_would_be_less_without_is_by_what_it_saves():
    table = tables(view.document(TOLD, verbose=True))[0]
    assert table.rows == (("as predicted", "1.67", ""), ("bubble", "1.17", "−30 %"), ("sync", "1.67", "< 0.05 %"))
    assert titles(table) == ["What-if", "Time, min", "Change"]


def test_influences_that_show_and_all_of_them():
    assert facts(view.document(TOLD))["Sensitivity"].remark == "time to train, per +1 %: chip clock −0.61 %"
    first, second = tables(view.document(TOLD, verbose=True))[1].rows
    assert first == ("chip.clock", "1.33 GHz", "−0.61 %", "datasheet", "measured", "datasheet")
    assert second[2] == "none"
    many = replace(TOLD, influences=(INFLUENCE,) * (view.MOST_SENSITIVE + 2))
    assert facts(view.document(many))["Sensitivity"].remark.count("chip clock") == view.MOST_SENSITIVE


def test_parameters_of_the_fit_stand_in_words_on_the_short_screen():
    fitted = replace(TOLD, influences=(replace(INFLUENCE, name="sharding.weight", change=0.0027),))
    assert (
        facts(view.document(fitted))["Sensitivity"].remark
        == "time to train, per +1 %: sharding time per million weights +0.27 %"
    )
    assert tables(view.document(fitted, verbose=True))[1].rows[0][0] == "sharding.weight"


def test_a_score_has_its_own_bar_where_a_cause_names_it():
    small = tuple(Rise(mechanism=key, added_s=0.01, until_s=0.01) for key in (Mechanism.SEEDS, Part.SYNC, Part.HOST))
    told = replace(TOLD, waterfall=(TOLD.waterfall[0], *small))
    assert "MLPerf score vs one run" not in [bar.label for bar in bars(view.document(told))]
    scored = replace(told.alternatives[0], why="compute −3.0 %, MLPerf score vs one run −1.2 %")
    named = replace(told, alternatives=(scored, *told.alternatives[1:]))
    assert "MLPerf score vs one run" in [bar.label for bar in bars(view.document(named))]


def test_what_would_help_stands_apart_from_what_would_not():
    assert facts(view.document(TOLD))["Little or no help"].remark == "fewer (< 1 % faster), none (does not fit)"
    assert tables(view.document(TOLD))[0].rows == (("more hosts", "1.50", "−10 %", "less input"),)
    helpful, others = tables(view.document(TOLD, verbose=True))[2:]
    assert helpful.rows == (("more hosts", "1.50", "−10 %", "less input", "--hosts 8"),)
    assert others.rows == (
        ("fewer", "1.65", "−1.0 %", "hardly", "--hosts 8"),
        ("none", "–", "", "does not fit", "--hosts 8"),
    )
    assert "What would help (≥ 1 %, configuration and rest of the mapping kept)" in headings(view.document(TOLD))
    only = view.document(replace(TOLD, alternatives=(HELPFUL,)))
    assert "What would not help" not in headings(only)


def test_a_run_of_no_stated_length_is_explained_by_its_step():
    rows = facts(view.document(ENDLESS))
    assert (rows["Step time"].number, rows["Step time"].unit) == ("100", "ms")
    assert "Throughput" in rows
    assert "Time to train" in facts(view.document(TOLD))
    assert any("timed for the same number of samples" in text for text in notes(view.document(ENDLESS)))
    assert rows["Time to train"].remark == "run length not specified; add one: --tokens"


def test_the_mapping_and_idle_ipus_are_named():
    mapping = facts(view.document(TOLD))["Mapping"]
    assert mapping.remark == "64 replicas × 8 IPUs, micro-batch 2, accumulation 27, global batch 6,912"
    assert headings(view.document(TOLD))[0] == "BERT-Large, MLPerf on IPU-POD512 (512 × gc200, 8 hosts), explained"
    idle = replace(TOLD, prediction=replace(TOLD.prediction, ipus=1024))
    assert (
        headings(view.document(idle))[0]
        == "BERT-Large, MLPerf on IPU-POD512 (1,024 × gc200, 512 used, 8 hosts), explained"
    )


def test_far_out_one_digit_counts():
    far = replace(TOLD, prediction=replace(TOLD.prediction, time_to_train_s=estimate(100.0, 90.0, 110.0, 20.0)))
    assert [bar.text for bar in bars(view.document(far))] == ["1 min", "2 min", "2 min"]
    assert any("20× beyond calibration" in text for text in notes(view.document(far)))
    assert not any("beyond calibration" in text for text in notes(view.document(TOLD)))


def test_json_has_what_the_screen_rounds():
    body = answer_document(TOLD).tree()
    assert body["schema"] == "podsim.explanation/1"
    assert [item["helps"] for item in body["alternatives"]] == [True, False, False]
    assert body["waterfall"][1] == {"mechanism": "all_reduce", "added_s": 50.0, "until_s": 110.0}
    assert body["mapping"]["global_batch"] == 6912
    assert body["without"][1]["change"] == -0.3
    assert "explains" not in body
    endless = answer_document(ENDLESS).tree()
    assert (endless["explains"], endless["length_flags"]) == ("step", ["--tokens"])
