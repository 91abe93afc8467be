"""Answers with and without faults, by the words of the question: slow and lost parts, what is left, what fits."""

import pytest

from podsim.errors import Infeasible, InputError
from podsim.planning import answering, no_fit, with_faults
from podsim.planning.choose import choose
from podsim.planning.configuration import MappingBuilder, what_if
from podsim.resolve import resolve
from podsim.scenario import Scenario

SPLIT = {"replicas": 2, "ipus_per_replica": 4, "micro_batch": 2, "accumulation": 100}


def case(*faults, pod=16, **flags):
    return resolve(Scenario.of("bert", pod=pod, engine="analytic", faults=list(faults), **flags))


def preset(*faults):
    return case(*faults, preset="mlperf-v1.1-closed")


@pytest.fixture(scope="module")
def healthy():
    return answering.answer(preset())


def test_without_faults_the_case_is_that_which_was_asked(healthy):
    prediction, question = healthy
    assert prediction.faults is None
    assert question.scenario == preset().scenario
    assert prediction.choice.given == "preset mlperf-v1.1-closed"
    assert prediction.mapping == choose(question).mapping
    assert set(question.notes) <= set(prediction.assumptions)


def test_faults_go_where_faults_are_answered(healthy):
    fault = "link:ipu0-ipu1=0.01"
    prediction, other = answering.answer(preset(fault))
    direct, _ = with_faults.answer(preset(fault))
    assert prediction.faults == direct.faults
    assert prediction.faults.healthy_step_s == healthy[0].step_s.value
    assert other.question.faults == (fault,)
    assert other.question.fabric.damage


def test_a_slow_link_is_weighed_against_none_and_the_sooner_said():
    """A hundredth of a rung is worse than the way round; half of it is not."""
    slow, half = (with_faults.answer(preset(f"link:ipu0-ipu1={rate}"))[0].faults for rate in (0.01, 0.5))
    down, _ = with_faults.answer(preset("link:ipu0-ipu1=down"))
    assert slow.without_slow_s == pytest.approx(down.faults.step_s)
    assert half.without_slow_s is None
    assert down.faults.detours
    assert not slow.detours


def test_a_mapping_that_fits_on_what_is_left_goes_on_there():
    """Twelve IPUs are left, of which eight are a partition; the mapping needs eight."""
    prediction, left = with_faults.answer(case("machine:3=lost", **SPLIT))
    assert prediction.ipus == left.question.machine.topology.ipus == 8
    assert prediction.faults.left == (
        "4 of 16 IPUs lost (IPUs 12 to 15, in IPU-Machine 3); a run uses 1, 2, 4, 8, … whole IPU-Machines: here "
        "IPU-Machines 0 and 1 of 0 to 3, 8 IPUs in all"
    )
    assert prediction.faults.slowdown == pytest.approx(0, abs=1e-9)
    assert (prediction.mapping.replicas, prediction.mapping.accumulation) == (2, 100)


def test_no_more_hosts_are_taken_along_than_the_rest_has_room_for():
    """Sixteen machines take four hosts; eight of them two."""
    split = {**SPLIT, "replicas": 4}
    _, left = with_faults.answer(case("machine:0=lost", pod=64, hosts=4, **split))
    rest = left.question.machine.topology
    assert (rest.ipus, left.question.machine.hosts) == (32, rest.hosts.most_servers)
    assert rest.hosts.most_servers < 4


def test_a_mapping_that_was_asked_for_and_does_not_fit_is_refused_with_fewer_replicas():
    """2 of 4 replicas are left: twice the accumulation keeps the batch."""
    with pytest.raises(Infeasible, match="the mapping needs 16 IPUs, more than are left together") as no:
        with_faults.answer(preset("machine:3=lost"))
    assert no.value.code == "parts-lost"
    assert no.value.hint.startswith("instead of --preset, --replicas 2 --ipus-per-replica 4 --micro-batch 2 ")
    assert "--accumulation 384 --sdk 2.3 --division closed trains in" in no.value.hint
    with pytest.raises(Infeasible) as by_flags:
        with_faults.answer(case("machine:3=lost", **{**SPLIT, "replicas": 4}))
    assert by_flags.value.hint.startswith("--replicas 2 --ipus-per-replica 4 --micro-batch 2 --accumulation 200 trains")
    with pytest.raises(Infeasible) as without_sdk:
        with_faults.answer(preset("machine:3=lost"), takes_sdk=False)
    assert "--sdk" not in without_sdk.value.hint


def test_a_slow_ipu_in_every_machine_leaves_all_and_a_lost_one_none():
    losses = [f"ipu:{4 * machine}=lost" for machine in range(4)]
    with pytest.raises(Infeasible, match="no IPU-Machine of pod16 is whole") as no:
        with_faults.answer(case(*losses, **SPLIT))
    assert no.value.context == ("4 of 16 IPUs lost (IPUs 0, 4, 8, 12, in IPU-Machines 0 to 3)",)


def test_the_mapping_alone_is_that_of_the_answer():
    question, mapping = with_faults.map_with_faults(case("machine:3=lost", **SPLIT))
    assert (question.machine.topology.ipus, mapping.replicas) == (8, 2)
    assert question.left.startswith("4 of 16 IPUs lost")
    slow, same = with_faults.map_with_faults(case("ipu:0=0.5", **SPLIT))
    assert (slow.faults, same) == (("ipu:0=0.5",), with_faults.map_with_faults(case(**SPLIT))[1])
    assert with_faults.map_with_faults(case(**SPLIT))[0].faults == ()


def test_numbers_that_no_machine_has_are_refused():
    with pytest.raises(InputError, match="does not suit the machine"):
        answering.answer(case(replicas=3))


# --- what does not fit ----------------------------------------------------------------------------------------------


def no_for(**split):
    """The answer no for a mapping of BERT on 16 IPUs."""
    question = case()
    machine = question.question.machine
    planner = MappingBuilder(question.question.workload, machine.topology, machine.like, what_if(question.scenario))
    mapping, memory = planner.first_that_fits(**split)
    assert not memory.fits
    return no_fit.does_not_fit(planner, memory, mapping), memory


@pytest.fixture(scope="module")
def alone():
    return no_for(replicas=1, ipus_per_replica=1, micro_batch=1, accumulation=8)


def test_the_fullest_ipu_and_the_three_largest_parts_of_it_are_named(alone):
    no, memory = alone
    full = memory.fullest
    first, second, *_ = no.context
    where = f"IPU {full.ipu} of a replica of 1 at micro-batch 1 (pipeline stage 0)"
    assert first.startswith(f"BERT-Large, MLPerf needs {full.used_bytes / 1e9:.2f} GB on {where}")
    assert first.endswith(f"a gc200 has {memory.capacity_bytes / 1e9:.2f} GB")
    sizes = sorted(full.by_category.values(), reverse=True)[:3]
    assert [float(part.split()[-2]) for part in second.split(", ")] == [round(size / 1e9, 2) for size in sizes]
    assert no.code == "does-not-fit"


def test_one_row_on_one_ipu_fits_on_the_fewest_more(alone):
    no, _ = alone
    assert no.hint.startswith("--replicas 1 --ipus-per-replica 4 --micro-batch 1: fits with ")


def test_the_mapping_that_is_offered_fits_and_is_the_largest_below():
    """Of the sizes of a micro-batch that are tried, from large to small."""
    no, _ = no_for(replicas=4, ipus_per_replica=4, micro_batch=4, accumulation=8)
    words = no.hint.replace(":", "").split()
    offer = {name: int(words[words.index(f"--{name}") + 1]) for name in ("replicas", "ipus-per-replica", "micro-batch")}
    assert (offer["replicas"], offer["ipus-per-replica"]) == (4, 4)
    question = case()
    machine = question.question.machine
    planner = MappingBuilder(question.question.workload, machine.topology, machine.like, what_if(question.scenario))
    split = {"replicas": 4, "ipus_per_replica": 4, "accumulation": 8}
    _, memory = planner.first_that_fits(micro_batch=offer["micro-batch"], **split)
    assert memory.fits
    assert f"fits with {100 * memory.fraction:.0f} % of SRAM in use" in no.hint
    _, more = planner.first_that_fits(micro_batch=offer["micro-batch"] + 1, **split)
    assert not more.fits
