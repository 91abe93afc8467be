"""What the model misses a configuration by is taken from own runs of it, and its interval is as wide as they leave."""

import math
from dataclasses import replace
from statistics import fmean

import pytest

from podsim.calibration import own_residual
from podsim.calibration.convergence_factors import samples_factors
from podsim.calibration.coverage import estimates
from podsim.calibration.fit_data import cases
from podsim.convergence.samples import reference
from podsim.files import catalog
from podsim.files.write import parameters_text
from podsim.model.parameters import FREE
from podsim.model.prediction import Choice
from podsim.model.quantity import NINETY_PERCENT, Cause
from podsim.model.training import Schedule
from podsim.predicting import assemble
from podsim.predicting.training_case import step, step_doubt
from podsim.predicting.uncertainty import step_doubt as doubt_of

SHIPPED = catalog.parameters()
CASES = {case.point.id: case for case in cases()}
CASE = CASES["bert/bow-pod64/v2.0-closed"]
RUNS, SLOWER, SPREAD = 3, 1.08, 0.002


def own(case=CASE, slower=SLOWER, runs=RUNS):
    """Three runs of a published configuration on a machine that is slower than predicted."""
    predicted_s = step(case.question(SHIPPED), case.mapping).step_s
    point = replace(case.point, runs=runs, step_s=slower * predicted_s, step_spread=SPREAD)
    return replace(case, point=point)


def with_runs(*mine):
    configurations = own_residual.own_configurations(mine, SHIPPED, samples_factors(cases()))
    return replace(SHIPPED, own=configurations)


def note(question, mapping):
    choice = Choice(reason="by hand", legal=1, rejected={}, considered=(), given="all")
    return assemble.predict(question, mapping, choice, ()).calibration


def step_s(case, parameters):
    return step(case.question(parameters), case.mapping).step_s


def width(estimate):
    return math.log(estimate.high / estimate.low)


def estimates_of(case, parameters):
    return {quantity: estimate for quantity, _, estimate in estimates(case, parameters, (NINETY_PERCENT,))}


def test_scatter_of_submissions_is_that_of_the_published_rows():
    """Rows with one configuration, the rms of their logs about their means with a degree of freedom lost for each."""
    groups = {}
    for case in CASES.values():
        groups.setdefault(case.shape, []).append(math.log(case.point.step_s))
    several = [logs for logs in groups.values() if len(logs) > 1]
    squares = math.fsum((log - fmean(logs)) ** 2 for logs in several for log in logs)
    freedom = sum(len(logs) - 1 for logs in several)
    assert (len(several), freedom) == (7, 9)
    assert math.sqrt(squares / freedom) == pytest.approx(FREE.submission_error, abs=0.0005)


def test_the_step_moves_to_what_was_measured_but_for_what_the_runs_leave():
    left = own_residual.remaining([SPREAD / math.sqrt(RUNS)])
    moved = step_s(CASE, with_runs(own())) / step_s(CASE, SHIPPED)
    assert math.log(moved) == pytest.approx((1 - left.share) * math.log(SLOWER), abs=1e-5)
    assert left.share < 0.05


def test_what_is_left_is_the_product_of_two_densities():
    errors = [0.004, 0.002]
    measured = (FREE.submission_error**2 + fmean(error**2 for error in errors)) / 2
    left = own_residual.remaining(errors)
    kept = 1 / (1 / FREE.model_error**2 + 1 / measured)
    assert left.share == pytest.approx(kept / FREE.model_error**2)
    assert left.error == pytest.approx(math.hypot(math.sqrt(kept), FREE.submission_error))


def test_intervals_there_are_less_than_half_for_steps_and_narrower_for_scores():
    before, after = estimates_of(CASE, SHIPPED), estimates_of(CASE, with_runs(own()))
    assert width(after["step_s"]) < 0.5 * width(before["step_s"])
    ratio = width(after["time_to_train_predicted_samples_s"]) / width(before["time_to_train_predicted_samples_s"])
    assert 0.3 < ratio < 0.8


def test_runs_that_scatter_narrow_no_interval_below_their_scatter():
    calm, restless = own(), own()
    restless = replace(restless, point=replace(restless.point, step_spread=0.03))
    widths = [width(estimates_of(CASE, with_runs(case))["step_s"]) for case in (calm, restless)]
    assert widths[1] > 2 * 1.645 * 0.03 > widths[0]


@pytest.mark.parametrize(
    "other", ["resnet50/bow-pod64/v2.0-closed", "bert/pod64/v1.1-closed", "bert/bow-pod16/v2.0-closed"]
)
def test_other_workloads_machines_and_releases_are_as_before(other):
    after, case = with_runs(own()), CASES[other]
    assert step_s(case, after) == step_s(case, SHIPPED)
    assert estimates_of(case, after) == estimates_of(case, SHIPPED)


def test_another_mapping_of_the_same_work_is_as_before():
    mapping = replace(CASE.mapping, accumulation=2 * CASE.mapping.accumulation)
    after, before = (step(CASE.question(each), mapping).step_s for each in (with_runs(own()), SHIPPED))
    assert after == before


def test_an_answer_of_another_mapping_says_which_one_was_measured():
    """A machine that ran 30 % slower was predicted as before, with no word of its runs of another mapping."""
    machine = replace(CASE.question(SHIPPED).machine, parameters=with_runs(own()))
    other = machine.own_elsewise(CASE.workload.name)
    assert other is machine.own(CASE.workload, CASE.mapping)
    assert machine.own_elsewise("resnet50" if CASE.workload.name == "bert" else "bert") is None
    question = replace(CASE.question(SHIPPED), machine=machine)
    longer = replace(CASE.mapping, accumulation=2 * CASE.mapping.accumulation)
    split = f"{CASE.mapping.replicas} × {CASE.mapping.ipus_per_replica} IPUs at batch {CASE.point.global_batch:,}"
    assert f"{RUNS} own runs of another mapping, {split}, which this one may not follow" in note(question, longer)
    assert f"{RUNS} own runs of this configuration" in note(question, CASE.mapping)
    more_hosts = replace(question, machine=replace(machine, hosts=machine.hosts + 1))
    assert f"of this mapping under SDK {CASE.point.sdk} with" in note(more_hosts, CASE.mapping)


def test_another_schedule_of_the_same_mapping_is_not_what_was_measured():
    """A sequential step of 3.6 s was as sure as the 0.7 s that had been measured."""
    machine = replace(CASE.question(SHIPPED).machine, parameters=with_runs(own()))
    schedule = replace(CASE.mapping.configuration, schedule=Schedule.SEQUENTIAL)
    in_turn = replace(CASE.mapping, configuration=schedule)
    assert machine.own(CASE.workload, CASE.mapping) is not None
    assert machine.own(CASE.workload, in_turn) is None
    text = note(replace(CASE.question(SHIPPED), machine=machine), in_turn)
    assert f"{RUNS} own runs of this mapping with its published schedule and software" in text


def test_a_what_if_keeps_the_time_of_the_program_and_not_the_narrow_interval():
    case, parameters = CASE, with_runs(own())
    question = case.question(parameters)
    changed = replace(question, machine=replace(question.machine, changed=("gw-link.bandwidth",)))
    timeline = step(question, case.mapping)
    doubts = [step_doubt(each, case.mapping, timeline).spread for each in (question, changed)]
    assert doubts[0] < 0.5 * doubts[1]
    assert step(changed, case.mapping).step_s == timeline.step_s


def test_forms_of_the_model_matter_as_little_as_parameters():
    question, shipped = CASE.question(with_runs(own())), CASE.question(SHIPPED)
    timeline = step(question, CASE.mapping)
    left = own_residual.remaining([SPREAD / math.sqrt(RUNS)]).share
    after, before = (step_doubt(each, CASE.mapping, timeline).variances for each in (question, shipped))
    for cause in (Cause.PARAMETERS, Cause.FORM):
        assert after[cause] <= 1.3 * left**2 * before[cause], cause
    assert after[Cause.NOISE] == before[Cause.NOISE] > 0
    assert doubt_of(question.machine, "bert", {}, ipus=64).variances[Cause.MODEL] == before[Cause.MODEL]


def test_divisions_share_the_step_and_have_samples_of_their_own():
    both = [own(CASES[f"bert/pod64/v1.1-{division}"], 1.05) for division in ("closed", "open")]
    parameters = with_runs(*both)
    assert len(parameters.own) == 2
    programs = {item.program for item in parameters.own.values()}
    samples = {item.division: item.samples for item in parameters.own.values()}
    assert len(programs) == 1
    assert samples["closed"] > 1.05 * samples["open"]


def test_samples_of_own_runs_hold_at_their_batch_and_release():
    point, parameters = CASE.point, with_runs(own())
    asked = ("bert", point.sdk, point.optimizer, point.division, point.global_batch)
    known = parameters.own_samples(*asked)
    curve = reference(CASE.workload.curve, point.global_batch)
    prior = SHIPPED.samples["bert"]["lamb"]["closed"]
    doubt, seeds = math.hypot(curve.doubt, prior.spread), curve.seed_spread / math.sqrt(RUNS)
    assert known.samples_error == pytest.approx(1 / math.hypot(1 / doubt, 1 / seeds), rel=1e-4)
    for at, other in ((1, "2.3"), (4, 2 * point.global_batch)):
        assert parameters.own_samples(*asked[:at], other, *asked[at + 1 :]) is None


def test_a_step_that_no_plausible_program_takes_is_left_to_the_parameters():
    assert with_runs(own(slower=20.0)).own == {}


def test_configurations_are_read_as_they_were_written(tmp_path):
    parameters, path = with_runs(own()), tmp_path / "mine.toml"
    path.write_text(parameters_text(parameters), encoding="utf-8")
    assert catalog.own_parameters(path).own == parameters.own
    assert "own" not in parameters_text(SHIPPED)
