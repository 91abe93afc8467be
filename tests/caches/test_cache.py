"""Results kept by content: the same answer whatever happens to the folder."""

import json
import logging
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.caches import cache, packing
from podsim.caches.cache import Shelf, user_folder
from podsim.caches.cache_folder import MARKER
from podsim.model.chip import Chip, Precision
from podsim.model.tile_plan import Cohort, RejectedPlan, Superstep, TilePlan
from podsim.model.workload import Matmul, Pass

PLAN = TilePlan(
    operator="ffn1",
    method="AMP 1x1",
    splits={"rows": 23, "outputs": 16},
    supersteps=(
        Superstep(name="input", phase="input", cohorts=(Cohort(tiles=1472, receive_bytes=0.1 + 0.2),), fragments=3),
        Superstep(name="multiply", phase="multiply", cohorts=(Cohort(tiles=3, compute_cycles=7),), repeat=4),
    ),
    flop=8.59e9,
    sram_bytes_per_tile={"weights": 1e-300, "code": 12.0},
    tiles_used=1472,
    alternatives=(RejectedPlan(splits={"rows": 1}, cycles=2.0, sram_bytes_per_tile=5.0, why="ünïcode\n"),),
)
SHAPE = Matmul(m=1024, k=1024, n=4096)


class Planner:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked = 0

    def __call__(self) -> TilePlan:
        self.asked += 1
        return PLAN


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "results"


def ask(folder: Path | None, inputs: object = SHAPE, about: str = "gc200") -> int:
    """How often a fresh process has to compute, asking twice."""
    shelf, planner = Shelf(folder, about), Planner()
    assert shelf.remember(inputs, TilePlan, planner) == PLAN
    assert shelf.remember(inputs, TilePlan, planner) == PLAN
    return planner.asked


def kept(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and path.name != MARKER)


def test_a_result_is_computed_once_and_found_by_the_next_process(folder: Path) -> None:
    assert ask(folder) == 1
    assert len(kept(folder)) == 1
    assert ask(folder) == 0


def test_other_inputs_are_other_results(folder: Path) -> None:
    ask(folder)
    assert ask(folder, replace(SHAPE, m=1025)) == 1
    assert ask(folder, (SHAPE, Pass.BACKWARD)) == 1
    assert ask(folder, about="bow") == 1
    assert len(kept(folder)) == 4


def test_another_text_of_the_planner_is_another_version(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(folder)
    monkeypatch.setattr(cache, "_version", lambda: "0123456789abcdef")
    assert ask(folder) == 1


def test_the_version_is_that_of_the_modules_that_compute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tiles").mkdir()
    (tmp_path / "tiles" / "cost.py").write_text("ANSWER = 42")
    monkeypatch.setattr(cache, "_PACKAGE", tmp_path)
    texts = []
    for text in ("ANSWER = 42", "ANSWER = 43", "ANSWER = 42"):
        (tmp_path / "tiles" / "cost.py").write_text(text)
        texts.append(cache._version.__wrapped__())
    assert texts[0] == texts[2] != texts[1]


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def flip(path: Path) -> None:
    raw = bytearray(path.read_bytes())
    raw[-20] ^= 1
    path.write_bytes(bytes(raw))


def swap_numbers(path: Path) -> None:
    """Still JSON, still of the right shape."""
    path.write_bytes(path.read_bytes().replace(b"1472", b"1473"))


def rewrite(body: str) -> Callable[[Path], None]:
    """A body with a right checksum that is no plan: written by something else under our name."""

    def damage(path: Path) -> None:
        raw = body.encode()
        path.write_bytes(cache._checksum(path.name, raw) + b"\n" + raw)

    return damage


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def loop(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.name)


def grow(path: Path) -> None:
    with path.open("ab") as file:
        file.truncate(cache.MOST_BYTES + 1)


DAMAGES = [
    truncate,
    flip,
    swap_numbers,
    become_a_folder,
    become_a_pipe,
    loop,
    grow,
    Path.unlink,
    lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(bytes(range(256))),
    *map(rewrite, ("", "[]", "{}", "null", "3", '"x"', "[1,2,3]", "[[[[", "NaN", "[" * 100_000)),
]


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_is_a_miss_and_heals(folder: Path, damage: Callable[[Path], None]) -> None:
    ask(folder)
    (path,) = kept(folder)
    damage(path)
    assert ask(folder) == 1
    if not path.is_dir():
        assert ask(folder) == 0


def test_a_result_under_another_name_is_not_taken_for_it(folder: Path) -> None:
    ask(folder)
    ask(folder, replace(SHAPE, m=1025))
    path, other = kept(folder)
    shutil.copy(path, other)
    assert ask(folder) + ask(folder, replace(SHAPE, m=1025)) == 1


def test_the_folder_may_vanish_while_it_is_used(folder: Path) -> None:
    shelf, planner = Shelf(folder, "gc200"), Planner()
    for m in range(1, 4):
        shelf.remember(replace(SHAPE, m=m), TilePlan, planner)
        shutil.rmtree(folder)
    shelf.remember(replace(SHAPE, m=4), TilePlan, planner)
    assert (planner.asked, len(kept(folder))) == (4, 1)


def test_a_folder_that_cannot_be_is_no_harm(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("not a folder")
    for bad in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/podsim"), tmp_path / ("x" * 300)):
        caplog.clear()
        with caplog.at_level(logging.DEBUG, logger="podsim"):
            assert ask(bad) == 1
        assert len(caplog.records) == 1
        assert caplog.records[0].levelno == logging.DEBUG


@pytest.mark.parametrize(
    "error", [PermissionError(13, "no"), OSError(28, "No space left on device"), OSError(30, "ro")]
)
def test_a_full_or_read_only_folder_is_tried_once(
    folder: Path, error: OSError, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    tried = []

    def refuse(*arguments: object, **_: object) -> None:
        tried.append(arguments)
        raise error

    monkeypatch.setattr(cache, "_replace", refuse)
    shelf, planner = Shelf(folder, "gc200"), Planner()
    with caplog.at_level(logging.DEBUG, logger="podsim"):
        for m in range(1, 4):
            assert shelf.remember(replace(SHAPE, m=m), TilePlan, planner) == PLAN
    assert (planner.asked, len(tried), len(caplog.records)) == (3, 1, 1)


def test_a_disk_that_fills_up_leaves_no_half_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask(folder, "first")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    assert ask(folder) == 1
    assert len(kept(folder)) == 1


def test_what_is_not_json_stays_in_memory(folder: Path) -> None:
    endless = replace(PLAN, flop=float("inf"))
    shelf = Shelf(folder, "gc200")
    assert shelf.remember("a", TilePlan, lambda: endless) is endless
    assert shelf.remember("a", TilePlan, Planner()) is endless
    assert kept(folder) == []


def test_errors_of_the_computation_pass_and_nothing_is_kept(folder: Path) -> None:
    def fail() -> TilePlan:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        Shelf(folder, "gc200").remember(SHAPE, TilePlan, fail)
    assert kept(folder) == []


def test_memory_alone_will_do_and_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    assert ask(None) == 1
    monkeypatch.setattr(cache, "MOST_IN_MEMORY", 2)
    shelf, planner = Shelf(None, "gc200"), Planner()
    for key in ("a", "b", "c", "c", "b", "a"):
        shelf.remember(key, TilePlan, planner)
    assert planner.asked == 4


def test_where_the_folder_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert user_folder({"PODSIM_CACHE": "", "XDG_CACHE_HOME": "/x"}) is None
    assert user_folder({"PODSIM_CACHE": "there", "XDG_CACHE_HOME": "/x"}) == Path("there")
    assert user_folder({"XDG_CACHE_HOME": str(tmp_path)}) == tmp_path / "podsim"
    assert user_folder({"XDG_CACHE_HOME": "relative"}) == Path.home() / ".cache" / "podsim"
    monkeypatch.setattr(Path, "home", lambda: (_ for _ in ()).throw(RuntimeError("no home")))
    assert user_folder({}) is None


def test_equal_content_has_one_shelf(gc200: Chip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PODSIM_CACHE", "")
    assert cache.shelf((gc200, Precision.FP16_16)) is cache.shelf((replace(gc200), Precision.FP16_16))
    assert cache.shelf((gc200, Precision.FP16_16)) is not cache.shelf((gc200, Precision.FP32))
    assert cache.shelf(replace(gc200, clock_hz=1e9)) is not cache.shelf(gc200)


HAMMER = """
import sys
from dataclasses import replace
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_cache import PLAN, SHAPE, Shelf, TilePlan
for turn in range(40):
    shelf = Shelf(Path(sys.argv[1]), "gc200")
    for m in range(1, 6):
        expected = replace(PLAN, operator=str(m))
        assert shelf.remember(replace(SHAPE, m=m), TilePlan, lambda: expected) == expected
"""


def test_processes_share_a_folder_that_is_deleted_under_them(folder: Path) -> None:
    command = [sys.executable, "-c", HAMMER, str(folder), str(Path(__file__).parent)]
    running = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(4)]
    while any(process.poll() is None for process in running):
        shutil.rmtree(folder, ignore_errors=True)
    assert [process.communicate()[1] for process in running] == [""] * 4
    assert [process.returncode for process in running] == [0] * 4


@dataclass(frozen=True)
class Everything:
    number: float
    some: int | None
    names: Mapping[str, tuple[bool, ...]]
    precision: Precision


@given(
    st.builds(
        Everything,
        number=st.floats(allow_nan=False, allow_infinity=False),
        some=st.none() | st.integers(),
        names=st.dictionaries(st.text(), st.lists(st.booleans()).map(tuple)),
        precision=st.sampled_from(list(Precision)),
    )
)
def test_packing_and_reading_are_inverse(value: Everything) -> None:
    assert packing.reader(Everything)(json.loads(json.dumps(packing.pack(value)))) == value


NOT_EVERYTHING = (
    '[1.0,true,{},"32"]',
    '[1.0,1.5,{},"32"]',
    '["1",1,{},"32"]',
    '[1.0,1,{},"33"]',
    '[1.0,1,[],"32"]',
    '[1.0,1,{"a":1},"32"]',
    "[1.0,1,{}]",
    '[1.0,1,{},"32",0]',
)


@pytest.mark.parametrize("body", NOT_EVERYTHING)
def test_what_is_not_of_the_type_is_refused(body: str) -> None:
    with pytest.raises((TypeError, ValueError)):
        packing.reader(Everything)(json.loads(body))


def test_spelling_tells_contents_apart() -> None:
    assert packing.content_key({"b": 1, "a": 2}) == packing.content_key({"a": 2, "b": 1})
    contents = [
        None,
        "None",
        1,
        1.0,
        True,
        "1",
        (1,),
        ((1,),),
        {"1": 1},
        SHAPE,
        replace(SHAPE, weights=False),
        Pass.FORWARD,
        "forward",
        Precision.FP32,
        ("a,b",),
        ("a", "b"),
    ]
    assert len(set(map(packing.content_key, contents))) == len(contents)
    with pytest.raises(TypeError, match="object"):
        packing.content_key((object(),))
