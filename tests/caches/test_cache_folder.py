"""What a new version of podsim removes of the cache: folders that it can prove podsim made, and nothing else."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from podsim.caches import cache, cache_folder
from podsim.caches.cache_folder import MARKER, NAME, VERSIONS_KEPT, make, marker_of, temporary_name

KEY = "0123456789abcdef" * 2
CURRENT = "f" * 16


def version(number: int) -> str:
    return f"{number:016x}"


def made(root: Path, number: int, *names: str) -> Path:
    """A folder as podsim makes it, last used `number` seconds after 1970."""
    folder = root / NAME / version(number)
    make(folder)
    for name in (KEY, *names):
        (folder / name).write_text("result")
    os.utime(folder, (number, number))
    return folder


def contents(root: Path) -> dict[str, bytes]:
    """Every file, link and folder below, with what it holds."""
    contents = {}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if path.is_symlink():
            contents[name] = str(path.readlink()).encode()
        else:
            contents[name] = path.read_bytes() if path.is_file() else b""
    return contents


def test_user_folders_of_the_old_names_stay(tmp_path: Path) -> None:
    """The command of the report: PODSIM_CACHE=c with c/results-2026-01 to -06."""
    mine = [tmp_path / "c" / f"results-2026-{month:02}" for month in range(1, 7)]
    for folder in mine:
        folder.mkdir(parents=True)
        (folder / "measured.csv").write_text("1,2\n")
    subprocess.run(
        [sys.executable, "-m", "podsim", "op", "matmul", "--m", "64", "--k", "64", "--n", "64"],
        env={**os.environ, "PODSIM_CACHE": str(tmp_path / "c")},
        check=True,
        capture_output=True,
    )
    assert [folder for folder in mine if not (folder / "measured.csv").exists()] == []
    assert (tmp_path / "c" / NAME).is_dir()


def test_the_oldest_versions_make_room(tmp_path: Path) -> None:
    for number in range(6):
        made(tmp_path, number, temporary_name(KEY))
    make(tmp_path / NAME / CURRENT)
    assert {path.name for path in (tmp_path / NAME).iterdir()} == {CURRENT, *map(version, range(3, 6))}


def foreign_file(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")


def foreign_folder(folder: Path) -> None:
    (folder / KEY[::-1]).mkdir()


def foreign_link(folder: Path) -> None:
    (folder / KEY[::-1]).symlink_to("/etc/hostname")


def pipe(folder: Path) -> None:
    os.mkfifo(folder / KEY[::-1])


def no_marker(folder: Path) -> None:
    (folder / MARKER).unlink()


def other_marker(folder: Path) -> None:
    (folder / MARKER).write_bytes(marker_of(CURRENT))


def longer_marker(folder: Path) -> None:
    (folder / MARKER).write_bytes(marker_of(folder.name) + b"mine")


def linked_marker(folder: Path) -> None:
    (folder / MARKER).rename(folder.parent / "tag")
    (folder / MARKER).symlink_to(folder.parent / "tag")


def upper_case(folder: Path) -> None:
    (folder / KEY).rename(folder / KEY.upper())


DOUBTS = [
    foreign_file,
    foreign_folder,
    foreign_link,
    pipe,
    no_marker,
    other_marker,
    longer_marker,
    linked_marker,
    upper_case,
]


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_folder_in_doubt_stays_as_it_is(tmp_path: Path, doubt: Callable[[Path], None]) -> None:
    folder = made(tmp_path, 0)
    for number in range(1, VERSIONS_KEPT + 2):
        made(tmp_path, number)
    assert not folder.exists(), "without the doubt it goes"
    folder = made(tmp_path, 0)
    doubt(folder)
    os.utime(folder, (0, 0))
    before = contents(folder)
    make(tmp_path / NAME / CURRENT)
    assert contents(folder) == before


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    elsewhere = made(tmp_path / "other", 0)
    for number in range(1, 5):
        made(tmp_path, number)
    (tmp_path / NAME / version(0)).symlink_to(elsewhere)
    os.utime(tmp_path / NAME / version(0), (0, 0), follow_symlinks=False)
    before = contents(elsewhere)
    make(tmp_path / NAME / CURRENT)
    assert contents(elsewhere) == before
    assert (tmp_path / NAME / version(0)).is_symlink()


def test_a_folder_that_was_there_is_not_marked(tmp_path: Path) -> None:
    folder = tmp_path / NAME / CURRENT
    folder.mkdir(parents=True)
    make(folder)
    assert list(folder.iterdir()) == []


NAMES = st.sampled_from(
    [
        MARKER,
        KEY,
        f".{KEY}.0123456789abcdef",
        f".{KEY}.1234.5678",
        "notes.txt",
        KEY.upper(),
        KEY[:-1],
        f"{KEY}0",
        "ab",
    ]
)
FOLDERS = st.sampled_from([version(1), version(2), "results-1", "results-0123456789abcdef", "A" * 16, "x", "1" * 15])
HOLDS = st.sampled_from([b"", b"mine", marker_of(version(1)), marker_of(version(2))])


@given(tree=st.dictionaries(st.tuples(FOLDERS, NAMES), HOLDS, max_size=12), inside=st.booleans())
def test_any_tree_of_a_user_stays(tree: dict[tuple[str, str], bytes], inside: bool) -> None:
    """Whatever is there: a folder that is removed had the marker of its name and nothing but names of results."""
    with tempfile.TemporaryDirectory() as created, pytest.MonkeyPatch.context() as patch:
        patch.setattr(cache_folder, "VERSIONS_KEPT", 0)
        root = Path(created) / NAME if inside else Path(created)
        for (folder, name), data in tree.items():
            (root / folder).mkdir(parents=True, exist_ok=True)
            (root / folder / name).write_bytes(data)
        own = {f for f, _ in tree if inside and _proven({n: h for (g, n), h in tree.items() if g == f}, f)}
        make(Path(created) / NAME / CURRENT)
        left = {path.relative_to(root).as_posix() for path in root.rglob("*") if path.is_file()}
        assert left - {f"{CURRENT}/{MARKER}", f"{NAME}/{CURRENT}/{MARKER}"} == {
            f"{folder}/{name}" for folder, name in tree if folder not in own
        }


def _proven(files: dict[str, bytes], folder: str) -> bool:
    names = {KEY, f".{KEY}.0123456789abcdef", MARKER}
    return folder in {version(1), version(2)} and files.get(MARKER) == marker_of(folder) and set(files) <= names


def test_a_stale_name_beside_a_result_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A result is written under a name that is new: what a link or a file of that name holds stays."""
    target = tmp_path / "mine"
    target.write_text("mine")
    folder = tmp_path / NAME / CURRENT
    make(folder)
    monkeypatch.setattr(cache_folder, "temporary_name", lambda key: f".{key}.0")
    (folder / f".{KEY}.0").symlink_to(target)
    with pytest.raises(FileExistsError):
        cache._replace(folder, KEY, b"result")
    assert target.read_text() == "mine"
    assert (folder / f".{KEY}.0").is_symlink()
