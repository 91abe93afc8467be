"""Blocks on what faults cost: both machines side by side, what grew, which ways changed."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes

from podsim.model.fault import Detour, FaultReport
from podsim.model.program import Part
from podsim.report.doc import Doc
from podsim.report.views.faults_view import blocks

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


def document_of(report, **kwargs):
    return Doc((tuple(blocks(report, **kwargs)),))


def test_the_healthy_machine_stands_before_the_one_with_faults():
    doc = document_of(REPORT)
    assert headings(doc) == ["Faults: ipu:2=0.5, link:a-b=down"]
    step, run = (facts(doc)[name] for name in ("Step time", "Time to train"))
    assert (step.number, step.unit, step.remark) == ("200 → 250", "ms", "healthy → with faults, +25.0 % per sample")
    assert (run.number, run.unit, run.remark) == ("1.67 → 1.83", "min", "healthy → with faults, +10.0 %")


def test_a_slowdown_that_shows_as_none_is_called_none():
    assert facts(document_of(replace(REPORT, slowdown=-4e-4)))["Step time"].remark.endswith("unchanged to 0.1 %")
    assert facts(document_of(replace(REPORT, slowdown=6e-4)))["Step time"].remark.endswith("+0.1 % per sample")


def test_the_part_that_grew_most_is_the_reason():
    direct = replace(REPORT, detours=())
    assert facts(document_of(direct))["Cause"].remark == "Compute, +50.0 ms per step"
    assert "Cause" not in facts(document_of(replace(direct, parts={Part.COMPUTE: 0.0})))
    assert "Cause" not in facts(document_of(replace(direct, left="8 IPUs go on")))


def test_what_is_left_of_a_machine_and_that_fewer_may_be_sooner_are_warnings():
    slower = replace(REPORT, left="8 IPUs go on")
    assert notes(document_of(slower), "Remaining machine") == ["8 IPUs go on"]
    assert notes(document_of(slower), "Note") == []
    assert notes(document_of(replace(slower, time_to_train_s=90.0)), "Note") != []
    assert notes(document_of(replace(REPORT, time_to_train_s=90.0)), "Note") == []


def test_slow_links_that_were_better_down_are_told():
    assert notes(document_of(REPORT), "Note") == []
    (text,) = notes(document_of(replace(REPORT, without_slow_s=0.22)), "Note")
    assert text.endswith("with those links down a step takes 220 ms")


def test_changed_routes_are_counted_and_listed_if_asked_for():
    many = replace(REPORT, detours=(DETOUR,) * 3)
    assert facts(document_of(REPORT))["Cause"].remark == "Compute, +50.0 ms per step; 1 route changed (--verbose)"
    alone = replace(many, parts={Part.COMPUTE: 0.0})
    assert facts(document_of(alone))["Cause"].remark == "3 routes changed (--verbose)"
    assert notes(document_of(many), "·") == []
    assert notes(document_of(many, verbose=True), "·") == ["ipu0 → ipu1 now goes ipu0 → ipu2 → ipu1"] * 3
