"""What the screen says of machines side by side."""

from dataclasses import replace

import pytest
from parts_of_documents import bars, headings, notes, tables, titles
from samples_of_results import estimate, prediction

from podsim.model.comparison import CaseDifference, Comparison, ComparisonCase, InfeasibleSide, PartDifference, Ratio
from podsim.model.quantity import Cause
from podsim.report.views import comparison as view

BASE = prediction(beyond=1.0)
OTHER = replace(BASE, time_to_train_s=estimate(296.0, 252.0, 372.0, 1.0))
RATIO = Ratio(value=2.0, low=1.9, high=2.15)
DIFFERENCE = CaseDifference(
    label="bow",
    time=RATIO,
    unshared=Ratio(value=2.0, low=1.5, high=2.5),
    throughput=0.5,
    samples=1.04,
    causes={Cause.SEEDS: 0.75, Cause.MODEL: 0.25},
    parts=(
        PartDifference(part="compute", before_s=60.0, after_s=90.0),
        PartDifference(part="start", before_s=14.0, after_s=4.0),
        PartDifference(part="sync", before_s=1.0, after_s=1.01),
    ),
    per_dollar=None,
    per_watt=None,
)
COMPARISON = Comparison(
    workload="bert",
    workload_title="BERT-Large",
    target="0.72",
    sides=(ComparisonCase(label="pod512", answer=BASE), ComparisonCase(label="bow", answer=OTHER)),
    differences=(DIFFERENCE,),
    interval=0.9,
    seed=7,
)
REFUSED = InfeasibleSide(label="pod4", code="does-not-fit", message="too small", context=("by half",), hint="--pod 16")


def with_change(**change):
    return replace(COMPARISON, differences=(replace(DIFFERENCE, **change),))


def test_a_line_a_difference_then_the_sides_that_do_not_fit():
    assert view.answer(COMPARISON) == ("bow: +100 % (+90 to +115)",)
    assert view.answer(replace(COMPARISON, infeasible=(REFUSED,)))[1] == "pod4: no, too small"


def test_sides_alone_are_answered_by_their_time_or_throughput():
    alone = replace(COMPARISON, sides=COMPARISON.sides[:1], differences=())
    assert view.answer(alone) == ("pod512: 2.5 min",)
    endless = replace(BASE, length_flags=("--tokens",))
    untimed = replace(alone, sides=(ComparisonCase(label="pod512", answer=endless),))
    assert view.answer(untimed) == ("pod512: 28,200 samples/s",)


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [
        (0.95, 1.06, "+0 % (−5 to +6)"),
        (0.98, 1.02, "+0.4 % (−2.0 to +2.0)"),
        (1.001, 1.006, "+0.40 % (+0.10 to +0.60)"),
    ],
)
def test_decimals_are_those_that_the_interval_is_worth(low, high, text):
    (line,) = view.answer(with_change(time=Ratio(value=1.004, low=low, high=high)))
    assert line == f"bow: {text}"


def test_sides_are_columns_and_quantities_rows():
    doc = view.document(COMPARISON)
    rows = {row[0]: row[1:] for row in tables(doc)[0].rows}
    assert titles(tables(doc)[0]) == ["", "pod512", "bow"]
    assert rows["time to train"] == ("2.5 min", "4.9 min")
    assert rows["global batch"] == ("6,912", "6,912")
    assert rows["replicas × IPUs"] == ("64 × 8", "64 × 8")
    assert rows["price, USD"] == ("–", "–")
    assert headings(doc)[:2] == ["BERT-Large, target 0.72 masked-LM accuracy: pod512 against bow", "over pod512"]


def test_several_others_are_counted_and_a_long_label_is_no_title():
    label = "pod64 with chip.clock=2 GHz"
    three = replace(COMPARISON, sides=(*COMPARISON.sides, ComparisonCase(label=label, answer=BASE)))
    doc = view.document(three)
    assert headings(doc)[0].endswith("pod512 against 2 others")
    assert titles(tables(doc)[0])[-1] == "changed"


def test_a_run_of_no_stated_length_has_no_rows_of_a_run():
    endless = tuple(replace(each, answer=replace(each.answer, length_flags=("--tokens",))) for each in COMPARISON.sides)
    doc = view.document(replace(COMPARISON, sides=endless))
    assert not {row[0] for row in tables(doc)[0].rows} & set(view.OF_A_RUN)
    assert titles(tables(doc)[1])[1] == "time of a sample"
    assert notes(doc, "time to train") == ["run length not specified; give --tokens"]


def test_a_difference_by_time_throughput_samples_and_money():
    (row,) = tables(view.document(COMPARISON))[1].rows
    assert row == ("bow", "+100 % (+90 to +115)", "× 0.500", "× 1.04", "–", "–")
    (priced,) = tables(view.document(with_change(per_dollar=RATIO, per_watt=0.8)))[1].rows
    assert priced[-2:] == ("× 2.00 (1.90 – 2.15)", "× 0.800")


def test_common_draws_make_a_difference_surer():
    (text,) = [text for text in notes(view.document(COMPARISON)) if "same draws" in text]
    assert text.endswith("the first difference is known to ± 12 %; as if nothing were shared it would be ± 50 %")


def test_parts_that_move_the_run_are_bars_of_all_moves():
    """30 s longer and 10 s shorter; 0.01 s of 95 is not worth a bar."""
    longer, shorter = bars(view.document(COMPARISON))
    assert (longer.label, longer.share, longer.share_text, longer.text) == ("compute", 0.75, "longer", "+30.0 s")
    assert (shorter.label, shorter.share, shorter.share_text, shorter.text) == (
        "start-up",
        0.25,
        "shorter",
        "−10.0 s",
    )
    (whole,) = notes(view.document(COMPARISON), "in all")
    assert whole == "+20.0 s, of runs at their mean samples"


def test_small_moves_together_are_worth_a_bar_and_none_is_told():
    small = tuple(PartDifference(part=f"p{at}", before_s=1.0, after_s=1.002) for at in range(3))
    (row,) = bars(view.document(with_change(parts=small)))
    assert (row.label, row.share, row.text) == ("all else", 1.0, "+6.00 ms")
    smaller = tuple(replace(part, after_s=1.0005) for part in small)
    assert bars(view.document(with_change(parts=smaller))) == []
    none = view.document(with_change(parts=(PartDifference(part="sync", before_s=1.0, after_s=1.0),)))
    assert "no part of the run differs by 0.1 % of it" in notes(none)


def test_verbose_says_why_a_difference_is_not_surer_and_what_is_assumed():
    doc = view.document(COMPARISON, verbose=True)
    assert tables(doc)[2].rows == (("spread between seeds", "75 %"), ("what no parameter explains", "25 %"))
    assert "assumed of pod512" in headings(doc)
    assert len(tables(view.document(COMPARISON))) == 2


def test_a_side_without_an_answer_says_why_and_what_would_work():
    doc = view.document(replace(COMPARISON, infeasible=(REFUSED,)))
    assert "no answer for pod4" in headings(doc)
    assert notes(doc, "hint") == ["--pod 16"]
    assert "by half" in notes(doc, "·")


def test_a_side_far_out_is_warned_of():
    far = replace(COMPARISON, sides=(COMPARISON.sides[0], ComparisonCase(label="x", answer=prediction(beyond=9.0))))
    assert any("one digit counts" in text for text in notes(view.document(far)))
    assert not any("one digit counts" in text for text in notes(view.document(COMPARISON)))
    step = replace(BASE, step_s=estimate(0.2, 0.1, 0.3, 9.0))
    only_step = replace(COMPARISON, sides=(COMPARISON.sides[0], ComparisonCase(label="x", answer=step)))
    assert not any("one digit counts" in text for text in notes(view.document(only_step)))
    assert notes(view.document(COMPARISON))[-1].startswith("seed 7 · ")
