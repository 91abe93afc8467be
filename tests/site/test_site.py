"""Pages of the site: what is run is of podsim, the picture is what podsim draws, cells of notebooks run."""

from __future__ import annotations

import os
import re
from pathlib import Path

import gallery
import notebooks
import pytest
import transcripts
from file_kinds import ROOT

PICTURE = ROOT / "docs" / "images" / "scale.svg"
DRAWN_BY = re.compile(r"Matplotlib v([\d.]+)")


def test_the_picture_of_the_readme_is_what_podsim_draws(tmp_path: Path) -> None:
    import matplotlib as mpl

    drawn = gallery._drawn(gallery.PICTURES[0], tmp_path)
    if os.environ.get("PODSIM_UPDATE"):
        PICTURE.write_bytes(drawn)
    written = PICTURE.read_bytes()
    by = DRAWN_BY.search(written.decode())
    assert by
    if by[1] != mpl.__version__:
        pytest.skip(f"drawn by matplotlib {by[1]}, which places letters otherwise than {mpl.__version__}")
    assert drawn == written, "make readme"


def test_a_command_of_a_page_is_run_and_its_answer_shown() -> None:
    page = transcripts.run("# A\n\n```console run\n$ podsim --version\n```\n")
    assert re.search(r"^```console\n\$ podsim --version\npodsim \d", page, re.MULTILINE)


def test_a_command_may_be_answered_with_no() -> None:
    command = "$ podsim predict bert --pod 16 --replicas 16 --ipus-per-replica 1 -q"
    assert "exit code 1" in transcripts.run(f"```console run\n{command}{transcripts.NO}\n```\n")
    with pytest.raises(RuntimeError, match="ended with 1"):
        transcripts.run(f"```console run\n{command}\n```\n")


def test_a_file_of_a_page_is_there_for_its_commands() -> None:
    file = 'schema = "podsim.topology/1"\nname = "mine"\nextends = "pod16"\n'
    page = f'```toml title="mine.toml"\n{file}```\n\n```console run\n$ podsim check mine.toml -q\n```\n'
    assert "mine.toml" in transcripts.run(page)


def test_only_podsim_is_run() -> None:
    with pytest.raises(RuntimeError, match="not a command of podsim"):
        transcripts.run("```console run\n$ rm -r folder\n```\n")


def test_every_script_of_the_examples_is_a_page() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in (ROOT / "examples").glob("*.py")} == set(notebooks.PLACES)


def test_cells_run_in_order_and_show_what_they_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "two.py"
    script.write_text("# %% [markdown]\n# Words.\n\n# %%\na = 2\n\n# %%\nprint(a)\na + 1\n", encoding="utf-8")
    monkeypatch.setitem(notebooks.TITLES, "two.py", "Two")
    assert notebooks.page(script).endswith(
        "Words.\n\n```python\na = 2\n```\n\n```python\nprint(a)\na + 1\n```\n\n```text\n2\n3\n```\n"
    )


def test_pictures_of_the_gallery_have_names_of_their_own() -> None:
    names = [picture.name for picture in gallery.PICTURES]
    assert len(names) == len(set(names))
