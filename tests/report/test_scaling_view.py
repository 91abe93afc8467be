"""What the screen and JSON say of one workload on machines of growing size."""

from dataclasses import replace

import pytest
from parts_of_documents import charts, facts, headings, notes, tables, titles
from samples_of_results import estimate, prediction

from podsim.model.goodput import CheckpointCost, GoodputReport, InterruptedRun, LostTime, Quantiles
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prices import Terms
from podsim.model.program import Part
from podsim.model.quantity import Estimate, Grade
from podsim.model.run_cost import MachineOwnership, Money
from podsim.report import numbers
from podsim.report.doc import Note
from podsim.report.page import fragment
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.scale import law_report, step_shares
from podsim.studies.scale import report as view
from podsim.studies.scale.charts import of_series
from podsim.studies.scale.doublings import gain
from podsim.studies.scale.doublings import knee as knee_of
from podsim.studies.scale.result import Doubling, PublishedTime, ScaleReport, ScaleRow, Scaling, ScalingCurve

LARGE = prediction(beyond=1.0)
SMALL = replace(
    LARGE,
    topology="pod64",
    ipus=64,
    time_to_train_s=estimate(600.0, 540.0, 660.0, 1.0),
    throughput_samples_per_s=estimate(7053.0, 7000.0, 7100.0, 1.0),
    assumptions=(
        AnswerNote.of(NoteCode.FILE_TEXT, text="division closed"),
        AnswerNote.of(NoteCode.FILE_TEXT, text="1 host"),
    ),
)
PUBLISHED = PublishedTime(
    point="p", round="v1.1", global_batch=6144, time_to_train_s=660.0, throughput_samples_per_s=6500.0
)
CURVE = ScalingCurve(
    unit_ipus=64, unit_samples_per_s=7053.0, contention=0.012, coherency=0.0005, error=0.034, machines=4
)
REPORT = ScaleReport(
    workload="bert",
    workload_title="BERT-Large",
    target="0.72",
    scaling=Scaling.BEST,
    interval=0.9,
    rows=(
        ScaleRow(topology="pod16", ipus=16, refused="too small"),
        ScaleRow(
            topology="pod64", ipus=64, prediction=SMALL, efficiency=1.0, time_efficiency=1.0, published=(PUBLISHED,)
        ),
        ScaleRow(topology="pod512", ipus=512, prediction=LARGE, efficiency=0.5, time_efficiency=0.4),
    ),
    doublings=(Doubling(from_ipus=64, to_ipus=512, throughput=0.15, time=0.1),),
    amdahl=replace(CURVE, coherency=0.0),
    universal=CURVE,
    knee_gain=0.2,
    knee_ipus=128.0,
    peak_ipus=None,
    grown={Part.BUBBLE: 0.4, Part.SYNC: 0.0, Part.COMPUTE: -0.1},
)


def test_the_answer_in_a_line():
    assert view.answer(REPORT) == "10.0 min on 64 IPUs to 2.47 min on 512 IPUs: 4.1× for 8× the IPUs"
    assert view.answer(replace(REPORT, rows=REPORT.rows[:2])) == "10.0 min on 64 IPUs"


def test_a_row_a_machine_with_one_that_does_not_fit():
    refused, small, large = tables(view.document(REPORT))[0].rows
    assert refused[:3] == ("pod16", "16", "no")
    assert small[:8] == ("pod64", "64", "10.0", "9.0 – 11.0", "", "11.0 (v1.1)", "7,050", "100 %")
    assert (large[4], large[7]) == ("7.53", "40 %")
    details = tables(view.document(REPORT, verbose=True))[0].rows
    assert details[1][11:12] == ("110",)
    assert details[2][12:17] == ("50 %", "19 %", "9 %", "0 %", "15 %")
    assert titles(tables(view.document(REPORT))[0])[2] == "Time, min"


def test_minutes_saved_have_no_more_decimals_than_times():
    close = replace(LARGE, time_to_train_s=estimate(570.0, 540.0, 600.0, 1.0))
    rows = tables(view.document(replace(REPORT, rows=(REPORT.rows[1], replace(REPORT.rows[2], prediction=close)))))[0]
    assert rows.rows[1][titles(rows).index("Saved, min")] == "0.50"


def test_a_saving_of_less_than_a_digit_of_a_coarse_time_is_not_nothing():
    """BERT on POD4096, 16 times beyond calibration: 2 min after 2.54 on POD2048 was shown as 0 saved."""
    coarse = replace(LARGE, time_to_train_s=estimate(133.0, 68.0, 190.0, 16.0))
    near = replace(SMALL, time_to_train_s=estimate(152.0, 100.0, 212.0, 8.0))
    rows = (replace(REPORT.rows[1], prediction=near), replace(REPORT.rows[2], prediction=coarse))
    table = tables(view.document(replace(REPORT, rows=rows)))[0]
    place = titles(table).index("Saved, min")
    assert (table.rows[1][2], table.rows[1][place]) == ("2.2", "0.3")
    same = replace(rows[1], prediction=replace(coarse, time_to_train_s=estimate(152.0, 68.0, 230.0, 16.0)))
    assert tables(view.document(replace(REPORT, rows=(rows[0], same))))[0].rows[1][place] == "0"
    hardly = replace(rows[1], prediction=replace(coarse, time_to_train_s=estimate(151.6, 68.0, 230.0, 16.0)))
    assert tables(view.document(replace(REPORT, rows=(rows[0], hardly))))[0].rows[1][place] == "0.0"


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_width_leaves_out_the_evidence(width):
    (line,) = (
        text for text in render(view.document(REPORT), Look(width)).splitlines() if "min" in text and "90 %" in text
    )
    assert line.split()[-1] == "Evidence"


def test_why_there_is_no_answer_and_which_batches_differ():
    texts = notes(
        view.document(replace(REPORT, notes=(AnswerNote.of(NoteCode.FILE_TEXT, text="no pod8"),)), verbose=True), "·"
    )
    assert "pod16: too small" in texts
    assert "pod16: too small" in notes(view.document(REPORT), "·")
    assert "no pod8" in texts
    assert "Published with another global batch: pod64 6,144 in v1.1, here 6,912" in texts
    same = replace(PUBLISHED, global_batch=6912)
    like = replace(REPORT, rows=(replace(REPORT.rows[1], published=(same,)), REPORT.rows[2]))
    assert not any("another global batch" in text for text in notes(view.document(like, verbose=True)))
    assert "used other batches" in render(view.document(REPORT), Look(width=100))
    assert "used other batches" not in render(view.document(like), Look(width=100))


@pytest.mark.parametrize(("width", "words"), [(60, []), (100, ["Efficiency: ", "used other batches"])])
def test_columns_are_explained_where_they_stay(width, words):
    lines = render(view.document(REPORT), Look(width)).splitlines()
    assert [text for text in ("Efficiency: ", "used other batches") if any(text in line for line in lines)] == words
    assert "Efficiency: speed-up over growth in IPUs." in fragment(view.document(REPORT))


def test_idle_ipus_are_named_where_the_mapping_was_searched_for():
    idle = replace(REPORT, rows=(ScaleRow(topology="pod1024", ipus=1024, prediction=replace(LARGE, ipus=1024)),))
    assert any(text.endswith("would be slower. In use: 512 of pod512.") for text in notes(view.document(idle)))
    stated = replace(LARGE, ipus=1024, choice=replace(LARGE.choice, given="flags"))
    by_flags = replace(REPORT, rows=(ScaleRow(topology="pod1024", ipus=1024, prediction=stated),))
    assert not any("a run on all would be slower" in text for text in notes(view.document(by_flags)))


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({}, "mapping and batch searched per machine"),
        ({"scaling": Scaling.STRONG}, "global batch as on the first machine"),
        ({"preset": "v1.1"}, "as published (v1.1)"),
    ],
)
def test_the_global_batch_is_in_the_heading(change, text):
    assert headings(view.document(replace(REPORT, **change)))[0].endswith(text)


def replica_notes(choice):
    large = replace(LARGE, choice=choice)
    report = replace(REPORT, rows=(*REPORT.rows[:2], replace(REPORT.rows[2], prediction=large)))
    return [text for text in notes(view.document(report), "·") if "published" in text and "replica" in text]


@pytest.mark.parametrize(("faster", "said"), [(0.02, True), (None, False)])
def test_a_small_gain_of_an_unpublished_replica_size_is_not_taken_and_said(faster, said):
    reason = AnswerNote.of(NoteCode.SHORTEST_TIME, most_ipus=16, faster=faster)
    told = ["Of replica sizes within 5 % in time one that a published run uses is taken."]
    assert replica_notes(replace(LARGE.choice, reason=reason)) == (told if said else [])


@pytest.mark.parametrize(("share", "said"), [(0.9, True), (1.1, False)])
def test_larger_replicas_that_would_be_quicker_are_named_with_their_time(share, said):
    own = replace(LARGE.choice.considered[0], mapping=LARGE.mapping)
    other = replace(own, mapping=replace(LARGE.mapping, replicas=2, ipus_per_replica=32), larger_than_searched=True)
    rows = (own, replace(other, time_to_train_s=share * own.time_to_train_s))
    time = numbers.time(share * LARGE.time_to_train_s.value)
    why = "not in the table: no published run has 32 IPUs per replica"
    told = [f"pod512 would take {time} with 2 replicas × 32 IPUs; {why}."]
    assert replica_notes(replace(LARGE.choice, considered=rows)) == (told if said else [])


def test_shares_count_all_reduces_of_gradients_and_inside_replicas():
    parts = {Part.COMPUTE: 5.0, Part.ALL_REDUCE: 1.0, Part.TENSOR_PARALLEL: 3.0, Part.RACK_STEPS: 1.0}
    step = estimate(10.0, 9.0, 11.0, 1.0)
    answer = replace(LARGE, step_s=step, timeline=replace(LARGE.timeline, step_s=10.0, breakdown_s=parts))
    assert step_shares.cells(answer) == ("0 %", "40 %", "10 %")


def test_laws_with_their_errors():
    rows = facts(view.document(REPORT, verbose=True))
    assert "Amdahl" not in facts(view.document(REPORT))
    assert (rows["Amdahl"].number, rows["Amdahl"].second) == ("1.2 %", "3.4 % fit error (rms)")
    assert rows["Universal"].remark == "and 0.05 % coherency per pair of parts the size of the smallest machine"
    few = view.document(replace(REPORT, universal=None), verbose=True)
    assert "Universal" not in facts(few)
    assert any("it needs four machines" in text for text in notes(few))
    weak = view.document(replace(REPORT, scaling=Scaling.WEAK), verbose=True)
    assert not any("--scaling strong" in text for text in notes(weak))


def knee(**change):
    blocks = law_report.laws(replace(REPORT, **change))
    (text,) = (block.text for block in blocks if isinstance(block, Note) and block.label == "Throughput knee")
    return text


def test_from_where_a_doubling_gains_less():
    assert knee() == "beyond 130 IPUs a doubling gains less than 20 % in throughput, by the universal law"
    assert knee(knee_ipus=1024.0).endswith("law, beyond the machines compared")
    assert knee(knee_ipus=32.0).endswith("law, below the machines compared")
    assert knee(knee_ipus=None) == "none: every doubling gains at least 20 % in throughput"
    assert knee(peak_ipus=2000.0).endswith("; throughput peaks at 2,000 IPUs")
    assert knee(peak_ipus=256.0).endswith("at 260 IPUs, though the predictions themselves still rise")


def verdict(**change):
    (text, *_) = notes(view.document(replace(REPORT, **change)))
    return text


def test_the_verdict_says_from_where_on_doublings_gain_too_little_in_minutes():
    first = (
        "From 64 to 512 IPUs the speed grows 1.59× per doubling (−7.53 min); a doubling pays where it gives 1.9× the "
        "speed (--knee)."
    )
    assert verdict(knee_gain=0.9) == first
    assert verdict(knee_gain=0.05).startswith(
        "Up to 512 IPUs, the largest machine compared, each doubling gives at least 1.05×"
    )
    larger = replace(LARGE, topology="pod1024", ipus=1024, time_to_train_s=estimate(99.0, 90.0, 108.0, 1.0))
    rows = (*REPORT.rows, ScaleRow(topology="pod1024", ipus=1024, prediction=larger, efficiency=0.3))
    text = verdict(rows=rows, knee_gain=0.5)
    assert text == "Up to 512 IPUs, each doubling gives ≥ 1.5× the speed; 512 to 1,024: 1.49× (−49.0 s)."


def test_the_first_doubling_below_the_gain():
    (text,) = notes(view.document(REPORT, verbose=True), "Predicted")
    assert (
        text == "from 64 to 512 IPUs throughput grows by 15 %, the first doubling that gains less than 20 %, "
        "and a run is 1.10 times as fast"
    )
    assert notes(view.document(replace(REPORT, knee_gain=0.15), verbose=True), "Predicted") == []


def test_what_grows_and_what_shrinks():
    (text,) = notes(view.document(REPORT, verbose=True), "IPU-seconds per sample")
    assert text == "+30 % from 64 to 512 IPUs: +40 points from pipeline bubble, −10 points from compute"
    assert notes(view.document(replace(REPORT, rows=REPORT.rows[:2])), "IPU-seconds per sample") == []


def test_parts_that_hardly_grow_are_left_out():
    grown = replace(REPORT, grown={Part.BUBBLE: 0.4, Part.SYNC: 0.004})
    (text,) = notes(view.document(grown, verbose=True), "IPU-seconds per sample")
    assert text.endswith(": +40 points from pipeline bubble")


def test_times_are_drawn_with_their_intervals_and_published_runs():
    (chart,) = charts(view.document(REPORT))
    predicted, published = chart.series
    assert predicted.points == ((64.0, 10.0), (512.0, 148.0 / 60))
    assert predicted.band[0] == (9.0, 11.0)
    assert (published.points, published.joined) == (((64.0, 11.0),), False)
    assert published.label == "published, other batches"
    own = replace(PUBLISHED, global_batch=SMALL.mapping.global_batch)
    same = replace(REPORT, rows=(REPORT.rows[0], replace(REPORT.rows[1], published=(own,)), REPORT.rows[2]))
    assert charts(view.document(same))[0].series[1].label == "published, v1.1"
    assert chart.x.ticks == (64.0, 512.0)
    assert charts(view.document(replace(REPORT, rows=REPORT.rows[:2]))) == []


def test_machines_with_the_same_figure_are_not_drawn():
    """The last digits of five times that read alike would fill the height of a chart."""
    small, large = REPORT.rows[1:]
    same = replace(large.prediction, time_to_train_s=replace(SMALL.time_to_train_s, value=600.4))
    rows = (replace(small, published=()), replace(large, prediction=same))
    assert list(of_series(replace(REPORT, rows=rows))) == []
    assert len(list(of_series(REPORT))) == 1


def test_a_doubling_pays_up_to_the_last_machine_that_gains_enough():
    assert knee_of(replace(REPORT, knee_gain=0.05)) is LARGE
    assert knee_of(replace(REPORT, knee_gain=0.9)) is SMALL
    assert gain(REPORT, SMALL, LARGE) == pytest.approx((600.0 / LARGE.time_to_train_s.value) ** (1 / 3) - 1)


def test_verbose_has_mappings_limits_and_what_was_assumed_of_whom():
    doc = view.document(REPORT, verbose=True)
    assert tables(doc)[1].rows[0][:6] == ("pod64", "64 × 8", "2", "27", "245", "3.60")
    assert notes(doc, "pod512") == [str(LARGE.limited_by)]
    assert {"division closed", "1 host (pod64)", "8 hosts (pod512)"} <= set(notes(doc, "·"))


def test_runs_of_no_stated_length_are_told_by_throughput():
    endless = tuple(
        replace(row, prediction=replace(row.prediction, length_flags=("--tokens",))) for row in REPORT.rows[1:]
    )
    report = replace(REPORT, rows=endless)
    assert view.answer(report).startswith("7,050 samples/s on 64 IPUs")
    assert "run length not specified; add one: --tokens" in notes(view.document(report), "Time to train")
    assert not notes(view.document(REPORT), "Time to train")
    assert "in time to train" not in notes(view.document(report, verbose=True), "Predicted")[0]
    body = answer_document(report).tree()["machines"][0]
    assert (body["time_to_train_s"], body["length_flags"]) == (None, ["--tokens"])


def test_json_has_an_object_a_machine():
    body = answer_document(REPORT).tree()
    refused, small, large = body["machines"]
    assert refused == {
        "topology": "pod16",
        "ipus": 16,
        "refused": "too small",
        "efficiency": None,
        "time_efficiency": None,
        "published": [],
    }
    assert small["throughput_per_ipu_samples_per_s"] == pytest.approx(7053 / 64)
    assert large["outside_steps_s"] == pytest.approx(22.8)
    assert (large["mapping"]["global_batch"], small["published"][0]["round"]) == (6912, "v1.1")
    assert body["laws"]["universal"]["coherency"] == 0.0005
    assert "goodput" not in small


def long_run(result, share, finish_s):
    """A prediction with what failures leave of it."""

    def around(mean):
        return Quantiles(mean=mean, p5=0.9 * mean, p50=mean, p95=1.1 * mean)

    report = GoodputReport(
        workload="bert",
        workload_title="BERT",
        topology=result.topology,
        topology_title="",
        chip="gc200",
        ipus=result.ipus,
        step_s=0.2,
        run=InterruptedRun(work_s=1.0, checkpoint_s=1.0, detect_s=1.0, restart_s=1.0, parts=()),
        cost=CheckpointCost(state_bytes=1.0, start_s=1.0, way_s={"host": 1.0}),
        init_s=1.0,
        interval_s=300.0,
        searched=True,
        tried=(),
        runs=10,
        seed=0,
        finish_s=around(finish_s),
        time_to_finish_s=Estimate(value=finish_s, low=finish_s, high=finish_s, grade=Grade.ASSUMED),
        predicted_work_s=None,
        goodput=around(share),
        failures=around(2.0),
        lost=LostTime(**dict.fromkeys(LostTime.__slots__, 1.0)),
        assumptions=(),
    )
    return replace(result, goodput=report)


def test_what_failures_leave_has_columns_where_it_was_asked_for():
    refused, small, large = REPORT.rows
    failing = replace(REPORT, rows=(refused, replace(small, prediction=long_run(SMALL, 0.875, 720.0)), large))
    table = tables(view.document(failing))[0]
    assert titles(table)[-2:] == ["Goodput", "Ends in, min"]
    assert [cells[-2:] for cells in table.rows] == [("", ""), ("87.5 %", "12.0"), ("", "")]
    assert any("Goodput: useful share" in text for text in notes(view.document(failing), "·"))
    assert titles(tables(view.document(REPORT))[0])[-1] == "Evidence"
    assert not any("Goodput: useful share" in text for text in notes(view.document(REPORT), "·"))
    body = answer_document(failing).tree()["machines"][1]["goodput"]
    assert (body["goodput"]["mean"], body["interval_s"]) == (0.875, 300.0)


def test_what_a_run_costs_where_somebody_says_it():
    money = Money(
        terms=Terms(years=3.0, use=0.5, usd_per_kwh=0.12, pue=1.2),
        owned=MachineOwnership(capital=None, draw=None),
        capital_usd=None,
        energy_j=None,
        energy_usd=None,
        run_usd=estimate(1234.5, 1000.0, 1500.0, 1.0),
    )
    priced = replace(REPORT, rows=(replace(REPORT.rows[1], prediction=replace(SMALL, money=money)), REPORT.rows[2]))
    rows = tables(view.document(priced))[0].rows
    at = titles(tables(view.document(priced))[0]).index("Cost/run")
    assert [cells[at] for cells in rows] == ["$1.23k", "–"]
    assert any(text.startswith("Training cost: ") for text in notes(view.document(priced, verbose=True)))
    assert not any(text.startswith("Training cost: ") for text in notes(view.document(priced)))


def test_growth_that_idle_ipus_make_is_no_part_of_a_step():
    """DLRM uses 2 IPUs of every pod: IPU-seconds grow by those that idle, and compute stood there with +530 %."""
    small = replace(SMALL, mapping=replace(SMALL.mapping, replicas=8))
    rows = (replace(REPORT.rows[1], prediction=small), replace(REPORT.rows[2], prediction=replace(LARGE, ipus=4096)))
    idle = replace(REPORT, rows=rows, grown={Part.COMPUTE: 7.0})
    (text,) = notes(view.document(idle), "IPU-seconds per sample")
    assert text == "+700 % from 64 to 4,096 IPUs; 0 % counting only the IPUs in use"
