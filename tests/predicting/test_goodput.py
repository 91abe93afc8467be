"""Runs that failures interrupt: parts, checkpoints, answers and refusals."""

import math

import pytest

import podsim
from podsim.errors import Infeasible, InputError
from podsim.files import catalog, failures_file
from podsim.predicting import interruptions

YEAR_S = 365.25 * 86400.0
RARE = [f"failures.{part}.mtbf=1e5 y" for part in ("machine", "ipu-link", "gw-link", "host", "switch", "power")]


def split(pod):
    """A mapping by hand, which needs no search."""
    return {"pod": pod, "replicas": pod // 8, "ipus_per_replica": 8, "micro_batch": 2, "accumulation": 24}


def asked(**flags):
    pod = flags.get("pod", 64)
    return podsim.goodput("bert", **{**(split(pod) if pod else {}), "work": "14d", **flags})


@pytest.fixture(scope="module")
def large():
    return asked(pod=65536, work="28d", spares=16)


def counts(report):
    return {part.name: part.count for part in report.run.parts}


def test_parts_of_one_rack():
    """16 machines in a closed ladder: 2 links a rail and two rails between neighbours, 16 joints."""
    assert counts(asked()) == {"ipu": 64, "machine": 16, "ipu-link": 64, "host": 1, "power": 1}


def test_parts_of_a_ring_of_two_racks_and_of_a_switched_pod(large):
    """Two GW-Links a machine: both ends on gateways in a ring, one end on a switch otherwise."""
    result = counts(asked(topology="pod128", pod=None, preset="mlperf-v1.1-closed"))
    assert result == {"ipu": 128, "machine": 32, "ipu-link": 128, "gw-link": 32, "host": 2, "power": 2}
    switched = counts(large)
    assert switched["gw-link"] == 2 * 16_384
    assert switched["switch"] == 512
    assert switched["host"] == 1024


def test_only_what_the_mapping_uses_can_stop_it():
    result = asked(replicas=1, ipus_per_replica=4, accumulation=8, micro_batch=1)
    assert counts(result)["ipu"] == 4
    assert counts(result)["machine"] == 1


def test_a_checkpoint_is_one_copy_of_weights_and_moments():
    """BERT-Large at fp16 with two moments of fp32: 10 bytes a parameter, through one server with 2 GB/s of storage."""
    report = asked()
    size = 10 * catalog.workload("bert").value.parameters
    assert report.cost.state_bytes == pytest.approx(size, rel=0.01)
    assert report.cost.way_s["storage"] == pytest.approx(size / 2e9, rel=0.01)
    assert report.cost.load_s == report.cost.way_s["storage"]
    assert report.cost.total_s == pytest.approx(2.3 + report.cost.load_s)
    assert report.cost.way_s["gateway_to_host"] == pytest.approx(size / (16 * 12.5e9), rel=0.01)


def test_ipus_of_a_rack_write_their_shards_and_racks_use_their_own_servers():
    """Sharded over the replicas of a rack, as the memory model has it; two racks with a server each write one copy."""
    preset = {"topology": "pod128", "preset": "mlperf-v1.1-closed"}
    report, memory = asked(pod=None, **preset), podsim.predict("bert", **preset).memory
    most = max(share.by_category["weights"] + share.by_category["optimizer_state"] for share in memory.ipus)
    assert report.cost.way_s["ipu_to_gateway"] == pytest.approx(most / 16e9)
    assert report.cost.way_s["storage"] == pytest.approx(report.cost.state_bytes / 2e9)


def test_state_in_streaming_memory_is_read_from_there():
    report = asked(topology="pod16", pod=None, preset="mlperf-v1.0-closed")
    assert "streaming_memory" in report.cost.way_s
    assert "streaming_memory" not in asked().cost.way_s


def test_faster_storage_leaves_another_part_of_the_way():
    report = asked(changes=["failures.checkpoint.storage=1 TB/s"])
    assert report.cost.load_s == report.cost.way_s["host_network"]


def test_a_restart_is_start_up_and_the_reload():
    report = asked()
    load_s = catalog.parameters().outside.at("load", "2.5")
    assert load_s > 5
    assert report.run.restart_s == pytest.approx(155.4 + load_s + report.cost.load_s)


def test_weeks_on_65536_ipus(large):
    finish, share = large.finish_s, large.goodput
    assert finish.p5 < finish.p50 < finish.p95
    assert 0 < share.p5 < share.mean < share.p95 < 1
    lost = large.lost
    parts = large.run.work_s + lost.checkpoints_s + lost.lost_work_s + lost.restarts_s + lost.repairs_s
    assert parts == pytest.approx(finish.mean)
    rate = large.failures.mean / (finish.mean - lost.repairs_s - large.failures.mean * large.run.detect_s)
    assert rate == pytest.approx(large.run.failures_per_s, rel=0.01)


def test_spares_replace_repairs(large):
    assert asked(pod=65536, work="28d").goodput.mean < large.goodput.mean


def test_the_best_interval_is_no_worse_than_half_or_twice_it():
    best = asked(pod=4096)
    assert best.searched
    for factor in (0.5, 2.0):
        other = asked(pod=4096, checkpoint_every=f"{factor * best.interval_s} s")
        assert not other.searched
        assert other.tried == ()
        assert other.goodput.mean < best.goodput.mean


def test_short_work_has_no_checkpoint_inside():
    report = asked(work=None)
    assert report.interval_s == report.run.work_s
    assert report.lost.checkpoints_s == 0


def test_the_default_work_is_the_time_to_train():
    assert asked(work=None).run.work_s == podsim.predict("bert", **split(64)).time_to_train_s.value


def test_failures_half_as_often_save_time_with_common_luck():
    item, other = asked(runs=50, pod=1024), asked(runs=50, pod=1024, changes=["failures.ipu.mtbf=20 y"])
    assert other.finish_s.mean < item.finish_s.mean
    assert asked(runs=50, pod=1024) == item
    assert asked(runs=50, pod=1024, seed=1).finish_s != item.finish_s


def test_rates_so_high_that_nothing_is_saved_are_answered_no():
    with pytest.raises(Infeasible) as caught:
        asked(changes=["failures.ipu.mtbf=1 h"])
    assert caught.value.code == "no-progress"
    assert "times less often" in caught.value.hint
    times = float(caught.value.hint.split(" times")[0].split()[-1].replace(",", ""))
    # what the hint names does work: all parts, so scale each
    shipped = failures_file.failures().value
    rarer = [f"failures.ipu.mtbf={times} h"]
    rarer += [
        f"failures.{name}.mtbf={times * getattr(shipped, name.replace('-', '_')).mtbf_s} s"
        for name in ("machine", "ipu-link", "gw-link", "host", "switch", "power")
    ]
    assert asked(changes=rarer, runs=20).goodput.mean > 0.03


def test_an_interval_that_never_ends_is_answered_with_one_that_does():
    with pytest.raises(Infeasible) as caught:
        asked(pod=4096, changes=["failures.ipu.mtbf=50 d"], checkpoint_every="1d")
    assert caught.value.hint.startswith('checkpoint_every="')
    better = caught.value.hint.split('"')[1]
    assert asked(pod=4096, changes=["failures.ipu.mtbf=50 d"], checkpoint_every=better, runs=20).goodput.mean > 0.05


def test_where_a_checkpoint_never_ends_rarer_failures_are_no_help():
    with pytest.raises(Infeasible) as caught:
        asked(changes=["failures.checkpoint.storage=1 B/s"], work="1d")
    assert "cheaper checkpoint" in caught.value.hint


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"work": "14"}, "needs a unit"),
        ({"work": "-3d"}, "above 0"),
        ({"work": "0 s"}, "above 0"),
        ({"work": "fortnight"}, "not a quantity"),
        ({"work": "14 GB"}, "must be a time"),
        ({"work": "1e30 y"}, "100 years"),
        ({"checkpoint_every": "15d"}, "longer than the work"),
        ({"checkpoint_every": "1 ms"}, "shorter than a step"),
        ({"checkpoint_every": ""}, "must not be empty"),
        ({"spares": -1}, "at least 0"),
        ({"spares": 10**6}, "at most 10,000"),
        ({"runs": 0}, "at least 1"),
        ({"runs": 2**31 - 1}, "too many"),
        ({"runs": 10**12}, "at most 2,147,483,647"),
    ],
)
def test_times_and_counts_that_cannot_be(flags, said):
    with pytest.raises(InputError) as caught:
        asked(**flags)
    assert caught.value.code == "bad-value"
    assert said in caught.value.message


@pytest.mark.parametrize(
    "change",
    [
        "failures.ipu.mtbf=0 s",
        "failures.ipu.mtbf=-5 y",
        "failures.ipu.mtbf=5",
        "failures.ipu.mtbf=1e-9 s",
        "failures.host.repair=2 y",
        "failures.restart.init=-1 s",
        "failures.restart.detect=10 y",
        "failures.checkpoint.storage=0 B/s",
        "failures.checkpoint.storage=2 GBps",
        "failures.ipx.mtbf=5 y",
        "failures.ipu=5 y",
        "noise.ipu.jitter=0.1",
    ],
)
def test_rates_that_cannot_be(change):
    with pytest.raises(InputError) as caught:
        asked(changes=[change])
    assert caught.value.code == "bad-change"


def test_cables_of_a_machine_follow_the_ladder():
    topology = catalog.topology("pod64").value
    assert interruptions._cables_between_machines(topology) == 4.0
    assert interruptions._cables_between_racks(topology, 16) == 0


def test_only_ipus_that_fail_are_counted():
    """With all else lasting, failures follow from the IPUs alone."""
    report = asked(pod=4096, changes=RARE, runs=300)
    expected = 4096 / (10 * YEAR_S) * (report.finish_s.mean - report.lost.repairs_s)
    assert report.failures.mean == pytest.approx(expected, rel=3 / math.sqrt(300 * expected) + 0.01)
