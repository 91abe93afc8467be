"""What the predict screen says."""

from dataclasses import replace

import pytest
from parts_of_documents import facts, notes
from samples_of_results import BREAKDOWN_S, estimate, far_prediction, given_prediction, prediction

import podsim
from podsim.model.program import PART_NAMES, Part
from podsim.model.quantity import Grade
from podsim.report import numbers
from podsim.report.terminal import Look, render
from podsim.report.views import grades_view, lengths_view
from podsim.studies.predict import report as view
from podsim.studies.predict import summary_report


def screen(*args: object, width: int = 160, **kwargs: object) -> str:
    return render(view.document(*args, **kwargs), Look(width))  # type: ignore[arg-type]


def test_the_answer_in_one_line() -> None:
    assert view.answer(prediction()) == "2.47 min (2.10 – 3.10)"
    assert view.answer(far_prediction()) == "2.5 min (2.1 – 3.1)"


def test_every_part_of_a_step_has_a_name() -> None:
    assert set(PART_NAMES) == set(Part)


def test_parts_are_ordered_by_size_and_those_that_take_no_time_are_left_out() -> None:
    text = screen(prediction(), verbose=True)
    names = ("Compute", "Pipeline bubble", "Gradient all-reduce", "On-chip exchange", "Sync")
    places = [text.index(f"\n  {name}  ") for name in names]
    assert places == sorted(places)
    assert "Stage transfers" not in text


def test_shares_add_up_to_the_whole() -> None:
    lines = screen(prediction(), verbose=True).splitlines()
    first = next(number for number, line in enumerate(lines) if "Step time breakdown" in line) + 1
    shares = [float(line.split(" %")[0].split()[-1]) for line in lines[first : first + 5]]
    assert round(sum(shares), 9) == 100


def test_a_part_too_small_to_print_does_not_read_as_zero() -> None:
    result = prediction()
    breakdown_s = {**BREAKDOWN_S, Part.HOST: 1e-7}
    timeline = replace(result.timeline, step_s=sum(breakdown_s.values()), breakdown_s=breakdown_s)
    text = screen(replace(result, timeline=timeline), verbose=True)
    line = next(line for line in text.splitlines() if "Host input" in line)
    assert "< 0.1 %" in line
    assert "< 1 ms" in line


def test_the_trade_off_between_batch_and_convergence_is_on_the_verbose_screen() -> None:
    narrower = screen(prediction(), width=100, verbose=True)
    assert "left out" not in narrower
    assert all(word in narrower for word in ("Accumulation", "Step,", "Samples,", "Bubble", "Time,"))
    text = screen(prediction(), width=110, verbose=True)
    for title in ("Global batch", "Micro-batch", "Accumulation", "Step, ms", "Samples, M", "Bubble", "Time, min"):
        assert title in text
    chosen = next(line for line in text.splitlines() if line.startswith("  ▸"))
    assert chosen.split()[1:] == ["6,912", "64", "×", "8", "2", "27", "245", "3.60", "19", "%", "2.47"]


def test_a_chosen_mapping_outside_the_list_is_put_first() -> None:
    result = prediction()
    others = replace(result.choice, considered=result.choice.considered[1:])
    lines = screen(replace(result, choice=others), width=110, verbose=True).splitlines()
    first = next(number for number, line in enumerate(lines) if "Replicas × IPUs  Micro-batch" in line) + 1
    assert lines[first].startswith("  ▸")
    assert "6,912" in lines[first]
    assert "13,824" in lines[first + 1]


def test_a_table_whose_time_is_not_that_of_the_answer_says_what_it_is() -> None:
    result = prediction(beyond=1.0)
    alike = replace(result.choice.considered[0], time_to_train_s=result.time_to_train_s.value)
    same = replace(result, choice=replace(result.choice, considered=(alike, *result.choice.considered[1:])))
    assert not any(view.EXPECTED_NOTE in text for text in notes(view.document(same, verbose=True)))
    other = replace(alike, time_to_train_s=1.01 * result.time_to_train_s.value)
    differs = replace(result, choice=replace(result.choice, considered=(other, *result.choice.considered[1:])))
    assert f"{view.EXPECTED_NOTE}MLPerf scores" in notes(view.document(differs, verbose=True))


def test_a_given_mapping_lists_no_others() -> None:
    text = screen(given_prediction(), verbose=True)
    assert "Mapping (flags)" in text
    assert "Accumulation  Step" not in text


def test_far_out_times_have_few_digits_and_the_footer_says_why() -> None:
    text = screen(far_prediction(), width=120, verbose=True)
    assert "256× beyond calibration: expect the trend and a wide interval, not a point estimate" in text
    assert "2.47 min" not in text
    assert "245" not in text
    assert "+9 %" in text


def test_near_by_the_footer_says_nothing_of_digits() -> None:
    assert "beyond calibration:" not in screen(prediction())


def test_assumptions_and_calibration_are_stated() -> None:
    assert "16 calibration points, held-out error 5.8 %" in screen(prediction())
    text = screen(prediction(), verbose=True)
    for line in ("division closed", "SDK 2.3, the newest calibrated", "16 calibration points, held-out error 5.8 %"):
        assert line in text


def test_verbose_adds_memory_by_ipu_and_rejections() -> None:
    quiet, verbose = screen(prediction()), screen(prediction(), verbose=True)
    assert "does not fit in SRAM" not in quiet
    assert "does not fit in SRAM     2,980" in verbose
    assert "SRAM of each IPU of a replica, in MB; an IPU has 900" in verbose
    fullest = next(line for line in verbose.splitlines() if line.startswith("  ▸    7"))
    assert fullest.split() == ["▸", "7", "7", "300", "340", "640", "71", "%"]


def test_ipus_left_idle_by_the_mapping_are_named() -> None:
    assert "(512 × gc200, 8 hosts)" in screen(prediction())
    assert "(1,024 × gc200, 512 used, 8 hosts)" in screen(replace(prediction(), ipus=1024))


@pytest.mark.parametrize(
    ("beyond", "said"),
    [
        (1.0, ("2.22", "min", "2 × 32 IPUs, not chosen: no published run has these")),
        (64.0, ("−10 %", "time", "2 × 32 IPUs, not chosen: no published run has these")),
    ],
)
def test_larger_replicas_are_named_with_their_time_and_far_out_with_its_share(beyond, said) -> None:
    result = prediction(beyond)
    own = replace(result.choice.considered[0], mapping=result.mapping)
    split = replace(result.mapping, replicas=2, ipus_per_replica=32)
    larger = replace(own, mapping=split, time_to_train_s=0.9 * own.time_to_train_s, larger_than_searched=True)
    rows = facts(view.document(replace(result, choice=replace(result.choice, considered=(own, larger)))))
    row = rows["Larger replicas"]
    assert (row.number, row.unit, row.remark) == said
    assert "Larger replicas" not in facts(view.document(result))


def test_a_small_machine_is_extrapolated_below_the_smallest_measured_one() -> None:
    small = podsim.predict("bert", topology="bow-pod4", engine="analytic")
    assert "extrapolated (4× below the smallest measured machine)" in grades_view.evidence(small)
    large = podsim.predict("bert", pod=512, engine="analytic")
    assert "extrapolated (2× the largest measured machine)" in grades_view.evidence(large)


def test_a_measured_estimate_is_called_so() -> None:
    measured = replace(estimate(1.0, 0.9, 1.1, beyond=1.0), grade=Grade.MEASURED)
    assert grades_view.grade(measured) == "measured"
    assert grades_view.grade(estimate(1.0, 0.9, 1.1, beyond=4.0)) == "extrapolated (4× beyond calibration)"
    assert grades_view.grade(estimate(1.0, 0.9, 1.1, beyond=1.0)) == "extrapolated"


def test_a_mean_above_the_run_that_is_shown_says_so() -> None:
    """Doubt of the samples pulls the mean up: steps and time to train would contradict each other without a word."""
    result = podsim.predict("gpt2-small", pod=4, law="chinchilla", engine="analytic")
    assert result.time_to_train_s.value > 1.05 * result.run.total_s
    (note,) = lengths_view.skew_notes(result)
    assert numbers.time(result.run.total_s) in note.text
    assert not [*lengths_view.skew_notes(podsim.predict("gpt2-small", pod=4, tokens=1e9, engine="analytic"))]


def test_what_nobody_measured_outside_steps_is_not_said_to_take_no_time() -> None:
    result = podsim.predict("gpt2-small", pod=4, tokens=1e9, engine="analytic")
    fact = summary_report.overhead(result)
    assert (fact.number, fact.remark) == ("–", "start-up, evaluation, checkpoints: not included")


def test_the_default_screen_is_short_and_says_what_is_asked_for_at_80_columns() -> None:
    assert len(screen(prediction(), width=100).splitlines()) <= 24
    text = screen(prediction(), width=80)
    for word in ("Time to train", "Throughput", "Bottleneck", "Mapping", "Peak SRAM", "Evidence", "Next"):
        assert f"\n  {word}" in text


def test_every_mapping_has_times_with_faults() -> None:
    """A15: the headline has faults and the table of mappings had none."""
    report = podsim.predict("bert", pod=16, faults=["link:ipu4-ipu6=down"], engine="analytic")
    assert report.faults is not None
    text = screen(report, verbose=True)
    chosen = next(line for line in text.splitlines() if line.startswith("  ▸"))
    assert "all times with the faults" in text
    assert chosen.split()[-1] == numbers.time(report.faults.time_to_train_s).split()[0]
    left = podsim.predict("bert", pod=16, faults=["machine:3=lost"], engine="analytic")
    assert "all times on the remaining machine" in screen(left, verbose=True)


def test_a_run_that_stops_at_another_count_of_samples_than_the_mean_says_so() -> None:
    """ResNet-50 on POD128: steps × batch of the run are 55.1 M samples, the mean of all runs 55.2 M."""
    answer = podsim.predict("resnet50", pod=128, engine="analytic")
    text = screen(answer)
    assert f"one run: {answer.run.steps * answer.mapping.global_batch / 1e6:.1f} M samples" in text
    single = replace(answer, run=replace(answer.run, evaluations=1))
    assert "1 evaluation and loading its program" in " ".join(screen(single).split())
    assert "evaluations and loading their program" in " ".join(text.split())
