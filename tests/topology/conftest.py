import pytest

from podsim.model.chip import Amp, Chip, ChipSync, Exchange, Precision, Sram
from podsim.model.fabric import Economics, Gateway, Hosts, Level, Link, Shape, Topology


def make_chip():
    return Chip(
        name="gc200",
        title="GC200",
        tiles=1472,
        worker_threads=6,
        clock_hz=1.325e9,
        amp=Amp(flop_per_cycle={Precision.FP16_16: 128.0}),
        sram=Sram(bytes_per_tile=624 * 1024, load_bytes_per_cycle=16.0, store_bytes_per_cycle=8.0),
        exchange=Exchange(
            send_bytes_per_cycle=4.0,
            receive_bytes_per_cycle=4.0,
            shared_receive_bytes_per_cycle=8.0,
            efficiency=0.987,
            start_cycles=100.0,
        ),
        sync=ChipSync(on_chip_cycles=150.0, global_cycles=600.0),
        ipu_links=10,
    )


def ladder(name, holds, *, closed=False, rung_links=6, rail_links=2, link="ipu-link"):
    return Level(
        name=name,
        holds=holds,
        shape=Shape.LADDER,
        link=link,
        rung_links=rung_links,
        rail_links=rail_links,
        closed=closed,
    )


def pod_level(holds, shape=Shape.RING, *, links_each=2, link="gw-link"):
    return Level(name="pod", holds=holds, shape=shape, link=link, links_each=links_each)


def make_topology(*levels, name="machine", links=None, servers=1):
    ipu_link = Link(bandwidth_bytes_per_s=16e9, efficiency=0.866, latency_s=0.385e-6, hop_s=0.160e-6)
    gw_link = Link(bandwidth_bytes_per_s=12.5e9, efficiency=0.9, latency_s=2e-6)
    return Topology(
        name=name,
        title=name,
        chip=make_chip(),
        levels=levels,
        links={"ipu-link": ipu_link, "gw-link": gw_link} if links is None else links,
        gateway=Gateway(
            streaming_bytes=256e9, streaming_bytes_per_s_per_ipu=6.64e9, pcie_bytes_per_s=16e9, host_bytes_per_s=12.5e9
        ),
        hosts=Hosts(servers=servers, most_servers=16, server_bytes_per_s=12.5e9),
        economics=Economics(machine_usd=32450.0, machine_w=1000.0),
    )


def make_pod(ipus, shape=Shape.RING):
    """The machine of that many IPUs as it is sold: partition of a rack, rack, or racks."""
    if ipus <= 4:
        return make_topology(ladder("machine", ipus), name=f"pod{ipus}")
    rack = ladder("rack", min(ipus, 64) // 4, closed=ipus >= 64)
    pods = (pod_level(ipus // 64, shape),) if ipus > 64 else ()
    return make_topology(ladder("machine", 4), rack, *pods, name=f"pod{ipus}")


@pytest.fixture(scope="session")
def build_pod():
    return make_pod


@pytest.fixture(scope="session")
def topology_of():
    return make_topology


@pytest.fixture(scope="session")
def ladder_of():
    return ladder


@pytest.fixture(scope="session")
def pod_of():
    return pod_level
