"""The scripts of examples/ run cell by cell and say what they promise."""

import re
from pathlib import Path

import pytest
from slow_cases import slow_but

EXAMPLES = Path(__file__).parents[2] / "examples"
SAID = {
    "size-a-machine.py": [r"offer: IPU-POD\d+, \d+ IPUs", r"IPU-minutes a run", r"interpolated"],
    "scale-out.py": [r"4 times the IPUs, [\d.]+ times as quick", r"free all-reduce", r"helps", r"samples to converge"],
}


def test_every_script_is_tested():
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(SAID)


@pytest.mark.parametrize("name", slow_but(["size-a-machine.py"], SAID))
def test_a_script_runs(name, capsys):
    cells = re.split(r"^# %%.*$", (EXAMPLES / name).read_text(encoding="utf-8"), flags=re.MULTILINE)
    space: dict[str, object] = {}
    for cell in cells:
        exec(compile(cell, name, "exec"), space)  # noqa: S102  (our own script, a cell at a time as a notebook does)
    printed = capsys.readouterr().out
    for pattern in SAID[name]:
        assert re.search(pattern, printed), pattern
    shown = space[cells[-1].strip()] if name == "scale-out.py" else space["answers"][space["offer"]]  # type: ignore[index]
    assert shown._repr_html_().startswith("<")  # type: ignore[attr-defined]
