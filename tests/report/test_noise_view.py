"""What the screen says of simulated noise, and of what logs say of it."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes, tables

from podsim.model.noise import (
    HostNoise,
    IpuNoise,
    Noise,
    NoiseCause,
    NoiseFit,
    NoiseReport,
    RunNoise,
    Spread,
    Submission,
)
from podsim.report.doc import Doc
from podsim.report.views import noise_view as view

NOISE = Noise(
    ipu=IpuNoise(jitter=0.0123),
    host=HostNoise(jitter=0.0046, hiccup_every_s=600.0, hiccup_size_s=0.25),
    run=RunNoise(spread=0.002),
)
STEP = Spread(mean_s=0.2, spread_s=0.004, p50_s=0.199, p95_s=0.21, p99_s=0.22, worst_s=0.3)
REPORT = NoiseReport(
    steps=1000,
    seed=3,
    scale=1.0,
    parameters=NOISE,
    step_s=STEP,
    causes=(
        NoiseCause(
            name="IPUs",
            members=4096,
            delay_s=Spread(mean_s=1e-3, spread_s=2e-4, p50_s=0.0, p95_s=2e-3, p99_s=3e-3, worst_s=0.0),
        ),
    ),
    in_fit_s=1.5e-3,
    added_s=4.0,
    added_low_s=-2.0,
    added_high_s=9.0,
)
FIT = NoiseFit(
    noise=NOISE,
    submissions=(
        Submission(
            point="bert/pod16",
            step_s=2.2,
            step_spread_s=0.004,
            ipu_jitter=0.011,
            host_jitter=0.0033,
            above_s=(1.0, 2.0),
            below_s=(0.5,),
            watched_s=100.0,
        ),
    ),
)


def document(report, training_s=100.0):
    return Doc((tuple(view.blocks(report, training_s)),))


def test_the_tail_of_a_step_is_in_the_unit_of_its_mean():
    doc = document(REPORT)
    assert headings(doc) == ["Simulated noise, 1,000 steps of one run, seed 3"]
    step = facts(doc)["Step time"]
    assert (step.number, step.unit, step.remark) == ("200", "ms", "± 4.0 ms")
    assert step.second == "P50 199, P95 210, P99 220, worst 300 ms"


def test_what_noise_adds_to_a_run_has_a_sign_and_a_share():
    run = facts(document(REPORT))["Time to train"]
    assert (run.number, run.unit, run.remark) == ("+4.0", "s", "+4.0 % of the steps")
    assert run.second == "90 % of runs: −2.0 s to +9.0 s"


def test_another_scale_and_a_single_step_are_told():
    (text,) = headings(document(replace(REPORT, scale=2.5, steps=1)))
    assert text == "Simulated noise, 1 step of one run, seed 3, noise × 2.5"


def test_a_cause_with_its_members_and_no_delay_as_nought():
    assert tables(document(REPORT))[0].rows == (("IPUs", "4,096", "1.0 ms", "200 µs", "2.0 ms", "3.0 ms", "0"),)
    assert notes(document(REPORT))[0].startswith("fitted step times already include 1.5 ms of delay")


def test_the_fit_in_a_line_and_by_submission():
    assert view.answer(FIT) == "IPUs at most 1.2 %, hosts 0.5 % of a step"
    doc = view.document(FIT)
    assert headings(doc) == ["Noise in the logs of 1 submission"]
    assert facts(doc)["ipu.jitter"].number == "0.012"
    assert (facts(doc)["host.hiccup_every"].number, facts(doc)["host.hiccup_every"].unit) == ("10", "min")
    assert tables(doc)[0].rows == (("bert/pod16", "2.20 s", "4.0 ms", "0.011", "0.0033", "2", "1"),)


def test_where_the_fit_was_written():
    assert notes(view.document(FIT)) == ["nothing was written"]
    assert notes(view.document(replace(FIT, path="a.toml"))) == ["wrote a.toml"]
