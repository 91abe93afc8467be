"""`--fault` texts; the machine is built with those that are accepted."""

from functools import cache

from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.mutate import LETTERS

from podsim.files import catalog
from podsim.topology import fault_text
from podsim.topology.build import build
from podsim.topology.edges import links
from podsim.topology.faults import apply_faults
from podsim.topology.machine_network import Fabric

KINDS = ("ipu-link", "gw-link", "ipu", "machine", "rack", "host-link", "link", "pcie", "gateway", "²", "IPU", "")
NAMES = (
    "0",
    "1",
    "3",
    "63",
    "64",
    "ipu0>ipu1",
    "ipu0>ipu2",
    "machine0>machine1",
    "gw0>gw1",
    "rack0",
    "0-3",
    "",
    "\u0661",
    "9" * 30,
    "ipu0",
    "ipu1>ipu0",
    "00",
    "-1",
)
STATES = (
    "down",
    "lost",
    "0.5",
    "5/6",
    "80%",
    "0",
    "1",
    "2",
    "1/0",
    "nan",
    "inf",
    "-0.5",
    "1e-9",
    "0.999",
    "²",
    "",
    "9" * 400,
    "100%",
    "0%",
    ".5",
)


@cache
def whole() -> Fabric:
    """A machine without faults."""
    return build(catalog.topology("pod16").value)


@cache
def texts() -> tuple[str, ...]:
    """The links that it has."""
    return tuple(row.name for row in links(whole()))


def fault(draw: Choices) -> str:
    """One text."""
    if draw.chance(60):
        return f"link:{draw.of(texts())}={draw.of(('down', '0.5', '5/6', '80%', '.5'))}"
    text = f"{draw.of(KINDS)}:{draw.of(NAMES)}={draw.of(STATES)}"
    at = draw.below(len(text) + 1)
    return text[:at] + draw.of(LETTERS) + text[at:] if draw.chance(15) else text


def one_input(data: bytes) -> str:
    """Up to three faults of a machine, and what is left of it."""
    draw = Choices(data)
    faults = [fault(draw) for _ in range(draw.some(3))]

    return judged(lambda: apply_faults(whole(), fault_text.parse(faults)) and None)
