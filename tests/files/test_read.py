import os
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import pytest

from podsim.errors import InputError
from podsim.files import catalog
from podsim.files.file_faults import Fault
from podsim.files.load import load
from podsim.files.read import document, read
from podsim.files.structure import structure
from podsim.model.calibration import ParameterSet
from podsim.model.chip import Chip, Precision
from podsim.model.fabric import Level, Link
from podsim.model.quantity import BytesPerS, Count, Key, NotNegative, Positive, Seconds, Whole


class Colour(StrEnum):
    RED = "red"
    GREEN = "green"


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    """One field of each sort that a file can hold."""

    whole: int = 0
    number: float = 0.0
    text: str = ""
    truth: bool = False
    count: Count = 1
    from_zero: Whole = 0
    positive: Positive = 1.0
    from_nought: NotNegative = 0.0
    rate_bytes_per_s: BytesPerS = 1.0
    wait_s: Seconds = 0.0
    maybe_s: Seconds | None = None
    renamed: Annotated[BytesPerS, Key("other")] | None = None
    colour: Colour = Colour.RED
    letter: Literal["a", "b"] = "a"
    numbers: tuple[int, ...] = ()
    part: Link | None = None


def fault(**tables):
    _, (fault,) = structure(tables, Everything)
    return fault.message


@pytest.mark.parametrize(
    ("key", "raw", "message"),
    [
        ("whole", "64", 'must be a whole number, not "64"'),
        ("whole", 3.7, "must be a whole number, not 3.7"),
        ("whole", True, "must be a whole number, not true"),
        ("whole", float("inf"), "must be a whole number, not inf"),
        ("whole", [], "must be a whole number, not an array"),
        ("whole", {}, "must be a whole number, not a table"),
        ("whole", 2**53 + 1, "9007199254740993 is too large"),
        ("number", "1.5", 'must be a number, not "1.5"'),
        ("number", False, "must be a number, not false"),
        ("number", float("inf"), "must be a finite number, not inf"),
        ("number", float("nan"), "must be a finite number, not nan"),
        ("number", 10**50, "a very large number is too large"),
        ("text", 1, "must be a text, not 1"),
        ("truth", "no", 'must be true or false, not "no"'),
        ("truth", 1, "must be true or false, not 1"),
        ("count", 0, "must be at least 1, not 0"),
        ("count", -3, "must be at least 1, not -3"),
        ("from_zero", -1, "must be at least 0, not -1"),
        ("positive", 0, "must be above 0, not 0"),
        ("positive", -0.5, "must be above 0, not -0.5"),
        ("from_nought", -0.5, "must be at least 0, not -0.5"),
        ("rate", 16, '16 needs a unit; write for example "16 GB/s" or "100 Gbit/s"'),
        ("rate", True, "must be a data rate (B/s), not true"),
        ("rate", "0 GB/s", 'must be above 0, not "0 GB/s"'),
        ("rate", "-1 GB/s", 'must be above 0, not "-1 GB/s"'),
        ("wait", "-1 s", 'must be at least 0, not "-1 s"'),
        ("wait", [], "must be a time (s), not an array"),
        ("maybe", "1 Hz", '"1 Hz" is a frequency (Hz), and must be a time (s)'),
        ("other", "100 Gbps", '"Gbps" may mean Gbit/s or GB/s; write the one meant'),
        ("colour", "gren", '"gren" is not known; did you mean "green"?'),
        ("colour", "mauve", '"mauve" is not known; known: "red", "green"'),
        ("colour", 1, 'must be one of "red", "green", not 1'),
        ("letter", "c", '"c" is not known; known: "a", "b"'),
        ("numbers", "12", 'must be an array, not "12"'),
        ("numbers", [1, "2"], 'must be a whole number, not "2"'),
        ("part", "ipu-link", 'must be a table, not "ipu-link"'),
        ("hole", 1, 'unknown key; did you mean "whole"?'),
    ],
)
def test_nothing_is_coerced_and_each_message_says_what_is_wanted(key, raw, message):
    assert fault(**{key: raw}) == message


@pytest.mark.parametrize(
    ("key", "raw", "name", "value"),
    [
        ("number", 3, "number", 3.0),
        ("rate", "100 Gbit/s", "rate_bytes_per_s", 12.5e9),
        ("wait", "0 s", "wait_s", 0.0),
        ("other", "1 GB/s", "renamed", 1e9),
        ("colour", "green", "colour", Colour.GREEN),
        ("letter", "b", "letter", "b"),
        ("numbers", [1, 2], "numbers", (1, 2)),
        ("maybe", "2 us", "maybe_s", 2e-6),
    ],
)
def test_a_sound_value_reaches_its_field(key, raw, name, value):
    everything, faults = structure({key: raw}, Everything)
    assert not faults
    assert getattr(everything, name) == value
    assert type(getattr(everything, name)) is type(value)


def test_a_check_of_the_object_itself_points_at_its_key():
    tables = {"name": "rack", "holds": 3, "shape": "ring", "link": "gw-link", "links_each": 2}
    assert structure(tables, Level)[1] == [Fault(("holds",), "must be a power of two, at least 1")]


def test_keys_of_a_mapping_are_checked_too():
    _, faults = structure({"amp": {"flop_per_cycle": {"16.61": 64}}}, Chip)
    assert faults[0] == Fault(("amp", "flop_per_cycle", "16.61"), '"16.61" is not known; did you mean "16.16"?')


LINK = """schema = "podsim.chip/1"
name  = "mine"
title = "Mine"
tiles = 1472
threads = 6
clock = "1.5 GHz"
ipu_links = 10
[amp.flop_per_cycle]
"16.16" = 128
[sram]
per_tile = "624 KiB"
load = "16 B/cycle"
store = "8 B/cycle"
[exchange]
send = "4 B/cycle"
receive = "4 B/cycle"
shared_receive = "8 B/cycle"
efficiency = 1
start = "100 cycles"
[sync]
on_chip = "150 cycles"
global = "600 cycles"
"""


def refused(path, what="chip", cls=Chip):
    with pytest.raises(InputError) as caught:
        read(Path(path), cls, what)
    return caught.value


def test_all_faults_come_at_once_in_file_order_with_their_lines(write):
    text = LINK.replace("1472", "0").replace('"624 KiB"', "624").replace("store =", "stores =")
    error = refused(write("my.toml", text.replace('start = "100 cycles"\n', "")))
    assert error.code == "bad-chip-file"
    assert error.message == "my.toml has 5 errors"
    assert error.context == (
        " 4  tiles           must be at least 1, not 0",
        ' 5  threads         unknown key; did you mean "worker_threads"?',
        '11  sram.per_tile   624 needs a unit; write for example "624 KiB"',
        '13  sram.stores     unknown key; did you mean "store"?',
        "14  exchange.start  is missing",
    )


def test_one_fault_is_one_fault(write):
    error = refused(
        write("my.toml", LINK.replace("efficiency = 1", "efficiency = 1.5").replace("threads", "worker_threads"))
    )
    assert error.message == "my.toml has 1 error"
    assert error.context == ("18  exchange.efficiency  must be above 0 and at most 1",)


def test_an_unknown_key_near_nothing_lists_the_known_ones(write):
    error = refused(write("my.toml", LINK.replace("threads =", "worker_threads =") + "zzz = 1\n"))
    assert error.context == ("23  sync.zzz  unknown key; known here: on_chip, global, source, kind, locator, note",)


@pytest.mark.parametrize(
    ("text", "message", "context"),
    [
        (b"", "my.toml is empty", ()),
        (b" \n\n", "my.toml is empty", ()),
        (
            b'schema = "podsim.chip/1"\nname = ',
            "my.toml is not valid TOML: line 2, the end of the file (cut short?): invalid value",
            (),
        ),
        (
            b'schema = "podsim.chip/1"\nname = "x" y\n',
            "my.toml is not valid TOML: line 2, column 12: expected newline or end of document after a statement",
            (),
        ),
        (
            b'schema = "podsim.chip/1"\nname = "\xe4"\n',
            "my.toml is not UTF-8 text",
            ("2  byte 33 (0xe4) starts no UTF-8 character",),
        ),
        (b"a = " + b"[" * 5000, "my.toml is not TOML that podsim reads: it nests too deep", ()),
        (
            b'name = "x"\n',
            "my.toml has 1 error",
            ('1  schema  is missing; a chip file begins with schema = "podsim.chip/1"',),
        ),
        (
            b'schema = "podsim.chpi/1"\n',
            "my.toml has 1 error",
            ('1  schema  "podsim.chpi/1" is not known; did you mean "podsim.chip/1"?',),
        ),
        (
            b'# mine\nschema = "podsim.topology/1"\n',
            "my.toml has 1 error",
            ('2  schema  "podsim.topology/1" makes it a topology file; a chip file ("podsim.chip/1") is needed here',),
        ),
        (b"schema = 1\n", "my.toml has 1 error", ("1  schema  must be a text, not 1",)),
    ],
)
def test_what_is_no_file_of_its_kind_is_one_clear_fault(write, text, message, context):
    error = refused(write("my.toml", text))
    assert (error.code, error.message) == ("bad-chip-file", message)
    assert error.context == context


def test_a_folder_is_not_a_file(tmp_path):
    (tmp_path / "my.toml").mkdir()
    assert refused("my.toml").message == "my.toml is a folder, not a file"


def test_a_missing_file_is_said_so():
    error = refused("none.toml")
    assert (error.code, error.message) == ("no-such-file", "there is no file none.toml")
    assert error.hint == "check the path, or use a name listed by podsim chip list"


def test_a_file_one_may_not_read_is_said_so(write, monkeypatch):
    write("my.toml", LINK)

    def forbidden(*_, **__):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "open", forbidden)
    assert refused("my.toml").message == "my.toml cannot be read: Permission denied"


def test_an_endless_file_is_refused():
    if not Path("/dev/zero").exists():
        pytest.skip("no endless file on this system")
    assert refused("/dev/zero").message == "zero is a device, no plain file"


def test_a_file_larger_than_any_of_podsim_is_refused(write):
    write("big.toml", "#" * (16 * 2**20 + 1))
    assert refused("big.toml").message == "big.toml is larger than any podsim file: more than 4 MiB"


def test_a_path_with_a_null_byte_is_refused():
    assert refused("a\0b.toml").message.startswith("a b.toml cannot be read: ")


def test_a_byte_order_mark_is_no_fault(write):
    text = LINK.replace("threads =", "worker_threads =")
    assert read(write("my.toml", b"\xef\xbb\xbf" + text.encode()), Chip, "chip").value.tiles == 1472


def test_control_characters_of_a_file_do_not_reach_the_screen(write):
    error = refused(write("my.toml", LINK.replace("1472", r'"\u001b[31m\n"').replace("threads", "worker_threads")))
    assert error.context == ('4  tiles  must be a whole number, not " [31m "',)


def test_reading_is_quick_enough_for_a_cold_prediction():
    """A cost that does not jitter: how many files a prediction of 512 IPUs opens."""
    opened = []
    original = os.open

    def counting(path, *args, **kwargs):
        opened.append(Path(path).name)
        return original(path, *args, **kwargs)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "open", counting)
        catalog.workload("bert")
        catalog.pod(512)
    assert 2 < len(opened) < 40
    assert not any(name.startswith(("bert-v", "resnet50")) for name in opened)


def test_parameters_that_were_never_fitted_are_a_missing_parameter(tmp_path, monkeypatch):
    monkeypatch.setattr(catalog, "parameters_path", lambda: tmp_path / "parameters.toml")
    with pytest.raises(InputError) as caught:
        catalog.parameters()
    assert caught.value.code == "missing-parameter"
    assert caught.value.hint == "podsim calibrate"


def test_every_key_of_parameters_is_needed_but_what_older_files_and_those_without_own_runs_lack(write):
    error = refused(write("parameters.toml", 'schema = "podsim.parameters/1"\n'), "parameters", ParameterSet)
    optional = {"forms", "outside", "model_error", "run_spread", "outside_error", "own"}
    assert len(error.context) == len(ParameterSet.__dataclass_fields__.keys() - optional)


def test_precisions_are_read_as_poplar_names_them():
    """Those of FP8 operands only where the chip has them."""
    assert set(catalog.chip("gc200").value.amp.flop_per_cycle) == set(Precision) - {Precision.FP8_16}
    assert set(catalog.chip("c600").value.amp.flop_per_cycle) == set(Precision)


def test_user_paths_are_shown_without_folders(write):
    os.mkdir("deep")  # noqa: PTH102
    assert refused(write("deep/my.toml", "a = 1")).message == "my.toml has 1 error"


def test_a_file_is_read_anew_where_its_text_or_its_tables_are_others(write):
    """Values are kept by the whole text, and only until a caller changes the tables."""
    text = catalog.chip("gc200").text
    first, again = (read(write("a.toml", text), Chip, "chip") for _ in range(2))
    assert again is first
    assert "tiles" in text
    other = read(write("a.toml", text.replace("1472", "1471")), Chip, "chip")
    assert (first.value.tiles, other.value.tiles) == (1472, 1471)
    loaded = load(write("a.toml", text), "chip")
    loaded.tables["title"] = "Mine"
    assert document(loaded, Chip).value.title == "Mine"
    assert read(write("a.toml", text), Chip, "chip").value == first.value


def test_a_rule_that_looks_at_other_files_is_asked_each_time(write):
    request = []

    def rule(value, _tables):
        request.append(value)
        return ()

    path = write("a.toml", catalog.chip("gc200").text)
    for alone in (True, True, False, False):
        read(path, Chip, "chip", rule, alone=alone)
    assert len(request) == 3
