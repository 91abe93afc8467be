"""The answer about a served model by hand: what it repeats of the question, and what no flag said."""

from dataclasses import replace

import pytest
from engines.worlds import model, pod, unit, world

from podsim.engines import analytic
from podsim.errors import Infeasible
from podsim.model.inference import Load, Place
from podsim.model.note import AnswerNote
from podsim.model.note_code import NoteCode
from podsim.planning.serving_mapping import ServingConstraints
from podsim.predicting.serving import ServingCase
from podsim.studies.infer.service_load import AnswerContext, report
from podsim.workloads.forward_only import forward

CONTEXT = AnswerContext(
    engine="analytic", interval=0.5, notes=(AnswerNote.of(NoteCode.FILE_TEXT, text="of the machine"),)
)


@pytest.fixture(scope="module")
def case():
    setup = world(model(unit("a0", boundary=64), unit("a1", boundary=32), row_bytes=100.0), pod())
    return ServingCase(
        workload=forward(setup.workload),
        known="by-hand",
        machine=setup.machine,
        fabric=setup.fabric,
        engine=analytic.run,
    )


def answer_to(case, batches=(), **constraints):
    usual = {"load": Load(requests=200), "ipus_per_replica": 1}
    return report(case, ServingConstraints(**(usual | constraints)), batches, CONTEXT)


def test_an_answer_repeats_who_asked_what(case):
    answer = answer_to(case, batch=2, replicas=4)
    assert (answer.workload, answer.topology, answer.ipus, answer.engine) == ("by-hand", "round-pod", 16, "analytic")
    assert (answer.interval, str(answer.assumptions[-1])) == (0.5, "of the machine")
    assert (answer.service.batch, answer.service.replicas, answer.mapping.replicas) == (2, 4, 4)
    assert answer.capacity_per_s.value == pytest.approx(answer.service.capacity_per_s)
    assert answer.swept == ()


def test_nobody_who_asks_is_a_share_of_the_capacity(case):
    answer = answer_to(case, replicas=4)
    (share,) = [line for line in map(str, answer.assumptions) if "of the maximum throughput, default" in line]
    percent = float(share.split(" %")[0].split()[-1])
    assert answer.load.rate_per_s == pytest.approx(answer.service.capacity_per_s * percent / 100)
    assert any("Poisson" in line for line in map(str, answer.assumptions))


def test_who_asks_is_not_assumed_where_a_flag_says_it(case):
    strangers = answer_to(case, load=Load(rate_per_s=1.0, requests=200))
    clients = answer_to(case, load=Load(clients=3, requests=200))
    for answer in (strangers, clients):
        assert not any("of the maximum throughput, default" in line for line in map(str, answer.assumptions))
    assert any("Poisson" in line for line in map(str, strangers.assumptions))
    assert not any("Poisson" in line for line in map(str, clients.assumptions))
    assert clients.load.clients == 3


def test_links_of_a_host_are_shared_by_several_replicas(case):
    def shares(**flags):
        return any("share the host links" in line for line in map(str, answer_to(case, **flags).assumptions))

    assert shares(replicas=2)
    assert not shares(replicas=1)


def test_stages_streams_and_results_are_said(case):
    two = answer_to(case, ipus_per_replica=2)
    assert any("busiest stage" in line for line in map(str, two.assumptions))
    assert not any("busiest stage" in line for line in map(str, answer_to(case).assumptions))
    streams = answer_to(case, weights=Place.STREAMED)
    assert any("weights are read from DDR" in line for line in map(str, streams.assumptions))
    out = case.workload.units[-1].out_elements
    assert any(f"{out:,} elements per row of the last operator" in line for line in map(str, two.assumptions))


def test_batches_side_by_side_are_those_asked_for(case):
    answer = answer_to(case, batches=(1, 4))
    assert [swept.batch for swept in answer.swept] == [1, 4]


def test_more_than_the_replicas_can_do_is_refused(case):
    with pytest.raises(Infeasible):
        answer_to(case, load=Load(rate_per_s=1e12, requests=200))
    large = replace(case, workload=replace(case.workload, row_bytes=1e30))
    with pytest.raises(Infeasible):
        answer_to(large)
