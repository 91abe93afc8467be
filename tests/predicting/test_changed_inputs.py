"""A what-if is said on the screen with the value before, and its share of an answer counts as assumed."""

import json

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.model.parameters import PROGRAM
from podsim.model.program import Part
from podsim.model.quantity import Grade
from podsim.predicting.changed_inputs import AFFECTED_PARTS, COLLECTIVES, parts
from podsim.studies.predict.economics import UNCHANGED_NOTE

QUESTION = {"workload": "bert", "pod": 256, "engine": "analytic"}


def shares(**flags):
    return podsim.predict(**{**QUESTION, **flags}).grades.shares


@pytest.mark.parametrize(
    ("path", "carried"),
    [
        ("chip.clock", set(PROGRAM) | {Part.SHARDING}),
        ("gw-link.bandwidth", {Part.ALL_REDUCE, Part.TENSOR_PARALLEL}),
        ("rack.step", {Part.RACK_STEPS}),
        ("sdk-2.1.program", set(PROGRAM)),
        ("workload.parameters", set(Part)),
        ("economics.machine", set()),
        ("chip.power", set()),
        ("chip.activity_power.idle", set()),
        ("pod.holds", set(COLLECTIVES)),
    ],
)
def test_an_input_carries_the_parts_that_it_decides(path, carried):
    assert parts([path]) == carried


def test_no_path_is_in_two_groups():
    assert not [a for a in AFFECTED_PARTS for b in AFFECTED_PARTS if a != b and b.startswith(a)]


def test_the_share_of_changed_inputs_is_assumed():
    usual, clock, links = (
        shares(),
        shares(changes={"chip.clock": "13 GHz"}),
        shares(changes={"gw-link.bandwidth": "400 Gbit/s"}),
    )
    assert 0 < links[Grade.ASSUMED] < usual[Grade.ASSUMED] < clock[Grade.ASSUMED] < 1, "a faster link takes less time"


def test_the_power_of_a_chip_leaves_the_evidence_of_a_time_as_it_is():
    """92 % of a time that did not move were called assumed."""
    assert shares(changes={"chip.power": "100 W"}) == shares()


def test_a_gw_link_decides_what_is_sent_between_racks_alone():
    """POD64 is one rack: a GW-Link of twice the bandwidth moves nothing, and 5 % of the time was called assumed."""
    assert shares(pod=64, changes={"gw-link.bandwidth": "2x"}) == shares(pod=64)
    prediction = podsim.predict(**QUESTION, changes={"gw-link.bandwidth": "2x"})
    collectives = sum(prediction.breakdown_s[part] for part in (Part.ALL_REDUCE, Part.RACK_STEPS))
    usual, moved = shares()[Grade.ASSUMED], prediction.grades.shares[Grade.ASSUMED]
    assert moved == pytest.approx(usual, rel=0.6), "the same transfers are assumed before and after"
    assert moved < 0.5 * collectives / prediction.step_s.value


def test_a_small_share_leaves_the_grade_and_a_large_one_does_not():
    little = podsim.predict(**QUESTION, changes={"hosts.server_bandwidth": "20 GB/s"})
    much = podsim.predict(**QUESTION, changes={"chip.clock": "1.5 GHz"})
    assert little.time_to_train_s.grade is Grade.INTERPOLATED
    assert much.time_to_train_s.grade is Grade.ASSUMED


def test_parts_that_a_fault_moves_are_assumed_and_no_others():
    """99 % of the time were called assumed beside a link that costs half a percent."""
    healthy, little, much = (
        podsim.predict(**QUESTION, faults=faults)
        for faults in ((), ["link:gateway3-gateway19=1/2"], ["link:ipu4-ipu6=0.01"])
    )
    assert little.faults.slowdown < 0.01
    assert much.faults.slowdown > 0.5
    parts = {part for part, seconds in little.faults.parts.items() if seconds}
    moved_s = sum(little.breakdown_s[part] for part in parts)
    assert Part.COMPUTE not in parts
    assert Part.ALL_REDUCE in parts
    assumed = little.grades.shares[Grade.ASSUMED] - healthy.grades.shares.get(Grade.ASSUMED, 0.0)
    assert 0 < assumed <= moved_s / little.step_s.value
    assert much.grades.shares[Grade.ASSUMED] > 0.5
    assert much.step_s.grade is Grade.ASSUMED


def test_a_fault_that_moves_nothing_leaves_the_grade():
    """The IPUs of POD16 leave the second rail of a POD64 alone."""
    dead = podsim.predict("bert", pod=64, replicas=1, faults=["link:ipu60-ipu62=down"], engine="analytic")
    healthy = podsim.predict("bert", pod=64, replicas=1, engine="analytic")
    assert dead.faults.slowdown == 0
    assert dead.grades.shares == healthy.grades.shares
    assert dead.step_s.grade is healthy.step_s.grade


def test_the_screen_names_changes_with_their_values_before(capsys):
    words = ["predict", "bert", "--pod", "64", "--engine", "analytic", "--schedule", "1f1b"]
    assert main([*words, "--set", "chip.clock=2x", "--set", "rack.step=1ms"]) == 0
    lines = " ".join(capsys.readouterr().out.split())
    assert "What-if chip.clock 2.65 GHz (was 1.325 GHz); rack.step 1ms (was 0.000344 s)" in lines
    assert "Override --schedule 1f1b" in lines


def test_nothing_is_said_where_nothing_was_changed(capsys):
    assert main(["predict", "bert", "--pod", "64", "--engine", "analytic"]) == 0
    out = capsys.readouterr().out
    assert "What-if" not in out
    assert "Override" not in out


def test_pages_say_it_too(tmp_path, capsys):
    page = tmp_path / "a.html"
    words = ["predict", "bert", "--pod", "64", "--engine", "analytic", "--set", "chip.clock=1.5GHz", "-o", str(page)]
    assert main(words) == 0
    capsys.readouterr()
    assert "was 1.325 GHz" in page.read_text(encoding="utf-8")


def test_price_and_power_of_a_changed_machine_are_of_the_unchanged_one(capsys):
    words = ["predict", "bert", "--pod", "64", "--engine", "analytic", "--money", "--json"]
    assert main([*words, "--set", "chip.clock=1.5GHz"]) == 0
    assert str(UNCHANGED_NOTE) in json.loads(capsys.readouterr().out)["assumptions"]
    assert main([*words, "--set", "chip.clock=1.5GHz", "--set", "economics.machine_price=40000 USD"]) == 0
    assert str(UNCHANGED_NOTE) not in capsys.readouterr().out
    assert main([*words, "--set", "rack.step=1ms"]) == 0
    assert str(UNCHANGED_NOTE) not in json.loads(capsys.readouterr().out)["assumptions"]
