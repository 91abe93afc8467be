"""Whatever happens to a shipped file, reading it gives a model or a message, and never another exception."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from slow_cases import slow_but

from podsim.errors import InputError
from podsim.files import catalog, find

ROOT = find.data_folder("topologies").parent
FILES = [
    *sorted((ROOT / "topologies").rglob("*.toml")),
    *sorted((ROOT / "calibration").rglob("*.toml")),
    *sorted(Path(find.__file__).parents[1].joinpath("workloads").glob("*.toml")),
]
VALUE = re.compile(rb'(?<== )(?:"[^"\n]*"|[-\d.]+|true|false)')
STRANGE = [
    b"0",
    b"-1",
    b"1",
    b"0.5",
    b"inf",
    b"-inf",
    b"nan",
    b'"x"',
    b'""',
    b"true",
    b"[]",
    b"{}",
    b"[[1]]",
    b"[{}]",
    b"1e308",
    b"9" * 400,
    b"2026-11-20",
    b'"-1 s"',
    b'"0 GB/s"',
    b'"inf GHz"',
    b'"1 B"',
    b'"../x.toml"',
    b"{ value = 1 }",
    b"{ value = [] }",
    b"{ value = {} }",
    b"{ value = 1, kind = 2, counts = [] }",
    b'"1e308 GB/s"',
]


def without_a_line(text, data):
    lines = text.splitlines(keepends=True)
    at = data.draw(st.integers(0, len(lines) - 1))
    return b"".join(lines[:at] + lines[at + 1 :])


def with_a_line_twice(text, data):
    lines = text.splitlines(keepends=True)
    at, to = data.draw(st.integers(0, len(lines) - 1)), data.draw(st.integers(0, len(lines)))
    return b"".join([*lines[:to], lines[at], *lines[to:]])


def with_another_value(text, data):
    matches = list(VALUE.finditer(text))
    chosen = matches[data.draw(st.integers(0, len(matches) - 1))]
    return text[: chosen.start()] + data.draw(st.sampled_from(STRANGE)) + text[chosen.end() :]


def with_values_exchanged(text, data):
    matches = list(VALUE.finditer(text))[:60]
    item, other = data.draw(st.integers(0, len(matches) - 1)), data.draw(st.integers(0, len(matches) - 2))
    first, second = (matches[at] for at in sorted((item, other + (other >= item))))
    return text[: first.start()] + second[0] + text[first.end() : second.start()] + first[0] + text[second.end() :]


def with_damage(text, data):
    at = data.draw(st.integers(0, len(text) - 1))
    return text[:at] + data.draw(st.binary(max_size=3)) + text[at + data.draw(st.integers(0, 3)) :]


def cut_short(text, data):
    return text[: data.draw(st.integers(0, len(text)))]


MUTATIONS = [without_a_line, with_a_line_twice, with_another_value, with_values_exchanged, with_damage, cut_short]


def read_or_refuse(path, text):
    """Read a file that says `text`: a value, or an error that speaks of it in printable lines."""
    path.write_bytes(text)
    result = refusal(lambda: catalog.describe(path).document.value)
    assert not result or re.fullmatch(r"[a-z][a-z-]+", result.code)


def refusal(read):
    """The input error of `read`, or None where it gives a value."""
    try:
        value = read()
    except InputError as error:
        refusal = error
    else:
        assert value is not None
        return None
    assert all(line.isprintable() for line in (refusal.message, *refusal.context, refusal.hint))
    return refusal


def mutated():
    """Each file with each mutation; but for one of each file, the mutations in turn, they are slow."""
    for at, file in enumerate(FILES):
        for number, mutation in enumerate(MUTATIONS):
            name = f"{file.parent.name}-{file.stem}-{mutation.__name__}"
            marks = [] if number == at % len(MUTATIONS) else [pytest.mark.slow]
            yield pytest.param(file, mutation, id=name, marks=marks)


@pytest.mark.parametrize(("file", "mutation"), [*mutated()])
@settings(max_examples=settings.default.max_examples // 12)
@given(data=st.data())
def test_a_mutated_file_is_a_model_or_an_input_error(tmp_path_factory, file, mutation, data):
    folder = tmp_path_factory.getbasetemp()
    read_or_refuse(folder / file.name, mutation(file.read_bytes(), data))


@pytest.mark.parametrize("strange", STRANGE, ids=lambda value: value[:20].decode())
@pytest.mark.parametrize("name", slow_but(["gc200"], ["gc200", "pod128", "bert"]))
def test_each_value_of_the_main_files_survives_each_strange_one(tmp_path, name, strange):
    (file,) = (path for path in FILES if path.stem == name and path.parent.name in ("chips", "topologies", "workloads"))
    text = file.read_bytes()
    for match in list(VALUE.finditer(text))[:20]:
        read_or_refuse(tmp_path / file.name, text[: match.start()] + strange + text[match.end() :])


PATHS = ["chip.clock", "chip.tiles", "level.pod.holds", "level.pod.shape", "gw-link.bandwidth", "hosts.servers", "chip"]
VALUES = st.text(max_size=20) | st.sampled_from([value.decode() for value in STRANGE])
CHANGES = st.text(max_size=40) | st.tuples(st.sampled_from(PATHS), VALUES).map("=".join)


@given(st.lists(CHANGES, max_size=3))
def test_any_changes_give_a_machine_or_an_input_error(texts):
    refusal(lambda: catalog.topology("pod128", texts).value)


@given(st.text(max_size=40))
def test_any_name_gives_something_or_an_input_error(name):
    for function in (catalog.topology, catalog.workload, catalog.chip):
        with pytest.raises(InputError):
            function(f"?{name}")
