"""`podsim op`: how it is run: the library of the chip, tile by tile, with a stream."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import podsim
from podsim.cli.command_line import main
from podsim.errors import InputError
from podsim.model.chip import Chip, Precision
from podsim.studies.op import one_operator as operators
from podsim.tiles.supersteps import total

FFN = "matmul --m 1024 --k 1024 --n 4096"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cache folder that no other test and no user sees."""
    monkeypatch.setenv("PODSIM_CACHE", str(tmp_path / "cache"))


def run(capsys: pytest.CaptureFixture[str], line: str) -> tuple[int, str, str]:
    code = main(["op", *line.split()])
    out, err = capsys.readouterr()
    return code, out, err


def told(capsys: pytest.CaptureFixture[str], line: str) -> dict[str, Any]:
    code, out, err = run(capsys, f"{line} --json")
    assert (code, err) == (0, ""), err
    table: dict[str, Any] = json.loads(out)
    return table


STEM = "conv --batch 8 --size 224 --in-channels 3 --out-channels 64 --kernel 3 --precision 16.32"


def test_the_library_of_the_chip_says_whether_copies_count_and_a_flag_overrides_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """On GC2 as SDK 1.0 chose; 7.08 TFLOP/s were measured (jia-2019, table 5.5)."""
    own, whole = (told(capsys, f"{STEM} --chip gc2{flag}") for flag in ("", " --count-copies"))
    assert own["flop_per_s"] == pytest.approx(7.08e12, rel=0.1)
    assert (own["counts_copies"], whole["counts_copies"]) == (False, True)
    assert whole["cycles"] < own["cycles"] / 2
    assert min(other["cycles"] for other in own["alternatives"]) < own["cycles"]
    assert all(other["cycles"] >= whole["cycles"] for other in whole["alternatives"])
    assert "before its copies" in " ".join(run(capsys, f"{STEM} --chip gc2")[1].split())


def test_a_newer_library_counts_copies_unless_told_not_to(capsys: pytest.CaptureFixture[str]) -> None:
    own, blind = (told(capsys, f"{STEM}{flag}") for flag in ("", " --no-count-copies"))
    assert own["cycles"] < blind["cycles"]


def test_counting_copies_is_refused_where_it_would_do_nothing() -> None:
    with pytest.raises(InputError, match="count_copies is for conv"):
        podsim.op("softmax", rows=8, columns=8, count_copies=True)


@pytest.mark.parametrize("line", ["softmax --rows 1500 --columns 729", "matmul --m 100 --k 300 --n 500"])
def test_every_tile_on_its_own_takes_what_equal_tiles_take(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    folded, full = (told(capsys, f"{line}{flag}") for flag in ("", " --fidelity full"))
    assert full["cycles"] == pytest.approx(folded["cycles"], rel=1e-9)
    assert [share["tiles"] for share in full["tile_shares"]] == [1] * full["tiles"]
    assert len(folded["tile_shares"]) < 10


def test_tiles_set_aside_take_a_stream_meanwhile_and_pass_it_on(
    capsys: pytest.CaptureFixture[str], gc200: Chip
) -> None:
    """A stream shorter than the operator costs a sync and an exchange; a longer one what it takes beyond it too."""
    tiles = "--io-tiles 72 --stream-rate 20GB/s"
    plan = operators.KINDS["matmul"].plan(
        operators.operator_instance("matmul", {"m": 1024, "k": 1024, "n": 4096}),
        replace(gc200, tiles=1400),
        Precision.FP16_16,
        0.6,
    )
    alone = total(plan.supersteps, gc200).total
    short, long = (told(capsys, f"{FFN} {tiles} --stream {size}") for size in ("10kB", "20MB"))
    after = gc200.sync.on_chip_cycles + gc200.exchange.start_cycles
    sending = gc200.exchange.send_bytes_per_cycle * gc200.exchange.efficiency
    assert short["cycles"] == pytest.approx(alone + after + 10e3 / 72 / sending, rel=1e-6)
    assert long["cycles"] == pytest.approx(1e-3 * gc200.clock_hz + after + 20e6 / 72 / sending, rel=1e-6)
    assert short["tiles_used"] <= 1400


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--io-tiles 8", "together"),
        ("--io-tiles 8 --stream 5 --stream-rate 20GB/s", "needs a unit"),
        ("--io-tiles 8 --stream 5MB --stream-rate 20GB", "must be a data rate"),
        ("--io-tiles 1472 --stream 5MB --stream-rate 20GB/s", "1,472 IO tiles"),
    ],
)
def test_io_tiles_that_cannot_be_are_refused(flags: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, f"{FFN} {flags}")
    assert code == 2
    assert said in " ".join(err.split())


def test_a_run_of_too_many_spans_is_refused_with_what_would_do(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "softmax --rows 64 --columns 64 --chip gc200 --fidelity full")
    assert (code, err) == (0, "")
    code, _, err = run(capsys, "update --parameters 1000000 --tensors 1000 --optimizer lamb --fidelity full")
    assert code == 2
    assert "--fidelity folded" in err


def test_sizes_that_mean_nothing_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        podsim.op("norm", rows=8, columns=8, groups=4, images=2)
    assert [line.split()[0] for line in caught.value.context] == ["groups=4", "images=2"]
    podsim.op("norm", rows=8, columns=8, groups=1)


def test_the_help_of_a_chain_names_casts_dropout_and_random_numbers(capsys: pytest.CaptureFixture[str]) -> None:
    main(["op", "elementwise", "--help"])
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert all(word in text for word in ("cast", "dropout", "uniform", "normal", "bernoulli"))


def test_more_memory_is_offered_only_where_it_helps(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "matmul --m 1 --k 1 --n 1 --groups 100000000")
    assert code == 1
    assert "memory" not in err.split("hint:")[1]
    assert "--groups" in err.split("hint:")[1]
    code, _, err = run(capsys, "matmul --m 8192 --k 8192 --n 8192 --available-memory 0.01")
    assert code == 1
    assert "--available-memory" in err.split("hint:")[1]
