"""Every check ends in one of two words, which one module owns."""

import ast
import json
import re
from pathlib import Path

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.model.checks import FAILURE, SUCCESS, verdict

OWNER = "podsim/model/checks.py"
SPELLED = re.compile(r"\W*(PASS|FAIL|MISS|PASSED|FAILED|MISSED|OK)\b")


def verdicts(path: Path) -> list[str]:
    """Texts of a module that begin with a verdict, but for docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    texts = [node for node in ast.walk(tree) if isinstance(node, ast.Constant) and id(node) not in documented]
    return [node.value for node in texts if isinstance(node.value, str) and SPELLED.match(node.value)]


def test_the_words() -> None:
    assert (verdict(passed=True), verdict(passed=False)) == (SUCCESS, FAILURE) == ("PASS", "FAIL")


def test_no_other_module_spells_a_verdict() -> None:
    root = Path(podsim.__file__).parent
    assert [str(path.relative_to(root.parent)) for path in sorted(root.rglob("*.py")) if verdicts(path)] == [OWNER]


def test_a_file_passes_or_fails(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('schema = "podsim.topology/1"\nextends = "pod64"\nname = "mine"\n')
    assert main(["check", str(file), "-q"]) == 0
    assert capsys.readouterr().out.strip() == "PASS, topology"
    assert main(["check", str(file), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "PASS"
    file.write_text('schema = "podsim.topology/1"\nextends = "pod64"\nname = "mine"\ncolour = "red"\n')
    assert main(["check", str(file)]) == 2
    assert "FAIL: mine.toml has 1 error" in capsys.readouterr().err


def test_a_file_that_is_not_there_is_not_checked(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["check", str(tmp_path / "none.toml")]) == 2
    assert "FAIL" not in capsys.readouterr().err
