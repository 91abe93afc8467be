"""Machines to test with, and a world that does not depend on whose machine this is."""

import fcntl
import gc
import os
import pickle
from collections.abc import Callable, Iterator
from ctypes.util import find_library
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from parsed_once import flags_read_once  # noqa: F401  (a fixture of every test)
from slow_cases import SECOND_CASES

from podsim.model.calibration import ParameterSet
from podsim.model.chip import Amp, Chip, ChipSync, Exchange, Precision, Sram
from podsim.model.fabric import Economics, Gateway, Hosts, Level, Link, Shape, Topology
from podsim.model.microbenchmark import MicrobenchmarkReport
from podsim.model.parameters import FREE
from podsim.model.published import PublishedReport
from podsim.model.validation import FitReport, Validation

# Two cores of a busy CI say nothing about how long an example takes; the same examples every time, so that a failure
# is a change. `make test-slow` takes more of them; HYPOTHESIS_PROFILE=search looks for new ones.
settings.register_profile("podsim", deadline=None, derandomize=True, database=None, max_examples=12)
settings.register_profile("thorough", deadline=None, derandomize=True, database=None, max_examples=100)
settings.register_profile("search", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "podsim"))


SLOW_ANSWERS = {"fitted", "published"}
"""Fixtures that take minutes of a processor: fits without each group, and every published row predicted."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests of what takes minutes to answer, and second cases, are slow; those that write a PDF need Pango."""
    no_pango = find_library("pango-1.0") is None
    for item in items:
        if no_pango and ("[.pdf" in item.nodeid or "_pdf" in item.name):
            item.add_marker(pytest.mark.skip("Pango (Debian's libpango-1.0-0, libpangoft2-1.0-0) is not installed"))
        if item.nodeid.removeprefix("tests/") in SECOND_CASES or SLOW_ANSWERS.intersection(
            getattr(item, "fixturenames", ())
        ):
            item.add_marker(pytest.mark.slow)


def pytest_collection_finish() -> None:
    """Leave what is there before the first test out of every collection: five thousand tests and what they import."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


SPOKEN_TO = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "COLUMNS", "LINES")


def of_all(factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of one test run share."""
    own = factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


def once(factory: pytest.TempPathFactory, name: str, compute: Callable[[], Any]) -> Any:
    """What takes long and many tests look at, computed by the first process that asks."""
    kept = of_all(factory) / f"{name}.pickle"
    with kept.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not kept.exists():
            kept.write_bytes(pickle.dumps(compute()))
    return pickle.loads(kept.read_bytes())  # noqa: S301  (this run wrote it)


@pytest.fixture(scope="session", autouse=True)
def plain_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """No colour or width asked for by the caller, no settings, no data or cache folder of the user."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [
            *SPOKEN_TO,
            *(name for name in os.environ if name.startswith("PODSIM_") and name != "PODSIM_UPDATE"),
        ]:
            patch.delenv(name, raising=False)
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data")))
        patch.setenv("XDG_CACHE_HOME", str(of_all(tmp_path_factory) / "cache"))
        patch.setenv("PYTHONIOENCODING", "utf-8")
        yield


@pytest.fixture(scope="session")
def gc200() -> Chip:
    """The GC200 as shipped."""
    from podsim.files import catalog

    return catalog.chip("gc200").value


@pytest.fixture(scope="session")
def pod16() -> Topology:
    """The IPU-POD16 as shipped."""
    from podsim.files import catalog

    return catalog.topology("pod16").value


@dataclass(frozen=True)
class Fitted:
    """What `podsim validate` and `podsim calibrate` say of the published results now."""

    validation: Validation
    parameters: ParameterSet
    report: FitReport
    without: dict[str, ParameterSet]


@pytest.fixture(scope="session")
def measured(tmp_path_factory: pytest.TempPathFactory) -> MicrobenchmarkReport:
    """What `podsim validate --microbenchmarks` says now."""
    import podsim

    return once(tmp_path_factory, "microbenchmarks", podsim.microbenchmarks)  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedReport:
    """What `podsim validate --published` says now; what it reads is no part of what a test asks."""
    from podsim.files import inputs
    from podsim.studies.validate.study import validate_published as ask

    def found() -> PublishedReport:
        with inputs.recording():
            return ask()

    return once(tmp_path_factory, "published", found)  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Fitted:
    """Both answers from the same fits without each machine size, made once; tests that ask for them are slow."""
    return Fitted(*once(tmp_path_factory, "fitted", _fitted))


def _fitted() -> tuple[Validation, ParameterSet, FitReport, dict[str, ParameterSet]]:
    from podsim.calibration import holdout
    from podsim.calibration.fit_data import cases as _cases
    from podsim.calibration.fit_data import convergence
    from podsim.files import catalog

    cases, fits = _cases(), {}
    once = holdout.held_out

    def remembered(cases, by, *rest):  # type: ignore[no-untyped-def]
        if by not in fits:
            fits[by] = once(cases, by, *rest)
        return fits[by]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(holdout, "held_out", remembered)
        parameters, report = holdout.calibrate(cases, FREE)
        validation = holdout.validate(cases, catalog.parameters(), FREE)
        return replace(validation, convergence=convergence(cases)), parameters, report, fits["machine"]


@pytest.fixture(scope="session")
def tiny() -> Topology:
    """2 machines of 2 IPUs: 1 TFLOP/s and 10 MB an IPU, 1 GB/s a link, 1 us a transfer."""
    return Topology(
        name="tiny",
        title="Tiny",
        chip=_tiny_chip(),
        levels=(_ladder("machine"), _ladder("rack")),
        links={"ipu-link": Link(bandwidth_bytes_per_s=1e9, latency_s=1e-6)},
        gateway=Gateway(
            streaming_bytes=1e9, streaming_bytes_per_s_per_ipu=1e9, pcie_bytes_per_s=1e9, host_bytes_per_s=1e9
        ),
        hosts=Hosts(servers=1, most_servers=1, server_bytes_per_s=1e9),
        economics=Economics(machine_usd=1000.0, machine_w=1000.0),
    )


def _tiny_chip() -> Chip:
    return Chip(
        name="tiny",
        title="Tiny",
        tiles=10,
        worker_threads=1,
        clock_hz=1e9,
        amp=Amp(flop_per_cycle=dict.fromkeys(Precision, 100.0)),
        sram=Sram(bytes_per_tile=1e6, load_bytes_per_cycle=8.0, store_bytes_per_cycle=2.0),
        exchange=Exchange(
            send_bytes_per_cycle=1.0,
            receive_bytes_per_cycle=1.0,
            shared_receive_bytes_per_cycle=2.0,
            efficiency=1.0,
            start_cycles=0.0,
        ),
        sync=ChipSync(on_chip_cycles=100.0, global_cycles=1000.0),
        ipu_links=2,
    )


def _ladder(name: str) -> Level:
    return Level(name=name, holds=2, shape=Shape.LADDER, link="ipu-link", rung_links=1, rail_links=1)
