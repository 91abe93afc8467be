"""Every path that can be set, set to what it is: the answer stays, so each path reaches the number it names."""

import re
from dataclasses import replace

import pytest

import podsim
from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.changes import settable
from podsim.model.fabric import Topology
from podsim.model.family import WorkloadFile

ASKED = {"workload": "bert", "topology": "pod128", "preset": "mlperf-v1.1-closed", "engine": "analytic"}
NOTHING = "sooth"  # resembles no key, so that the error lists all of them


def listed(prefix=""):
    """Paths that the error of an unknown path lists, those it abbreviates asked for in turn."""
    with pytest.raises(InputError) as caught:
        podsim.predict(**ASKED, changes=[f"{prefix}{NOTHING}=1"])
    context = caught.value.context
    (known,) = (line.partition(": ")[2] for line in context if line.startswith("what can be set"))
    for word in known.split():
        if word.endswith(".…"):
            yield from listed(word.removesuffix("…"))
        else:
            yield word


def stated():
    """What files and fit say at each path, as --set would spell it; None where they leave it out."""
    machine, workload = catalog.topology(ASKED["topology"]), catalog.workload(ASKED["workload"])
    table = {name: repr(item.value) for name, item in catalog.parameters().fitted.items()}
    for tables, cls, prefix in ((machine.tables, Topology, ""), (workload.tables, WorkloadFile, "workload.")):
        for path, leaf in settable(tables, cls, prefix).items():
            value = tables
            for part in leaf.path:
                value = value.get(part) if isinstance(value, dict) else value[part]
            table[path] = None if value is None else spelled(value)
    return table


def spelled(value):
    if isinstance(value, list):
        return "[" + ", ".join(f'"{item}"' if isinstance(item, str) else spelled(item) for item in value) + "]"
    return str(value).lower() if isinstance(value, bool) else str(value)


OWN = stated()
PATHS = [path for path in sorted(set(listed())) if not path.startswith("workload.")]
WORKLOAD_PATHS = sorted(set(listed("workload.")))


def answer(changes=()):
    return podsim.predict(**ASKED, changes=changes)


def test_the_error_lists_every_path_there_is():
    of_fabrics = {path for path in OWN if path.endswith(catalog.FABRICS_ALONE)}  # which change nothing on a pod
    assert set(PATHS) | set(WORKLOAD_PATHS) == set(OWN) - of_fabrics
    assert of_fabrics == {"ipu-link.duplex", "gw-link.duplex", "level.machine.closed", "level.pod.closed"}
    for path in ("level.machine.closed", "level.pod.closed"):
        with pytest.raises(InputError, match="joins nothing"):
            answer([f"{path}=true"])
    assert len(PATHS) > 50


@pytest.mark.parametrize("path", [path for path in PATHS if OWN[path] is not None])
def test_a_path_set_to_its_own_value_changes_nothing(path, unchanged):
    assert answer([f"{path}={OWN[path]}"]) == unchanged


@pytest.fixture(scope="module")
def unchanged():
    return answer()


def test_all_paths_of_the_workload_set_to_their_own_values_change_nothing(unchanged):
    assert len(WORKLOAD_PATHS) > 100
    changes = [f"{path}={OWN[path]}" for path in WORKLOAD_PATHS if OWN[path] is not None]
    assert answer(changes) == unchanged


def twice(text):
    """The number of a text doubled, its unit kept; None where there is none."""
    match = re.fullmatch(r"([\d.]+(?:e-?\d+)?)( .*)?", text or "")
    return f"{float(match[1]) * 2:g}{match[2] or ''}" if match else None


DOUBLED = [
    "chip.clock",
    "chip.exchange.receive",
    "ipu-link.bandwidth",
    "gw-link.bandwidth",
    "ipu-link.latency",
    "rack.step",
    "chip.sync.global",
    "sdk-2.1.program",
]


@pytest.mark.parametrize("path", DOUBLED)
def test_a_path_set_to_twice_its_value_reaches_the_answer(path, unchanged):
    """But for the factor of an SDK that is not asked for."""
    moved = answer([f"{path}={twice(OWN[path])}"]).step_s.value / unchanged.step_s.value - 1
    quicker = path in ("chip.clock", "chip.exchange.receive", "ipu-link.bandwidth", "gw-link.bandwidth")
    if path == "sdk-2.1.program":
        assert moved == 0
    else:
        assert moved < 0 if quicker else moved > 0


def test_an_efficiency_above_one_is_refused():
    for path in ("chip.exchange.efficiency", "collective.efficiency", "gw-link.efficiency"):
        with pytest.raises(InputError) as caught:
            answer([f"{path}=1.5"])
        assert caught.value.code == "bad-change"
        assert "at most 1" in caught.value.context[0]


def test_the_other_reading_of_the_exchange_is_one_change_away(unchanged):
    """47.5 TB/s as exchange bandwidth leaves the exchange its start; plans that exchange more compute a little less."""
    other = answer(["chip.exchange.bandwidth=47.5 TB/s"])
    assert other.breakdown_s["exchange"] < 0.5 * unchanged.breakdown_s["exchange"]
    assert other.breakdown_s["compute"] == pytest.approx(unchanged.breakdown_s["compute"], rel=0.1)
    assert other.breakdown_s["all_reduce"] == unchanged.breakdown_s["all_reduce"]


def test_changes_are_remembered_as_assumed():
    document = catalog.topology("pod128", ["chip.clock=1.5 GHz"])
    assert document.provenance["chip.clock"].note.startswith("given with --set")
    assert replace(document.value.chip, clock_hz=1.325e9) == catalog.chip("gc200").value
