"""What a measurement would settle is what a fit to it settles, and three own runs narrow the interval as promised."""

import math
from dataclasses import replace
from types import SimpleNamespace

import log_writer
import pytest

import podsim
from podsim.calibration.fit import fit
from podsim.calibration.fit_cases import StepTimes, steps_s
from podsim.calibration.fit_data import cases, ready
from podsim.calibration.next_point import NextPoint, with_point
from podsim.files import catalog
from podsim.model.parameters import FREE
from podsim.predicting.training_case import step
from podsim.predicting.uncertainty import sensitivity

SHIPPED = catalog.parameters()
RUNS = 3


def own_point(parameters):
    """BERT on a POD512, which nobody has published, measured as these parameters predict it."""
    p = podsim.predict("bert", pod=512, engine="analytic")
    mapping = p.mapping
    like = next(case.point for case in cases() if case.point.id == "bert/pod128/v1.1-closed")
    point = replace(
        like,
        id="bert/pod512/own",
        topology="pod512",
        replicas=mapping.replicas,
        ipus_per_replica=mapping.ipus_per_replica,
        micro_batch=mapping.micro_batch,
        accumulation=mapping.accumulation,
        global_batch=mapping.global_batch,
        sdk=p.sdk,
        runs=RUNS,
        step_spread=parameters.run_spread,
    )
    (case,) = ready([point])
    (case,) = ready([replace(point, step_s=steps_s([case], parameters)[0])])
    question = case.question(parameters)
    return case, sensitivity(question, step(question, case.mapping))


@pytest.mark.slow
def test_a_fit_to_the_point_has_the_errors_promised():
    form = next(form for form in FREE.forms if form.form == SHIPPED.form)
    shipped, times = cases(), StepTimes()
    before = fit(shipped, form, times=times)
    parameters = replace(SHIPPED, fitted=before.fitted, correlation=before.correlation)
    case, slopes = own_point(parameters)
    promised = with_point(
        parameters, NextPoint(workload="bert", ipus=512, chip="gc200", runs=RUNS, slopes=slopes), FREE
    )
    after = fit([*shipped, case], form, start=before.values, times=times)
    assert after.fitted["rack.step"].error < 0.6 * before.fitted["rack.step"].error
    for name, item in after.fitted.items():
        assert item.value == pytest.approx(before.fitted[name].value, rel=1e-4)
        assert promised.fitted[name].error == pytest.approx(item.error, rel=0.02), name
        for other, related in after.correlation[name].items():
            assert promised.correlation[name][other] == pytest.approx(related, abs=0.03), (name, other)


def test_sizes_and_chips_become_calibrated():
    point = NextPoint(workload="vit-base", ipus=8, chip="mk9", runs=3, slopes={})
    more = with_point(SHIPPED, point, FREE)
    assert (more.largest["vit-base"], more.smallest["vit-base"]) == (8, 8)
    assert more.chips == (*SHIPPED.chips, "mk9")
    assert {name: item.error for name, item in more.fitted.items()} == pytest.approx(
        {name: item.error for name, item in SHIPPED.fitted.items()}
    )
    larger = with_point(SHIPPED, replace(point, workload="bert", ipus=512, chip="bow"), FREE)
    assert (larger.largest["bert"], larger.smallest["bert"]) == (512, SHIPPED.smallest["bert"])
    assert larger.chips == SHIPPED.chips


def test_more_runs_settle_no_less_and_never_all():
    slopes = {"rack.step": 0.5}
    errors = [
        with_point(SHIPPED, NextPoint(workload="bert", ipus=512, chip="gc200", runs=runs, slopes=slopes), FREE)
        .fitted["rack.step"]
        .error
        for runs in (1, 3, 1000)
    ]
    assert SHIPPED.fitted["rack.step"].error > errors[0] > errors[1] > errors[2]
    prior, noise = SHIPPED.fitted["rack.step"].error, FREE.model_error / 0.5
    assert errors[2] == pytest.approx(1 / math.hypot(1 / prior, 1 / noise), rel=1e-3)


def width(estimate):
    return math.log(estimate.high / estimate.low)


@pytest.mark.slow
def test_three_own_runs_halve_the_interval_of_the_step_there(tmp_path):
    """Of the time to train half is taken away: runs to the target settle the mean of samples to converge as well."""
    before = podsim.predict("bert", pod=512, engine="analytic")
    workload, mapping = catalog.workload("bert").value, before.mapping
    point = SimpleNamespace(
        evaluations=before.run.evaluations,
        steps=before.run.steps,
        global_batch=mapping.global_batch,
        samples_to_converge=before.samples_to_converge.value,
        topology="pod512",
        division="closed",
        optimizer=workload.optimizer,
    )
    case = SimpleNamespace(point=point, workload=workload, preset=SimpleNamespace(accumulation=mapping.accumulation))
    outside = {
        "startup": before.run.startup_s,
        "evaluation": before.run.evaluation_s / before.run.evaluations,
        "switch": 0.0,
        "checkpoint": 0.0,
    }
    log_writer.write(tmp_path / "logs", log_writer.predicted(case, before.step_s.value, outside, RUNS))
    mine = tmp_path / "mine.toml"
    podsim.calibrate_own(
        logs=tmp_path / "logs",
        topology="pod512",
        ipus_per_replica=mapping.ipus_per_replica,
        sdk=before.sdk,
        out=mine,
    )
    after = podsim.predict("bert", pod=512, engine="analytic", parameters=mine)
    assert width(after.step_s) < 0.5 * width(before.step_s)
    ratio = width(after.time_to_train_s) / width(before.time_to_train_s)
    best = podsim.explain_measurements("bert", pod=512, engine="analytic").measurements[0]
    assert (best.workload, best.ipus) == ("bert", 512)
    assert ratio == pytest.approx(1 - best.narrower, abs=0.05)
    shares = [each.time_to_train_s.causes["convergence"] for each in (before, after)]
    assert shares[1] * ratio**2 < 0.75 * shares[0]
