"""Every error code that podsim raises is described in docs/reference/errors.md, and nothing else is."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from source import ROOT, modules, place, tree

from podsim import errors
from podsim.cli.error_text import USAGE_CODES
from podsim.files.load import SCHEMAS

CODE = re.compile(r"^[a-z]+(-[a-z0-9]+)+$")
ROW = re.compile(r"^\| `([^`]+)` \| (\d) \|", re.MULTILINE)
ROOT_CODE = errors.PodsimError.code


def pattern(node: ast.expr) -> str | None:
    """A code as it is written, each part known only when podsim runs as one open word."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return re.escape(node.value)
    if isinstance(node, ast.JoinedStr):
        parts = (re.escape(str(p.value)) if isinstance(p, ast.Constant) else r"[a-z0-9-]+" for p in node.values)
        return "".join(parts)
    return None


def raised() -> Iterator[tuple[str, str]]:
    """Codes given to an error, as patterns, with where."""
    for path in modules("podsim"):
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.keyword) and node.arg == "code" and (text := pattern(node.value)):
                yield text, place(path, node.value.lineno)
    yield from ((re.escape(code), "podsim/cli/error_text.py") for code in {*USAGE_CODES.values(), "bad-usage"})
    yield from ((rf"bad\-{what}\-file", "podsim/files/load.py") for what in [*SCHEMAS, "input"])
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.PodsimError) and kind.code != ROOT_CODE:
            yield re.escape(kind.code), "podsim/errors.py"


def documented() -> dict[str, int]:
    """Code and exit code of each row."""
    rows = ROW.findall((ROOT / "docs/reference/errors.md").read_text(encoding="utf-8"))
    assert len(rows) == len(dict(rows)), "a code stands twice in docs/reference/errors.md"
    return {code: int(number) for code, number in rows}


def test_each_code_is_documented() -> None:
    codes = documented()
    missing = [f"{where}: {code}" for code, where in raised() if not any(re.fullmatch(code, known) for known in codes)]
    assert missing == []


def test_each_documented_code_is_raised() -> None:
    patterns = [code for code, _ in raised()]
    assert [code for code in documented() if not any(re.fullmatch(pattern, code) for pattern in patterns)] == []


def test_codes_are_kebab_case_in_alphabetical_order() -> None:
    codes = list(documented())
    assert codes == sorted(codes)
    assert all(CODE.match(code) for code in codes)


def test_classes_end_with_the_documented_exit_code() -> None:
    codes = documented()
    assert codes[errors.Infeasible.code] == 1
    assert codes[errors.InputError.code] == codes[errors.MissingParameter.code] == 2
