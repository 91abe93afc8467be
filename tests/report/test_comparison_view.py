"""What the screen says of machines side by side."""

from dataclasses import replace

import pytest
from parts_of_documents import facts, headings, notes, tables, titles
from samples_of_comparisons import BASE, COMPARISON, RATIO, with_change
from samples_of_results import estimate, prediction

from podsim.model.quantity import Grade
from podsim.studies.compare import report as view
from podsim.studies.compare.result import (
    ComparisonCase,
    InfeasibleSide,
    PerWatt,
    PowerBasis,
    Ratio,
)

REFUSED = InfeasibleSide(label="pod4", code="does-not-fit", message="too small", context=("by half",), hint="--pod 16")


def test_a_line_a_difference_then_the_sides_that_do_not_fit():
    assert view.answer(COMPARISON) == ("bow: time to train +100 % (+90 to +115)",)
    assert view.answer(replace(COMPARISON, infeasible=(REFUSED,)))[1] == "pod4: too small"


def test_sides_alone_are_answered_by_their_time_or_throughput():
    alone = replace(COMPARISON, sides=COMPARISON.sides[:1], differences=())
    assert view.answer(alone) == ("pod512: 2.47 min",)
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
    assert line == f"bow: time to train {text}"


def test_sides_are_columns_and_quantities_rows():
    doc = view.document(COMPARISON)
    rows = {row[0]: row[1:] for row in tables(doc)[0].rows}
    assert titles(tables(doc)[0]) == ["", "pod512", "bow"]
    assert rows["Time to train"] == ("2.47 min", "4.93 min")
    assert rows["Global batch"] == ("6,912", "6,912")
    assert rows["Replicas × IPUs"] == ("64 × 8", "64 × 8")
    assert rows["Machine price (hosts)"] == ("–", "–")
    assert headings(doc)[:2] == [
        "BERT-Large, target 0.72 masked-LM accuracy: bow vs pod512",
        "bow relative to pod512, 90 % intervals",
    ]
    assert "Step time" not in rows
    assert "Step time" in {row[0] for row in tables(view.document(COMPARISON, verbose=True))[0].rows}


def test_three_cases_too_wide_for_one_table_are_in_several():
    names = ["a machine", "another", "a machine of a long long name"]
    wide = replace(BASE, chip="a-chip-of-a-very-long-name")
    cases = tuple(ComparisonCase(label=name, answer=wide) for name in names)
    blocks = tables(view.document(replace(COMPARISON, sides=cases, differences=())))
    assert len(blocks) > 1
    assert [title for table in blocks for title in titles(table)[1:]] == ["a machine", "another", "Changed"]


def test_two_cases_of_long_labels_have_a_row_each():
    cases = tuple(ComparisonCase(label=f"a machine of a long long name {at}", answer=BASE) for at in range(2))
    speed, costs = tables(view.document(replace(COMPARISON, sides=cases, differences=())))
    assert [row[0] for row in speed.rows] == [row[0] for row in costs.rows] == [case.label for case in cases]


@pytest.mark.parametrize("count", [4, 7])
def test_many_cases_have_a_row_each_in_a_table_of_speed_and_one_of_costs(count):
    cases = tuple(ComparisonCase(label=f"a machine of name {at}", answer=BASE) for at in range(count))
    speed, costs = tables(view.document(replace(COMPARISON, sides=cases)))[-2:]
    assert titles(speed) == ["", "Time to train", "Samples/s", "Global batch", "Chips", "Replicas × IPUs"]
    assert titles(costs) == ["", "Machine price (hosts)", "Training cost", "Total cost", "Power", "Peak power"]
    assert all([row[0] for row in table.rows] == [case.label for case in cases] for table in (speed, costs))


def test_the_short_screen_of_many_cases_has_no_causes():
    few = str(view.document(COMPARISON))
    many = replace(
        COMPARISON, sides=(*COMPARISON.sides, *(ComparisonCase(label=str(at), answer=BASE) for at in (1, 2)))
    )
    assert "Largest changes" in few
    assert "Largest changes" not in str(view.document(many))


def test_several_others_are_counted_and_a_long_label_is_no_title():
    label = "pod64 with chip.clock=2 GHz"
    sides = (*COMPARISON.sides, ComparisonCase(label=label, answer=BASE))
    three = replace(COMPARISON, sides=sides, differences=(*COMPARISON.differences, *COMPARISON.differences))
    doc = view.document(three)
    assert headings(doc)[0].endswith("pod512 and 2 alternatives")
    assert titles(tables(doc)[1])[-1] == "Changed"


def test_a_run_of_no_stated_length_has_no_rows_of_a_run():
    endless = tuple(replace(each, answer=replace(each.answer, length_flags=("--tokens",))) for each in COMPARISON.sides)
    doc = view.document(replace(COMPARISON, sides=endless))
    assert not {row[0] for row in tables(doc)[0].rows} & set(view.OF_A_RUN)
    assert facts(doc)["Time per sample"].remark
    assert notes(doc, "Time to train") == ["run length not specified; add one: --tokens"]


def test_a_difference_by_time_throughput_samples_and_money():
    short = facts(view.document(COMPARISON))
    assert short["Time to train"].remark == "+100 % (+90 to +115)"
    assert short["Performance per dollar of price"].remark == "–"
    assert "Throughput" not in short
    full = facts(view.document(COMPARISON, verbose=True))
    assert (full["Throughput"].remark, full["Samples"].remark) == ("0.500×", "1.04×")
    priced = facts(view.document(with_change(per_dollar=RATIO, per_watt=PerWatt(value=0.8, basis=PowerBasis.PEAK))))
    assert priced["Performance per dollar of price"].remark == "2.00× (1.90 – 2.15)"
    assert priced["Performance per watt"].remark == "0.800× (peak power; no interval)"


def test_several_differences_are_a_table_with_a_row_each():
    sides, differences = COMPARISON.sides, COMPARISON.differences
    three = replace(COMPARISON, sides=(*sides, sides[1]), differences=differences * 2)
    rows = tables(view.document(three))[0].rows
    assert [row[:2] for row in rows] == [("bow", "+100 % (+90 to +115)")] * 2


def renamed(**change):
    """The comparison with another configuration on its second side, published elsewhere and with the changes given."""
    first, second = COMPARISON.sides
    mapping = second.answer.mapping
    other = replace(mapping, configuration=replace(mapping.configuration, name="other", sdks=("sdk-9",), **change))
    return replace(COMPARISON, sides=(first, replace(second, answer=replace(second.answer, mapping=other))))


def test_configurations_stand_once_where_the_cases_follow_others():
    """GC200 and Bow were published with other software: part of what differs may be that."""
    assert "Configuration" not in facts(view.document(COMPARISON))
    assert "Configuration" not in facts(view.document(renamed()))
    first, second = COMPARISON.sides
    mapping = second.answer.mapping
    newer = replace(mapping.configuration, name="popart-v2.0-pod64", forward_evaluation=True, merged_collectives=True)
    other = replace(mapping, configuration=newer)
    cases = (first, replace(second, answer=replace(second.answer, mapping=other)))
    remark = facts(view.document(replace(COMPARISON, sides=cases)))["Configuration"].remark
    assert remark == (
        f"causes part of the changes: {first.label} {mapping.configuration.name}, "
        f"{second.label} popart-v2.0-pod64 (with forward-only evaluations, merged collectives)"
    )


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"prefetch": 3}, "other"),
        ({"forward_evaluation": True}, "other (with forward-only evaluations)"),
        ({"forward_evaluation": True, "prefetch": 3}, "other (with forward-only evaluations and more)"),
        (
            {"forward_evaluation": True, "merged_collectives": True, "attention_dropout": True},
            "other (with forward-only evaluations, merged collectives and more)",
        ),
    ],
)
def test_a_configuration_is_shown_with_what_the_other_does_not_do(change, said):
    first, second = COMPARISON.sides
    name = second.answer.mapping.configuration.name
    compared = renamed(**change)
    remark = facts(view.document(compared))["Configuration"].remark
    assert remark.endswith(f"{name}, {second.label} {said}")
    back = facts(view.document(replace(compared, sides=compared.sides[::-1])))["Configuration"].remark
    assert back.endswith(f"{second.label} {said}, {first.label} {name}")


def test_global_batches_that_two_searches_chose_are_said_to_be_in_the_change():
    """Bow Pod64 against POD64: half the gain was credited to all-reduces, of a batch three times as large."""
    first, second = COMPARISON.sides
    searched = replace(second.answer.choice, given="search")
    answer = replace(second.answer, choice=searched)
    larger = replace(answer, mapping=replace(answer.mapping, accumulation=2 * answer.mapping.accumulation))
    own, other = answer.mapping.global_batch, larger.mapping.global_batch

    def told(**change):
        sides = (replace(first, answer=answer), replace(second, answer=replace(larger, **change)))
        return facts(view.document(replace(COMPARISON, sides=sides))).get("Global batch")

    fact = told()
    assert fact.remark == f"causes part of the changes: {own:,} and {other:,}"
    assert fact.hint == f"--global-batch {other} sets both"
    assert told(choice=replace(searched, given="flags")) is None
    assert told(ipus=2 * answer.ipus) is None, "a larger machine has a larger batch"
    assert told(phases=(larger,)) is None, "each phase has a batch of its own"


def test_common_draws_make_a_difference_surer():
    text = facts(view.document(COMPARISON, verbose=True))["Intervals"].remark
    assert text == "change in time known to ± 12 points by common random numbers, to ± 50 with independent ones"
    assert "Intervals" not in facts(view.document(COMPARISON))


def test_evidence_stands_once_where_all_cases_have_the_same():
    assert facts(view.document(COMPARISON))["Evidence"].remark == "extrapolated"
    first, second = COMPARISON.sides
    time = replace(second.answer.time_to_train_s, grade=Grade.INTERPOLATED)
    far = replace(second, answer=replace(second.answer, time_to_train_s=time))
    remark = facts(view.document(replace(COMPARISON, sides=(first, far))))["Evidence"].remark
    assert remark == f"{first.label}: extrapolated; {second.label}: within calibration"


def test_verbose_says_why_a_difference_is_not_surer_and_what_is_assumed():
    doc = view.document(COMPARISON, verbose=True)
    assert tables(doc)[1].rows == (("seed-to-seed spread", "75 %"), ("model error", "25 %"))
    assert "Assumptions for pod512" in headings(doc)
    assert len(tables(view.document(COMPARISON))) == 1


def test_a_side_without_an_answer_says_why_and_what_would_work():
    doc = view.document(replace(COMPARISON, infeasible=(REFUSED,)))
    assert "No answer for pod4" in headings(doc)
    assert notes(doc, "Hint") == ["--pod 16"]
    assert "by half" in notes(doc, "·")


def test_a_side_far_out_is_warned_of():
    far = replace(COMPARISON, sides=(COMPARISON.sides[0], ComparisonCase(label="x", answer=prediction(beyond=9.0))))
    assert any("8× beyond calibration" in text for text in notes(view.document(far)))
    assert not any("8× beyond calibration" in text for text in notes(view.document(COMPARISON)))
    step = replace(BASE, step_s=estimate(0.2, 0.1, 0.3, 9.0))
    only_step = replace(COMPARISON, sides=(COMPARISON.sides[0], ComparisonCase(label="x", answer=step)))
    assert not any("8× beyond calibration" in text for text in notes(view.document(only_step)))
    assert notes(view.document(COMPARISON))[-1].startswith("seed 7 · ")
