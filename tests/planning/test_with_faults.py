"""Predictions on machines with faults, against closed forms, the unfolded program and smaller machines."""

import re

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.model.program import Part

PRESET = "mlperf-v1.1-closed"


@pytest.mark.parametrize(
    ("workload", "pod", "flags", "faults"),
    [
        ("bert", 16, {}, ["link:ipu4-ipu6=down", "ipu:9=0.6"]),
        ("bert", 16, {}, ["pcie:ipu0-gateway0=0.01"]),
        ("bert", 16, {}, ["ddr:ddr2-gateway2=0.05", "ipu:3=0.7"]),
        ("bert", 16, {}, ["link:network-gateway1=0.001"]),
        ("bert", 64, {"hosts": 2}, ["link:host1->network=0.0001"]),
        pytest.param("bert", 16, {"schedule": "1f1b"}, ["link:ipu4-ipu6=down", "ipu:2=0.7"], marks=pytest.mark.slow),
        pytest.param("bert", 64, {"overlap": True}, ["link:ipu4-ipu6=down"], marks=pytest.mark.slow),
        pytest.param("bert", 128, {}, ["link:gateway3-gateway19=down", "ipu:70=0.5"], marks=pytest.mark.slow),
        pytest.param("bert", 128, {}, ["link:gateway3->gateway19=0.3", "link:ipu68-ipu70=0.5"], marks=pytest.mark.slow),
        ("resnet50", 16, {}, ["link:ipu4-ipu6=0.2", "ipu:3=0.9", "ipu:7=0.9"]),
        ("resnet50", 128, {}, ["link:gateway3-gateway19=down", "ipu:3=0.9"]),
    ],
)
def test_one_of_each_kind_stands_for_all(workload, pod, flags, faults):
    folded, full = (
        podsim.predict(workload, pod=pod, preset=PRESET, faults=faults, fidelity=fidelity, **flags)
        for fidelity in ("folded", "full")
    )
    assert folded.step_s.value == pytest.approx(full.step_s.value, rel=1e-9)
    assert folded.faults.slowdown > 0
    parts, apart = (_parts(prediction.breakdown_s, overlap="overlap" in flags) for prediction in (folded, full))
    assert parts == pytest.approx(apart, abs=1e-9 * full.step_s.value)


def _parts(breakdown_s, *, overlap):
    """Parts of a step; with overlap those of a collective together.

    Work hides the beginning of a collective there. Folded, its steps are one task, of which the same share of data and
    of fixed time stays visible; in full, the step in the middle of which work ends is divided.
    """
    collective = {Part.ALL_REDUCE, Part.COLLECTIVE_STEPS, Part.RACK_STEPS} if overlap else set()
    parts = {part: seconds for part, seconds in breakdown_s.items() if part not in collective}
    return {**parts, "collective": sum(breakdown_s[part] for part in collective)}


@pytest.mark.slow
def test_racks_behind_switches_stand_for_each_other():
    """A port that is slow in one rack of eight: its machine is followed in all racks, the others in one."""
    faults = ["link:gateway2->switch0=0.1", "ipu:130=0.9"]
    folded, full = (
        podsim.predict(
            "resnet50",
            pod=512,
            replicas=512,
            ipus_per_replica=1,
            micro_batch=16,
            accumulation=1,
            faults=faults,
            fidelity=fidelity,
        )
        for fidelity in ("folded", "full")
    )
    assert folded.step_s.value == pytest.approx(full.step_s.value, rel=1e-9)
    assert folded.faults.parts[Part.ALL_REDUCE] > 0


@pytest.mark.parametrize("rate", [0.5, 0.8])
def test_a_slow_ipu_takes_its_stage_longer_in_proportion(rate):
    """Every replica of one IPU is the busiest: at share r of its clock a micro-batch takes 1/r of the time."""
    prediction = podsim.predict("resnet50", pod=16, preset=PRESET, faults=[f"ipu:5={rate}"])
    healthy = podsim.predict("resnet50", pod=16, preset=PRESET)
    for part in (Part.COMPUTE, Part.EXCHANGE):
        assert prediction.breakdown_s[part] == pytest.approx(healthy.breakdown_s[part] / rate, rel=1e-12)
        assert prediction.faults.parts[part] == pytest.approx(healthy.breakdown_s[part] * (1 / rate - 1), rel=1e-9)
    assert prediction.faults.grew is Part.COMPUTE
    assert prediction.faults.healthy_step_s == healthy.step_s.value


def test_one_slow_ipu_paces_the_step_as_much_as_all():
    prediction = podsim.predict("bert", pod=16, preset=PRESET, faults=["ipu:2=0.5"])
    alike = podsim.predict("bert", pod=16, preset=PRESET, faults=[f"ipu:{ipu}=0.5" for ipu in range(2, 16, 4)])
    assert prediction.step_s.value == pytest.approx(alike.step_s.value, rel=1e-9)


def test_a_slow_part_that_nothing_uses_costs_nothing():
    prediction = podsim.predict("bert", pod=64, preset=PRESET, faults=["ddr:ddr3-gateway3=0.01"])  # state is on chip
    assert prediction.faults.slowdown == 0
    assert prediction.faults.grew is None
    assert set(prediction.faults.parts.values()) == {0.0}


def test_ways_round_are_named():
    report = podsim.predict("bert", pod=16, preset=PRESET, faults=["link:ipu4-ipu6=down"]).faults
    assert report.detours
    for detour in report.detours:
        assert (detour.usual[0], detour.usual[-1]) == (detour.taken[0], detour.taken[-1])
        pairs = list(zip(detour.usual, detour.usual[1:], strict=False))
        assert ("ipu4", "ipu6") in pairs or ("ipu6", "ipu4") in pairs
        assert len(detour.taken) > len(detour.usual) or detour.taken != detour.usual


def test_a_lost_rack_leaves_the_machine_of_the_other():
    left = podsim.predict("bert", pod=128, faults=["rack:0=lost"])
    small = podsim.predict("bert", pod=64)
    assert left.mapping == small.mapping
    assert left.step_s.value == pytest.approx(small.step_s.value, rel=1e-12)
    assert left.ipus == 64
    assert left.faults.healthy_step_s == podsim.predict("bert", pod=128).step_s.value
    assert "IPU-Machines 16 to 31" in left.faults.left


def test_a_mapping_for_which_there_is_room_moves_to_machines_that_are_whole():
    flags = {"replicas": 4, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 96}
    left = podsim.predict("bert", pod=64, faults=["machine:0=lost"], **flags)
    assert left.step_s.value == pytest.approx(podsim.predict("bert", pod=32, **flags).step_s.value, rel=1e-12)


def test_faults_of_what_is_left_keep_their_names():
    prediction = podsim.predict("bert", pod=128, faults=["rack:0=lost", "link:ipu68-ipu70=down"])
    assert all({"ipu68", "ipu70"} <= set(detour.usual) for detour in prediction.faults.detours)
    assert prediction.step_s.value > podsim.predict("bert", pod=64).step_s.value


def test_a_mapping_that_needs_what_is_lost_is_refused_with_the_nearest():
    with pytest.raises(Infeasible) as error:
        podsim.predict("bert", pod=64, preset=PRESET, faults=["machine:5=lost"])
    assert error.value.code == "parts-lost"
    assert "IPUs 20 to 23" in error.value.context[0]
    hint = error.value.hint
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    flags = {name: int(re.search(rf"{name}=(\d+)", hint)[1]) for name in names}
    assert flags["replicas"] * flags["accumulation"] == 8 * 96  # the global batch stays
    sdk, minutes = re.search(r'sdk="([^"]+)"', hint)[1], re.search(r"([\d.]+) min", hint)[1]
    there = podsim.predict("bert", pod=64, faults=["machine:5=lost"], sdk=sdk, **flags)
    assert f"{there.time_to_train_s.value / 60:.1f}" == minutes


def test_a_rack_that_falls_in_two_goes_on_in_one_of_them():
    """Machines 5 and 13 are lost: the ladder of the rack is cut, 7 machines between them and 7 around its closing."""
    prediction = podsim.predict("bert", pod=64, faults=["machine:5=lost", "machine:13=lost"])
    assert prediction.ipus == 16
    assert "IPU-Machines 0 to 3" in prediction.faults.left


def test_a_machine_without_a_whole_machine_is_refused():
    with pytest.raises(Infeasible) as error:
        podsim.predict("bert", pod=4, faults=["ipu:0=lost"])
    assert error.value.code == "parts-lost"


@pytest.mark.parametrize(
    ("faults", "code"),
    [
        (["ipu:64=0.5"], "unknown-part"),
        (["ipu:3=1.5"], "bad-fault"),
        (["ipu:3=0.5", "ipu:3=0.4"], "conflicting-faults"),
        (["machine:0=lost", "ipu:3=0.4"], "conflicting-faults"),
    ],
)
def test_faults_are_refused_before_anything_is_weighed(faults, code):
    def weighing(_done, _all):
        raise AssertionError("mappings were weighed")

    with pytest.raises(InputError) as error:
        podsim.predict("bert", pod=64, faults=faults, on_progress=weighing)
    assert error.value.code == code


def test_goodput_and_trace_are_those_of_the_machine_with_faults():
    slow = {"preset": PRESET, "pod": 16, "faults": ["ipu:2=0.5"]}
    step_s = podsim.predict("bert", **slow).step_s.value
    assert podsim.trace("bert", **slow).length_s == pytest.approx(step_s, rel=1e-9)
    assert podsim.goodput("bert", runs=10, **slow).step_s == step_s


@pytest.mark.parametrize("ask", [podsim.goodput, podsim.trace])
def test_hints_of_commands_name_their_own_flags(ask):
    """Neither has `sdk` or `division`; the mapping is given instead of the preset, and times are of what it gives."""
    with pytest.raises(Infeasible) as error:
        ask("bert", pod=64, preset=PRESET, faults=["machine:5=lost"])
    hint = error.value.hint
    assert hint.startswith("instead of preset, replicas=4, ")
    assert "sdk" not in hint
    assert "division" not in hint
    names = ("replicas", "ipus_per_replica", "micro_batch", "accumulation")
    flags = {name: int(re.search(rf"{name}=(\d+)", hint)[1]) for name in names}
    there = podsim.predict("bert", pod=64, faults=["machine:5=lost"], **flags)
    assert f"{there.time_to_train_s.value / 60:.1f}" == re.search(r"([\d.]+) min", hint)[1]


def test_what_is_left_has_no_servers_that_the_machine_had_not():
    flags = {"replicas": 4, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 96}
    left = podsim.predict("bert", pod=64, faults=["machine:0=lost"], **flags)
    (hosts,) = (line for line in map(str, left.assumptions) if line.startswith("hosts:"))
    assert f"hosts: {left.hosts}," in hosts
    assert left.hosts == podsim.predict("bert", pod=64, **flags).hosts == 1
    assert podsim.predict("bert", pod=64, hosts=4, faults=["machine:0=lost"], **flags).hosts == 2  # of half a machine
    flags = {"replicas": 32, "ipus_per_replica": 1, "micro_batch": 20, "accumulation": 5}
    assert podsim.predict("resnet50", pod=32, **flags).hosts == 2
    assert podsim.predict("resnet50", pod=64, hosts=1, faults=["machine:0=lost"], **flags).hosts == 1


def test_a_machine_that_lost_parts_costs_what_it_cost():
    """A comparison priced what was left, so that a broken machine was better value than a whole one."""
    comparison = podsim.compare("bert", pod=64, engine="analytic", faults=["machine:5=lost"])
    whole, left = (side.answer.money.owned for side in comparison.sides)
    assert left.capital == whole.capital
    assert [side.label for side in comparison.sides] == ["IPU-POD64", "with IPU-Machine 5 lost"]
    assert comparison.differences[0].per_dollar.value < 1
    assert any("the whole machine" in line for line in map(str, comparison.sides[1].answer.assumptions))
    assert not any("the whole machine" in line for line in map(str, comparison.sides[0].answer.assumptions))


def test_a_machine_and_one_of_its_ipus_leave_the_same_partition():
    whole, prediction = (
        podsim.predict("bert", pod=16, engine="analytic", faults=[fault]) for fault in ("machine:1=lost", "ipu:5=lost")
    )
    assert whole.mapping == prediction.mapping
    assert whole.step_s == prediction.step_s
    assert whole.faults.left.split(";")[1] == prediction.faults.left.split(";")[1]


def test_a_slow_link_that_costs_more_than_a_dead_one_is_named():
    """Routes are static: traffic waits for a slow link, and goes round one that is down."""
    slow, down = (
        podsim.predict("bert", pod=16, preset=PRESET, faults=[f"link:ipu4-ipu6={state}"], engine="analytic")
        for state in ("0.02", "down")
    )
    assert slow.step_s.value > down.step_s.value
    assert slow.faults.without_slow_s == pytest.approx(down.step_s.value, rel=1e-12)
    assert down.faults.without_slow_s is None
    hardly = podsim.predict("bert", pod=16, preset=PRESET, faults=["link:ipu4-ipu6=0.999"], engine="analytic")
    assert hardly.faults.without_slow_s is None


def test_mappings_that_were_considered_are_timed_with_the_faults():
    """A15: the table of mappings had the times of the healthy machine."""
    keywords = {"pod": 16, "samples": 2.5e6, "engine": "analytic"}
    healthy = podsim.predict("bert", **keywords)
    faulty = podsim.predict("bert", faults=["ipu:3=0.5"], **keywords)
    pairs = list(zip(healthy.choice.considered, faulty.choice.considered, strict=True))
    assert [before.mapping for before, _ in pairs] == [after.mapping for _, after in pairs]
    assert all(after.time_to_train_s > before.time_to_train_s for before, after in pairs)
    chosen = faulty.choice.considered[0]
    assert chosen.time_to_train_s == pytest.approx(faulty.time_to_train_s.value, rel=1e-6)
    assert chosen.step_s == pytest.approx(faulty.timeline.step_s, rel=1e-9)
    assert str(faulty.choice.reason).startswith("mapping of the healthy machine, kept with the faults")


def test_a_machine_with_idle_parts_draws_less_than_the_healthy_one():
    """Half of the pod works; the rest, and what does not depend on work, draws as before."""
    comparison = podsim.compare("bert", pod=64, engine="analytic", faults=["machine:5=lost"])
    healthy, hurt = (side.answer.money.owned.draw for side in comparison.sides)
    idle = ("machines besides IPUs", "servers", "idle draw of all IPUs")
    assert [hurt.loads[name] for name in idle] == pytest.approx([healthy.loads[name] for name in idle])
    for name in set(healthy.loads) - set(idle):
        assert 0.3 * healthy.loads[name] < hurt.loads[name] < 0.7 * healthy.loads[name], name
