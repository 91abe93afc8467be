"""`--set` texts on machines and workloads."""

from functools import cache

from fuzz.choices import Choices
from fuzz.judge import judged
from fuzz.mutate import FACTORS, LETTERS, STRANGE

from podsim.files import catalog
from podsim.files import changes as what_if
from podsim.model.fabric import Topology
from podsim.topology.build import build

MACHINES = ("pod16", "pod64", "pod128", "c600", "bow-pod16")
WORKLOADS = ("resnet50", "bert", "vit-base")


@cache
def settable(machine: str) -> tuple[tuple[str, str], ...]:
    """Paths of a machine that may be set, with the text that its files have."""
    document = catalog.topology(machine)
    return tuple(
        (path, document.provenance[path].text if path in document.provenance else "1")
        for path in what_if.settable(document.tables, Topology)
    )


def change(machine: str, draw: Choices) -> str:
    """One text."""
    path, text = draw.of(settable(machine))
    if draw.chance(65):
        number, space, unit = text.partition(" ")
        try:
            value = float(number) * draw.of(FACTORS)
        except ValueError:
            value, unit = 4.0, ""
        words = f"{value:.6g}" if space else str(round(value))
        return f"{path}={words}{space}{unit}"
    value = draw.of(STRANGE)
    text = f"{draw.of((path, path, 'workload.transformer.layers', 'workload.x', 'chip', '', 'noise.x', 'a.b'))}={value}"
    at = draw.below(len(text) + 1)
    return text[:at] + draw.of(LETTERS) + text[at:] if draw.chance(15) else text


def one_input(data: bytes) -> str:
    """Up to three changes of a machine, or one of a workload."""
    draw = Choices(data)
    if draw.chance(20):
        path = draw.of(
            (
                "transformer.layers",
                "transformer.width",
                "transformer.heads",
                "residual_cnn.blocks",
                "name",
                "benchmark.quality",
                "unit.encoder.layers",
                "sequence",
            )
        )
        text = f"workload.{path}={draw.of(('1', '2', '12', '100000', '0', '-1', '1e9', *STRANGE))}"
        return judged(lambda: catalog.workload(draw.of(WORKLOADS), [text]).value.name)
    machine = draw.of(MACHINES)
    changes = [change(machine, draw) for _ in range(draw.some(3))]
    return judged(lambda: build(catalog.topology(machine, changes).value) and None)
