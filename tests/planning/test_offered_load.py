"""What replicas are asked to answer, against what they can: replicas x batch / period requests a second."""

import pytest

import podsim
from podsim.errors import Infeasible
from podsim.model.inference import Load, Service
from podsim.predicting.offered_load import SAFE_LOAD, USUAL_LOAD, check_load

SERVICE = Service(batch=8, replicas=5, period_s=0.1, latency_s=0.3, host_in_s=0.0, host_out_s=0.0, parts_s={})
MOST = 5 * 8 / 0.1


def test_without_a_rate_it_is_the_usual_share_of_what_the_replicas_can_do():
    assert check_load(Load(wait_s=0.5), SERVICE, 4) == Load(rate_per_s=USUAL_LOAD * MOST, wait_s=0.5)


@pytest.mark.parametrize("load", [Load(clients=10_000), Load(rate_per_s=0.999 * MOST)])
def test_clients_and_a_rate_below_capacity_are_taken_as_stated(load):
    assert check_load(load, SERVICE, 4) is load


@pytest.mark.parametrize("rate_per_s", [MOST, 10 * MOST])
def test_a_rate_at_capacity_or_above_is_refused_with_one_that_can_be_answered(rate_per_s):
    with pytest.raises(Infeasible) as refused:
        check_load(Load(rate_per_s=rate_per_s), SERVICE, 4)
    assert refused.value.code == "too-many-requests"
    proposed = float(refused.value.hint.removeprefix("--rate ").split("/s")[0].replace(",", ""))
    assert proposed == pytest.approx(SAFE_LOAD * MOST)
    assert check_load(Load(rate_per_s=proposed), SERVICE, 4).rate_per_s == proposed


def test_a_refused_rate_says_how_many_ipus_would_serve_it():
    with pytest.raises(Infeasible) as refused:
        check_load(Load(rate_per_s=10 * MOST), SERVICE, 4)
    assert "about 43 IPUs would serve them" in refused.value.context[1]  # 4 x 10 / 0.95


def test_of_batches_asked_for_the_smallest_that_meets_the_rate_is_shown():
    report = podsim.infer("resnet50", pod=4, batches="1..64", rate="20k/s", requests=2000)
    sizes = {row.batch: row for row in report.swept}
    assert report.service.batch > 1
    assert report.service.capacity_per_s > 20_000
    assert sizes[1].refused
    smaller = [row for size, row in sizes.items() if size < report.service.batch]
    assert all(row.capacity_per_s < 20_000 for row in smaller)
    with pytest.raises(Infeasible):
        podsim.infer("resnet50", pod=4, rate="20k/s", requests=2000)
