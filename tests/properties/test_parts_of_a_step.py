"""A part of a step is exactly 0 or more than rounding, parts add up to it, and no pipeline means no bubble."""

import dataclasses
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import podsim
from podsim.model.program import Part
from podsim.model.quantity import Cause

LEAST = 1e-9  # of a step
ADDED = 1e-12  # relative, of a sum of a dozen parts
RUNS = (
    ("resnet50", "pod64", {}),
    ("resnet50", "bow-pod16", {}),
    ("resnet50-bn", "pod16", {}),
    ("bert", "pod64", {}),
    ("bert", "bow-pod256", {}),
    ("bert-large-full", "pod64", {}),
    ("gpt3-2.7b", "pod256", {"samples": 1e6}),
    ("rnnt", "pod64", {}),
    ("vit-base", "pod16", {}),
    pytest.param("efficientnet-b4-g16", "pod16", {"samples": 1e7}, marks=pytest.mark.slow),
)


def check(parts, whole):
    assert sum(parts.values()) == pytest.approx(whole, rel=ADDED + len(parts) * LEAST)
    for part, seconds in parts.items():
        assert seconds == 0 or seconds > LEAST * whole, f"{part}: {seconds} of {whole}"


def shares_of(value):
    """Every mapping from causes to shares within an answer."""
    if isinstance(value, Mapping):
        if value and all(isinstance(key, Cause) for key in value):
            yield value
        for item in value.values():
            yield from shares_of(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from shares_of(item)
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            yield from shares_of(getattr(value, field.name))


@pytest.mark.parametrize("engine", ["analytic", pytest.param("des", marks=pytest.mark.slow)])
@pytest.mark.parametrize(("workload", "machine", "length"), RUNS)
def test_each_part_of_a_shipped_prediction_is_nothing_or_more_than_rounding(workload, machine, length, engine):
    answer = podsim.predict(workload, topology=machine, engine=engine, **length)
    check(answer.breakdown_s, answer.timeline.step_s)
    for phase in answer.phases or (answer,):
        check(phase.breakdown_s, phase.timeline.step_s)
        for row in phase.choice.considered:
            assert row.bubble == 0 or row.bubble > LEAST
            if len(row.mapping.stages) == 1:
                assert row.bubble == 0, "a bubble without a pipeline"
    for shares in shares_of(answer):
        check(shares, 1.0)


@settings(max_examples=settings.default.max_examples // 2)
@given(
    workload=st.sampled_from(["resnet50", "vit-base", "bert", "resnet50-bn"]),
    ipus=st.sampled_from([1, 2, 4]),
    replicas=st.sampled_from([1, 2, 4]),
    micro=st.integers(1, 6),
    count=st.integers(1, 400),
    engine=st.sampled_from(["analytic", "des"]),
)
def test_so_it_is_of_any_mapping(workload, ipus, replicas, micro, count, engine):
    from podsim.errors import PodsimError

    try:
        answer = podsim.predict(
            workload,
            pod=16,
            engine=engine,
            samples=1e6,
            replicas=replicas,
            ipus_per_replica=ipus,
            micro_batch=micro,
            accumulation=count,
        )
    except PodsimError:
        return
    check(answer.breakdown_s, answer.timeline.step_s)
    if len(answer.mapping.stages) == 1:
        assert answer.breakdown_s[Part.BUBBLE] == 0


@pytest.mark.parametrize(("workload", "machines"), [("resnet50", ["pod64", "bow-pod64"]), ("bert", ["pod16", "pod64"])])
def test_a_comparison_shows_no_part_and_no_cause_that_is_rounding(workload, machines):
    difference = podsim.compare(workload, machines, engine="analytic").differences[0]
    for row in difference.parts:
        whole = sum(max(part.before_s, part.after_s) for part in difference.parts)
        assert max(row.before_s, row.after_s) > LEAST * whole, row.part
    check(difference.causes, 1.0)


def test_no_cause_without_what_causes_it():
    """Nothing says how long an epoch of RNN-T is, so no run of it ends at one."""
    assert Cause.EVALUATION not in podsim.predict("rnnt", pod=64, engine="analytic").time_to_train_s.causes


@pytest.mark.parametrize("workload", ["resnet50", "bert", "gpt2-small"])
def test_parts_of_a_batch_that_is_answered_are_more_than_rounding(workload):
    report = podsim.infer(workload, pod=4, requests=500, clients=1)
    assert all(seconds > LEAST * report.service.latency_s for seconds in report.service.parts_s.values())
    assert report.delays.queued_s == 0 or report.delays.queued_s > LEAST * report.delays.mean_s
