"""What replicas are asked to answer, against what they can: replicas x batch / period requests a second."""

import pytest

from podsim.errors import Infeasible
from podsim.model.inference import Load, Service
from podsim.planning.offered_load import SAFE_LOAD, USUAL_LOAD, offered

SERVICE = Service(batch=8, replicas=5, period_s=0.1, latency_s=0.3, host_in_s=0.0, host_out_s=0.0, parts_s={})
MOST = 5 * 8 / 0.1


def test_without_a_rate_it_is_the_usual_share_of_what_the_replicas_can_do():
    assert offered(Load(wait_s=0.5), SERVICE) == Load(rate_per_s=USUAL_LOAD * MOST, wait_s=0.5)


@pytest.mark.parametrize("load", [Load(clients=10_000), Load(rate_per_s=0.999 * MOST)])
def test_clients_and_a_rate_below_capacity_are_taken_as_stated(load):
    assert offered(load, SERVICE) is load


@pytest.mark.parametrize("rate_per_s", [MOST, 10 * MOST])
def test_a_rate_at_capacity_or_above_is_refused_with_one_that_can_be_answered(rate_per_s):
    with pytest.raises(Infeasible) as refused:
        offered(Load(rate_per_s=rate_per_s), SERVICE)
    assert refused.value.code == "too-many-requests"
    proposed = float(refused.value.hint.removeprefix("--rate ").split("/s")[0].replace(",", ""))
    assert proposed == pytest.approx(SAFE_LOAD * MOST)
    assert offered(Load(rate_per_s=proposed), SERVICE).rate_per_s == proposed
