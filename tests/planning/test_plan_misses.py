"""What a plan says of machines that miss demands, and of what would have to change."""

from __future__ import annotations

from dataclasses import replace

import pytest

import podsim
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.model.quantity import Grade
from podsim.report.terminal import Look, render
from podsim.studies.plan import report as view
from podsim.studies.plan import search_report
from podsim.studies.plan.misses_report import changes, exceeding, misses_text
from podsim.studies.plan.result import Demand, Miss, Plan


@pytest.fixture(scope="module")
def late() -> Plan:
    """ResNet-50 in a time that POD128 nearly makes, under a budget that pays for POD64."""
    return podsim.plan("resnet50", within="5min", budget="1M", machines="pod64,pod128")


def screen(plan: Plan, width: int = 100, *, verbose: bool = False) -> str:
    return " ".join(render(view.document(plan, verbose=verbose), Look(width)).split())


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.001, "less than 0.5 % over the limit"),
        (0.03, "1.03× the limit"),
        (0.094, "1.09× the limit"),
        (0.096, "1.1× the limit"),
        (0.77, "1.77× the limit"),
        (1.5, "2.5× the limit"),
        (16.2, "17× the limit"),
    ],
)
def test_what_exceeds_a_limit_is_a_multiple_of_it(share: float, text: str) -> None:
    assert exceeding(share, "limit") == text


def test_the_time_that_is_compared_is_named() -> None:
    misses = (Miss(demand="time", limit=300.0, found=309.0), Miss(demand="budget", limit=1e6, found=1.12e6))
    assert misses_text(misses, Demand(confidence=0.9)) == "P90 1.03× the time limit, 1.12× the budget"
    assert misses_text(misses[:1], Demand(confidence=0.95)) == "P95 1.03× the time limit"
    assert misses_text((Miss(demand="power", limit=1.0, found=None),), Demand()) == "power not published"


def test_where_two_demands_are_missed_both_have_to_move(late: Plan) -> None:
    text = screen(late)
    assert "What would have to change, with mapping and batch kept" in text
    assert "IPU-POD128 a budget of $1.12M instead of $1.00M, and one of: a time limit of 5.15 min" in text
    assert "not enough" not in text.lower()


def test_every_change_has_the_value_that_it_replaces(late: Plan) -> None:
    text = screen(late)
    assert "(ipu-link.bandwidth=20.8 GB/s, was 16.0)" in text
    stretch = next(remedy for remedy in late.remedies if remedy.path == "program.stretch" and remedy.needed)
    assert f"programs in 96 % of the time (program.stretch=0.997, was {stretch.present:.3g})" in text


def test_changes_that_are_not_enough_are_listed_apart(late: Plan) -> None:
    assert any(remedy.needed is None for remedy in late.remedies)
    titles = [getattr(block, "label", "") for block in changes(late, verbose=True)]
    assert "Not enough" in titles
    assert "Not enough" not in [getattr(block, "label", "") for block in changes(late, verbose=False)]


def test_a_machine_that_misses_no_time_gets_no_change_for_it(late: Plan) -> None:
    assert late.closest is not None
    budget = [miss for miss in late.closest.misses if miss.demand == "budget"]
    dear = replace(late.closest, misses=tuple(budget))
    text = screen(replace(late, closest=dear, near=(dear,)))
    assert "IPU-POD128 a budget of $1.12M instead of $1.00M Next" in text


def test_rows_of_one_machine_are_told_apart_by_their_hosts(late: Plan) -> None:
    for width in (60, 100):
        table = screen(late, width, verbose=True)
        assert " Machine Hosts Time" in table
    assert " Machine Hosts Time" not in screen(late, 60)
    assert " Machine Hosts Time" in screen(late, 100), "one price has the price of its hosts"


def test_a_row_says_that_it_is_dominated_and_that_ipus_idle(late: Plan) -> None:
    assert "dominated" not in screen(replace(late, frontier=())), "the demand that a row misses is enough"
    closest = late.closest
    assert closest is not None
    chosen, meets = replace(closest, misses=()), replace(closest, misses=(), hosts=(closest.hosts or 0) + 1)
    both = replace(late, chosen=chosen, candidates=(chosen, meets), frontier=(chosen,), near=())
    assert "dominated" in screen(both, verbose=True)
    assert "dominated" not in screen(replace(both, frontier=(chosen, meets)), verbose=True)
    assert closest.mapping is not None
    half = replace(closest, chips=2 * closest.mapping.ipus)
    assert "uses 128 of 256 IPUs" in screen(replace(late, candidates=(half,), frontier=(half,), closest=half))


@pytest.mark.parametrize(
    ("note", "said"),
    [
        (AnswerNote.of(NoteCode.ALL_TOO_MANY), "its batch is too small for all"),
        (AnswerNote.of(NoteCode.ALL_NEED_SAMPLES, longer=0.1, batch=8, own=4, more=0.2), "more samples with all"),
        (AnswerNote.of(NoteCode.ALL_SPEND_MORE, longer=0.1, part="sync", more=0.2), "with all, sync takes longer"),
        (AnswerNote.of(NoteCode.ALL_SPEND_MORE, longer=0.1, part="host input", more=0.2), "4 hosts cannot feed all"),
        (AnswerNote.of(NoteCode.ALL_GAIN_LITTLE, longer=0.1), "no faster with all"),
    ],
)
def test_a_machine_with_idle_ipus_says_what_all_of_them_would_do(late: Plan, note: AnswerNote, said: str) -> None:
    assert late.closest is not None
    assert late.closest.mapping is not None
    half = replace(late.closest, chips=2 * late.closest.mapping.ipus, all_ipus=note)
    assert search_report.idle_text(half) == f"uses 128 of 256 IPUs: {said}"
    assert search_report.idle_text(replace(half, chips=late.closest.mapping.ipus)) == ""


def test_a_row_beyond_calibration_says_so(late: Plan) -> None:
    assert late.closest is not None
    assert "extrapolated" not in screen(late)
    time = replace(late.closest.time_to_train_s, grade=Grade.EXTRAPOLATED, beyond=2.0)
    far = replace(late.closest, time_to_train_s=time)
    assert "1.12× the budget; extrapolated 2×" in screen(replace(late, candidates=(far,), frontier=(far,), closest=far))


def test_the_interval_and_what_is_missed_stay_at_80_columns(late: Plan) -> None:
    header = next(line for line in render(view.document(late), Look(80)).splitlines() if "Machine" in line)
    assert {"90", "P90", "Remark"} <= {*header.split()}


def test_a_time_has_the_same_digits_in_the_facts_and_in_the_table(late: Plan) -> None:
    assert screen(late).count("4.82") == 2
    assert screen(late).count("4.40 – 5.21") == 2
