"""Figures of a run from its event times, by hand, and the point that several runs make."""

from dataclasses import replace

import pytest

from podsim.calibration import own_points
from podsim.calibration.own_points import Clock
from podsim.calibration.own_runs import figures
from podsim.files import catalog
from podsim.model.mllog import Evaluation, LogRun, LogSpan
from podsim.model.training import EvaluationStyle


def span(start_s, stop_s, epochs=None):
    return LogSpan(start_s=start_s, stop_s=stop_s, epoch_count=epochs)


def at(start_s, stop_s, epoch=None):
    return Evaluation(span=span(start_s, stop_s), quality=0.75, epoch_num=epoch)


PLAIN = LogRun(
    file="logs/result_0.txt",
    line=1,
    began_ms=0.0,
    clock_s=60.0,
    init_s=100.0,
    status="success",
    blocks=(),
    epochs=(),
    evaluations=(),
    global_batch=1000,
)
EVALUATING = replace(  # two blocks, the second cut by an evaluation of 2 s
    PLAIN,
    blocks=(span(4.0, 24.0), span(24.0, 56.0)),
    evaluations=(at(24.0, 26.0, 20_000.0), at(56.0, 59.0, 50_000.0)),
)
AFTERWARDS = replace(  # epochs trained, then all checkpoints evaluated
    PLAIN,
    blocks=tuple(span(2.0 + 10 * block, 12.0 + 10 * block, 4.0) for block in range(4)),
    evaluations=(at(45.0, 48.0), at(48.5, 50.0), at(50.5, 52.0, 16.0)),
    clock_s=52.0,
)


@pytest.fixture(scope="module")
def bert():
    return replace(catalog.workload("bert").value, packing=2.0)


@pytest.fixture(scope="module")
def resnet():
    """A data set of 10,000 images, checkpoints every 4 epochs, evaluated afterwards."""
    workload = catalog.workload("resnet50").value
    rules = replace(workload.benchmark, dataset_samples=10_000, checkpoint_epochs=4)
    return replace(workload, packing=1.0, benchmark=rules)


# --- a run that evaluates as it goes --------------------------------------------------------------------------------


def test_training_is_its_blocks_without_the_evaluations_inside(bert):
    result = figures(EVALUATING, bert, 1000)
    assert (result.startup_s, result.train_s, result.evaluations) == (4.0, 20 + 32 - 2, 2)
    assert (result.samples, result.steps) == (50_000.0, 25)
    assert result.step_s == pytest.approx(50 / 25)
    assert (result.first_evaluation_s, result.each_evaluation_s, result.graph_switch_s) == (2.0, 3.0, 0.0)
    assert (result.last_s, result.stretch) == (59.0, pytest.approx(60 / 59))


def test_samples_that_the_log_states_at_its_end_go_before_those_of_evaluations(bert):
    assert figures(replace(EVALUATING, samples_done=60_000.0), bert, 1000).samples == 60_000
    assert figures(EVALUATING, bert, 1000).notes[0].startswith("no train_samples at its end")


def test_without_either_an_interval_an_evaluation_is_what_the_rules_have(bert):
    silent = replace(EVALUATING, evaluations=tuple(replace(each, epoch_num=None) for each in EVALUATING.evaluations))
    result = figures(silent, bert, 1000)
    assert result.notes[0].startswith("neither train_samples nor epoch_num: ")
    one = figures(replace(silent, evaluations=silent.evaluations[:1]), bert, 1000)
    assert result.samples == 2 * one.samples > 0
    few = replace(silent, evaluations=(at(24.0, 26.0, 1000.0), at(56.0, 59.0, 1000.0)))
    assert figures(few, bert, 1000).samples == result.samples


# --- a run whose checkpoints are evaluated afterwards ---------------------------------------------------------------


def test_later_evaluations_are_charged_from_the_stop_of_the_one_before(resnet):
    """The first of 3 s begins 3 s after training; the others end 2 s apart each."""
    result = figures(AFTERWARDS, resnet, 1000)
    assert (result.graph_switch_s, result.first_evaluation_s, result.each_evaluation_s) == (3.0, 3.0, 2.0)
    assert (result.samples, result.steps, result.train_s) == (160_000.0, 160, 40.0)
    assert result.step_s == pytest.approx(0.25)


def test_steps_are_whole_ones_of_the_last_batch_too(resnet):
    assert figures(AFTERWARDS, resnet, 999).steps == 161


def test_epochs_are_those_of_blocks_or_one_a_block(resnet):
    silent = replace(AFTERWARDS, evaluations=tuple(replace(each, epoch_num=None) for each in AFTERWARDS.evaluations))
    counted = figures(silent, resnet, 1000)
    assert (counted.samples, len(counted.notes)) == (160_000, 1)
    bare = replace(silent, blocks=tuple(replace(each, epoch_count=None) for each in silent.blocks))
    assert figures(bare, resnet, 1000).samples == 4 * 10_000
    assert figures(replace(bare, samples_set=5_000.0), resnet, 1000).samples == 4 * 5_000


def test_a_step_is_timed_outside_the_blocks_that_write_checkpoints(resnet):
    """Eight epochs of 2 s, of which the two that write a checkpoint take 3 s: 10 steps an epoch."""
    lengths = [2.0, 2.0, 2.0, 3.0] * 2
    starts = [sum(lengths[:number]) for number in range(8)]
    blocks = tuple(span(start, start + length, 1.0) for start, length in zip(starts, lengths, strict=True))
    run = replace(AFTERWARDS, blocks=blocks, evaluations=(at(20.0, 21.0, 8.0),))
    assert figures(run, resnet, 1000).step_s == pytest.approx(0.2)
    short = replace(run, blocks=blocks[:4], evaluations=(at(20.0, 21.0, 4.0),))
    assert figures(short, resnet, 1000).step_s == pytest.approx(9.0 / 40)


# --- runs without figures -------------------------------------------------------------------------------------------


def test_runs_that_have_no_figures_say_why(bert, resnet):
    assert figures(replace(EVALUATING, evaluations=()), bert, 1000) == "has no evaluation, left out"
    nothing = replace(EVALUATING, blocks=(span(4.0, 4.0),))
    assert figures(nothing, bert, 1000) == "its training takes no time, left out"
    stated = replace(resnet.benchmark, style=EvaluationStyle.FIXED, dataset_samples=None, run_samples=1, global_batch=1)
    unknown = replace(resnet, benchmark=stated)
    assert figures(AFTERWARDS, unknown, 1000) == "nothing says how many samples an epoch has, left out"


def test_a_block_that_lost_one_of_its_ends_leaves_a_hole(bert):
    hole = replace(EVALUATING, blocks=(span(4.0, 14.0), span(34.0, 44.0)), unpaired=True)
    assert figures(hole, bert, 1000) == (
        "lacks a block of training, whose start or end cannot be read (18 s), left out"
    )
    assert not isinstance(figures(replace(hole, unpaired=False), bert, 1000), str)
    small = replace(hole, blocks=(span(4.0, 24.0), span(26.0, 56.0)))
    assert not isinstance(figures(small, bert, 1000), str)


# --- points of several runs -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def run(bert):
    return figures(EVALUATING, bert, 1000)


def of_clock(run, clock_s, *, tail_s=None, status="success", step_s=2.0):
    last_s = run.last_s if tail_s is None else clock_s - tail_s
    return replace(run, run=replace(run.run, clock_s=clock_s, status=status), last_s=last_s, step_s=step_s)


def test_the_fastest_and_the_slowest_do_not_count_and_one_that_missed_is_the_slowest(run):
    runs = [of_clock(run, clock_s) for clock_s in (50.0, 40.0, 60.0)]
    assert [each.run.clock_s for each in own_points.scoring_runs(runs)] == [50.0]
    missed = [*runs[:2], of_clock(run, 10.0, status="aborted")]
    assert [each.run.clock_s for each in own_points.scoring_runs(missed)] == [50.0]
    assert [each.run.clock_s for each in own_points.scoring_runs(missed[1:])] == [40.0]


def test_a_constant_factor_after_the_last_event_is_a_normalised_log(run):
    normalised = [of_clock(run, 1.1 * last, tail_s=0.1 * last) for last in (50.0, 70.0, 90.0)]
    clock = own_points.clock(normalised)
    assert clock.factor == 1.1
    assert clock.remark.endswith("in all 3 runs; minutes divided by it")


@pytest.mark.parametrize(
    ("ends", "text"),
    [
        ([(50.0, 0.1), (70.0, 0.1)], ""),
        ([(50.0, 5.0)], "one run cannot tell a normalised log from a slow end, kept"),
        ([(50.0, 5.0), (50.0, 5.0)], "runs of one length cannot tell a normalised log, kept"),
        ([(50.0, 5.0), (90.0, 5.0)], "not the same share in all runs: a slow end, kept in minutes"),
    ],
)
def test_a_tail_that_is_no_factor_is_kept(run, ends, text):
    clock = own_points.clock([of_clock(run, clock_s, tail_s=tail_s) for clock_s, tail_s in ends])
    assert clock.factor == 1.0
    assert clock.remark.endswith(text)
    assert bool(clock.remark) is bool(text)


def test_a_point_is_the_mean_of_runs_that_count(run, bert):
    runs = [of_clock(run, clock_s, step_s=step_s) for clock_s, step_s in ((50.0, 1.0), (60.0, 2.0), (90.0, 3.0))]
    preset = bert.presets[0]
    point = own_points.point("mine", "bert", preset, runs, "2.3", Clock(factor=1.25))
    assert (point.score_minutes, point.minutes, point.normalisation) == (1.0, 0.8, 1.25)
    assert (point.step_s, point.step_spread, point.runs) == (2.0, 0.5, 3)
    assert (point.samples_to_converge, point.samples_spread, point.global_batch) == (50_000, 0.0, 1000)
    assert (point.replicas, own_points.without_default_mapping(point).replicas) == (preset.replicas, None)
    assert (point.topology, point.optimizer, point.sdk) == (preset.topology, preset.optimizer, "2.3")


def test_the_names_of_files_as_far_as_they_are_alike():
    assert own_points.locator(["a/b.txt", "a/b.txt"]) == "a/b.txt"
    assert own_points.locator(["a/r_1.txt", "a/r_0.txt"]) == "a/r_*"
    assert own_points.locator(["a/r", "a/r_0"]) == "a/r*"


def texts(runs, remark=""):
    return [each.text for each in own_points.remarks(runs, "here", Clock(remark=remark))]


def test_what_to_know_of_runs_before_trusting_them(run):
    good = [of_clock(run, 50.0)] * 3
    assert texts(good) == []
    assert texts(good, "a word")[0] == "a word"
    assert texts(good[:2]) == ["2 runs: nothing is dropped from the score"]
    assert texts([*good, of_clock(run, 50.0, status="aborted")]) == [
        "1 of 4 runs missed the target; the score counts one as the slowest"
    ]
    (mixed,) = texts([*good, of_clock(run, 50.0, step_s=3.0)])
    assert mixed.startswith("step times from 2 to 3 s")


def test_a_throughput_that_blocks_do_not_have_is_told(run):
    """50,000 samples in 25 steps of 2 s are 1,000 a second."""
    other = replace(run, run=replace(run.run, throughput_samples_per_s=1100.0))
    (text,) = texts([other] * 3)
    assert text == "logs say 1100 samples/s, their blocks 1000: the blocks count"
    near = replace(run, run=replace(run.run, throughput_samples_per_s=1040.0))
    assert texts([near] * 3) == []
