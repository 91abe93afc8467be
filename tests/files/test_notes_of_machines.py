"""Notes of a machine tell of its levels: a machine or a what-if with other levels has none of them."""

from pathlib import Path

import podsim
from podsim.files import catalog

OWN = """
schema  = "podsim.topology/1"
name    = "own"
extends = "pod256"
{more}
"""


def notes(folder: Path, more: str) -> tuple[str, ...]:
    path = folder / "own.toml"
    path.write_text(OWN.format(more=more), encoding="utf-8")
    return tuple(map(str, catalog.topology(str(path)).value.notes))


def test_a_machine_of_other_levels_has_not_the_notes_of_the_one_it_extends(tmp_path):
    levels = '[[level]]\nname = "pod"\nholds = { value = 16, kind = "assumed", note = "larger" }\n'
    assert any("four racks" in note for note in notes(tmp_path, ""))
    assert notes(tmp_path, levels) == ()


def test_a_what_if_of_levels_leaves_the_notes_out_and_others_keep_them():
    usual, larger, quicker = (
        [*map(str, podsim.predict("bert", pod=256, engine="analytic", changes=changes).assumptions)]
        for changes in ({}, {"level.pod.holds": "16"}, {"chip.clock": "1.5 GHz"})
    )
    assert any("four racks" in line for line in usual)
    assert any("four racks" in line for line in quicker)
    assert not any("four racks" in line for line in larger)
