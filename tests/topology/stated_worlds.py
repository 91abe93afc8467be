"""Small stated fabrics for unit tests: three kinds of link, any levels."""

from podsim.model.fabric import Duplex, GenericFabric, GenericLevel, Link, Shape

KINDS = {
    "wire": Link(bandwidth_bytes_per_s=50e9, latency_s=0.5e-6),
    "slow": Link(bandwidth_bytes_per_s=10e9, latency_s=2e-6, efficiency=0.8),
    "half": Link(bandwidth_bytes_per_s=20e9, latency_s=1e-6, duplex=Duplex.HALF),
}


def level(name, shape, holds, link="wire", **more):
    size = {"sides": holds} if shape is Shape.TORUS else {"holds": holds}
    return GenericLevel(name=name, shape=shape, link=link, **size, **more)


def fabric(*levels, name="some"):
    return GenericFabric(name=name, title="Some", levels=levels, links=KINDS)
