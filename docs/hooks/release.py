"""Whether all is ready for a person to publish: versions, dates, a clean tree, archives; and what predictions moved."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[2]
DIST: Final = ROOT / "dist"
FROZEN: Final = "calibration/frozen.toml"
CITED: Final = re.compile(r"^version: (\S+)$", re.MULTILINE)
RELEASED: Final = re.compile(r"^date-released: (\S+)$", re.MULTILINE)
TIMES: Final = ("step", "time_to_train")
Tables = dict[str, Any]
HEADING: Final = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def text(name: str) -> str:
    """A file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def run(*command: str) -> str:
    """What a command prints; RuntimeError with its messages where it fails."""
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stdout}{done.stderr}")
    return done.stdout


def faults() -> Iterator[str]:
    """What is not ready, a line each; building the archives takes half a minute."""
    version = str(tomllib.loads(text("pyproject.toml"))["project"]["version"])
    yield from metadata_faults(version, text("CITATION.cff"), text("CHANGELOG.md"))
    if run("git", "status", "--porcelain").strip():
        yield "the tree is not clean: git status"
    if run("git", "tag", "--list", f"v{version}").strip():
        yield f"there is a tag v{version} already"
    yield from _archive_faults(version)


def metadata_faults(version: str, citation: str, changelog: str) -> Iterator[str]:
    """Where the version of the package, the citation and the changelog differ."""
    cited, released = CITED.search(citation), RELEASED.search(citation)
    if not cited or cited[1] != version:
        yield f"CITATION.cff has version {cited[1] if cited else 'none'}, pyproject.toml {version}"
    dates = dict(HEADING.findall(changelog))
    if not dates.get(version):
        yield f"CHANGELOG.md has no heading ## [{version}] - DATE"
    elif not released or released[1] != dates[version]:
        yield f"CITATION.cff has date-released {released[1] if released else 'none'}, CHANGELOG.md {dates[version]}"


def _archive_faults(version: str) -> Iterator[str]:
    names = [f"podsim-{version}.tar.gz", f"podsim-{version}-py3-none-any.whl"]
    for path in DIST.glob("*"):
        path.unlink()
    try:
        run(sys.executable, "-m", "build", "--outdir", str(DIST), ".")
        run(sys.executable, "-m", "twine", "check", "--strict", *(str(DIST / name) for name in names))
    except RuntimeError as error:
        yield str(error)


def moved() -> str:
    """The frozen predictions that differ from those of the last tag, as a table."""
    tag = run("git", "describe", "--tags", "--abbrev=0") if run("git", "tag", "--list").strip() else ""
    if not tag:
        return "No tag yet: there are no earlier predictions.\n"
    before = tomllib.loads(run("git", "show", f"{tag.strip()}:{FROZEN}"))
    return table(before, tomllib.loads(text(FROZEN)), tag.strip())


def table(before: Tables, after: Tables, tag: str) -> str:
    """A line for each time of a frozen prediction that differs, or that is new."""
    known = {_name(prediction): prediction for prediction in before.get("prediction", ())}
    lines = [
        f"| {_name(prediction)} | {key} | {old} | {prediction[key]} | {_change(old, prediction[key])} |"
        for prediction in after.get("prediction", ())
        for key in TIMES
        if (old := known.get(_name(prediction), {}).get(key, "")) != prediction.get(key, "")
    ]
    head = [f"| prediction | time | {tag} | now | change |", "|---|---|---:|---:|---:|"]
    return "\n".join([*head, *lines]) + "\n" if lines else f"No frozen prediction differs from {tag}.\n"


def _name(prediction: Tables) -> str:
    """What tells a prediction from others."""
    return " ".join(str(prediction[key]) for key in ("workload", "topology", "preset") if key in prediction)


def _change(old: str, new: str) -> str:
    return f"{_seconds(new) / _seconds(old) - 1:+.1%}" if old else "new"


def _seconds(time: str) -> float:
    return float(time.removesuffix(" s"))


def main() -> int:
    """Print what is not ready, and the predictions that moved; the return value is the exit code."""
    wrong = [*faults()]
    sys.stdout.write(moved())
    for line in wrong:
        sys.stderr.write(f"not ready: {line}\n")
    sys.stderr.write("" if wrong else f"ready: {', '.join(sorted(path.name for path in DIST.iterdir()))} in dist/\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
