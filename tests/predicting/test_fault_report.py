"""What faults cost: ratios and parts by hand, and ways round a link that is down."""

from dataclasses import replace

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.model.fault import Detour
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.prediction import Choice
from podsim.model.program import Part
from podsim.predicting import assemble
from podsim.predicting.fault_cost import detours, with_fault_cost
from podsim.topology.fault_text import parse
from podsim.topology.faults import apply_unchecked

SETUP = world(model(unit("a0", boundary=64), unit("a1")), pod(), replicas=8, ipus_per_replica=2, accumulation=4)


@pytest.fixture(scope="module")
def healthy():
    choice = Choice(given="flags", legal=1, rejected={}, considered=(), reason=AnswerNote.of(NoteCode.GIVEN))
    base = assemble.predict(SETUP.question(analytic.run), SETUP.mapping, choice, ())
    return replace(
        base,
        step_s=replace(base.step_s, value=2.0),
        throughput_samples_per_s=replace(base.throughput_samples_per_s, value=30.0),
        timeline=replace(base.timeline, breakdown_s={Part.COMPUTE: 1.5, Part.SYNC: 0.5}),
    )


@pytest.fixture(scope="module")
def worse(healthy):
    return replace(
        healthy,
        step_s=replace(healthy.step_s, value=3.0),
        throughput_samples_per_s=replace(healthy.throughput_samples_per_s, value=20.0),
        time_to_train_s=replace(healthy.time_to_train_s, value=99.0),
        timeline=replace(
            healthy.timeline, breakdown_s={Part.COMPUTE: 1.5 + 1e-15, Part.SYNC: 0.25, Part.ALL_REDUCE: 1.25}
        ),
    )


def test_the_slowdown_is_that_of_the_same_samples(healthy, worse):
    report = with_fault_cost(healthy, worse, ["one"], [], "on less").faults
    assert report.slowdown == pytest.approx(0.5)
    assert (report.healthy_step_s, report.step_s, report.time_to_train_s) == (2.0, 3.0, 99.0)
    assert report.healthy_time_to_train_s == healthy.time_to_train_s.value
    assert (report.texts, report.left) == (("one",), "on less")


def test_parts_are_differences_without_what_is_rounding(healthy, worse):
    report = with_fault_cost(healthy, worse, [], []).faults
    assert report.parts[Part.ALL_REDUCE] == pytest.approx(1.25)
    assert report.parts[Part.SYNC] == pytest.approx(-0.25)
    assert report.parts.get(Part.COMPUTE, 0.0) == 0
    assert report.grew is Part.ALL_REDUCE


@pytest.mark.parametrize(("other_s", "kept"), [(2.5, 2.5), (3.0, None), (3.0 - 1e-13, None), (None, None)])
def test_a_step_without_slow_links_is_kept_where_it_is_sooner(healthy, worse, other_s, kept):
    assert with_fault_cost(healthy, worse, [], [], without_slow_s=other_s).faults.without_slow_s == kept


def question_of(*texts):
    question = SETUP.question(analytic.run)
    return replace(question, fabric=apply_unchecked(question.fabric, parse(texts)))


def test_activations_go_round_a_rung_that_is_down():
    """Over both rails and the rung of the neighbours."""
    ways = detours(question_of("link:ipu0-ipu1=down"), SETUP.mapping)
    assert Detour(usual=("ipu0", "ipu1"), taken=("ipu0", "ipu2", "ipu3", "ipu1")) in ways
    assert all(way.usual != way.taken for way in ways)


def test_no_way_leads_elsewhere_where_no_link_is_down():
    assert detours(question_of(), SETUP.mapping) == ()
    assert detours(question_of("link:ipu0-ipu1=0.5"), SETUP.mapping) == ()


def test_nodes_have_the_numbers_of_the_whole_machine():
    """Two machines of four IPUs lie before those asked."""
    ways = detours(question_of("link:ipu0-ipu1=down"), SETUP.mapping, 2)
    assert Detour(usual=("ipu8", "ipu9"), taken=("ipu8", "ipu10", "ipu11", "ipu9")) in ways
