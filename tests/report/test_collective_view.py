"""What the screen says of one collective."""

from dataclasses import replace

from parts_of_documents import facts, headings, notes, tables, titles

from podsim.model.collective import (
    Algorithm,
    Collective,
    CollectiveReport,
    Fidelity,
    Leg,
    LoadedLink,
    Pace,
    Rival,
    WithFaults,
)
from podsim.report.doc import label
from podsim.studies.collective import report as view

LEG = Leg(
    name="reduce",
    algorithm=Algorithm.RING,
    members=16,
    steps=1500,
    volume_bytes=2e6,
    time_s=2e-3,
    latency_s=5e-4,
)
REPORT = CollectiveReport(
    collective=Collective.ALL_REDUCE,
    topology="pod16",
    group="all",
    members=1024,
    groups=1,
    volume_bytes=4e6,
    algorithm=Algorithm.RING,
    chosen=True,
    engine="analytic",
    fidelity=Fidelity.FOLDED,
    pace=Pace.LOCKSTEP,
    chunks=1,
    time_s=2.5e-3,
    algorithm_bandwidth_bytes_per_s=1.6e9,
    bus_bandwidth_bytes_per_s=3e9,
    bus_factor=1.875,
    lower_bound_s=2e-3,
    bound="the narrowest cut",
    reached=0.8,
    training_time_s=None,
    phases=(LEG, replace(LEG, name="gather", time_s=1e-3)),
    links=(LoadedLink(name="a-b", volume_bytes=3e6, busy=0.75),),
    rivals=(
        Rival(algorithm=Algorithm.TREE, time_s=9e-3),
        Rival(algorithm=Algorithm.TORUS, time_s=None, why="no torus"),
        Rival(algorithm=Algorithm.DIRECT, time_s=4e-3),
    ),
    events=0,
    notes=("a note",),
)


def test_the_answer_in_a_line():
    assert view.answer(REPORT) == "all-reduce of 4.00 MB over 1,024 members on pod16: 2.50 ms with ring"
    assert ", 64 groups at once: " in view.answer(replace(REPORT, groups=64))
    assert headings(view.document(REPORT)) == [label(view.answer(REPORT))]


def test_the_time_says_how_it_was_computed():
    assert facts(view.document(REPORT))["Time"].remark == "analytic engine, in lockstep"
    other = replace(REPORT, pace=Pace.MESSAGES, chunks=4, fidelity=Fidelity.FULL)
    assert facts(view.document(other))["Time"].remark == (
        "analytic engine, each member at its own pace, 4 parts, nothing folded"
    )


def test_bandwidths_and_the_bound_beside_what_was_reached():
    rows = facts(view.document(REPORT))
    assert (rows["Algorithm bandwidth"].number, rows["Algorithm bandwidth"].unit) == ("1.60", "GB/s")
    assert (rows["Bus bandwidth"].number, rows["Bus bandwidth"].remark) == ("3.00", "× 1.875, as NCCL's tests count")
    assert (rows["Lower bound"].number, rows["Lower bound"].second) == ("2.00", "80 % efficiency")


def test_training_and_faults_have_a_line_where_there_are_any():
    assert not {"In training", "Without faults"} & set(facts(view.document(REPORT)))
    faults = WithFaults(
        texts=("ipu:2=0.5",), healthy_time_s=2e-3, healthy_algorithm=Algorithm.LADDER_RING, slowdown=0.25
    )
    rows = facts(view.document(replace(REPORT, training_time_s=3e-3, faults=faults)))
    assert (rows["In training"].number, rows["In training"].unit) == ("3.00", "ms")
    healthy = rows["Without faults"]
    assert (healthy.number, healthy.remark, healthy.second) == ("2.00", "with ladder-ring", "+25.0 % with ipu:2=0.5")


def test_phases_are_in_one_unit_with_their_latency():
    phases = tables(view.document(REPORT))[0]
    assert titles(phases)[4:] == ["Sends, MB", "Time, ms", "Latency, ms"]
    assert phases.rows[0] == ("reduce", "ring", "16", "1,500", "2.00", "2.00", "0.500")


def test_loaded_links_with_their_share_of_the_time():
    assert tables(view.document(REPORT))[1].rows == (("a-b", "3.00", "75 %"),)


def test_others_are_listed_by_time_and_those_that_cannot_only_if_asked_for():
    assert tables(view.document(REPORT))[2].rows == (("direct", "4.00"), ("tree", "9.00"))
    verbose = tables(view.document(REPORT, verbose=True))[2]
    assert verbose.rows[-1] == ("torus", "–", "no torus")
    assert titles(verbose)[-1] == "Why not"
    assert notes(view.document(REPORT), "·") == ["a note"]
