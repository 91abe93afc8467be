"""How an imported workload is called."""

import re
from pathlib import Path
from typing import Final

from podsim.files import find

_STRANGE: Final = re.compile(r"[^A-Za-z0-9._-]+")
MOST: Final = 80


def name(text: str) -> str:
    """A name for a workload: never that of one that is shipped, whose fitted numbers are not its own."""
    result = _STRANGE.sub("-", text).strip("-._")[:MOST].rstrip("-._") or "model"
    shipped_names = {path.stem for path in find.folders("workloads")[-1].glob("*.toml")}
    return f"own-{result}" if result in shipped_names or result == "model" else result


def written_by(path: Path) -> tuple[str, ...]:
    """What the first lines of a written file say."""
    return (
        f"Written by podsim workload import of {path.name!r}; what each key means stands in docs/reference/formats.md.",
    )
