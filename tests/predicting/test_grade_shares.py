"""What the time to train rests on: seconds outside steps, parts that grow with the machine, links nobody measured."""

from dataclasses import replace

import pytest
from engines.worlds import model, parameters, pod, unit, world

from podsim.convergence.samples import Samples
from podsim.engines import analytic
from podsim.model.prediction import Run
from podsim.model.program import Part, StepTimeline
from podsim.model.quantity import Grade
from podsim.predicting.grades import grades
from podsim.predicting.uncertainty import StepDoubt

RUN = Run(steps=10, evaluations=1, interval_samples=None, startup_s=5, training_s=80, evaluation_s=10, checkpoint_s=5)
TIMELINE = StepTimeline(
    step_s=8.0,
    period_s=1.0,
    breakdown_s={Part.COMPUTE: 4.0, Part.ALL_REDUCE: 2.0, Part.HOST: 1.0, Part.FRAMEWORK: 1.0},
    spans=(),
    events=1,
)
KNOWN = StepDoubt(variances={}, grade=Grade.INTERPOLATED, beyond=1.0)
FAR = StepDoubt(variances={}, grade=Grade.EXTRAPOLATED, beyond=4.0)
NEED = Samples(mean=1e3, seed_spread=0, doubt=0, grade=Grade.ASSUMED, beyond=2.0, basis="by hand")


def question(largest=None, **changes):
    fitted = replace(parameters(), largest={"by-hand": 16} if largest is None else largest)
    case = world(model(unit("a0")), pod(racks=2), fitted=fitted).question(analytic.run)
    return replace(case, **changes)


def shares(case, run=RUN, racks=0.0, doubt=KNOWN, moved=None):
    return grades(case, TIMELINE, run, racks, doubt, NEED, changed_shares=moved or {}).shares


def test_a_run_is_as_sure_as_the_least_of_its_step_and_its_samples():
    figures = grades(question(), TIMELINE, RUN, 0.0, FAR, NEED, changed_shares={}).figures
    assert (figures["step"].grade, figures["step"].beyond) == (Grade.EXTRAPOLATED, 4.0)
    assert (figures["samples_to_converge"].grade, figures["samples_to_converge"].beyond) == (Grade.ASSUMED, 2.0)
    assert (figures["time_to_train"].grade, figures["time_to_train"].beyond) == (Grade.ASSUMED, 4.0)
    assert figures["memory"].grade is Grade.ASSUMED


def test_seconds_outside_steps_are_those_of_the_workload_at_a_calibrated_size():
    assert (
        grades(question(), TIMELINE, RUN, 0.0, KNOWN, NEED, changed_shares={}).figures["outside_steps"].grade
        is Grade.INTERPOLATED
    )
    far = grades(question(), TIMELINE, RUN, 0.0, FAR, NEED, changed_shares={}).figures["outside_steps"]
    assert (far.grade, far.beyond) == (Grade.EXTRAPOLATED, 4.0)
    stranger = grades(question({}), TIMELINE, RUN, 0.0, FAR, NEED, changed_shares={}).figures["outside_steps"]
    assert (stranger.grade, stranger.beyond) == (Grade.ASSUMED, 1.0)


def test_shares_by_hand():
    """20 of 100 s outside steps; of 8 s a step 1 s waits as other frameworks do, the rest is as its chip is known."""
    assert shares(question()) == {
        Grade.INTERPOLATED: pytest.approx(0.2 + 0.8 * 7 / 8),
        Grade.EXTRAPOLATED: pytest.approx(0.1),
    }


def test_evaluations_between_steps_go_at_the_pace_of_steps():
    at_pace = shares(question(), replace(RUN, interval_samples=100.0))
    assert at_pace[Grade.EXTRAPOLATED] == pytest.approx(0.9 / 8)


def test_what_grows_with_the_machine_is_extrapolated_beyond_its_sizes():
    """And what is outside steps; compute and host input stay."""
    assert shares(question(), doubt=FAR) == {
        Grade.INTERPOLATED: pytest.approx(0.8 * 5 / 8),
        Grade.EXTRAPOLATED: pytest.approx(0.2 + 0.8 * 3 / 8),
    }


def test_a_workload_or_chip_that_no_fit_has():
    assert shares(question({})) == {Grade.ASSUMED: pytest.approx(1.0)}
    case = question()
    other = replace(case.machine, parameters=replace(case.machine.parameters, chips=("another",)))
    assert shares(replace(case, machine=other)) == {
        Grade.INTERPOLATED: pytest.approx(0.2),
        Grade.EXTRAPOLATED: pytest.approx(0.8),
    }


def test_links_between_racks_and_servers_that_nobody_measured():
    """A quarter of the all-reduce is between racks."""
    case = question()
    machine = replace(case.machine, assumed=frozenset({"gw-link.bandwidth", "hosts.server_bandwidth"}))
    assert shares(replace(case, machine=machine), racks=0.25) == {
        Grade.INTERPOLATED: pytest.approx(0.2 + 0.8 * (4 + 1.5) / 8),
        Grade.ASSUMED: pytest.approx(0.8 * (0.5 + 1) / 8),
        Grade.EXTRAPOLATED: pytest.approx(0.1),
    }


def test_what_changed_inputs_and_faults_carry_is_assumed():
    """Half of the compute and all of the all-reduce: 4 of 8 s a step, and of 80 of 100 s."""
    assert shares(question(), moved={Part.COMPUTE: 0.5, Part.ALL_REDUCE: 1.0}) == {
        Grade.INTERPOLATED: pytest.approx(0.2 + 0.8 * 3 / 8),
        Grade.ASSUMED: pytest.approx(0.8 * 4 / 8),
        Grade.EXTRAPOLATED: pytest.approx(0.1),
    }
