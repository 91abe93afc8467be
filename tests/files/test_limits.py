"""Counts that are far too large are refused before anything is built of them: in time, and with the line and why."""

import subprocess
import sys
import time
from dataclasses import fields
from pathlib import Path

import pytest
from slow_cases import slow_but

import podsim
from podsim.errors import InputError
from podsim.files import catalog, find
from podsim.files.locate import lines
from podsim.model.family import FAMILIES, WorkloadFile
from podsim.model.limits import COUNT_FIELDS, ENTRIES, FILE_BYTES, KEY_PARTS, LAYERS, OPERATORS, WIDTH

SOON_S = 10.0  # of CPU
HEAD = 'schema = "podsim.workload/1"\nname = "x"\n'
SHIPPED = {
    "transformer": "bert",
    "residual_cnn": "resnet50",
    "mobile_cnn": "efficientnet-b4-g16",
    "vision_transformer": "vit-base",
    "window_transformer": "swin-tiny",
    "conformer": "conformer",
    "transducer": "transducer",
    "recurrent_transducer": "rnnt",
    "deep_voice": "deep-voice-3",
    "encoder_decoder": "whisper-tiny",
    "deberta": "deberta-base",
    "yolo": "yolov4-p5",
    "schnet": "schnet-qm9",
    "dlrm": "dlrm-hashed",
}


def soon(ask):
    """The error of `ask`, which takes no time."""
    began = time.process_time()
    with pytest.raises(InputError) as refused:
        ask()
    assert time.process_time() - began < SOON_S
    return refused.value


def said(error):
    return " ".join((error.message, *error.context, error.hint))


def sizes(family):
    name = catalog.workload(SHIPPED[family]).tables[family]
    return {key: value for key, value in name.items() if isinstance(value, int | list) and not isinstance(value, bool)}


def test_every_family_says_which_of_its_fields_count_layers():
    assert set(COUNT_FIELDS) | {"unit"} == set(FAMILIES)
    assert set(SHIPPED) == set(COUNT_FIELDS)
    assert set(COUNT_FIELDS) <= {field.name for field in fields(WorkloadFile)}


@pytest.mark.parametrize("count", [10**6, 2**53])
@pytest.mark.parametrize(("family", "key"), [(family, key) for family, keys in COUNT_FIELDS.items() for key in keys])
def test_more_layers_than_any_model_has_are_refused_in_files_and_flags(family, key, count, tmp_path):
    value = sizes(family)[key]
    text = str([count, *value[1:]]) if isinstance(value, list) else str(count)
    change = f"workload.{family}.{key}={text}"
    error = soon(lambda: podsim.predict(SHIPPED[family], pod=16, changes=[change]))
    assert f"at most {LAYERS.most:,}" in said(error)
    shipped = find.find("workloads", SHIPPED[family]).path.read_text()
    head, table, rest = shipped.partition(f"[{family}]")
    result = next(line for line in rest.splitlines() if line.split("=")[0].strip() == key)
    path = tmp_path / "large.toml"
    path.write_text(head + table + rest.replace(result, f"{key} = {text}", 1))
    error = soon(lambda: catalog.describe(path))
    line = 1 + (head + table + rest).splitlines().index(result)
    assert any(row.startswith(f"{line}  {family}.{key}") for row in error.context), error.context
    assert LAYERS.why in said(error)


@pytest.mark.parametrize("family", COUNT_FIELDS)
def test_every_size_of_a_family_has_a_bound(family):
    for key, value in sizes(family).items():
        for count in (WIDTH.most + 1, 2**53):
            text = str([count, *value[1:]]) if isinstance(value, list) else str(count)
            change = f"workload.{family}.{key}={text}"
            assert soon(lambda change=change: catalog.workload(SHIPPED[family], [change])).code == "bad-change"


def test_the_most_layers_are_built_in_time():
    began = time.process_time()
    made = catalog.workload("bert", [f"workload.transformer.layers={LAYERS.most}"]).value
    assert len(made.units) > 2 * LAYERS.most
    assert time.process_time() - began < SOON_S


def test_units_repeat_no_more_often_than_operators_are_modelled(tmp_path):
    path = tmp_path / "units.toml"
    operator = '[[unit.operator]]\nname = "a"\nkind = "bias"\nelements = 8\nrow = 8\n'
    path.write_text(f'{HEAD}[[unit]]\nname = "u"\nblock = "b"\nrepeat = {OPERATORS.most + 1}\n{operator}')
    assert f"at most {OPERATORS.most:,}" in said(soon(lambda: catalog.describe(path)))


def test_a_config_has_no_more_layers_either(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(
        '{"model_type": "bert", "num_hidden_layers": 9999, "hidden_size": 64, "num_attention_heads": 4, '
        '"intermediate_size": 64, "max_position_embeddings": 64, "vocab_size": 99, "type_vocab_size": 2}'
    )
    assert f"{LAYERS.most:,}" in said(soon(lambda: catalog.workload(str(path))))


@pytest.mark.parametrize(
    "change", ["chip.tiles=10000000", "level.rack.holds=1048576", "level.machine.holds=1099511627776"]
)
def test_a_machine_has_bounds(change):
    assert "at most" in said(soon(lambda: podsim.predict("bert", pod=64, changes=[change])))


@pytest.mark.parametrize("fabric", ["ring-99999999", "torus-2d-99999x99999", "switch-of-rings-99999x99999"])
def test_a_fabric_has_bounds(fabric):
    assert "at most" in said(soon(lambda: podsim.collective("all-reduce", bytes="1MB", topology=fabric)))


@pytest.mark.parametrize("level", ['[[level]]\nname = "a%d"\nholds = 1\nshape = "ring"\nlink = "l"\n'])
def test_a_fabric_has_few_levels(level, tmp_path):
    path = tmp_path / "fabric.toml"
    link = '[link.l]\nbandwidth = "1 GB/s"\n'
    path.write_text('schema = "podsim.fabric/1"\nname = "x"\n' + "".join(level % at for at in range(9999)) + link)
    soon(lambda: catalog.describe(path))


LONG = {"an array of numbers", "an array of the wrong kind", "unknown tables", "units"}
FILES = {
    "an array of numbers": "big = [" + "1," * (FILE_BYTES // 8) + "]\n",
    "an array of the wrong kind": "notes = [" + "1," * (ENTRIES.most - 1) + "]\n",
    "unknown keys": "".join(f"k{at} = 1\n" for at in range(ENTRIES.most - 9)),
    "unknown tables": "".join(f"[t{at}]\n" for at in range(ENTRIES.most - 9)),
    "tables without their keys": "".join(f'[[configuration]]\nname = "p{at}"\n' for at in range(5_000)),
    "units": "".join(
        f'[[unit]]\nname = "u{at}"\n[[unit.operator]]\nname = "a"\nkind = "bias"\nelements = 8\nrow = 8\n'
        for at in range(15_000)
    ),
    "a long key": "a" + ".a" * (FILE_BYTES // 2 - 99) + " = 1\n",
    "a long header": "[a" + ".a" * (FILE_BYTES // 2 - 99) + "]\n",
    "a long quoted key": '"a"' + '."a"' * KEY_PARTS + " = 1\n",
    "an inline table": "x = {" + ",".join(f"a{at}=1" for at in range(ENTRIES.most - 9)) + "}\n",
    "deep arrays": "x = " + "[" * 99_999 + "]" * 99_999 + "\n",
    "blank lines": "\n" * (FILE_BYTES // 2) + "bad = 1\n",
    "one text": 'title = "' + "a" * (FILE_BYTES - 999) + '"\n',
}


@pytest.mark.parametrize("what", slow_but([what for what in FILES if what not in LONG], FILES))
def test_a_large_file_is_read_or_refused_in_time(what, tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(HEAD + FILES[what])
    began = time.process_time()
    refused = refusal(path)
    assert time.process_time() - began < SOON_S
    assert refused is None or len(refused.context) < 100


def refusal(path):
    """Why a file is refused; None where it is read."""
    try:
        catalog.describe(path)
    except InputError as error:
        return error
    return None


def test_a_larger_file_is_refused_unread(tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(HEAD + "#" * FILE_BYTES)
    assert "more than 4 MiB" in soon(lambda: catalog.describe(path)).message


def test_lines_are_found_in_a_time_that_grows_with_the_text():
    def takes_s(count):
        text = "big = [" + "1,\n" * count + "]\n"
        began = time.process_time()
        table = lines(text)
        assert table["big", count - 1] == count
        return time.process_time() - began

    takes_s(1000)
    assert min(takes_s(40_000) for _ in range(3)) < 20 * min(takes_s(10_000) for _ in range(3))
    assert takes_s(200_000) < SOON_S


STARVED = """
import resource, sys
from podsim.cli import command_line
from podsim.files import catalog
catalog.describe  # loaded, so that what runs out of memory is the reading
import podsim.cli.commands.check_command
pages = int(open("/proc/self/statm").read().split()[0])
held = pages * resource.getpagesize() + (24 << 20)
resource.setrlimit(resource.RLIMIT_AS, (held, held))
sys.exit(command_line.main(sys.argv[1:]))
"""


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the size of a process from Linux")
def test_without_memory_podsim_says_so_and_exits_2(tmp_path):
    path = tmp_path / "large.toml"
    path.write_text(HEAD + "x = [" + ",".join(f'["{at}"]' for at in range(ENTRIES.most - 1)) + "]\n" + FILES["units"])
    done = subprocess.run(
        [sys.executable, "-c", STARVED, "check", str(path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: out-of-memory")
    assert "Traceback" not in done.stderr
