"""Details of screens: whole multiples in full, singular nouns, one unit a column, what a stated length is called."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, facts, headings, notes, tables, titles

import podsim
from podsim.report import figure, numbers
from podsim.report.doc import Bar, Bars, Doc
from podsim.report.page import fragment
from podsim.report.terminal import Look, render
from podsim.studies.compare import report as comparing
from podsim.studies.goodput import report as goodput
from podsim.studies.plan import report as planning
from podsim.studies.predict import report as predicting
from podsim.studies.predict import sequence_report as phases
from podsim.studies.scale import report as scaling


@pytest.mark.parametrize(("ratio", "text"), [(256.0, "256×"), (16, "16×"), (34.6, "35×"), (0.5, "0.5×")])
def test_a_whole_multiple_is_written_in_full(ratio, text):
    assert numbers.times(ratio) == text


def test_scaling_names_the_multiple_of_ipus_and_money_with_its_prefix():
    report = podsim.scale("gpt3-175b", pods="256,512", tokens=300e9, engine="analytic")
    assert scaling.answer(report).endswith("for 2× the IPUs")
    table = tables(scaling.document(report))[0]
    assert [row[titles(table).index("Cost/run")][-1] for row in table.rows] == ["M", "M"]
    assert table.rows[1][titles(table).index("Extra cost")].startswith("−$")


def test_one_candidate_is_singular():
    plan = podsim.plan("bert", machines="pod64")
    texts = " ".join(notes(planning.document(plan)) + notes(planning.document(plan, verbose=True)))
    assert "1 candidate ·" in texts
    assert "the best also timed by event simulation" in texts
    assert "1 candidates" not in texts
    assert "best 1" not in texts


def test_a_count_of_nothing_is_not_listed():
    plan = podsim.plan("bert", machines="pod64")
    none = replace(plan, counts={"slower than another mapping of their machine": 0, "do not fit in SRAM": 3})
    (search,) = notes(planning.document(none, verbose=True), "Search")
    assert search.endswith("not timed: 3 do not fit in SRAM")


@pytest.mark.parametrize(("workload", "remark"), [("resnet50", "given"), ("llama31-8b", "24.6 B tokens, given")])
def test_stated_samples_are_a_length_and_no_target(workload, remark):
    pod = 16 if workload == "resnet50" else 256
    answer = podsim.predict(workload, pod=pod, samples=3e6, engine="analytic")
    doc = predicting.document(answer)
    assert headings(doc)[0].endswith(", 3 M samples")
    assert facts(doc)["Run length"].remark == remark
    assert "Samples to converge" not in facts(doc)


def test_a_plan_for_stated_samples_is_a_run_of_so_many():
    plan = podsim.plan("resnet50", machines="pod16", samples=3e6)
    assert headings(planning.document(plan))[0].endswith("a run of 3 M samples")


def test_times_of_a_breakdown_have_one_unit():
    report = podsim.goodput("gpt3-175b", pod=4096, global_batch=1536, tokens=300e9, runs=20)
    doc = goodput.document(report, verbose=True)
    assert {bar.text.rpartition(" ")[2] for bar in bars(doc)} == {"days"}
    parts, tried = tables(doc)
    assert titles(parts)[3:] == ["MTBF all, days", "Failures", "Repair, h"]
    assert titles(tried)[0].startswith("Checkpoint interval, ")
    assert all(row[0].replace(",", "").replace(".", "").isdecimal() for row in tried.rows)


def test_a_part_below_a_tenth_of_a_unit_is_shown_as_less():
    report = podsim.goodput("bert", pod=16, work="90 d", runs=10)
    assert {bar.text for bar in bars(goodput.document(report))} >= {"90.0 days", "< 0.1 days"}


def test_phases_share_the_unit_of_their_times_and_steps():
    answer = podsim.predict("bert-large-full", pod=16, engine="analytic")
    table = tables(phases.document(answer))[0]
    for title in ("Time", "Step"):
        at = titles(table).index(title)
        assert len({row[at].rpartition(" ")[2] for row in table.rows}) == 1


def test_what_gets_longer_and_what_gets_shorter_go_apart():
    doc = comparing.document(podsim.compare("bert", ["pod64", "dgx-a100"], engine="analytic"), verbose=True)
    longer = [bar for bar in bars(doc) if not bar.falls]
    shorter = [bar for bar in bars(doc) if bar.falls]
    assert {bar.share_text for bar in longer} == {"longer"}
    assert {bar.share_text for bar in shorter} == {"shorter"}
    zero = {bar.start for bar in longer}
    assert len(zero) == 1
    for bar in shorter:
        assert bar.until == pytest.approx(zero.copy().pop())
        assert bar.text.startswith("−")


def test_bars_of_two_kinds_have_two_colours_wherever_they_are_drawn():
    both = Bars((Bar("a", 0.6, "longer", "+6 s", start=0.4), Bar("b", 0.4, "shorter", "−4 s", falls=True)))
    doc = Doc(((both,),))
    assert fragment(doc).count('class="bar falls"') == 1
    drawing = figure.svg(both)
    assert figure.COLOURS[0] in drawing
    assert figure.COLOURS[2] in drawing
    text = render(doc, Look(width=80, colour=True))
    assert "\x1b[36m" in text
    assert "\x1b[32m" in text


def test_a_thousand_micro_batches_have_their_comma():
    from podsim.model.validation import FrozenPrediction
    from podsim.studies.validate.frozen_report import _mapping

    row = FrozenPrediction(
        workload="bert", topology="pod4", replicas=1, ipus_per_replica=4, micro_batch=3, accumulation=1152
    )
    assert _mapping(row, row) == "searched: 1 × 4 × 3 × 1,152"
