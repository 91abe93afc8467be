"""What the predict screen says."""

from dataclasses import replace

from samples_of_results import BREAKDOWN_S, estimate, far_prediction, given_prediction, prediction

import podsim
from podsim.model.program import Part
from podsim.model.quantity import Grade
from podsim.report import numbers
from podsim.report.terminal import Look, render
from podsim.report.views import grades, lengths
from podsim.report.views import prediction as view


def screen(*args: object, width: int = 160, **kwargs: object) -> str:
    return render(view.document(*args, **kwargs), Look(width))  # type: ignore[arg-type]


def test_the_answer_in_one_line() -> None:
    assert view.answer(prediction()) == "2.5 min (2.1 – 3.1)"
    assert view.answer(far_prediction()) == "2 min (2 – 3)"


def test_every_part_of_a_step_has_a_name() -> None:
    assert set(view.PARTS) == set(Part)


def test_parts_are_ordered_by_size_and_those_that_take_no_time_are_left_out() -> None:
    text = screen(prediction())
    places = [text.index(f"\n  {name}") for name in ("compute", "pipeline bubble", "all-reduce", "exchange", "sync")]
    assert places == sorted(places)
    assert "stage transfers" not in text


def test_shares_add_up_to_the_whole() -> None:
    lines = screen(prediction()).splitlines()
    first = next(number for number, line in enumerate(lines) if "where a step goes" in line) + 1
    shares = [float(line.split(" %")[0].split()[-1]) for line in lines[first : first + 5]]
    assert abs(sum(shares) - 100) <= 0.05 * len(shares)


def test_a_part_too_small_to_print_does_not_read_as_zero() -> None:
    result = prediction()
    breakdown_s = {**BREAKDOWN_S, Part.HOST: 1e-7}
    timeline = replace(result.timeline, step_s=sum(breakdown_s.values()), breakdown_s=breakdown_s)
    text = screen(replace(result, timeline=timeline))
    line = next(line for line in text.splitlines() if "host input" in line)
    assert "< 0.1 %" in line
    assert "< 1 ms" in line


def test_the_trade_off_between_batch_and_convergence_is_on_the_default_screen() -> None:
    text = screen(prediction(), width=100)
    assert "left out" not in text
    for title in ("global batch", "micro-batch", "accumulation", "step ms", "samples M", "bubble", "train min"):
        assert title in text
    chosen = next(line for line in text.splitlines() if line.startswith("  ▸"))
    assert chosen.split()[1:] == ["6,912", "64", "×", "8", "2", "27", "245", "3.60", "19", "%", "2.47"]


def test_a_chosen_mapping_outside_the_list_is_put_first() -> None:
    result = prediction()
    others = replace(result.choice, considered=result.choice.considered[1:])
    lines = screen(replace(result, choice=others), width=100).splitlines()
    first = next(number for number, line in enumerate(lines) if "replicas × IPUs  micro-batch" in line) + 1
    assert lines[first].startswith("  ▸")
    assert "6,912" in lines[first]
    assert "13,824" in lines[first + 1]


def test_a_given_mapping_lists_no_others() -> None:
    text = screen(given_prediction())
    assert "mapping by flags" in text
    assert "accumulation  step" not in text


def test_far_out_every_time_has_one_digit_and_the_footer_says_why() -> None:
    text = screen(far_prediction(), width=100)
    assert "times show one significant digit: this is ×260 beyond the machines calibrated on" in text
    assert "2.5 min" not in text
    assert "245" not in text
    assert "+9 %" in text


def test_near_by_the_footer_says_nothing_of_digits() -> None:
    assert "one significant digit" not in screen(prediction())


def test_assumptions_and_calibration_are_stated() -> None:
    text = screen(prediction())
    for line in ("division closed", "SDK 2.3, the newest calibrated", "16 calibration points, held-out error 5.8 %"):
        assert line in text


def test_verbose_adds_memory_by_ipu_and_rejections() -> None:
    quiet, verbose = screen(prediction()), screen(prediction(), verbose=True)
    assert "does not fit in SRAM" not in quiet
    assert "does not fit in SRAM     2,980" in verbose
    assert "memory by IPU of a replica, MB of 900" in verbose
    fullest = next(line for line in verbose.splitlines() if line.startswith("  ▸    7"))
    assert fullest.split() == ["▸", "7", "7", "300", "340", "640", "71", "%"]


def test_ipus_left_idle_by_the_mapping_are_named() -> None:
    assert "(512 × gc200)" in screen(prediction())
    assert "(1,024 × gc200, 512 used)" in screen(replace(prediction(), ipus=1024))


def test_a_measured_estimate_is_called_so() -> None:
    measured = replace(estimate(1.0, 0.9, 1.1, beyond=1.0), grade=Grade.MEASURED)
    assert grades.grade(measured) == "measured"
    assert grades.grade(estimate(1.0, 0.9, 1.1, beyond=4.0)) == "extrapolated ×4 beyond calibration"
    assert grades.grade(estimate(1.0, 0.9, 1.1, beyond=1.0)) == "extrapolated"


def test_a_mean_above_the_run_that_is_shown_says_so() -> None:
    """Doubt of the samples pulls the mean up: steps and time to train would contradict each other without a word."""
    result = podsim.predict("gpt2-small", pod=4, law="chinchilla", engine="analytic")
    assert result.time_to_train_s.value > 1.05 * result.run.total_s
    (note,) = lengths.skewed(result)
    assert numbers.time(result.run.total_s) in note.text
    assert not [*lengths.skewed(podsim.predict("gpt2-small", pod=4, tokens=1e9, engine="analytic"))]


def test_what_nobody_measured_outside_steps_is_not_said_to_take_no_time() -> None:
    result = podsim.predict("gpt2-small", pod=4, tokens=1e9, engine="analytic")
    assert (view.overhead(result).number, view.overhead(result).remark) == ("–", "not charged")
