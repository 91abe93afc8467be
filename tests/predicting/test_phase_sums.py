"""The prediction and the explanation of phases: sums, weighted means, and the worst of the grades."""

from dataclasses import replace

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.phases import PhaseOf, Phases
from podsim.model.prediction import Choice, Figure, Grades, Run
from podsim.model.program import Part
from podsim.model.quantity import Cause, Estimate, Grade, SourceKind
from podsim.predicting import assemble
from podsim.predicting.run_sequence import together
from podsim.studies.explain import explained_run
from podsim.studies.explain.result import Alternative, Explanation, Influence, Rise, Without

NAMES = Phases(name="both", title="Both", phases=(PhaseOf(workload="short"), PhaseOf(workload="long")))
OF_BOTH = AnswerNote.of(NoteCode.FILE_TEXT, text="of both")


def estimate(value, grade=Grade.INTERPOLATED, beyond=1.0, causes=None):
    return Estimate(
        value=value, low=value * 0.8, high=value * 1.5, grade=grade, beyond=beyond, causes=causes or {Cause.CHIP: 1.0}
    )


def run_of(steps, training_s, rest_s):
    return Run(
        steps=steps,
        evaluations=2,
        interval_samples=5.0,
        startup_s=rest_s,
        training_s=training_s,
        evaluation_s=2 * rest_s,
        checkpoint_s=3 * rest_s,
    )


@pytest.fixture(scope="module")
def phases():
    """100 steps of 1 s and 300 of 2 s, of 10 and 40 samples."""
    setup = world(model(unit("a0")), pod())
    choice = Choice(given="flags", legal=1, rejected={}, considered=(), reason=AnswerNote.of(NoteCode.GIVEN))
    base = assemble.predict(setup.question(analytic.run), setup.mapping, choice, ())
    result = []
    for name, steps, step_s, rate, grade in (
        ("short", 100, 1.0, 10.0, Grade.EXTRAPOLATED),
        ("long", 300, 2.0, 20.0, Grade.INTERPOLATED),
    ):
        result.append(
            replace(
                base,
                workload=name,
                timeline=replace(
                    base.timeline,
                    step_s=step_s,
                    period_s=step_s / 2,
                    breakdown_s={Part.COMPUTE: step_s - 0.5, Part.SYNC: 0.5},
                    events=steps,
                ),
                step_s=estimate(step_s),
                throughput_samples_per_s=estimate(rate),
                samples_to_converge=estimate(steps * step_s * rate, causes={Cause.CONVERGENCE: 1.0}),
                time_to_train_s=estimate(steps * step_s, grade, 1.0 + (grade is Grade.EXTRAPOLATED)),
                run=run_of(steps, steps * step_s, step_s),
                mfu=step_s / 10,
                assumptions=(OF_BOTH, AnswerNote.of(NoteCode.FILE_TEXT, caveat=True, text=f"alone in {name}")),
                grades=Grades(figures={"step": Figure(grade=grade, beyond=step_s)}, shares={grade: 1.0}),
            )
        )
    return result


@pytest.fixture(scope="module")
def whole(phases):
    return together(NAMES, phases)


def test_times_samples_and_ends_of_intervals_add_up(whole):
    time = whole.time_to_train_s
    assert (time.value, time.low, time.high) == pytest.approx((700, 560, 1050))
    assert (time.grade, time.beyond, time.smaller) == (Grade.EXTRAPOLATED, 2.0, False)
    assert whole.samples_to_converge.value == pytest.approx(1000 + 12000)
    assert whole.samples_to_converge.causes == {Cause.CONVERGENCE: pytest.approx(1.0)}


def test_a_sum_is_beyond_calibration_as_its_farthest_phase_is(phases):
    near, *others = phases
    smaller = replace(near, time_to_train_s=replace(near.time_to_train_s, beyond=9.0, smaller=True))
    time = together(NAMES, (smaller, *others)).time_to_train_s
    assert (time.beyond, time.smaller) == (9.0, True)


def test_a_step_is_the_mean_of_all_steps(whole):
    """A quarter of them take 1 s, three quarters 2 s."""
    assert whole.step_s.value == pytest.approx(1.75)
    assert (whole.timeline.step_s, whole.timeline.period_s) == pytest.approx((1.75, 0.875))
    assert dict(whole.timeline.breakdown_s) == {Part.COMPUTE: pytest.approx(1.25), Part.SYNC: pytest.approx(0.5)}
    assert whole.timeline.events == 400


def test_the_run_is_one_after_the_other(whole):
    run = whole.run
    assert (run.steps, run.evaluations, run.interval_samples) == (400, 4, None)
    assert (run.startup_s, run.training_s, run.evaluation_s, run.checkpoint_s) == (3, 700, 6, 9)


def test_throughput_is_samples_over_the_time_of_steps(whole):
    """13,000 samples in 700 s; its ends are those of the steps turned round."""
    rate = whole.throughput_samples_per_s
    assert rate.value == pytest.approx(13000 / 700)
    assert (rate.low, rate.high) == pytest.approx((13000 / 1050, 13000 / 560))


def test_utilization_weighs_as_the_training_does(whole):
    assert whole.mfu == pytest.approx((0.1 * 100 + 0.2 * 600) / 700)


def test_names_and_what_has_no_sum_are_of_the_whole_and_of_the_longest(whole, phases):
    assert (whole.workload, whole.workload_title, whole.target) == ("both", "Both", "short, then long")
    assert whole.mapping == phases[1].mapping
    assert whole.phases == tuple(phases)
    assert together(NAMES, phases[::-1]).mapping == phases[1].mapping


def test_what_is_assumed_of_all_comes_once_and_first_what_is_assumed_of_one_has_its_name(whole):
    assert [*map(str, whole.assumptions[:3])] == ["of both", "short: alone in short", "long: alone in long"]
    assert [note.caveat for note in whole.assumptions[:3]] == [False, True, True]
    assert "are those of long, the longest phase" in str(whole.assumptions[3])


def test_grades_are_the_worst_and_shares_weigh_as_the_time_does(whole):
    assert whole.grades.figures == {"step": Figure(grade=Grade.EXTRAPOLATED, beyond=2.0)}
    assert whole.grades.shares == {
        Grade.EXTRAPOLATED: pytest.approx(1 / 7),
        Grade.INTERPOLATED: pytest.approx(6 / 7),
    }


# --- the explanation ------------------------------------------------------------------------------------------------


def influence(name, change, value="1 GB/s", grade=Grade.INTERPOLATED):
    return Influence(
        path=name, name=name, value=value, change=change, kind=SourceKind.MEASURED, source=f"doc {value}", grade=grade
    )


def other(name, flags, time_s, why):
    return Alternative(name=name, flags=flags, time_to_train_s=time_s, change=None, why=why)


@pytest.fixture(scope="module")
def explanation(phases, whole):
    """Of 100 s and 600 s."""
    short, long = phases
    return explained_run.together(
        whole,
        [
            Explanation(
                prediction=short,
                waterfall=(
                    Rise(mechanism="ideal", added_s=60, until_s=60),
                    Rise(mechanism="sync", added_s=40, until_s=100),
                ),
                without=(Without(name="sync", time_to_train_s=60, change=-0.4),),
                influences=(influence("clock", -0.5), influence("small", 0.01)),
                alternatives=(
                    other("larger batch", "--b 2", 90.0, "fewer"),
                    other("recompute", "--r", 120.0, "more"),
                    other("other chip", "--chip", None, "cannot"),
                ),
            ),
            Explanation(
                prediction=long,
                waterfall=(
                    Rise(mechanism="ideal", added_s=500, until_s=500),
                    Rise(mechanism="host", added_s=100, until_s=600),
                ),
                without=(Without(name="host", time_to_train_s=500, change=-1 / 6),),
                influences=(influence("clock", -0.8, "2 GB/s", Grade.EXTRAPOLATED),),
                alternatives=(other("larger batch", "--b 2", 540.0, "rarer"),),
            ),
        ],
    )


def test_mechanisms_add_up_in_the_order_in_which_they_come(explanation):
    assert [(rise.mechanism, rise.added_s, rise.until_s) for rise in explanation.waterfall] == [
        ("ideal", 560, 560),
        ("sync", 40, 600),
        ("host", 100, 700),
    ]


def test_a_phase_without_a_mechanism_takes_as_long_as_it_does(explanation):
    assert [(item.name, item.time_to_train_s) for item in explanation.without] == [("sync", 660), ("host", 600)]
    assert [item.change for item in explanation.without] == pytest.approx([660 / 700 - 1, 600 / 700 - 1])


def test_influences_weigh_as_their_phase_does_the_strongest_first(explanation):
    clock, small = explanation.influences
    assert (clock.name, clock.change) == ("clock", pytest.approx((-0.5 * 100 - 0.8 * 600) / 700))
    assert (clock.value, clock.source) == ("1 GB/s + 2 GB/s", "doc 1 GB/s; doc 2 GB/s")
    assert clock.grade is Grade.EXTRAPOLATED
    assert small.change == pytest.approx(0.01 * 100 / 700)


def test_choices_that_all_phases_have_are_one_others_have_the_name_of_their_phase(explanation):
    both, one, none = explanation.alternatives
    assert (both.name, both.time_to_train_s) == ("larger batch", pytest.approx(630))
    assert both.change == pytest.approx(-0.1)
    assert both.why == "short: fewer; long: rarer"
    assert (one.name, one.why, one.time_to_train_s) == ("short: recompute", "more", pytest.approx(720))
    assert one.change == pytest.approx(20 / 700)
    assert (none.name, none.time_to_train_s, none.change) == ("short: other chip", None, None)
