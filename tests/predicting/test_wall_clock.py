"""The wall clock of a job: what it is made of, how wide it is, and what failures make of it."""

import math

import pytest
from scipy import stats

import podsim
from podsim.files import start_times_file
from podsim.model.framework import Framework, of_configuration
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.model.wall_clock import ProgramStart
from podsim.predicting import job_wall_clock, start
from podsim.report.terminal import Look, render
from podsim.report.views import wall_clock_view as view
from podsim.studies.documents import answer_document
from podsim.studies.predict import report

TIMES = start_times_file.times()
LONG = {"pod": 64, "tokens": 1e12, "global_batch": 2048}


@pytest.fixture(scope="module")
def short():
    return podsim.predict("bert", pod=16, engine="analytic")


@pytest.fixture(scope="module")
def long():
    return podsim.predict("gpt2-xl", engine="analytic", **LONG)


def text(prediction, **options):
    return render(report.document(prediction, **options), Look(width=100))


@pytest.mark.parametrize("freedom", [1, 2, 3, 5, 8, 30, 10**9])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_quantiles_are_those_of_students_distribution(freedom, level):
    """Those of scipy, which a prediction does not load."""
    assert start.student_quantile(level, freedom) == pytest.approx(stats.t.ppf((1 + level) / 2, freedom), rel=0.01)


def test_the_parts_add_up_and_their_widths_in_squares(short):
    clock, train = short.wall_clock, short.time_to_train_s
    parts = (clock.compile_s, clock.weights_s, train)
    assert clock.failures == ()
    assert AnswerNote.of(NoteCode.DATA_SET_OPENING) in clock.assumptions
    assert clock.total_s.value == pytest.approx(sum(part.value for part in parts) + clock.checkpoint_s)
    above = math.sqrt(sum((part.high - part.value) ** 2 for part in parts))
    assert clock.total_s.high - clock.total_s.value == pytest.approx(above)
    assert clock.total_s.low < clock.total_s.value


def test_compile_time_is_a_proportion_with_its_interval(short):
    clock = short.wall_clock
    assert clock.compile_s.value == pytest.approx(TIMES.operator.value * clock.operators)
    wide = start.factor(TIMES.operator, 0.9)
    assert clock.compile_s.high == pytest.approx(clock.compile_s.value * wide)
    assert start.factor(TIMES.operator, 0.5) < wide < start.factor(TIMES.operator, 0.9, beyond=2.0)


def test_evidence_of_a_compile_time(short):
    """PopART has no published row; PopTorch has; far more operators than any row are extrapolated."""
    assert short.wall_clock.compile_s.grade is Grade.EXTRAPOLATED
    line = "compile time: none is published for PopART; those of PopRT, PopTorch and PopXL are used"
    assert line in map(str, short.wall_clock.assumptions)
    poptorch = podsim.predict("bert", pod=16, engine="analytic", framework="poptorch")
    assert poptorch.wall_clock.compile_s.grade is Grade.INTERPOLATED
    assert poptorch.wall_clock.compile_s.beyond == 1


@pytest.mark.parametrize(
    ("name", "framework"),
    [
        ("as-popart-v1.1-pod128", Framework.POPART),
        ("tensorflow-v1.1", Framework.TENSORFLOW1),
        ("popxl-phased with layers split evenly", Framework.POPXL),
        ("usual pipeline", None),
    ],
)
def test_a_configuration_has_the_framework_of_its_name(name, framework):
    assert of_configuration(name) is framework


def test_compile_times_are_those_of_the_framework_of_the_configuration():
    """MLPerf's ResNet-50 is in TensorFlow, of which none is published; GPT-3 runs as in PopXL, of which some are."""
    resnet = podsim.predict("resnet50", pod=16, engine="analytic").wall_clock
    assert any("none is published for TensorFlow 1" in line for line in map(str, resnet.assumptions))
    large = podsim.predict("gpt3-175b", pod=128, engine="analytic").wall_clock
    assert not any("compile time" in line for line in map(str, large.assumptions))


def test_a_cached_executable_of_a_tiny_network_loads_in_at_most_its_compile_time():
    """DLRM compiles sooner than the one published load takes, of a language model on 16 IPUs."""
    fresh, cached = (
        podsim.predict("dlrm", topology="m2000", samples=1e6, engine="analytic", compile=how).wall_clock
        for how in ("fresh", "cached")
    )
    assert fresh.compile_s.value < TIMES.cached_s
    assert cached.compile_s.value == fresh.compile_s.value
    assert cached.compile_s.grade is Grade.ASSUMED
    assert AnswerNote.of(NoteCode.EXECUTABLE_OF_SMALL_PROGRAM) in cached.assumptions
    assert AnswerNote.of(NoteCode.EXECUTABLE_CACHED) not in cached.assumptions


def test_two_programs_one_after_the_other_are_compiled_one_after_the_other(short):
    clock, train = short.wall_clock, short.time_to_train_s
    assert job_wall_clock.together([clock], train) is clock
    both = job_wall_clock.together([clock, clock], train)
    assert both.compile_s.value == pytest.approx(2 * clock.compile_s.value)
    assert both.compile_s.high == pytest.approx(2 * clock.compile_s.high)


def test_a_cached_executable_is_loaded(short):
    cached = podsim.predict("bert", pod=16, engine="analytic", compile="cached").wall_clock
    assert cached.start is ProgramStart.CACHED
    assert cached.compile_s.value == TIMES.cached_s
    assert cached.compile_s.grade is Grade.ASSUMED
    assert cached.total_s.value - cached.compile_s.value == pytest.approx(
        short.wall_clock.total_s.value - short.wall_clock.compile_s.value
    )


def test_the_time_to_train_stays_that_of_mlperf(short):
    assert short.run.total_s == pytest.approx(podsim.predict("bert", pod=16, compile="cached").run.total_s, rel=1e-3)
    assert "Wall clock" in text(short)
    assert text(short).index("Time to train") < text(short).index("Wall clock")


def test_failures_of_a_long_run_are_those_of_goodput(long):
    (interrupted,) = long.wall_clock.failures
    alone = podsim.goodput("gpt2-xl", **LONG)
    assert alone.run.work_s == pytest.approx(long.time_to_train_s.value, rel=1e-3)
    assert interrupted.finish_s.mean / interrupted.run.work_s == pytest.approx(
        alone.finish_s.mean / alone.run.work_s, rel=1e-3
    )
    assert long.wall_clock.total_s.grade is Grade.ASSUMED
    assert "Failures" in text(long, verbose=True)
    stretch = interrupted.finish_s.mean / interrupted.run.work_s
    clock, train = long.wall_clock, long.time_to_train_s
    assert clock.total_s.high - clock.total_s.value == pytest.approx(stretch * (train.high - train.value), rel=1e-3)


def test_a_wall_clock_that_is_hardly_longer_is_left_to_verbose(long):
    assert long.wall_clock.total_s.value < (1 + view.MATTERS) * long.time_to_train_s.value
    assert "Wall clock" not in text(long)
    assert "Wall clock" in text(long, verbose=True)


def test_without_a_length_compile_time_is_known_and_the_wall_clock_is_not():
    untimed = podsim.predict("gpt2-xl", pod=64, engine="analytic", global_batch=2048)
    assert untimed.wall_clock.total_s is None
    assert untimed.wall_clock.compile_s.value > 0
    assert answer_document(untimed).tree()["wall_clock"]["total_s"] is None


def test_phases_have_a_program_each():
    whole = podsim.predict("bert-large-full", pod=64, engine="analytic")
    each = [podsim.predict(phase.workload, pod=64, engine="analytic").wall_clock for phase in whole.phases]
    clock = whole.wall_clock
    assert clock.operators == sum(one.operators for one in each)
    assert clock.compile_s.value == pytest.approx(sum(one.compile_s.value for one in each))
    assert clock.total_s.value > whole.time_to_train_s.value
    assert answer_document(whole).tree()["wall_clock"]["operators"] == clock.operators


def test_json_has_every_part(short):
    known = answer_document(short).tree()["wall_clock"]
    assert known["program"] == "fresh"
    assert known["compile_s"]["low"] < known["compile_s"]["value"] < known["compile_s"]["high"]
    assert known["total_s"]["value"] == pytest.approx(short.wall_clock.total_s.value, rel=1e-4)


def test_the_time_to_train_says_what_it_has_beside_steps(short, long):
    """MLPerf's clock has start-up and evaluations; of a run of so many tokens steps alone are counted."""
    lines = [" ".join(line.split()) for line in text(short, verbose=True).splitlines()]
    assert any(line.startswith("Time to train") and "steps, start-up, evaluations" in line for line in lines)
    lines = [" ".join(line.split()) for line in text(long, verbose=True).splitlines()]
    assert any(line.startswith("Time to train") and line.endswith("steps only") for line in lines)
