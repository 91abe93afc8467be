import tomllib
from pathlib import Path

import pytest

from podsim.files.locate import line_of, lines

PACKAGE = Path(__file__).parents[2]
TEXT = """# a comment = with an equals sign
schema = "x"   # and one behind
"quoted key" = 1
a.b.c = 2
text = '''
level = 3
'''

[link.gw-link]
bandwidth = { value = "1 GB/s", note = "a [b] = {c}" }

[[level]]
name = "one"
[[level.part]]
size = 1

[[level]]
name = "two"
sizes = [
    1,  # one
    2,
]
parts = [
    { ipu = 0, units = { a = 1 } },
    { ipu = 1 },
]
"""


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("schema",), 2),
        (("quoted key",), 3),
        (("a", "b", "c"), 4),
        (("text",), 5),
        (("link", "gw-link"), 9),
        (("link", "gw-link", "bandwidth"), 10),
        (("link", "gw-link", "bandwidth", "note"), 10),
        (("level", 0, "name"), 13),
        (("level", 0, "part", 0, "size"), 15),
        (("level", 1), 17),
        (("level", 1, "name"), 18),
        (("level", 1, "sizes", 1), 21),
        (("level", 1, "parts", 0, "units", "a"), 24),
        (("level", 1, "parts", 1, "ipu"), 25),
    ],
)
def test_each_key_is_on_its_line(path, line):
    assert lines(TEXT)[path] == line


def test_what_is_not_there_is_at_the_table_around_it():
    table = lines(TEXT)
    assert line_of(table, ("level", 1, "holds")) == 17
    assert line_of(table, ("link", "gw-link", "latency")) == 9
    assert line_of(table, ("hosts", "servers")) == 1


def test_windows_line_ends_count_the_same():
    assert lines(TEXT.replace("\n", "\r\n")) == lines(TEXT)


def _paths(value, path=()):
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in members:
        yield (*path, key)
        yield from _paths(inner, (*path, key))


SHIPPED = [path for folder in ("topologies", "calibration", "podsim") for path in (PACKAGE / folder).rglob("*.toml")]


@pytest.mark.parametrize("file", SHIPPED, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_every_key_of_every_shipped_file_is_found_where_it_is_written(file):
    text = file.read_text()
    table = lines(text)
    rows = text.split("\n")
    for path in _paths(tomllib.loads(text)):
        named = next(part for part in reversed(path) if isinstance(part, str))
        assert path in table
        if isinstance(path[-1], str):
            assert named in rows[table[path] - 1]
