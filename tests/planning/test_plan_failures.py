"""Failures inside the deadline of a plan: those of `podsim goodput`, and nothing for short runs."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.files import failures_file
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.report.terminal import Look, render
from podsim.studies.documents import answer_document
from podsim.studies.plan import deadline, report, time_report

RUN = {"tokens": 1e12, "global_batch": 2048}


@pytest.fixture(scope="module")
def long():
    return podsim.plan("gpt2-xl", within="200d", machines="pod64,pod128", **RUN)


def test_the_number_is_that_of_goodput_of_the_machine_chosen(long):
    alone = podsim.goodput("gpt2-xl", topology=long.chosen.topology, hosts=long.chosen.hosts, **RUN)
    (own,) = long.chosen.failures
    assert own.finish_s == alone.finish_s
    assert own.interval_s == alone.interval_s
    assert long.chosen.finish_s == alone.finish_s.mean


def test_the_time_to_train_is_without_failures_and_its_quantile_with(long):
    chosen = long.chosen
    free = podsim.plan("gpt2-xl", machines=chosen.topology, **RUN)
    healthy = next(other for other in free.candidates if other.hosts == chosen.hosts)
    assert healthy.failures == ()
    assert healthy.time_to_train_s.value == pytest.approx(chosen.time_to_train_s.value, rel=1e-6)
    assert chosen.sure_s > healthy.sure_s
    assert chosen.sure_s / healthy.sure_s == pytest.approx(chosen.finish_s / chosen.time_to_train_s.value, rel=0.02)


def test_failures_can_miss_a_deadline_that_would_be_met(long):
    """A limit between the quantile without failures and the one with them."""
    free = podsim.plan("gpt2-xl", machines="pod64", **RUN).chosen
    broken = next(item for item in long.candidates if (item.topology, item.hosts) == (free.topology, free.hosts))
    limit_s = (free.sure_s + broken.sure_s) / 2
    late = podsim.plan("gpt2-xl", within=f"{limit_s / 3600} h", machines="pod64", **RUN)
    same = next(item for item in late.candidates if item.hosts == free.hosts)
    assert [miss.demand for miss in same.misses] == ["time"]
    assert same.chance < 0.9


def test_a_run_of_minutes_has_none():
    plan = podsim.plan("bert", within="15min", machines="pod64")
    assert plan.chosen.failures == ()
    assert plan.chosen.finish_s is None
    assert plan.chosen.sure_s == podsim.plan("bert", machines="pod64").chosen.sure_s


def test_quantiles_of_runs_with_failures(long):
    """Every run three times, to 5, 50 and 95 % of the histories; without failures all of them are the run."""
    (own,) = long.chosen.failures
    scores = deadline.with_failures([100.0], own)
    assert scores[0] == pytest.approx(100 * own.finish_s.p5 / own.run.work_s)
    assert scores[-1] == pytest.approx(100 * own.finish_s.p95 / own.run.work_s)
    assert len(deadline.with_failures([100.0], None)) == len(scores)


def test_screen_and_json_say_it(long):
    assert AnswerNote.of(NoteCode.FAILURES_IN_TIME) in long.assumptions
    assert "With failures" in render(report.document(long), Look(width=100))
    chosen = answer_document(long).tree()["chosen"]
    assert chosen["finish_s"] == pytest.approx(long.chosen.finish_s, rel=1e-4)
    assert chosen["failures"][0]["goodput"]["mean"] < 1


def test_the_quantile_has_failures_whatever_the_limit(long):
    """One definition in every row: before, a machine whose run misses the limit anyway was judged without failures."""
    short = podsim.plan("gpt2-xl", within="1d", machines="pod64,pod128", **RUN)
    times = {(item.topology, item.hosts): item.sure_s for item in long.candidates}
    assert short.chosen is None
    assert all(item.failures for item in short.candidates)
    for item in short.candidates:
        assert item.sure_s == pytest.approx(times[item.topology, item.hosts], rel=1e-9)
    (fact,) = (fact for fact in time_report.facts(short.demand, short.closest) if fact.label == "P90")
    assert fact.remark.startswith("with failures; chance of ≤ 24.0 h: ")


def test_a_machine_that_failures_stop_is_left_out(monkeypatch):
    """Every IPU fails each two hours, so that something fails before a restart is over."""
    rates = failures_file.failures().value
    often = replace(rates, ipu=replace(rates.ipu, mtbf_s=7200.0))
    monkeypatch.setattr(failures_file, "failures", lambda *_: SimpleNamespace(value=often))
    with pytest.raises(Infeasible) as no:
        podsim.plan("gpt2-xl", within="200d", machines="pod64", **RUN)
    assert any("something fails every" in line for line in no.value.context)
