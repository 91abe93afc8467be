"""Files are opened to be read in one place, which refuses pipes and bounds what it reads."""

from __future__ import annotations

import re

from source import modules, place

READS = re.compile(r"\.read_(?:text|bytes)\(|(?<![\w.])(?<!def )open\(|[Pp]ath\)?\.open\(|os\.open\(")
MAY = {
    "podsim/files/contents.py": "the place",
    "podsim/caches/cache.py": "results that podsim wrote, bounded and checked there",
    "podsim/files/results.py": "the one file that is read and appended to under a lock",
    "podsim/caches/cache_folder.py": "folders of the cache, whose markers are bounded and checked there",
    "podsim/files/write.py": "a file that is about to be replaced, opened to see whether it may be",
    "podsim/cli/console.py": "the device that goes nowhere",
}


def test_one_module_opens_files_to_read() -> None:
    texts = [
        f"{place(path, number)}: {line.strip()}"
        for path in modules("podsim")
        if place(path) not in MAY
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if READS.search(line)
    ]
    assert texts == []
