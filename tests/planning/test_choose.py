"""From flags to a mapping: what is refused and why, what is used as given, what is said about it."""

import re
from dataclasses import replace

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import catalog
from podsim.model.training import Division
from podsim.planning import choose
from podsim.planning.configuration import MappingBuilder
from podsim.resolve import resolve
from podsim.scenario import Constraints, MachineSpec, Scenario
from podsim.workloads import presets

BERT, RESNET = catalog.workload("bert").value, catalog.workload("resnet50").value


def refused(kind=InputError, **flags):
    with pytest.raises(kind) as caught:
        podsim.predict("bert", engine="analytic", **flags)
    return caught.value


def machine(name):
    return catalog.topology(name).value


# --- numbers no machine can have ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"replicas": 3}, "replicas must be a power of two such as 2 or 4, not 3"),
        ({"ipus_per_replica": 12}, "ipus_per_replica must be a power of two such as 8 or 16, not 12"),
        ({"ipus_per_replica": 128}, "ipus_per_replica must be at most 64, an IPU-Link domain, not 128"),
    ],
)
def test_a_mapping_no_machine_can_have_is_refused(flags, said):
    error = refused(pod=1024, **flags)
    assert error.code == "bad-mapping"
    assert len(error.context) == 1
    assert error.context[0].startswith(said)
    (name,) = flags
    assert error.hint == f"leave out {name}: the mapping is then chosen"


def test_two_flags_for_the_micro_batches_of_a_step_conflict():
    error = refused(pod=64, accumulation=4, global_batch=64)
    assert (error.code, error.hint) == ("conflicting-flags", "leave out one of them")
    assert error.message == "accumulation and global_batch are mutually exclusive"


def test_a_mapping_larger_than_the_machine_is_refused_with_both_counts():
    error = refused(pod=64, replicas=16, ipus_per_replica=8)
    assert error.code == "bad-mapping"
    (text,) = error.context
    assert "128" in text
    assert "pod64 has 64" in text


def test_everything_wrong_is_said_at_once():
    error = refused(pod=16, replicas=3, ipus_per_replica=6, accumulation=2, global_batch=12)
    assert len(error.context) == 4


def test_counts_that_suit_are_let_through():
    four = Constraints(replicas=16, ipus_per_replica=4, micro_batch=1, accumulation=1)
    choose.check(four, MappingBuilder(BERT, machine("pod64"), "2.3"))
    choose.check(Constraints(), MappingBuilder(BERT, machine("pod1"), "2.3"))


# --- presets --------------------------------------------------------------------------------------------------------


def test_an_unknown_preset_lists_those_there_are():
    error = refused(pod=16, preset="mlperf-v9.9-closed")
    assert error.code == "unknown-preset"
    assert all(item.name in error.context[0] for item in BERT.presets)


def test_a_preset_of_another_machine_names_its_own():
    error = refused(pod=512, preset="mlperf-v1.1-open")
    assert error.code == "unknown-preset"
    assert "was published for pod16, pod64, pod128, not for pod512" in error.message
    assert error.hint == 'topology="pod128"'


@pytest.mark.parametrize("flag", ["replicas", "ipus_per_replica", "micro_batch"])
def test_a_preset_and_a_part_of_a_mapping_cannot_both_hold(flag):
    error = refused(pod=16, preset="mlperf-v1.1-closed", **{flag: 2})
    assert error.code == "conflicting-flags"
    assert flag in error.message


@pytest.mark.parametrize("workload", [BERT, RESNET], ids=lambda workload: workload.name)
def test_every_preset_is_predicted_as_published(workload):
    for preset in workload.presets:
        prediction = podsim.predict(workload.name, topology=preset.topology, preset=preset.name, engine="analytic")
        mapping = prediction.mapping
        assert (mapping.replicas, mapping.ipus_per_replica) == (preset.replicas, preset.ipus_per_replica)
        assert (mapping.micro_batch, mapping.accumulation) == (preset.micro_batch, preset.accumulation)
        assert mapping.configuration.name == preset.configuration
        assert (prediction.hosts, prediction.sdk) == (preset.hosts, preset.sdk)
        assert (prediction.optimizer, prediction.division) == (preset.optimizer, preset.division or Division.CLOSED)
        assert prediction.choice.given == f"preset {preset.name}"


def test_a_preset_is_the_mapping_its_flags_give():
    """The search for the configuration ends at the published one, so both ways agree to the last digit."""
    preset = podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed")
    flags = podsim.predict("bert", pod=64, replicas=8, ipus_per_replica=8, micro_batch=2, accumulation=96, sdk="2.3")
    assert flags.mapping == preset.mapping
    assert flags.time_to_train_s == preset.time_to_train_s
    assert (flags.choice.given, preset.choice.given) == ("flags", "preset mlperf-v1.1-closed")


@pytest.mark.parametrize("length", [{"accumulation": 48}, {"global_batch": 1536}])
def test_a_preset_keeps_its_layout_with_another_accumulation(length):
    whole = podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed", engine="analytic").mapping
    half = podsim.predict("bert", pod=64, preset="mlperf-v1.1-closed", engine="analytic", **length)
    assert half.mapping == replace(whole, accumulation=48)
    assert str(half.choice.reason).endswith("with accumulation 48")


def test_a_preset_with_a_batch_that_does_not_divide_is_refused():
    assert refused(pod=64, preset="mlperf-v1.1-closed", global_batch=1000).code == "mapping-does-not-divide"


def test_bow_has_the_presets_of_gc200_on_as_many_ipus():
    """The same mapping and layout on the faster chip; not the other way round, nor on a machine of another size."""
    mk2, bow = (
        podsim.predict("bert", topology=name, preset="mlperf-v1.1-closed", engine="analytic")
        for name in ("pod64", "bow-pod64")
    )
    assert bow.mapping == mk2.mapping
    assert bow.step_s.value < mk2.step_s.value
    assert "the same on bow-pod64 as on pod64" in str(bow.choice.reason)
    assert refused(pod=64, preset="mlperf-v2.0-closed").code == "unknown-preset"
    assert refused(topology="bow-pod256", preset="mlperf-v1.1-closed").code == "unknown-preset"


# --- as given -------------------------------------------------------------------------------------------------------

SPLIT = {"replicas": 8, "ipus_per_replica": 8, "micro_batch": 2}


def test_a_global_batch_stands_for_its_accumulation():
    batch = podsim.predict("bert", pod=64, **SPLIT, global_batch=3072, engine="analytic")
    assert batch.mapping.accumulation == 96
    assert batch == podsim.predict("bert", pod=64, **SPLIT, accumulation=96, engine="analytic")


@pytest.mark.parametrize(
    ("batch", "hint"),
    [
        (1000, "global_batch=992 or global_batch=1024"),
        (3073, "global_batch=3072 or global_batch=3104"),
        (31, "global_batch=32"),
        (1, "global_batch=32"),
    ],
)
def test_a_global_batch_that_does_not_divide_names_the_nearest(batch, hint):
    error = refused(pod=64, **SPLIT, global_batch=batch)
    assert (error.code, error.hint) == ("mapping-does-not-divide", hint)
    assert error.context == ("one micro-batch of all replicas is 32 samples",)
    for word in hint.split(" or "):
        named = int(word.removeprefix("global_batch="))
        assert podsim.predict("bert", pod=64, **SPLIT, global_batch=named, engine="analytic").mapping


def test_a_mapping_that_does_not_fit_says_what_would():
    error = refused(Infeasible, pod=16, replicas=16, ipus_per_replica=1, micro_batch=1, accumulation=1)
    assert error.code == "does-not-fit"
    assert "GB on IPU 0 of a replica" in error.context[0]
    flags = {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", error.hint)}
    assert podsim.predict("bert", pod=16, **flags, accumulation=1, engine="analytic").memory.fits


@pytest.mark.slow
def test_a_micro_batch_too_large_is_answered_with_a_smaller_one():
    error = refused(Infeasible, pod=64, replicas=8, ipus_per_replica=8, micro_batch=32, accumulation=1)
    assert "ipus_per_replica=8, micro_batch=" in error.hint


def test_idle_ipus_are_said_and_not_counted():
    half = podsim.predict("bert", pod=128, **SPLIT, accumulation=96, engine="analytic")
    assert "64 of 128 IPUs are idle with this mapping" in map(str, half.assumptions)
    full = podsim.predict("bert", pod=64, **SPLIT, accumulation=96, engine="analytic")
    assert not any("idle" in line for line in map(str, full.assumptions))
    assert half.step_s.value == pytest.approx(full.step_s.value, rel=0.1)
    assert half.mfu == pytest.approx(full.mfu, rel=0.1)


def test_what_no_flag_says_is_said():
    prediction = podsim.predict("bert", pod=64, **SPLIT, accumulation=96, engine="analytic")
    text = "\n".join(map(str, prediction.assumptions))
    for words in ("chip gc200, default", "SDK 2.5, default", "hosts: 1", "configuration popart-v1.1-pod64"):
        assert words in text
    stated = podsim.predict(
        "bert", pod=64, **SPLIT, accumulation=96, engine="analytic", chip="gc200", sdk="2.5", hosts=1
    )
    quiet = "\n".join(map(str, stated.assumptions))
    assert not any(words in quiet for words in ("default of this machine", "newest calibrated", "hosts: "))
    assert stated.time_to_train_s == prediction.time_to_train_s


def test_a_chip_without_points_says_whose_parameters_it_borrows():
    prediction = podsim.predict("bert", pod=64, chip="c600", **SPLIT, accumulation=96, engine="analytic")
    text = "no calibration point on c600: fitted parameters of bow, gc200 are used"
    assert text in map(str, prediction.assumptions)


# --- hosts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workload", "topology", "hosts"),
    [
        (BERT, "pod16", 1),
        (BERT, "pod64", 1),
        (BERT, "pod128", 2),
        (BERT, "pod512", 8),
        (BERT, "m2000", 1),
        (RESNET, "pod64", 4),
        (RESNET, "pod256", 16),
        (RESNET, "pod512", 32),
    ],
)
def test_hosts_are_those_of_published_runs_in_proportion(workload, topology, hosts):
    assert presets.usual_hosts(workload, machine(topology), None).servers == hosts


@pytest.mark.parametrize(
    ("pod", "line"),
    [
        (256, "hosts: 4, as in published runs on 256 IPUs"),
        (512, "hosts: 8, assumed: no published run on 512 IPUs (next smaller: 4 on 256 IPUs)"),
        (
            32,
            "hosts: 1, assumed: no published run on 32 IPUs (next smaller: 1 on 16 IPUs, next larger: 1 on 64 IPUs)",
        ),
    ],
)
def test_hosts_are_published_only_for_sizes_that_ran(pod, line):
    assert line in map(str, resolve(Scenario(workload="bert", machine=MachineSpec(pod=pod))).notes)


def test_hosts_that_no_source_states_are_assumed():
    notes = resolve(Scenario(workload="dlrm", machine=MachineSpec(pod=4)), needs_length=False).notes
    assert "hosts: 1, assumed: the published configuration on 4 IPUs does not state them" in map(str, notes)


def test_more_hosts_than_the_machine_takes_are_refused():
    error = refused(pod=16, hosts=9)
    assert error.code == "bad-mapping"
    assert "hosts=" in error.hint
