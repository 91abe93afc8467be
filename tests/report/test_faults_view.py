"""Blocks on what faults cost: both machines side by side, what grew, which ways changed."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes

from podsim.model.fault import Detour, FaultReport
from podsim.model.program import Part
from podsim.report.doc import Doc
from podsim.report.views.faults import SHOWN, blocks

DETOUR = Detour(usual=("ipu0", "ipu1"), taken=("ipu0", "ipu2", "ipu1"))
REPORT = FaultReport(
    texts=("ipu:2=0.5", "link:a-b=down"),
    healthy_step_s=0.2,
    step_s=0.25,
    slowdown=0.25,
    healthy_time_to_train_s=100.0,
    time_to_train_s=110.0,
    parts={Part.COMPUTE: 0.05, Part.SYNC: 0.0},
    detours=(DETOUR,),
)
NAMES = {Part.COMPUTE: "compute", Part.SYNC: "sync"}


def document_of(report, **kwargs):
    return Doc((tuple(blocks(report, NAMES, **kwargs)),))


def test_the_healthy_machine_stands_before_the_one_with_faults():
    doc = document_of(REPORT)
    assert headings(doc) == ["faults: ipu:2=0.5, link:a-b=down"]
    step, run = (facts(doc)[name] for name in ("step", "time to train"))
    assert (step.number, step.unit, step.second) == ("200 → 250", "ms", "+25.0 % for the same samples")
    assert (run.number, run.unit, run.second) == ("1.67 → 1.83", "min", "+10.0 %")


def test_a_slowdown_that_shows_as_none_is_called_none():
    assert facts(document_of(replace(REPORT, slowdown=-4e-4)))["step"].second == "no slower, to 0.1 %"
    assert facts(document_of(replace(REPORT, slowdown=6e-4)))["step"].second == "+0.1 % for the same samples"


def test_the_part_that_grew_most_is_the_reason():
    assert notes(document_of(REPORT), "why") == ["compute grows most, by 50.0 ms a step"]
    assert notes(document_of(replace(REPORT, parts={Part.COMPUTE: 0.0})), "why") == []
    assert notes(document_of(replace(REPORT, left="8 IPUs go on")), "why") == []


def test_what_is_left_of_a_machine_and_that_fewer_may_be_sooner_are_warnings():
    slower = replace(REPORT, left="8 IPUs go on")
    assert notes(document_of(slower), "left") == ["8 IPUs go on"]
    assert notes(document_of(slower), "so") == []
    assert notes(document_of(replace(slower, time_to_train_s=90.0)), "so") != []
    assert notes(document_of(replace(REPORT, time_to_train_s=90.0)), "so") == []


def test_slow_links_that_were_better_down_are_told():
    assert notes(document_of(REPORT), "but") == []
    (text,) = notes(document_of(replace(REPORT, without_slow_s=0.22)), "but")
    assert text.endswith("with those down instead a step takes 220 ms")


def test_ways_round_are_written_out_up_to_a_few():
    assert notes(document_of(REPORT), "·") == ["ipu0 → ipu1 now goes ipu0 → ipu2 → ipu1"]
    many = replace(REPORT, detours=(DETOUR,) * (SHOWN + 3))
    assert len(notes(document_of(many), "·")) == SHOWN + 1
    assert notes(document_of(many), "·")[-1] == "and 3 more ways that change"
    assert len(notes(document_of(many, verbose=True), "·")) == SHOWN + 3
